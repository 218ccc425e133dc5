package harness_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// The same tool is allowed, asked about and denied by what it is called with.
func TestPermissionsDependOnArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, ends(
			calls(call("wait", `{"seconds":1}`), call("wait", `{"seconds":20}`), call("get_battery", `{}`), call("wait", `{"seconds":100}`)),
			says("done"),
		), rob.tools()...)
		r.cfg.AcceptanceRounds = -1
		r.cfg.Policy.Conditions = map[string][]policy.Condition{"wait": {
			{Permission: policy.Ask, Expression: "seconds > 10"}, {Permission: policy.Deny, Expression: "seconds > 50"},
		}}
		var asked []policy.Request
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			asked = append(asked, q)
			return policy.Answer{RequestID: q.ID, Approved: true}, nil
		})
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		wantStep(t, res, 0, "")
		wantStep(t, res, 1, "")
		wantStep(t, res, 3, tool.PermissionDenied)
		if len(asked) != 1 || string(asked[0].Arguments) != `{"seconds":20}` || rob.wait.count() != 2 {
			t.Errorf("asked %d times, waited %d times", len(asked), rob.wait.count())
		}
		if !strings.Contains(res.Steps[3].Content, "seconds > 50") {
			t.Errorf("the model reads %q", res.Steps[3].Content)
		}
	})
}

// A rate counts over sessions, names the wait, and what it refuses asks nobody.
func TestRatesCountOverSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, ends(goKitchen, goKitchen, finish("there")), rob.tools()...)
		r.cfg.Policy = policy.Policy{Rates: map[string]policy.Rate{"navigate_to": {Calls: 3, Per: time.Minute}}}
		questions := 0
		r.cfg.Approver = approverFunc(func(_ context.Context, q policy.Request) (policy.Answer, error) {
			questions++
			return policy.Answer{RequestID: q.ID, Approved: true}, nil
		})
		h, err := harness.New(r.cfg)
		if err != nil {
			t.Fatal(err)
		}
		run := func(session string) harness.Result {
			r.cfg.Model.(*answers).n = 0
			return h.Run(t.Context(), harness.Goal{Session: session, Task: "go"}, nil)
		}
		want(t, run("a"), harness.ReasonAccepted)
		time.Sleep(10 * time.Second)
		res := run("b")
		want(t, res, harness.ReasonAccepted)
		wantStep(t, res, 0, "")
		wantStep(t, res, 1, tool.PreconditionFailed)
		if !strings.Contains(res.Steps[1].Content, "50.0 s") || questions != 3 || rob.navigate.count() != 3 {
			t.Errorf("%q; %d questions, %d motions", res.Steps[1].Content, questions, rob.navigate.count())
		}
		time.Sleep(50 * time.Second)
		wantStep(t, run("c"), 0, "")
	})
}

// A dry run uses up no rate.
func TestDryRunsUseUpNoRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rob := newRobot()
		r := newRig(t, ends(goKitchen, goKitchen, finish("there")), rob.tools()...)
		r.cfg.Policy.Rates = map[string]policy.Rate{"navigate_to": {Calls: 1, Per: time.Minute}}
		r.goal.DryRun = true
		res := r.run()
		want(t, res, harness.ReasonDryRun)
		wantStep(t, res, 1, "")
	})
}
