package harness_test

import (
	"encoding/json"
	"slices"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// What the harness understands of a task has to hold, whatever a model ran or says; a skill's own word about something else does not
// stand for it. The caller's criteria alone count where there are some.
func TestWhatIsUnderstoodOfTheTaskMustHold(t *testing.T) {
	kitchen := func(string, []model.Tool) ([]string, []string) {
		return []string{"at_place(kitchen)", "at_place(moon)"}, nil
	}
	base := func(string, []model.Tool) ([]string, []string) {
		return nil, []string{"navigate_to", "navigate_to", "fly"}
	}
	wait, battery := calls(call("wait", `{"seconds":0.1}`)), calls(call("get_battery", `{}`))
	lie := finish("I drove to the kitchen.", "get_battery")
	for _, x := range []struct {
		name       string
		understand func(string, []model.Tool) ([]string, []string)
		criteria   []string
		answers    []model.Response
		reason     harness.Reason
		unmet      []string
	}{
		{"a wait is no drive", kitchen, nil, []model.Response{wait, lie}, harness.ReasonUnverified, []string{"do it", "at_place(kitchen)"}},
		{"the gripper is no drive", kitchen, nil, []model.Response{calls(call("gripper", `{"open":true}`)), lie}, harness.ReasonUnverified, []string{"do it", "at_place(kitchen)"}},
		{"another place is not this one", kitchen, nil, []model.Response{navigate("office"), lie}, harness.ReasonUnverified, []string{"do it", "at_place(kitchen)"}},
		{"words alone are no drive", kitchen, nil, []model.Response{battery, lie}, harness.ReasonUnverified, []string{"do it", "at_place(kitchen)"}},
		{"a drive that failed says what is unmet", kitchen, nil, []model.Response{navigate("office"), {Text: "it cannot be done", Finish: model.FinishInfeasible}}, harness.ReasonInfeasible, []string{"at_place(office)", "at_place(kitchen)"}},
		{"the drive is", kitchen, nil, []model.Response{navigate("kitchen"), lie}, harness.ReasonAccepted, nil},
		{"nothing moved what was to be moved", base, nil, []model.Response{wait, lie}, harness.ReasonUnverified, []string{"do it", "a skill moved base, as the task asks"}},
		{"nor by words", base, nil, []model.Response{battery, lie}, harness.ReasonUnverified, []string{"do it", "a skill moved base, as the task asks"}},
		{"it was moved", base, nil, []model.Response{navigate("office"), finish("done")}, harness.ReasonAccepted, nil},
		{"the caller's criteria alone", kitchen, []string{"at_place(dock)"}, []model.Response{wait, finish("done")}, harness.ReasonAccepted, nil},
		{"nothing is understood", nil, nil, []model.Response{wait, finish("waited")}, harness.ReasonAccepted, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			rob := newRobot()
			if x.reason == harness.ReasonInfeasible {
				rob.fails["office"] = tool.ServerFailed
			}
			rob.wait.do = fixed(tool.Result{OK: true, Content: "waited", Postconditions: []string{"cel: get_battery().percent > 1.0"}})
			r := newRig(t, ends(x.answers...), rob.tools()...)
			r.cfg.Understand = x.understand
			r.goal.Criteria = x.criteria
			res := r.run() // and its replay, which is told nothing but the record
			want(t, res, x.reason)
			if !slices.Equal(res.UnmetGoals, x.unmet) {
				t.Errorf("unmet %q, want %q", res.UnmetGoals, x.unmet)
			}
			var d struct{ Understood json.RawMessage }
			if err := json.Unmarshal(r.events()[0].Data, &d); err != nil || (d.Understood != nil) != (x.understand != nil && x.criteria == nil) {
				t.Errorf("recorded as understood: %s (%v)", d.Understood, err)
			}
		})
	}
}
