package harness_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// busy is a model that calls the calculator for ever, with other numbers each time, and reports the given usage.
func busy(u model.Usage) (m modelFunc, sampled *[]model.Request) {
	sampled = &[]model.Request{}
	return func(_ context.Context, r model.Request) (model.Response, error) {
		*sampled = append(*sampled, r)
		x := calls(call("calculator", fmt.Sprintf(`{"a":%d,"b":7}`, len(*sampled))))
		x.Usage = u
		return x, nil
	}, sampled
}

// Each dimension alone ends the session with what was done so far, and is never exceeded.
func TestEachBudgetEndsTheSessionWithPartialResults(t *testing.T) {
	usage := model.Usage{InputTokens: 1000, OutputTokens: 100, Known: true}
	for _, x := range []struct {
		name   string
		limits budget.Limits
		prices budget.Prices
		reason harness.Reason
		steps  int
	}{
		{"steps", budget.Limits{Steps: 4}, budget.Prices{}, harness.ReasonBudgetSteps, 4},
		{"tool calls", budget.Limits{ToolCalls: 3}, budget.Prices{}, harness.ReasonBudgetToolCalls, 3},
		{"input tokens", budget.Limits{InputTokens: 12_000}, budget.Prices{}, harness.ReasonBudgetInputTokens, -1},
		{"output tokens", budget.Limits{OutputTokens: 300}, budget.Prices{}, harness.ReasonBudgetOutputTokens, 3},
		{"cost", budget.Limits{Cost: 0.1}, budget.Prices{Input: 10, Output: 30}, harness.ReasonBudgetCost, -1},
	} {
		t.Run(x.name, func(t *testing.T) {
			m, sampled := busy(usage)
			calc := calculator()
			r := newRig(t, m, calc)
			r.cfg.Prices = x.prices
			r.goal.Budget = x.limits
			res := r.run()
			want(t, res, x.reason)
			if len(res.Steps) == 0 || x.steps >= 0 && len(res.Steps) != x.steps {
				t.Errorf("%d steps, want %d", len(res.Steps), x.steps)
			}
			if len(*sampled) != len(res.Steps) || calc.count() != len(res.Steps) {
				t.Errorf("%d samples and %d executions for %d steps", len(*sampled), calc.count(), len(res.Steps))
			}
			if len(res.UnmetGoals) != 1 || res.UnmetGoals[0] != r.goal.Task {
				t.Errorf("unmet goals %q", res.UnmetGoals)
			}
			checkWithin(t, x.limits, res.Usage)
			if !strings.Contains(res.Answer, strings.TrimPrefix(string(x.reason), "budget_")) {
				t.Errorf("the answer does not name the dimension: %s", res.Answer)
			}
		})
	}
}

func checkWithin(t testing.TB, l budget.Limits, u budget.Usage) {
	t.Helper()
	if l.Steps > 0 && u.Steps > l.Steps || l.ToolCalls > 0 && u.ToolCalls > l.ToolCalls || l.InputTokens > 0 && u.InputTokens > l.InputTokens ||
		l.OutputTokens > 0 && u.OutputTokens > l.OutputTokens || l.Cost > 0 && u.Cost > l.Cost || l.WallTime > 0 && u.WallTime > l.WallTime {
		t.Errorf("usage %+v exceeds %+v", u, l)
	}
}

func TestWallTimeEndsASessionThatOnlyThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := modelFunc(func(ctx context.Context, r model.Request) (model.Response, error) {
			select {
			case <-time.After(4 * time.Second):
				return calls(call("calculator", fmt.Sprintf(`{"a":%d,"b":7}`, len(r.Messages)))), nil
			case <-ctx.Done():
				return model.Response{}, context.Cause(ctx)
			}
		})
		r := newRig(t, m, calculator())
		r.goal.Budget.WallTime = 10 * time.Second
		start := time.Now()
		res := r.run()
		want(t, res, harness.ReasonBudgetWallTime)
		if d := time.Since(start); d != 10*time.Second || len(res.Steps) != 2 {
			t.Fatalf("took %v, %d steps", d, len(res.Steps))
		}
	})
}

// A motion is stopped so early that cancel and stop still fit into the wall time.
func TestWallTimeIsEnforcedDuringMotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		var ended time.Time
		var deadline time.Time
		rob.navigate.do = func(ctx context.Context, c tool.Call) tool.Result {
			deadline = c.Deadline
			<-ctx.Done()
			ended = time.Now()
			time.Sleep(3 * time.Second) // to rest
			return tool.Result{ErrorKind: tool.Canceled, Content: "stopped on the way"}
		}
		r := newRig(t, &answers{list: []model.Response{calls(call("navigate_to", `{"place":"kitchen"}`))}}, rob.tools()...)
		stopped := 0
		r.cfg.Stop = func(ctx context.Context, _ string) error { stopped++; return ctx.Err() }
		r.goal.Budget.WallTime = 20 * time.Second
		start := time.Now()
		res := r.run()
		want(t, res, harness.ReasonBudgetWallTime)
		wantStep(t, res, 0, tool.Canceled)
		if !deadline.Equal(start.Add(13*time.Second)) || !ended.Equal(deadline) || time.Since(start) > 20*time.Second || stopped != 1 {
			t.Fatalf("deadline %v, ended %v, all %v, %d stops", deadline.Sub(start), ended.Sub(start), time.Since(start), stopped)
		}
	})
}

