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
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/workflow"
)

// stepsOf makes a plan of calls.
func stepsOf(steps ...workflow.Step) *workflow.Plan { return &workflow.Plan{Steps: steps} }

func stage(id, tool, args string, after ...string) workflow.Step {
	return workflow.Step{ID: id, Tool: tool, Arguments: json.RawMessage(args), DependsOn: after}
}

func TestUnsoundPlansAreRefusedBeforeAnythingMoves(t *testing.T) {
	for name, c := range map[string]struct {
		plan *workflow.Plan
		want string
	}{
		"empty":           {stepsOf(), "empty"},
		"self":            {stepsOf(stage("a", "wait", `{"seconds":0}`, "a")), "cycle"},
		"cycle":           {stepsOf(stage("a", "wait", `{"seconds":0}`, "b"), stage("b", "wait", `{"seconds":0}`, "a")), "cycle"},
		"unknown tool":    {stepsOf(stage("a", " wait", `{"seconds":0}`)), "unknown_tool"},
		"unknown step":    {stepsOf(stage("a", "wait", `{"seconds":0}`, "z")), "unknown_dependency"},
		"duplicate":       {stepsOf(stage("a", "wait", `{"seconds":0}`), stage("a", "wait", `{"seconds":0}`)), "duplicate_id"},
		"arguments":       {stepsOf(stage("a", "wait", `{"seconds":"0"}`)), "invalid_arguments"},
		"control":         {stepsOf(stage("a", "finish", `{"answer":"x"}`)), "not_a_stage"},
		"bad criterion":   {&workflow.Plan{Steps: []workflow.Step{{ID: "a", Tool: "wait", Arguments: json.RawMessage(`{"seconds":0}`), Acceptance: []string{"nonsense"}}}}, "bad_criterion"},
		"no description":  {stepsOf(workflow.Step{ID: "a"}), "not_a_stage"},
		"thousand stages": {&workflow.Plan{Steps: make([]workflow.Step, 1000)}, "too_long"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanWorld(t)
			r := w.run(t, harness.Goal{Plan: c.plan})
			if r.Reason != harness.ReasonBadRequest || !strings.Contains(r.Answer, c.want) {
				t.Errorf("%s: %s", r.Reason, r.Answer)
			}
			if w.moved != 0 {
				t.Errorf("%d skills ran", w.moved)
			}
		})
	}
}

