package harness_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/workflow"
)

// What is unmet is what was not found to hold: no more, no less, and nothing twice.
func TestUnmetGoals(t *testing.T) {
	goTo := func(place string) model.Response { return calls(call("navigate_to", `{"place":"`+place+`"}`)) }
	stage := func(id, place string, gate ...string) workflow.Step {
		return workflow.Step{ID: id, Tool: "navigate_to", Arguments: json.RawMessage(`{"place":"` + place + `"}`), Acceptance: gate}
	}
	for _, x := range []struct {
		name    string
		answers []model.Response
		steps   uint32
		set     func(*harness.Goal, *robot)
		reason  harness.Reason
		unmet   []string
	}{
		{
			"a skill that held is met, so that the task alone is left",
			[]model.Response{goTo("kitchen"), goTo("office")},
			1, nil, harness.ReasonBudgetSteps,
			[]string{"do it"},
		},
		{
			"a verdict is void once a skill began behind it",
			[]model.Response{goTo("kitchen"), finish("there"), goTo("office")},
			3, func(g *harness.Goal, _ *robot) { g.Criteria = []string{"at_place(kitchen)", "at_place(dock)"} }, harness.ReasonBudgetSteps,
			[]string{"at_place(kitchen)", "at_place(dock)"},
		},
		{
			"a verdict counts as long as nothing moved",
			[]model.Response{goTo("kitchen"), finish("there"), askBattery},
			3, func(g *harness.Goal, _ *robot) {
				g.Criteria = []string{" at_place(kitchen) ", "at_place(dock)", "at_place(dock)"}
			}, harness.ReasonBudgetSteps,
			[]string{"at_place(dock)"},
		},
		{
			"a skill that failed leaves its postcondition",
			[]model.Response{goTo("kitchen"), {Text: "it cannot be done", Finish: model.FinishInfeasible}},
			9, func(_ *harness.Goal, r *robot) { r.fails["kitchen"] = tool.ServerFailed }, harness.ReasonInfeasible,
			[]string{"at_place(kitchen)"},
		},
		{
			"a gate that does not hold is named beside the plan's criteria",
			nil, 9, func(g *harness.Goal, _ *robot) {
				g.Plan = &workflow.Plan{Steps: []workflow.Step{stage("a", "kitchen", "at_place(office)"), stage("b", "office")}, SuccessCriteria: []string{"at_place(dock)"}}
			}, harness.ReasonUnverified,
			[]string{"at_place(office)", "at_place(dock)"},
		},
		{
			"a gate that held says nothing about the end",
			nil, 1, func(g *harness.Goal, _ *robot) {
				g.Plan = &workflow.Plan{Steps: []workflow.Step{stage("a", "kitchen", "at_place(kitchen)"), stage("b", "office")}}
				g.Criteria = []string{"at_place(kitchen)"}
			}, harness.ReasonBudgetSteps,
			[]string{"at_place(kitchen)"},
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rob := newRobot()
				list := x.answers
				if list == nil {
					list = []model.Response{says("unused")}
				}
				r := newRig(t, &answers{list: list}, rob.tools()...)
				r.goal.Budget.Steps = x.steps
				if x.set != nil {
					x.set(&r.goal, rob)
				}
				res := r.run()
				want(t, res, x.reason)
				if !slices.Equal(res.UnmetGoals, x.unmet) {
					t.Errorf("unmet %q, want %q", res.UnmetGoals, x.unmet)
				}
			})
		})
	}
}
