package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

func calculator() *fake {
	return &fake{
		spec: tool.Spec{
			Name: "calculator", Class: tool.Query, Description: "Multiplies.", Source: "arithmetic",
			Parameters: object(`"a":{"type":"number"},"b":{"type":"number"}`, "a", "b"),
		},
		do: func(_ context.Context, c tool.Call) tool.Result {
			var x struct{ A, B float64 }
			if err := json.Unmarshal(c.Arguments, &x); err != nil {
				return tool.Result{ErrorKind: tool.Failed, Content: err.Error()}
			}
			return tool.Result{OK: true, Content: fmt.Sprintf(`{"product":%v}`, x.A*x.B)}
		},
	}
}

// The classic smallest agent: one question, one tool, one answer with its evidence.
func TestClassicAgentAnswersWithEvidence(t *testing.T) {
	calc := calculator()
	r := newRig(t, &answers{list: []model.Response{
		calls(callID("c1", "calculator", `{"a":12,"b":7}`)),
		finish("12 times 7 is 84.", "c1"),
	}}, calc)
	r.goal.Task = "What is 12 x 7?"
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if res.Answer != "12 times 7 is 84." || calc.count() != 1 {
		t.Fatalf("answer %q after %d calls", res.Answer, calc.count())
	}
	if s := res.Steps[0]; s.Content != `{"product":84}` || s.CallID != "c1" || s.Source != "arithmetic" {
		t.Fatalf("step %+v", s)
	}
}

// And its siblings.
func TestClassicAgentGoneWrong(t *testing.T) {
	t.Run("unknown tool", func(t *testing.T) {
		r := newRig(t, &answers{list: []model.Response{calls(call("abacus", `{"a":12,"b":7}`))}}, calculator())
		res := r.run()
		want(t, res, harness.ReasonToolMissing)
		wantStep(t, res, 0, tool.UnknownTool)
		if !strings.Contains(res.Steps[0].Content, "calculator") {
			t.Fatalf("the observation names no tool that exists: %s", res.Steps[0].Content)
		}
	})
	t.Run("a word for a number", func(t *testing.T) {
		calc := calculator()
		r := newRig(t, &answers{list: []model.Response{calls(call("calculator", `{"a":"twelve","b":7}`))}}, calc)
		res := r.run()
		want(t, res, harness.ReasonValidationRepeated)
		wantStep(t, res, 0, tool.InvalidArguments)
		if !strings.Contains(res.Steps[0].Content, "/a") || calc.count() != 0 {
			t.Fatalf("%d executions, observation %s", calc.count(), res.Steps[0].Content)
		}
	})
	t.Run("a word, then the number", func(t *testing.T) {
		r := newRig(t, &answers{list: []model.Response{
			calls(callID("c1", "calculator", `{"a":"twelve","b":7}`)),
			calls(callID("c2", "calculator", `{"a":12,"b":7}`)),
			finish("84", "c2"),
		}}, calculator())
		want(t, r.run(), harness.ReasonAccepted)
	})
	t.Run("a tool that panics", func(t *testing.T) {
		calc := calculator()
		calc.do = func(context.Context, tool.Call) tool.Result { panic("division by zero") }
		r := newRig(t, &answers{list: []model.Response{calls(call("calculator", `{"a":12,"b":7}`)), finish("84")}}, calc)
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		wantStep(t, res, 0, tool.Failed)
		if !strings.Contains(res.Steps[0].Content, "division by zero") {
			t.Fatalf("observation %s", res.Steps[0].Content)
		}
	})
	t.Run("a tool that hangs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calc := calculator()
			calc.spec.TimeLimit = 3 * time.Second
			release := make(chan struct{})
			calc.do = func(context.Context, tool.Call) tool.Result {
				<-release // deaf to its context
				return tool.Result{OK: true, Content: "84"}
			}
			r := newRig(t, &answers{list: []model.Response{calls(call("calculator", `{"a":12,"b":7}`)), finish("84")}}, calc)
			start := time.Now()
			res := r.run()
			want(t, res, harness.ReasonUnverified)
			wantStep(t, res, 0, tool.Timeout)
			if d := time.Since(start); d > 5*time.Second {
				t.Fatalf("took %v", d)
			}
			close(release)
			synctest.Wait()
		})
	})
	t.Run("a tool that obeys its time limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calc := calculator()
			calc.spec.TimeLimit = 3 * time.Second
			calc.do = func(ctx context.Context, _ tool.Call) tool.Result {
				<-ctx.Done()
				return tool.Result{Content: "gave up"}
			}
			r := newRig(t, &answers{list: []model.Response{calls(call("calculator", `{"a":12,"b":7}`)), finish("84")}}, calc)
			res := r.run()
			wantStep(t, res, 0, tool.Timeout)
		})
	})
	t.Run("a model that never stops", func(t *testing.T) {
		n := 0
		m := modelFunc(func(context.Context, model.Request) (model.Response, error) {
			n++
			return calls(call("calculator", fmt.Sprintf(`{"a":%d,"b":7}`, n))), nil
		})
		calc := calculator()
		r := newRig(t, m, calc)
		r.goal.Budget.Steps = 20
		res := r.run()
		want(t, res, harness.ReasonBudgetSteps)
		if n != 20 || calc.count() != 20 || len(res.Steps) != 20 {
			t.Fatalf("%d samples, %d executions, %d steps", n, calc.count(), len(res.Steps))
		}
	})
	t.Run("done at once", func(t *testing.T) {
		for _, m := range []*answers{{list: []model.Response{says("done")}}, {list: []model.Response{finish("done")}}} {
			r := newRig(t, m, calculator())
			res := r.run()
			want(t, res, harness.ReasonUnverified)
			if m.samples() != 3 { // the answer, and two more rounds
				t.Fatalf("%d samples", m.samples())
			}
		}
	})
	t.Run("a number that no observation holds", func(t *testing.T) {
		r := newRig(t, &answers{list: []model.Response{
			calls(callID("c1", "calculator", `{"a":12,"b":7}`)), finish("It is 85.", "c1"),
		}}, calculator())
		r.goal.Task = "What is 12 x 7?"
		want(t, r.run(), harness.ReasonUnverified)
	})
}
