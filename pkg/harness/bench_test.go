package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// benchModel calls the same tool n times and then finishes.
type benchModel struct {
	n, i int
}

func (m *benchModel) Name() string { return "bench" }

func (m *benchModel) Sample(context.Context, model.Request) (model.Response, error) {
	m.i++
	if m.i > m.n {
		return model.Response{Finish: model.FinishStop, Text: "done"}, nil
	}
	return model.Response{
		Finish: model.FinishToolCalls,
		Calls:  []model.Call{{Tool: "move", Arguments: `{"x":1.5,"y":-2.25,"yaw":0.5,"frame":"map"}`}},
	}, nil
}

type benchTool struct{ class tool.Class }

func (b benchTool) Spec() tool.Spec {
	return tool.Spec{
		Name: "move", Class: b.class, Description: "Moves.", Source: "bench", Validated: true, Actuators: []string{"base"},
		Parameters: json.RawMessage(`{"type":"object","properties":{
			"x":{"type":"number","minimum":-10,"maximum":10},
			"y":{"type":"number","minimum":-10,"maximum":10},
			"yaw":{"type":"number"},
			"frame":{"type":"string","enum":["map","odom"]}},
			"required":["x","y","yaw","frame"],"additionalProperties":false}`),
	}
}

func (b benchTool) Call(context.Context, tool.Call) tool.Result {
	return tool.Result{OK: true, Content: `{"x":1.5,"y":-2.25,"yaw":0.5}`}
}

// BenchmarkLoop measures the loop itself: a model that answers at once, one tool of four arguments that is a skill,
// schema check and hash chain on, the record in memory. One operation is a whole session; ns/step is what counts.
func BenchmarkLoop(b *testing.B) {
	for _, steps := range []int{10, 50, 200, 1000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			table, err := tool.NewTable(benchTool{tool.Skill})
			if err != nil {
				b.Fatal(err)
			}
			sink := &trace.Memory{}
			limits := budget.Limits{Steps: 2000, ToolCalls: 2000, InputTokens: 1 << 40, OutputTokens: 1 << 30, WallTime: time.Hour}
			m := &benchModel{n: steps}
			h, err := harness.New(harness.Config{
				Model: m, Tools: table, Trace: sink, Defaults: limits, Maxima: limits, AcceptanceRounds: -1,
				Policy: policy.Policy{Tools: map[string]policy.Permission{"move": policy.Allow}},
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n, cpu := 0, cpuTime()
			for b.Loop() {
				m.i = 0
				n++
				session := fmt.Sprintf("s%d", n)
				r := h.Run(context.Background(), harness.Goal{Session: session, Task: "move"}, nil)
				if len(r.Steps) != steps || r.Reason != harness.ReasonUnverified {
					b.Fatalf("%d steps, ended as %s: %s", len(r.Steps), r.Reason, r.Answer)
				}
				sink.Forget(session)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(steps), "ns/step")
			b.ReportMetric(float64((cpuTime()-cpu).Nanoseconds())/float64(n)/float64(steps), "cpu-ns/step")
		})
	}
}
