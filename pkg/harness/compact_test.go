package harness_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// reader is a model that reads the map so often and then ends. It counts its tokens: a quarter of the bytes.
type reader struct {
	reads    int
	context  uint64 // tokens; over it the endpoint refuses; 0: never
	n        int
	sizes    []uint64
	overflow int
	seen     []model.Request
}

func (*reader) Name() string { return "reader" }

func (m *reader) Sample(_ context.Context, r model.Request) (model.Response, error) {
	n := uint64(0)
	for _, x := range r.Messages {
		n += uint64(len(x.Content) + 40)
		for _, c := range x.Calls {
			n += uint64(len(c.Arguments) + len(c.Tool))
		}
	}
	for _, x := range r.Tools {
		n += uint64(len(x.Description) + len(x.Parameters))
	}
	n /= 4
	if m.context > 0 && n > m.context {
		m.overflow++
		return model.Response{}, fmt.Errorf("400: %w", model.ErrContextOverflow)
	}
	m.sizes, m.seen = append(m.sizes, n), append(m.seen, r)
	m.n++
	out := finish("read")
	if m.n <= m.reads {
		out = calls(call("get_map", fmt.Sprintf(`{"n":%d}`, m.n)))
	}
	out.Usage = model.Usage{InputTokens: n, OutputTokens: 5, Known: true}
	return out, nil
}

func mapTool(bytes int) *fake {
	n := 0
	return &fake{
		spec: tool.Spec{Name: "get_map", Class: tool.Query, Parameters: object(`"n":{"type":"integer"}`)},
		do: func(context.Context, tool.Call) tool.Result {
			n++
			return tool.Result{OK: true, Content: fmt.Sprintf("%d %s", n, strings.Repeat("#", bytes))}
		},
	}
}

func compactions(events []trace.Event) int {
	n := 0
	for _, e := range events {
		if harness.Kind(e.Kind) == harness.KindCompaction {
			n++
		}
	}
	return n
}

// A history is made shorter before the context is full, before the input tokens run short, and when the endpoint says that its context is
// full; each time is in the record, and every request can be rebuilt.
func TestHistoriesAreMadeShorter(t *testing.T) {
	for _, x := range []struct {
		name   string
		set    harness.Compaction
		limits budget.Limits
		full   uint64 // the endpoint's context
		reason harness.Reason
		least  int // compactions
		most   int
		peak   uint64 // tokens of the longest request
	}{
		{"never", harness.Compaction{}, budget.Limits{}, 0, harness.ReasonUnverified, 0, 0, 100_000},
		{"with room enough", harness.Compaction{On: true, ContextTokens: 1_000_000}, budget.Limits{}, 0, harness.ReasonUnverified, 0, 0, 100_000},
		{"by the context", harness.Compaction{On: true, ContextTokens: 12_000}, budget.Limits{}, 0, harness.ReasonUnverified, 2, 20, 12_000 - 4096},
		{"by the budget", harness.Compaction{On: true}, budget.Limits{InputTokens: 220_000}, 0, harness.ReasonUnverified, 1, 20, 100_000},
		{"not by the same budget", harness.Compaction{}, budget.Limits{InputTokens: 220_000}, 0, harness.ReasonBudgetInputTokens, 0, 0, 100_000},
		{"by an overflow", harness.Compaction{On: true}, budget.Limits{}, 6_000, harness.ReasonUnverified, 2, 20, 6_000},
		{"not by an overflow", harness.Compaction{}, budget.Limits{}, 6_000, harness.ReasonModelError, 0, 0, 6_000},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &reader{reads: 30, context: x.full}
				r := newRig(t, m, mapTool(2000))
				r.cfg.Compaction, r.cfg.AcceptanceRounds, r.goal.Budget = x.set, -1, x.limits
				res := r.run()
				want(t, res, x.reason)
				n := compactions(r.events())
				peak := uint64(0)
				for _, s := range m.sizes {
					peak = max(peak, s)
				}
				if n < x.least || n > x.most || peak > x.peak {
					t.Errorf("%d compactions, want %d to %d; the longest request has %d tokens, want at most %d", n, x.least, x.most, peak, x.peak)
				}
				if l := x.limits.InputTokens; l > 0 && res.Usage.InputTokens > l {
					t.Errorf("%d of %d input tokens used", res.Usage.InputTokens, l)
				}
				rebuilt, err := harness.Requests(r.events())
				if err != nil {
					t.Fatal(err)
				}
				i := 0
				for _, q := range rebuilt { // those that overflowed are there, too
					if i < len(m.seen) && bytes.Equal(requestBytes(t, q), requestBytes(t, m.seen[i])) {
						i++
					}
				}
				if i != len(m.seen) || len(rebuilt) != len(m.seen)+m.overflow {
					t.Errorf("%d of %d requests are rebuilt", i, len(m.seen))
				}
			})
		})
	}
}

// Between two compactions each request begins with the bytes of the one before it, so that prompt caches hit.
func TestPrefixesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &reader{reads: 30}
		r := newRig(t, m, mapTool(2000))
		r.cfg.Compaction, r.cfg.AcceptanceRounds = harness.Compaction{On: true, ContextTokens: 12_000}, -1
		r.run()
		broken := 0
		for i := 1; i < len(m.seen); i++ {
			before, now := m.seen[i-1].Messages, m.seen[i].Messages
			if len(now) <= len(before) || !bytes.Equal(requestBytes(t, model.Request{Messages: now[:len(before)]}), requestBytes(t, model.Request{Messages: before})) {
				broken++
			}
		}
		if n := compactions(r.events()); broken != n || n == 0 {
			t.Errorf("%d prefixes changed, %d compactions", broken, n)
		}
	})
}

// A history of which nothing can be left out is not made shorter again and again: the endpoint's error ends the session.
func TestCompactionsThatFreeNothingEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := newRig(t, modelFunc(func(context.Context, model.Request) (model.Response, error) {
			asked++
			if asked <= 2 {
				return calls(call("get_map", fmt.Sprintf(`{"n":%d}`, asked))), nil
			}
			return model.Response{}, fmt.Errorf("400: %w", model.ErrContextOverflow)
		}), mapTool(5000))
		r.cfg.Compaction = harness.Compaction{On: true, ContextTokens: 5000}
		res := r.run()
		want(t, res, harness.ReasonModelError)
		if asked != 3 || compactions(r.events()) != 0 {
			t.Errorf("asked %d times, %d compactions", asked, compactions(r.events()))
		}
	})
}

// What is not met yet is in the summary, and the evidence of what was summed up still counts.
func TestSummariesKeepWhatCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		var summary string
		r := newRig(t, modelFunc(func(_ context.Context, q model.Request) (model.Response, error) {
			n++
			for _, m := range q.Messages {
				if strings.Contains(m.Content, "Not found to hold yet") {
					summary = m.Content
				}
			}
			switch {
			case n == 1:
				return calls(call("declare_criteria", `{"criteria":["cel: get_battery().percent > 10.0"]}`), callID("b", "get_battery", `{}`)), nil
			case n < 20:
				return calls(call("get_map", fmt.Sprintf(`{"n":%d}`, n))), nil
			}
			return finish("87.4 %", "b"), nil
		}), append(newRobot().tools(), mapTool(2000))...)
		r.cfg.Compaction = harness.Compaction{On: true, ContextTokens: 10_000}
		want(t, r.run(), harness.ReasonAccepted)
		if !strings.Contains(summary, "- cel: get_battery().percent > 10.0\n") || !strings.Contains(summary, "- get_battery (call b): ") {
			t.Errorf("the summary is %q", summary)
		}
	})
}
