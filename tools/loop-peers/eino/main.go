// Program eino measures a step of Eino's ReAct agent: a model that answers at once, one tool of four arguments that does nothing.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

// scripted calls the tool n times and then ends.
type scripted struct{ n, i int }

func (m *scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

func (m *scripted) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	m.i++
	if m.i > m.n {
		return schema.AssistantMessage("done", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: "call_" + strconv.Itoa(m.i), Function: schema.FunctionCall{Name: "move", Arguments: `{"x":1.5,"y":-2.25,"yaw":0.5,"frame":"map"}`},
	}}), nil
}

func (m *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	out, err := m.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{out}), err
}

// move reads its arguments and does nothing.
type move struct{ calls int }

func (*move) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "move", Desc: "Moves.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"x": {Type: schema.Number, Required: true}, "y": {Type: schema.Number, Required: true}, "yaw": {Type: schema.Number, Required: true},
		"frame": {Type: schema.String, Required: true, Enum: []string{"map", "odom"}},
	})}, nil
}

func (m *move) InvokableRun(_ context.Context, arguments string, _ ...tool.Option) (string, error) {
	m.calls++
	var a struct {
		X, Y, Yaw float64
		Frame     string
	}
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		return "", err
	}
	return `{"x":1.5,"y":-2.25,"yaw":0.5}`, nil
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	ctx := context.Background()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		steps, err := strconv.Atoi(in.Text())
		if err != nil {
			log.Fatal(err)
		}
		m, t := &scripted{n: steps}, &move{}
		agent, err := react.NewAgent(ctx, &react.AgentConfig{
			ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}}, MaxStep: 2*steps + 10,
		})
		if err != nil {
			log.Fatal(err)
		}
		runs := max(3, 4000/steps)
		before := cpu()
		for range runs {
			m.i = 0
			if _, err := agent.Generate(ctx, []*schema.Message{schema.UserMessage("move")}); err != nil {
				log.Fatal(err)
			}
		}
		if t.calls != runs*steps {
			log.Fatalf("%d calls, want %d", t.calls, runs*steps)
		}
		fmt.Printf("{\"peer\":\"eino\",\"steps\":%d,\"us\":%.2f}\n", steps, float64((cpu()-before).Nanoseconds())/1000/float64(runs*steps))
	}
}
