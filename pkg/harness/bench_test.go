package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
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

// benchHarness runs sessions of so many steps.
func benchHarness(tb testing.TB, steps int, sink trace.Sink) (*harness.Harness, *benchModel) {
	table, err := tool.NewTable(benchTool{tool.Skill})
	if err != nil {
		tb.Fatal(err)
	}
	limits := budget.Limits{Steps: 2000, ToolCalls: 2000, InputTokens: 1 << 40, OutputTokens: 1 << 30, WallTime: time.Hour}
	m := &benchModel{n: steps}
	h, err := harness.New(harness.Config{
		Model: m, Tools: table, Trace: sink, Defaults: limits, Maxima: limits, AcceptanceRounds: -1,
		Policy: policy.Policy{Tools: map[string]policy.Permission{"move": policy.Allow}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return h, m
}

// A step takes the same memory in a long session as in a short one: so many allocations, so many bytes, those of its record in memory
// included. Counted, not timed, so that a busy machine changes nothing.
func TestMemoryOfAStepIsBoundedAndFlat(t *testing.T) {
	const (
		mostAllocations = 12
		mostBytes       = 5000
		mostOfSession   = 5 << 20 // of 1,000 steps, bytes
	)
	session := func(steps int) (allocations, bytes uint64) {
		sink := &trace.Memory{}
		h, m := benchHarness(t, steps, sink)
		var before, after runtime.MemStats
		for run := range 2 { // the first makes what is made once
			m.i = 0
			name := fmt.Sprintf("s%d", run)
			runtime.ReadMemStats(&before)
			r := h.Run(t.Context(), harness.Goal{Session: name, Task: "move"}, nil)
			runtime.ReadMemStats(&after)
			if len(r.Steps) != steps {
				t.Fatalf("%d steps, want %d", len(r.Steps), steps)
			}
			sink.Forget(name)
		}
		return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
	}
	allocationsBefore, bytesBefore := session(10)
	before := 10
	for _, steps := range []int{50, 200, 1000} {
		allocations, bytes := session(steps)
		n := uint64(steps - before)
		each, size := (allocations-allocationsBefore)/n, (bytes-bytesBefore)/n
		t.Logf("steps %d to %d: %d allocations and %d bytes each; %d bytes in all", before, steps, each, size, bytes)
		if each > mostAllocations || size > mostBytes {
			t.Errorf("steps %d to %d take %d allocations and %d bytes each, want at most %d and %d", before, steps, each, size, mostAllocations, mostBytes)
		}
		if bytes > mostOfSession {
			t.Errorf("a session of %d steps takes %d bytes, want at most %d", steps, bytes, mostOfSession)
		}
		allocationsBefore, bytesBefore, before = allocations, bytes, steps
	}
}

// BenchmarkLoop measures the loop itself: a model that answers at once, one tool of four arguments that is a skill,
// schema check and hash chain on, the record in memory. One operation is a whole session; ns/step is what counts.
func BenchmarkLoop(b *testing.B) {
	for _, steps := range []int{10, 50, 200, 1000} {
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			sink := &trace.Memory{}
			h, m := benchHarness(b, steps, sink)
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
