package harness_test

import (
	"context"
	"errors"
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
)

// allReasons are the reason codes of the contract; the cases below reach each.
var allReasons = []harness.Reason{
	harness.ReasonAccepted, harness.ReasonUnverified, harness.ReasonDryRun, harness.ReasonToolMissing, harness.ReasonValidationRepeated,
	harness.ReasonPermissionDenied, harness.ReasonStuck, harness.ReasonModelError, harness.ReasonDependencyLost, harness.ReasonActuatorFault,
	harness.ReasonInfeasible, harness.ReasonBadRequest, harness.ReasonBudgetSteps, harness.ReasonBudgetToolCalls, harness.ReasonBudgetInputTokens,
	harness.ReasonBudgetOutputTokens, harness.ReasonBudgetWallTime, harness.ReasonBudgetCost, harness.ReasonCanceled, harness.ReasonOperatorStop,
	harness.ReasonEmergencyStop, harness.ReasonPreempted, harness.ReasonClientLost, harness.ReasonUpstreamTimeout, harness.ReasonWatchdog,
	harness.ReasonShutdown,
}

type reasonCase struct {
	name   string
	reason harness.Reason
	model  model.Model
	set    func(r *rig, rob *robot)
}

// interrupted is a goal whose context ends with that cause during the first motion.
func interrupted(reason harness.Reason) reasonCase {
	return reasonCase{string(reason), reason, &answers{list: []model.Response{goKitchen}}, func(r *rig, rob *robot) {
		ctx, cancel := context.WithCancelCause(r.ctx)
		r.ctx = ctx
		rob.navigate.do = func(ctx context.Context, _ tool.Call) tool.Result {
			cancel(harness.Interrupt{Reason: reason, Message: "from outside"})
			<-ctx.Done()
			return tool.Result{ErrorKind: tool.Canceled, Content: "at rest"}
		}
	}}
}

var (
	goKitchen  = calls(call("navigate_to", `{"place":"kitchen"}`))
	askBattery = calls(callID("b1", "get_battery", `{}`))
)

func ends(r ...model.Response) *answers { return &answers{list: r} }

func result(r tool.Result) func(*rig, *robot) {
	return func(_ *rig, rob *robot) { rob.navigate.do = fixed(r) }
}

