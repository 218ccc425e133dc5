package harness_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

func navigate(place string) model.Response {
	return calls(call("navigate_to", `{"place":"`+place+`"}`))
}

func declare(criteria ...string) model.Response {
	b, err := json.Marshal(map[string]any{"criteria": criteria})
	if err != nil {
		panic(err)
	}
	return calls(call("declare_criteria", string(b)))
}

// A skill that was ended on its way is not one that was refused, whatever kind of failure it names.
func TestWhatEndedUnderWayStands(t *testing.T) {
	kinds := []tool.ErrorKind{
		tool.UnknownTool, tool.InvalidArguments, tool.PermissionDenied, tool.GeometryRefused, tool.GuardRefused, tool.Timeout, tool.Canceled,
		tool.ServerUnavailable, tool.ServerRejected, tool.ServerFailed, tool.NotAtRest, tool.StaleState, tool.Failed, tool.DuplicateCall,
		tool.PreconditionFailed, tool.PostconditionFailed,
	}
	for _, kind := range kinds {
		for _, begun := range []bool{false, true} {
			rob := newRobot()
			rob.fails["kitchen"] = kind
			do := rob.navigate.do
			rob.navigate.do = func(ctx context.Context, c tool.Call) tool.Result {
				res := do(ctx, c)
				res.Begun = begun && !res.OK
				return res
			}
			got := newRig(t, ends(navigate("kitchen"), navigate("office"), finish("done")), rob.tools()...).run()
			want := harness.ReasonUnverified
			if kind.NeverRan() && !begun {
				want = harness.ReasonAccepted
			}
			if got.Reason != want {
				t.Errorf("%s, begun %v: %s, want %s (%s)", kind, begun, got.Reason, want, got.Answer)
			}
			if begun && !slices.Contains(got.UnmetGoals, "at_place(kitchen)") {
				t.Errorf("%s, begun: unmet %q", kind, got.UnmetGoals)
			}
			if told := strings.Contains(got.Steps[0].Content, model.UnderWay); told != (begun && kind.NeverRan()) {
				t.Errorf("%s, begun %v: the model reads %q", kind, begun, got.Steps[0].Content)
			}
		}
	}
}

