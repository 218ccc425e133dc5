// Program agent_node measures a step of the harness's loop: a model that answers at once, one tool of four arguments that does nothing.
// Schema check, budget, policy and the hash chain of the record are on; the record is in memory or, with a folder as argument, on its disk.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// scripted calls the tool n times and then ends.
type scripted struct{ n, i int }

func (*scripted) Name() string { return "scripted" }

func (m *scripted) Sample(context.Context, model.Request) (model.Response, error) {
	m.i++
	if m.i > m.n {
		return model.Response{Finish: model.FinishStop, Text: "done"}, nil
	}
	return model.Response{
		Finish: model.FinishToolCalls, Calls: []model.Call{{Tool: "move", Arguments: `{"x":1.5,"y":-2.25,"yaw":0.5,"frame":"map"}`}},
	}, nil
}

// move does nothing.
type move struct{}

func (move) Spec() tool.Spec {
	return tool.Spec{
		Name: "move", Class: tool.Skill, Description: "Moves.", Source: "bench", Validated: true, Actuators: []string{"base"},
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"x":{"type":"number","minimum":-10,"maximum":10},"y":{"type":"number","minimum":-10,"maximum":10},"yaw":{"type":"number"},
			"frame":{"type":"string","enum":["map","odom"]}},"required":["x","y","yaw","frame"],"additionalProperties":false}`),
	}
}

func (move) Call(context.Context, tool.Call) tool.Result {
	return tool.Result{OK: true, Content: `{"x":1.5,"y":-2.25,"yaw":0.5}`}
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func main() {
	peer, dir := "agent_node", ""
	var sink trace.Sink = &trace.Memory{}
	if len(os.Args) > 1 {
		peer, dir = "agent_node, record on disk", os.Args[1]
		files, err := trace.NewFiles(trace.FileOptions{Dir: dir})
		if err != nil {
			log.Fatal(err)
		}
		sink = files
	}
	table, err := tool.NewTable(move{})
	if err != nil {
		log.Fatal(err)
	}
	limits := budget.Limits{Steps: 2000, ToolCalls: 2000, InputTokens: 1 << 40, OutputTokens: 1 << 30, WallTime: time.Hour}
	m := &scripted{}
	h, err := harness.New(harness.Config{
		Model: m, Tools: table, Trace: sink, Defaults: limits, Maxima: limits, AcceptanceRounds: -1,
		Policy: policy.Policy{Tools: map[string]policy.Permission{"move": policy.Allow}},
	})
	if err != nil {
		log.Fatal(err)
	}
	session := 0
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		steps, err := strconv.Atoi(in.Text())
		if err != nil {
			log.Fatal(err)
		}
		runs := max(3, 4000/steps)
		before := cpu()
		for range runs {
			session++
			name := "s" + strconv.Itoa(session)
			m.n, m.i = steps, 0
			if r := h.Run(context.Background(), harness.Goal{Session: name, Task: "move"}, nil); len(r.Steps) != steps {
				log.Fatalf("%d steps, want %d: %s", len(r.Steps), steps, r.Answer)
			}
			if memory, ok := sink.(*trace.Memory); ok {
				memory.Forget(name)
			}
		}
		fmt.Printf("{\"peer\":%q,\"steps\":%d,\"us\":%.2f}\n", peer, steps, float64((cpu()-before).Nanoseconds())/1000/float64(runs*steps))
		if dir != "" {
			made, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			if err != nil {
				log.Fatal(err)
			}
			for _, f := range made {
				if err := os.Remove(f); err != nil {
					log.Fatal(err)
				}
			}
		}
	}
}