func TestNoSkillBeginsWithLessThanTheStopReserve(t *testing.T) {
	rob := newRobot()
	r := newRig(t, &answers{list: []model.Response{calls(call("get_battery", `{}`)), calls(call("navigate_to", `{"place":"kitchen"}`))}}, rob.tools()...)
	r.goal.Budget.WallTime = 6 * time.Second
	res := r.run()
	want(t, res, harness.ReasonBudgetWallTime)
	wantStep(t, res, 1, tool.Canceled)
	if rob.navigate.count() != 0 {
		t.Fatal("the skill began")
	}
}

func TestBatchBeyondTheCallBudgetIsNotBegun(t *testing.T) {
	calc := calculator()
	c := call("calculator", `{"a":1,"b":2}`)
	r := newRig(t, &answers{list: []model.Response{calls(c, c), calls(c, c, c, c, c, c, c, c)}}, calc)
	r.goal.Budget.ToolCalls = 6
	res := r.run()
	want(t, res, harness.ReasonBudgetToolCalls)
	if calc.count() != 2 || res.Usage.ToolCalls != 2 {
		t.Fatalf("%d executions, %d counted", calc.count(), res.Usage.ToolCalls)
	}
}

func TestOutputCapIsTheSmallerOfTheModelsAndWhatIsLeft(t *testing.T) {
	m, sampled := busy(model.Usage{InputTokens: 10, OutputTokens: 400, Known: true})
	r := newRig(t, m, calculator())
	r.cfg.MaxOutputTokens = 500
	r.goal.Budget.OutputTokens = 1000
	want(t, r.run(), harness.ReasonBudgetOutputTokens)
	var caps []uint64
	for _, s := range *sampled {
		caps = append(caps, s.MaxOutputTokens)
	}
	if fmt.Sprint(caps) != "[500 500 200]" {
		t.Fatalf("caps %v", caps)
	}
}

// An endpoint that ignores its cap: its answer is paid for, and its calls are not carried out.
func TestAnswerBeyondTheBudgetIsNotCarriedOut(t *testing.T) {
	for _, u := range []model.Usage{
		{InputTokens: 10, OutputTokens: 5000, Known: true},
		{InputTokens: math.MaxUint64, OutputTokens: math.MaxUint64, Known: true},
	} {
		m, _ := busy(u)
		calc := calculator()
		r := newRig(t, m, calc)
		r.goal.Budget.OutputTokens = 1000
		res := r.run()
		if res.Outcome != harness.BudgetExhausted || calc.count() != 0 || res.Usage.OutputTokens != u.OutputTokens {
			t.Fatalf("ended as %s, %d executions, usage %+v", res.Reason, calc.count(), res.Usage)
		}
	}
}

func TestUnknownUsageIsEstimated(t *testing.T) {
	m, sampled := busy(model.Usage{})
	r := newRig(t, m, calculator())
	r.goal.Budget.Steps = 3
	res := r.run()
	if res.Usage.InputTokens == 0 || res.Usage.OutputTokens == 0 {
		t.Fatalf("usage %+v", res.Usage)
	}
	*sampled = nil
	r.goal.Session, r.goal.Budget = "s2", budget.Limits{InputTokens: 10}
	res = r.run()
	want(t, res, harness.ReasonBudgetInputTokens)
	if len(*sampled) != 0 {
		t.Fatal("a request that cannot fit was sent")
	}
}

func TestCutOffAnswerEndsTheBudgetThatCutIt(t *testing.T) {
	cut := says("The battery is at")
	cut.Finish = model.FinishLength
	cut.Usage = model.Usage{InputTokens: 100, OutputTokens: 50, Known: true}
	r := newRig(t, &answers{list: []model.Response{cut}}, calculator())
	r.goal.Budget.OutputTokens = 50
	want(t, r.run(), harness.ReasonBudgetOutputTokens)

	r = newRig(t, &answers{list: []model.Response{cut}}, calculator())
	r.cfg.Prices = budget.Prices{Input: 1, Output: 1000}
	r.goal.Budget.Cost = 0.06
	want(t, r.run(), harness.ReasonBudgetCost)
}

func TestModelIsToldWhenLittleIsLeft(t *testing.T) {
	m, sampled := busy(model.Usage{})
	r := newRig(t, m, calculator())
	r.goal.Budget.Steps = 20
	r.run()
	notes := 0
	for _, msg := range (*sampled)[19].Messages {
		if msg.Role == model.RoleUser && strings.HasPrefix(msg.Content, model.HarnessPrefix+"Little is left of the budget of steps") {
			notes++
		}
	}
	if notes != 2 { // at a quarter and at a tenth
		t.Fatalf("%d notes", notes)
	}
}

func TestGoalBudgetIsCutToTheMaxima(t *testing.T) {
	m, sampled := busy(model.Usage{})
	r := newRig(t, m, calculator())
	r.cfg.Maxima = budget.Limits{Steps: 5}
	r.goal.Budget.Steps = 5000
	want(t, r.run(), harness.ReasonBudgetSteps)
	if len(*sampled) != 5 {
		t.Fatalf("%d samples", len(*sampled))
	}
}