func TestEveryReasonCode(t *testing.T) {
	nothing := func(*rig, *robot) {}
	infeasible := model.Response{Finish: model.FinishInfeasible, Text: "no such place"}
	stopAt := func(f model.FinishReason) model.Response { return model.Response{Finish: f, Text: "no"} }
	cases := []reasonCase{
		{"a motion with its postcondition", harness.ReasonAccepted, ends(goKitchen, finish("there")), nothing},
		{"a text as final answer", harness.ReasonAccepted, ends(goKitchen, says("there")), nothing},
		{"nothing done", harness.ReasonUnverified, ends(says("done")), nothing},
		{"dry run", harness.ReasonDryRun, ends(goKitchen, finish("would go")), func(r *rig, _ *robot) { r.goal.DryRun = true }},
		{"no such tool", harness.ReasonToolMissing, ends(calls(call("fly", `{}`))), nothing},
		{"invalid again and again", harness.ReasonValidationRepeated, ends(
			calls(call("navigate_to", `{}`)), calls(call("navigate_to", `{"place":1}`)), calls(call("navigate_to", `{"place":"moon"}`)),
			calls(call("navigate_to", `nonsense`)), calls(call("wait", `{}`))), nothing},
		{"denied", harness.ReasonPermissionDenied, ends(goKitchen), func(r *rig, _ *robot) {
			r.cfg.Policy = policy.Policy{Tools: map[string]policy.Permission{"navigate_to": policy.Deny}}
		}},
		{"denied, then given up", harness.ReasonPermissionDenied, ends(goKitchen, infeasible), func(r *rig, _ *robot) {
			r.cfg.Policy = policy.Policy{Tools: map[string]policy.Permission{"navigate_to": policy.Deny}}
		}},
		{"done in part, then denied, then given up", harness.ReasonPermissionDenied, ends(goKitchen, calls(call("wait", `{"seconds":1}`)), infeasible), func(r *rig, _ *robot) {
			r.cfg.Policy = policy.Policy{Tools: map[string]policy.Permission{"navigate_to": policy.Allow, "wait": policy.Deny}}
		}},
		{"refused by acceptance, then given up", harness.ReasonUnverified, ends(goKitchen, finish("there"), infeasible), func(r *rig, _ *robot) {
			r.goal.Criteria = []string{"at_place(office)"}
		}},
		{"denied, then an answer", harness.ReasonPermissionDenied, ends(goKitchen, says("I may not")), func(r *rig, _ *robot) {
			r.cfg.Policy = policy.Policy{Tools: map[string]policy.Permission{"navigate_to": policy.Deny}}
		}},
		{"not among the allowed tools", harness.ReasonPermissionDenied, ends(goKitchen), func(r *rig, _ *robot) { r.goal.AllowedTools = []string{"get_battery"} }},
		{"the same failure again and again", harness.ReasonStuck, ends(goKitchen), result(tool.Result{ErrorKind: tool.ServerRejected, Content: "rejected"})},
		{"the same question again and again", harness.ReasonStuck, ends(calls(call("get_battery", `{}`))), nothing},
		{"the model fails", harness.ReasonModelError, &answers{list: []model.Response{{}}, errs: map[int]error{0: errTest}}, nothing},
		{"the model panics", harness.ReasonModelError, modelFunc(func(context.Context, model.Request) (model.Response, error) { panic("no") }), nothing},
		{"the model declines", harness.ReasonModelError, ends(stopAt(model.FinishRefusal)), nothing},
		{"the endpoint filters", harness.ReasonModelError, ends(stopAt(model.FinishFilter)), nothing},
		{"always cut off", harness.ReasonModelError, ends(stopAt(model.FinishLength)), nothing},
		{"always empty", harness.ReasonModelError, ends(model.Response{Finish: model.FinishToolCalls}), nothing},
		{"no finish reason", harness.ReasonModelError, ends(model.Response{Calls: goKitchen.Calls}), nothing},
		{"the skill's server is gone", harness.ReasonDependencyLost, ends(goKitchen), result(tool.Result{ErrorKind: tool.ServerUnavailable, Content: "gone", DependencyLost: true})},
		{"gone, then given up", harness.ReasonDependencyLost, ends(goKitchen, infeasible), result(tool.Result{ErrorKind: tool.ServerUnavailable, DependencyLost: true})},
		{"the tool says so", harness.ReasonDependencyLost, ends(goKitchen), result(tool.Result{ErrorKind: tool.ServerFailed, Interrupt: "dependency_lost"})},
		{"the record cannot be opened", harness.ReasonDependencyLost, ends(goKitchen), func(r *rig, _ *robot) { r.cfg.Trace = brokenSink{}; r.sink = nil }},
		{"the actuator faults", harness.ReasonActuatorFault, ends(goKitchen), result(tool.Result{ErrorKind: tool.NotAtRest, Interrupt: "actuator_fault"})},
		{"an unknown interrupt", harness.ReasonActuatorFault, ends(goKitchen), result(tool.Result{ErrorKind: tool.NotAtRest, Interrupt: "accepted"})},
		{"no rest at the end", harness.ReasonActuatorFault, ends(says("done")), func(r *rig, _ *robot) {
			r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Time{}, errTest }
		}},
		{"the planner gives up", harness.ReasonInfeasible, ends(infeasible), nothing},
		{"no task", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Task = " \n" }},
		{"a bad session", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Session = "../x" }},
		{"a bad criterion", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Criteria = []string{"at_place(moon)"} }},
		{"nobody to ask", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Criteria = []string{"person: Is it clean?"} }},
		{"an unknown allowed tool", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.AllowedTools = []string{"fly"} }},
		{"a cost limit without prices", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Budget.Cost = 1 }},
		{"a negative wall time", harness.ReasonBadRequest, ends(says("done")), func(r *rig, _ *robot) { r.goal.Budget.WallTime = -1 }},
		{"steps", harness.ReasonBudgetSteps, ends(askBattery), func(r *rig, _ *robot) { r.goal.Budget.Steps = 1 }},
		{"tool calls", harness.ReasonBudgetToolCalls, ends(askBattery), func(r *rig, _ *robot) { r.goal.Budget.ToolCalls = 1 }},
		{"input tokens", harness.ReasonBudgetInputTokens, ends(askBattery), func(r *rig, _ *robot) { r.goal.Budget.InputTokens = 1 }},
		{"output tokens", harness.ReasonBudgetOutputTokens, ends(stopAt(model.FinishLength)), func(r *rig, _ *robot) { r.goal.Budget.OutputTokens = 2 }},
		{"wall time", harness.ReasonBudgetWallTime, ends(goKitchen), func(r *rig, _ *robot) { r.goal.Budget.WallTime = 2 * time.Second }},
		{"cost", harness.ReasonBudgetCost, ends(askBattery), func(r *rig, _ *robot) {
			r.cfg.Prices = budget.Prices{Input: 1000, Output: 1000}
			r.goal.Budget.Cost = 0.001
		}},
		{"the goal's deadline", harness.ReasonUpstreamTimeout, ends(goKitchen), func(r *rig, _ *robot) { r.goal.Deadline = time.Now().Add(3 * time.Second) }},
		{"the goal's deadline, over at the start", harness.ReasonUpstreamTimeout, ends(goKitchen), func(r *rig, _ *robot) { r.goal.Deadline = time.Now().Add(-time.Second) }},
		{"a plain cancel", harness.ReasonCanceled, ends(goKitchen), func(r *rig, _ *robot) {
			ctx, cancel := context.WithCancel(r.ctx)
			cancel()
			r.ctx = ctx
		}},
		{"an interrupt that claims success", harness.ReasonCanceled, ends(goKitchen), func(r *rig, _ *robot) {
			ctx, cancel := context.WithCancelCause(r.ctx)
			cancel(harness.Interrupt{Reason: harness.ReasonAccepted})
			r.ctx = ctx
		}},
		{"a tool that sees the e-stop", harness.ReasonEmergencyStop, ends(goKitchen), result(tool.Result{ErrorKind: tool.Canceled, Interrupt: "emergency_stop"})},
		interrupted(harness.ReasonCanceled), interrupted(harness.ReasonOperatorStop), interrupted(harness.ReasonEmergencyStop),
		interrupted(harness.ReasonPreempted), interrupted(harness.ReasonClientLost), interrupted(harness.ReasonUpstreamTimeout),
		interrupted(harness.ReasonWatchdog), interrupted(harness.ReasonShutdown),
	}
	seen := map[harness.Reason]bool{}
	for _, x := range cases {
		seen[x.reason] = true
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rob := newRobot()
				r := newRig(t, x.model, rob.tools()...)
				x.set(r, rob)
				res := r.run()
				want(t, res, x.reason)
				if last := r.news[len(r.news)-1]; last.State != map[harness.Outcome]harness.State{
					harness.Done: harness.StateDone, harness.Unverified: harness.StateUnverified,
				}[res.Outcome] && last.State != harness.StateFailed {
					t.Errorf("the last state is %s", last.State)
				}
				if res.Answer == "" {
					t.Error("no answer says why")
				}
			})
		})
	}
	for _, r := range allReasons {
		if !seen[r] {
			t.Errorf("no case ends as %s", r)
		}
	}
}