// A stage that is canceled from outside has not failed: the plan ends with the interrupt's reason.
func TestACanceledStageIsNoFailure(t *testing.T) {
	for name, plan := range map[string]*workflow.Plan{
		"alone":        stepsOf(stage("a", "wait", `{"seconds":9}`)),
		"with another": stepsOf(stage("a", "wait", `{"seconds":9}`), stage("b", "wait", `{"seconds":1}`)),
		"then another": stepsOf(stage("a", "wait", `{"seconds":9}`), stage("b", "wait", `{"seconds":1}`, "a")),
	} {
		t.Run(name, func(t *testing.T) {
			w := newPlanWorld(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			w.cancel = func() { cancel(harness.Interrupt{Reason: harness.ReasonCanceled, Message: "by a client"}) }
			r := w.h.Run(ctx, harness.Goal{Session: "plan", Plan: plan}, nil)
			if r.Outcome != harness.Interrupted || r.Reason != harness.ReasonCanceled {
				t.Errorf("%v, %s: %s", r.Outcome, r.Reason, r.Answer)
			}
		})
	}
}

func TestAPlanIsExecutedByItsDependencies(t *testing.T) {
	w := newPlanWorld(t)
	r := w.run(t, harness.Goal{Plan: stepsOf(stage("c", "wait", `{"seconds":3}`, "a", "b"), stage("b", "wait", `{"seconds":2}`, "a"), stage("a", "wait", `{"seconds":1}`))})
	if r.Outcome != harness.Done || strings.Join(w.order, " ") != "1 2 3" {
		t.Errorf("%s %s: %v", r.Reason, r.Answer, w.order)
	}
	if r.Usage.Steps != 3 || r.Usage.ToolCalls != 3 {
		t.Errorf("usage %+v, wanted a step and a call a stage", r.Usage)
	}
}

func TestAGateStopsThePlan(t *testing.T) {
	w := newPlanWorld(t)
	p := stepsOf(stage("a", "wait", `{"seconds":1}`), stage("b", "wait", `{"seconds":2}`, "a"))
	p.Steps[0].Acceptance = []string{"holds(no)"}
	r := w.run(t, harness.Goal{Plan: p})
	if r.Reason != harness.ReasonUnverified || !strings.Contains(r.Answer, "gate of stage a") || len(w.order) != 1 {
		t.Errorf("%s %s: %v", r.Reason, r.Answer, w.order)
	}
	if len(r.UnmetGoals) == 0 {
		t.Error("no unmet goal is named")
	}
}

func TestAFailedStageIsNamed(t *testing.T) {
	w := newPlanWorld(t)
	r := w.run(t, harness.Goal{Plan: stepsOf(stage("first", "wait", `{"seconds":-1}`), stage("second", "wait", `{"seconds":2}`, "first"))})
	if r.Outcome != harness.Failed || !strings.Contains(r.Answer, "stage first failed") || len(w.order) != 0 {
		t.Errorf("%s %s: %v", r.Reason, r.Answer, w.order)
	}
}

func TestAnAgentStageHasAShareOfTheBudget(t *testing.T) {
	w := newPlanWorld(t)
	p := stepsOf(workflow.Step{ID: "think", Description: "wait one second"}, stage("b", "wait", `{"seconds":2}`, "think"))
	r := w.run(t, harness.Goal{Plan: p})
	if r.Outcome != harness.Done || strings.Join(w.order, " ") != "1 2" {
		t.Errorf("%s %s: %v", r.Reason, r.Answer, w.order)
	}
}

// A plan that only reads is a question: what it read is its answer, and its evidence.
func TestAPlanThatOnlyReadsStandsOnWhatItRead(t *testing.T) {
	w := newPlanWorld(t)
	r := w.run(t, harness.Goal{Plan: stepsOf(stage("s7", "holds", `{"what":"yes 42"}`))})
	if r.Outcome != harness.Done || !strings.Contains(r.Answer, "holds: {}") || strings.Contains(r.Answer, "7") {
		t.Errorf("%s %s", r.Reason, r.Answer)
	}
}

// Readings that are the same again and again are no circle: nobody but the plan asked for them.
func TestAPlanOfEqualReadingsIsNotStuck(t *testing.T) {
	for _, chained := range []bool{false, true} {
		var steps []workflow.Step
		for i := range 30 {
			s := stage(fmt.Sprintf("s%d", i), "holds", `{"what":"yes"}`)
			if chained && i > 0 {
				s.DependsOn = []string{steps[i-1].ID}
			}
			steps = append(steps, s)
		}
		w := newPlanWorld(t)
		if r := w.run(t, harness.Goal{Plan: stepsOf(steps...)}); r.Outcome != harness.Done || len(r.Steps) != len(steps) {
			t.Errorf("chained %t: %s after %d calls: %s", chained, r.Reason, len(r.Steps), r.Answer)
		}
	}
}

// Stages next to each other run at once where nothing forbids it: not the profile, not a dependency, not an agent's stage between.
func TestStagesThatRunTogether(t *testing.T) {
	for _, x := range []struct {
		name   string
		plan   *workflow.Plan
		limits budget.Limits
		took   time.Duration
		reason harness.Reason
		steps  uint32
	}{
		{"two actuators", stepsOf(stage("a", "drive", `{}`), stage("b", "grip", `{}`)), budget.Limits{}, 6 * time.Second, harness.ReasonUnverified, 2},
		{"one depends on the other", stepsOf(stage("a", "drive", `{}`), stage("b", "grip", `{}`, "a")), budget.Limits{}, 10 * time.Second, harness.ReasonUnverified, 2},
		{"both depend on a third", stepsOf(stage("a", "reach", `{}`), stage("b", "drive", `{}`, "a"), stage("c", "grip", `{}`, "a")), budget.Limits{}, 8 * time.Second, harness.ReasonUnverified, 3},
		{"what reads", stepsOf(stage("a", "look", `{}`), stage("b", "listen", `{}`), stage("c", "check", `{}`)), budget.Limits{}, 5 * time.Second, harness.ReasonAccepted, 3},
		{"the same actuator", stepsOf(stage("a", "drive", `{}`), stage("b", "turn", `{}`)), budget.Limits{}, 8 * time.Second, harness.ReasonUnverified, 2},
		{"no more than the steps that are left", stepsOf(stage("a", "drive", `{}`), stage("b", "grip", `{}`)), budget.Limits{Steps: 1}, 6 * time.Second, harness.ReasonBudgetSteps, 1},
		{"nor than the calls", stepsOf(stage("a", "drive", `{}`), stage("b", "grip", `{}`)), budget.Limits{ToolCalls: 1}, 6 * time.Second, harness.ReasonBudgetToolCalls, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &timeline{beside: map[string]bool{}}
				r := newRig(t, ends(says("unused")), toolsOf(crew(l))...)
				r.goal.Plan, r.goal.Budget = x.plan, x.limits
				begun := time.Now()
				res := r.run()
				want(t, res, x.reason)
				if took := time.Since(begun); took != x.took || res.Usage.Steps != x.steps {
					t.Errorf("%v, %d steps; want %v, %d", took, res.Usage.Steps, x.took, x.steps)
				}
			})
		})
	}
}

