package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// busyTool does nothing, at once.
type busyTool struct{}

func (busyTool) Spec() tool.Spec {
	return tool.Spec{
		Name: "look", Class: tool.Query, Description: "Looks.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"number"}},"required":["x"],"additionalProperties":false}`),
	}
}

func (busyTool) Call(context.Context, tool.Call) tool.Result {
	return tool.Result{OK: true, Content: `{"ok":true}`}
}

// busyModel calls it for ever, a little differently each time.
type busyModel struct{ n int }

func (*busyModel) Name() string { return "busy" }
func (m *busyModel) Sample(context.Context, model.Request) (model.Response, error) {
	m.n++
	return model.Response{
		Calls:  []model.Call{{ID: fmt.Sprintf("c%d", m.n), Tool: "look", Arguments: fmt.Sprintf(`{"x": %d}`, m.n)}},
		Finish: model.FinishToolCalls, Usage: model.Usage{InputTokens: 10, OutputTokens: 5, Known: true},
	}, nil
}

// periods is a driver that notes when velocities leave.
type periods struct {
	mu sync.Mutex
	at []time.Time
}

func (p *periods) note() {
	p.mu.Lock()
	p.at = append(p.at, time.Now())
	p.mu.Unlock()
}
func (p *periods) Stop() error      { p.note(); return nil }
func (*periods) Cancel(guard.Epoch) {}

// BenchmarkControlLoopJitter: how far the velocities of a stream are from their control period of 50 ms, with nothing else to do and beside an
// agent loop that runs flat out: the deviation of one period from 50 ms, of 100 periods.
func BenchmarkControlLoopJitter(b *testing.B) {
	for _, loops := range []int{0, 1} {
		b.Run(fmt.Sprintf("loops=%d", loops), func(b *testing.B) {
			ctx, end := context.WithCancel(context.Background())
			defer end()
			var busy sync.WaitGroup
			for i := range loops {
				sink := &trace.Memory{}
				h := busyHarness(b, sink)
				busy.Go(func() {
					for n := 0; ctx.Err() == nil; n++ {
						session := fmt.Sprintf("s%d-%d", i, n)
						h.Run(ctx, harness.Goal{Session: session, Task: "look"}, nil)
						sink.Forget(session)
					}
				})
			}
			var off []time.Duration
			for b.Loop() {
				off = append(off, jitter(b, 100)...)
			}
			end()
			busy.Wait()
			slices.Sort(off)
			ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ms(off[len(off)/2]), "median-ms")
			b.ReportMetric(ms(off[len(off)*99/100]), "p99-ms")
			b.ReportMetric(ms(off[len(off)-1]), "max-ms")
		})
	}
}

func busyHarness(b *testing.B, sink trace.Sink) *harness.Harness {
	table, err := tool.NewTable(busyTool{})
	if err != nil {
		b.Fatal(err)
	}
	limits := budget.Limits{Steps: 200, ToolCalls: 200, InputTokens: 1 << 40, OutputTokens: 1 << 30, WallTime: time.Hour}
	h, err := harness.New(harness.Config{
		Model: &busyModel{}, Tools: table, Trace: sink, Defaults: limits, Maxima: limits, AcceptanceRounds: -1,
		Policy: policy.Policy{Tools: map[string]policy.Permission{"look": policy.Allow}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// jitter runs a stream for n periods in real time.
func jitter(b *testing.B, n int) (off []time.Duration) {
	ctx, end := context.WithCancel(context.Background())
	p := &periods{}
	g := guard.New(guard.GuardConfig{})
	cfg := guard.DefaultConfig("base")
	cfg.Axes = []guard.Axis{{Name: "x", Group: guard.Linear}}
	a, err := g.Add(cfg, p)
	if err != nil {
		b.Fatal(err)
	}
	var guarding, sensor sync.WaitGroup
	guarding.Go(func() { _ = g.Run(ctx) })
	sensing, enough := context.WithCancel(context.Background())
	x, moves := 0.0, false
	var mu sync.Mutex
	sensor.Go(func() {
		tick := time.NewTicker(cfg.Period)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-sensing.Done():
				return
			case <-tick.C:
			}
			mu.Lock()
			v := 0.0
			if moves {
				v, x = 0.2, x+0.004
			}
			mu.Unlock()
			a.Observe(guard.Sample{Stamp: time.Now(), Position: []float64{x + 1e-5*float64(i%2)}, Velocity: []float64{v}})
		}
	})
	move := func(on bool) { mu.Lock(); moves = on; mu.Unlock() }
	l, err := a.Acquire(ctx, "bench")
	for err != nil {
		l, err = a.Acquire(ctx, "bench")
	}
	calls := 0
	l.Execute(ctx, guard.Command{
		Start: func(guard.Epoch) error { move(true); return nil },
		Stream: func(guard.Epoch, time.Time, guard.Sample) (bool, error) {
			p.note()
			calls++
			if calls > n {
				move(false)
			}
			return calls > n, nil
		},
	})
	end()
	guarding.Wait() // at rest
	enough()
	sensor.Wait()
	p.mu.Lock()
	at := slices.Clone(p.at[:min(len(p.at), calls)])
	p.mu.Unlock()
	for i := 1; i < len(at); i++ {
		off = append(off, (at[i].Sub(at[i-1]) - cfg.ControlPeriod).Abs())
	}
	return off
}