// A reason keeps its words when rest could not be measured.
func TestActuatorFaultKeepsTheFirstReason(t *testing.T) {
	synctest.Test(t, testActuatorFaultKeepsTheFirstReason)
}

func testActuatorFaultKeepsTheFirstReason(t *testing.T) {
	rob := newRobot()
	x := interrupted(harness.ReasonOperatorStop)
	r := newRig(t, x.model, rob.tools()...)
	x.set(r, rob)
	r.cfg.Settle = func(context.Context) (time.Time, error) { return time.Time{}, errors.New("base: no odometry") }
	res := r.run()
	want(t, res, harness.ReasonActuatorFault)
	for _, s := range []string{"operator_stop", "from outside", "no odometry"} {
		if !strings.Contains(res.Answer, s) {
			t.Errorf("%q is not in %q", s, res.Answer)
		}
	}
	if res.RestMeasured {
		t.Error("rest is claimed")
	}
}

func TestReasonsBelongToOutcomes(t *testing.T) {
	if harness.Reason("nonsense").Outcome() != 0 {
		t.Error("an unknown code has an outcome")
	}
	for _, r := range allReasons {
		if r.Outcome() == 0 || r.Outcome().String() == "INVALID" {
			t.Errorf("%s has no outcome", r)
		}
	}
	if s := fmt.Sprint(harness.Interrupt{Reason: harness.ReasonShutdown}, harness.Interrupt{Reason: harness.ReasonShutdown, Message: "SIGTERM"}); s != "shutdown shutdown: SIGTERM" {
		t.Errorf("%q", s)
	}
}