// Every stage that failed beside others is named, and nothing behind them begins.
func TestStagesThatFailTogetherAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &timeline{beside: map[string]bool{}}
		list := crew(l)
		list[3].do = l.slow(list[3].spec, time.Second, tool.Result{ErrorKind: tool.ServerUnavailable, Content: "no navigator"}).do
		list[5].do = l.slow(list[5].spec, 2*time.Second, tool.Result{ErrorKind: tool.ServerFailed, Content: "no grip"}).do
		r := newRig(t, ends(says("unused")), toolsOf(list)...)
		r.goal.Plan = stepsOf(stage("a", "drive", `{}`), stage("b", "grip", `{}`), stage("c", "reach", `{}`))
		res := r.run()
		want(t, res, harness.ReasonDependencyLost)
		if !strings.Contains(res.Answer, "stage a failed") || !strings.Contains(res.Answer, "stage b failed") || list[6].count() != 0 {
			t.Errorf("%s; behind them %d", res.Answer, list[6].count())
		}
	})
}

// planWorld is a tool that waits (and counts), and a check that says what it is told.
type planWorld struct {
	moved  int
	order  []string
	cancel func() // called by a wait of 9 seconds, which then ends as canceled
	h      *harness.Harness
}

func newPlanWorld(t *testing.T) *planWorld {
	t.Helper()
	w := &planWorld{}
	wait := &fake{
		spec: tool.Spec{Name: "wait", Class: tool.Skill, Validated: true, Parameters: object(`"seconds":{"type":"number"}`, "seconds")},
		do: func(_ context.Context, c tool.Call) tool.Result {
			var a struct{ Seconds float64 }
			if err := json.Unmarshal(c.Arguments, &a); err != nil || a.Seconds < 0 {
				return tool.Result{ErrorKind: tool.GeometryRefused, Content: "rule range: seconds"}
			}
			w.moved++
			w.order = append(w.order, fmt.Sprint(a.Seconds))
			if a.Seconds == 9 {
				w.cancel()
				return tool.Result{ErrorKind: tool.Canceled, Content: "at rest"}
			}
			return tool.Result{OK: true, Content: "{}", Postconditions: []string{"holds(yes)"}}
		},
	}
	holds := &fake{
		spec: tool.Spec{Name: "holds", Class: tool.Verify, Parameters: object(`"what":{"type":"string"}`, "what")},
		do: func(_ context.Context, c tool.Call) tool.Result {
			return tool.Result{OK: true, Content: "{}", Passed: strings.Contains(string(c.Arguments), "yes")}
		},
	}
	table, err := tool.NewTable(wait, holds)
	if err != nil {
		t.Fatal(err)
	}
	m := &answers{list: []model.Response{calls(call("wait", `{"seconds":1}`)), finish("waited")}}
	w.h, err = harness.New(harness.Config{
		Model: m, Tools: table, Policy: policy.Policy{Classes: map[tool.Class]policy.Permission{tool.Skill: policy.Allow}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *planWorld) run(t *testing.T, g harness.Goal) harness.Result {
	t.Helper()
	g.Session = "plan"
	return w.h.Run(t.Context(), g, nil)
}