func TestAcceptance(t *testing.T) {
	for _, x := range []struct {
		name     string
		criteria []string
		answers  []model.Response
		set      func(*robot)
		reason   harness.Reason
		unmet    []string
	}{
		{
			name:    "a later place supersedes an earlier one",
			answers: []model.Response{navigate("kitchen"), navigate("office"), finish("both")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "a wait between does not",
			answers: []model.Response{navigate("kitchen"), calls(call("wait", `{"seconds":2}`)), finish("there")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "what was true behind the skill is checked again at the end",
			answers: []model.Response{navigate("kitchen"), calls(call("gripper", `{"open":true}`)), finish("there")},
			set: func(r *robot) {
				r.gripper.do = func(context.Context, tool.Call) tool.Result {
					r.mu.Lock()
					defer r.mu.Unlock()
					r.at = "office" // pushed away
					return tool.Result{OK: true, Content: "moved"}
				}
			},
			reason: harness.ReasonUnverified, unmet: []string{"at_place(kitchen)"},
		},
		{
			name:    "another actuator supersedes nothing",
			answers: []model.Response{calls(call("gripper", `{"open":true}`)), navigate("kitchen"), finish("there")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "a skill's word is not believed",
			answers: []model.Response{navigate("kitchen"), finish("there")},
			set: func(r *robot) {
				r.navigate.do = fixed(tool.Result{OK: true, Content: "arrived", Postconditions: []string{"at_place(kitchen)"}})
			},
			reason: harness.ReasonUnverified, unmet: []string{"at_place(kitchen)"},
		},
		{
			name:    "a failure stands until the same call succeeds",
			answers: []model.Response{navigate("kitchen"), navigate("office"), finish("done")},
			set:     func(r *robot) { r.fails["kitchen"] = tool.ServerFailed },
			reason:  harness.ReasonUnverified, unmet: []string{"at_place(kitchen)"},
		},
		{
			name:    "and then no more",
			answers: []model.Response{navigate("kitchen"), navigate("kitchen"), finish("done")},
			set: func(r *robot) {
				r.fails["kitchen"] = tool.ServerFailed
				do := r.navigate.do
				r.navigate.do = func(ctx context.Context, c tool.Call) tool.Result {
					res := do(ctx, c)
					delete(r.fails, "kitchen")
					return res
				}
			},
			reason: harness.ReasonAccepted,
		},
		{
			name:    "a failure without postconditions stands as itself",
			answers: []model.Response{calls(call("wait", `{"seconds":2}`)), navigate("kitchen"), finish("done")},
			set:     func(r *robot) { r.wait.do = fixed(tool.Result{ErrorKind: tool.Timeout, Content: "too long"}) },
			reason:  harness.ReasonUnverified, unmet: []string{`wait({"seconds":2}) succeeds`},
		},
		{
			name:    "what was refused never ran",
			answers: []model.Response{navigate("kitchen"), navigate("office"), finish("done")},
			set:     func(r *robot) { r.fails["kitchen"] = tool.GeometryRefused },
			reason:  harness.ReasonAccepted,
		},
		{
			name:    "a skill without postconditions proves nothing",
			answers: []model.Response{calls(call("wait", `{"seconds":2}`)), finish("done")}, reason: harness.ReasonUnverified,
		},
		{
			name:    "a malformed postcondition never holds",
			answers: []model.Response{navigate("kitchen"), finish("done")},
			set: func(r *robot) {
				r.navigate.do = fixed(tool.Result{OK: true, Postconditions: []string{"at_place(moon)"}})
			},
			reason: harness.ReasonUnverified,
		},
		{
			name:     "the caller's criteria decide",
			criteria: []string{"at_place(office)"},
			answers:  []model.Response{navigate("kitchen"), finish("done")}, reason: harness.ReasonUnverified, unmet: []string{"at_place(office)"},
		},
		{
			name:     "the caller's criteria hold already",
			criteria: []string{"at_place(dock)", "cel: get_battery().percent > 80.0"},
			answers:  []model.Response{finish("nothing to do")}, reason: harness.ReasonAccepted,
		},
		{
			name:     "the caller's criteria hold, the number is invented",
			criteria: []string{"at_place(dock)"},
			answers:  []model.Response{finish("there, with 99 percent")}, reason: harness.ReasonUnverified,
		},
		{
			name:     "cel over a query fails",
			criteria: []string{"cel: get_battery().percent > 90"},
			answers:  []model.Response{navigate("kitchen"), finish("done")}, reason: harness.ReasonUnverified, unmet: []string{"cel: get_battery().percent > 90"},
		},
		{
			name:     "cel that cannot be evaluated does not hold",
			criteria: []string{"cel: get_battery().charge > 90"},
			answers:  []model.Response{navigate("kitchen"), finish("done")}, reason: harness.ReasonUnverified,
		},
		{
			name:    "declared criteria add to the postconditions",
			answers: []model.Response{declare("cel: get_battery().percent > 90.0"), navigate("kitchen"), finish("done")},
			reason:  harness.ReasonUnverified, unmet: []string{"cel: get_battery().percent > 90.0"},
		},
		{
			name:    "declared criteria cannot take away",
			answers: []model.Response{declare("at_place(office)"), navigate("office"), navigate("kitchen"), finish("done")},
			reason:  harness.ReasonUnverified, unmet: []string{"at_place(office)"},
		},
		{
			name:    "declared criteria stand for a skill without postconditions",
			answers: []model.Response{declare("at_place(dock)"), calls(call("wait", `{"seconds":2}`)), finish("waited")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "declared criteria alone answer no question",
			answers: []model.Response{declare("at_place(dock)"), finish("at the dock")}, reason: harness.ReasonUnverified,
		},
		{
			name:    "a question with a verify tool's verdict as evidence",
			answers: []model.Response{calls(callID("v", "at_place", `{"place":"office"}`)), finish("No, it is at the dock.", "v")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "a question, its evidence named by its tool",
			answers: []model.Response{calls(call("get_battery", `{}`)), finish("87 %", "get_battery")}, reason: harness.ReasonAccepted,
		},
		{
			name:    "a text answers no question",
			answers: []model.Response{calls(call("get_battery", `{}`)), says("87 %")}, reason: harness.ReasonUnverified,
		},
		{
			name:    "evidence that failed",
			answers: []model.Response{calls(callID("v", "get_battery", `{}`)), finish("87 %", "v")},
			set:     func(r *robot) { r.battery.do = fixed(tool.Result{ErrorKind: tool.StaleState, Content: "87.4"}) }, reason: harness.ReasonUnverified,
		},
		{
			name:    "evidence of another session",
			answers: []model.Response{calls(callID("v", "get_battery", `{}`)), finish("87 %", "v", "w")}, reason: harness.ReasonUnverified,
		},
		{
			name:    "evidence that observes nothing",
			answers: []model.Response{calls(callID("d", "declare_criteria", `{"criteria":["at_place(dock)"]}`)), finish("It is so.", "d")}, reason: harness.ReasonUnverified,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			rob := newRobot()
			if x.set != nil {
				x.set(rob)
			}
			r := newRig(t, ends(x.answers...), rob.tools()...)
			r.goal.Criteria = x.criteria
			res := r.run()
			want(t, res, x.reason)
			if x.unmet != nil && strings.Join(res.UnmetGoals, "|") != strings.Join(x.unmet, "|") {
				t.Errorf("unmet goals %q, want %q", res.UnmetGoals, x.unmet)
			}
		})
	}
}

// The postcondition of a skill that claims too much makes its observation a failure at once.
func TestUnmetPostconditionIsTheObservation(t *testing.T) {
	rob := newRobot()
	rob.navigate.do = fixed(tool.Result{OK: true, Content: "arrived", Postconditions: []string{"at_place(kitchen)"}})
	r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
	res := r.run()
	wantStep(t, res, 0, tool.PostconditionFailed)
	if !strings.Contains(res.Steps[0].Content, "the robot is at dock") {
		t.Fatalf("observation: %s", res.Steps[0].Content)
	}
}

// A refused answer goes back with what failed, as often as configured, and the model can mend it.
func TestRefusedAnswerGoesBackToTheModel(t *testing.T) {
	rob := newRobot()
	m := ends(finish("done"), goKitchen, finish("now it is done"))
	r := newRig(t, m, rob.tools()...)
	r.goal.Criteria = []string{"at_place(kitchen)"}
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	last := m.seen[1].Messages[len(m.seen[1].Messages)-1]
	if last.OK || !strings.Contains(last.Content, "at_place(kitchen): the robot is at dock") {
		t.Fatalf("the model was told: %+v", last)
	}
	if len(res.Verifications) != 1 || !res.Verifications[0].Passed {
		t.Fatalf("verifications %+v", res.Verifications)
	}

	for rounds, samples := range map[int]int{-1: 1, 0: 3, 5: 6} {
		m := ends(says("done"))
		r := newRig(t, m, rob.tools()...)
		r.cfg.AcceptanceRounds = rounds
		want(t, r.run(), harness.ReasonUnverified)
		if m.samples() != samples {
			t.Errorf("%d rounds: %d samples, want %d", rounds, m.samples(), samples)
		}
		if rounds == 0 && !strings.HasPrefix(m.seen[1].Messages[3].Content, model.HarnessPrefix+"Not accepted: ") {
			t.Errorf("the model was told: %+v", m.seen[1].Messages[3])
		}
	}
}

// Verify tools are told when rest was measured, and are free of the budget.
func TestVerifyReadsAfterRestAndIsFree(t *testing.T) {
	rob := newRobot()
	rest := time.Unix(1000, 0)
	var notBefore []time.Time
	do := rob.atPlace.do
	rob.atPlace.do = func(ctx context.Context, c tool.Call) tool.Result {
		notBefore = append(notBefore, c.NotBefore)
		return do(ctx, c)
	}
	r := newRig(t, ends(goKitchen, finish("there")), rob.tools()...)
	r.goal.AllowedTools = []string{"navigate_to"} // the harness's own checks are not the model's
	r.goal.Budget.ToolCalls = 2
	r.cfg.Settle = func(context.Context) (time.Time, error) { rest = rest.Add(time.Second); return rest, nil }
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if len(notBefore) != 2 || !notBefore[0].Equal(time.Unix(1001, 0)) || !notBefore[1].Equal(time.Unix(1002, 0)) {
		t.Fatalf("not before %v", notBefore)
	}
	if res.Usage.ToolCalls != 2 {
		t.Fatalf("usage %+v", res.Usage)
	}
}

// The model cannot fit its criteria to what happened.
func TestCriteriaAreDeclaredBeforeTheFirstSkillOnly(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(
		declare("at_place(moon)", "at_place(dock)"), // all or none
		navigate("kitchen"), declare("at_place(dock)"), finish("done"),
	), rob.tools()...)
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	wantStep(t, res, 0, tool.InvalidArguments)
	wantStep(t, res, 2, tool.PreconditionFailed)
}

func TestPersonDecidesACriterionLastAndOnlyIfAllElseHolds(t *testing.T) {
	for _, x := range []struct {
		at       string
		approved bool
		asked    int
		reason   harness.Reason
	}{{"dock", true, 1, harness.ReasonAccepted}, {"dock", false, 3, harness.ReasonUnverified}, {"office", true, 0, harness.ReasonUnverified}} {
		rob := newRobot()
		rob.at = x.at
		r := newRig(t, ends(finish("done")), rob.tools()...)
		r.goal.Criteria = []string{"person: Is the table clean?", "at_place(dock)"}
		p := &person{answer: func(q policy.Request) (policy.Answer, error) {
			return policy.Answer{RequestID: q.ID, Approved: x.approved, Text: "look"}, nil
		}}
		r.cfg.Approver = p
		want(t, r.run(), x.reason)
		if len(p.asked) != x.asked {
			t.Errorf("asked %d times, want %d", len(p.asked), x.asked)
		}
		for _, q := range p.asked {
			if q.Question != "Is the table clean?" || q.Tool != "" {
				t.Errorf("asked %+v", q)
			}
		}
	}
}

// A round trip: kitchen, office, kitchen. The first visit is superseded and the last is rechecked.
func TestSupersededClaimIsReported(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(navigate("kitchen"), navigate("office"), finish("both")), rob.tools()...)
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	got := map[string]string{}
	for _, v := range res.Verifications {
		got[v.Criterion] = v.Evidence
	}
	if !strings.Contains(got["at_place(kitchen)"], "held at rest behind call call_1_1") || !strings.Contains(got["at_place(office)"], "the robot is at office") {
		t.Fatalf("verifications %+v", res.Verifications)
	}
}
