package harness_test

import (
	"context"
	"fmt"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// A patrol waits three times in the same way, and a square drives and turns by turns: neither is stuck.
func TestRepeatedSkillsAreNotStuck(t *testing.T) {
	wait := calls(call("wait", `{"seconds":2}`))
	rob := newRobot()
	r := newRig(t, ends(wait, wait, wait, wait, wait, navigate("kitchen"), finish("there")), rob.tools()...)
	want(t, r.run(), harness.ReasonAccepted)

	drive := calls(call("drive", `{"distance_m":0.5}`))
	turn := calls(call("turn", `{"angle_rad":1.570796}`))
	skill := func(name, arg string) *fake {
		return &fake{
			spec: tool.Spec{Name: name, Class: tool.Skill, Validated: true, Actuators: []string{"base"}, Parameters: object(`"`+arg+`":{"type":"number"}`, arg)},
			do:   fixed(tool.Result{OK: true, Content: "moved", Postconditions: []string{"at_place(dock)"}}),
		}
	}
	d, u := skill("drive", "distance_m"), skill("turn", "angle_rad")
	r = newRig(t, ends(drive, turn, drive, turn, drive, turn, drive, turn, finish("a square")), d, u, newRobot().atPlace)
	want(t, r.run(), harness.ReasonAccepted)
	if d.count() != 4 || u.count() != 4 {
		t.Fatalf("%d drives, %d turns", d.count(), u.count())
	}
}

func TestStuck(t *testing.T) {
	battery, place := calls(call("get_battery", `{}`)), calls(call("get_place", `{}`))
	both := calls(battery.Calls[0], place.Calls[0])
	alternate := func(a, b model.Response) []model.Response {
		var out []model.Response
		for range 20 {
			out = append(out, a, b)
		}
		return out
	}
	for _, x := range []struct {
		name    string
		answers []model.Response
		set     func(*robot)
		samples int
		reason  harness.Reason
	}{
		{"the same query with the same result", []model.Response{battery}, nil, 3, harness.ReasonStuck},
		{"the same two queries at once", []model.Response{both}, nil, 3, harness.ReasonStuck},
		{"two queries by turns", alternate(battery, place), nil, 4, harness.ReasonStuck},
		{"a query whose result changes", []model.Response{battery}, func(r *robot) {
			n := 0
			r.battery.do = func(context.Context, tool.Call) tool.Result {
				n++
				return tool.Result{OK: true, Content: fmt.Sprint(n)}
			}
		}, 25, harness.ReasonStuck},
		{"a failure with a changing text", []model.Response{goKitchen}, func(r *robot) {
			n := 0
			r.navigate.do = func(context.Context, tool.Call) tool.Result {
				n++
				return tool.Result{ErrorKind: tool.ServerRejected, Content: fmt.Sprintf("after 0.%d s", n)}
			}
		}, 3, harness.ReasonStuck},
		{"failures by turns", alternate(goKitchen, navigate("office")), func(r *robot) {
			r.fails["kitchen"], r.fails["office"] = tool.ServerFailed, tool.ServerFailed
		}, 4, harness.ReasonStuck},
		{"nothing but failures", append(alternate(goKitchen, navigate("office"))[:2], calls(call("navigate_to", `{}`)), calls(call("wait", `{"seconds":-1}`)),
			navigate("dock"), navigate("office"), navigate("kitchen"), navigate("office"), battery), func(r *robot) {
			r.fails["kitchen"], r.fails["office"], r.fails["dock"] = tool.ServerFailed, tool.ServerFailed, tool.Timeout
		}, 8, harness.ReasonStuck},
		{"the same invalid call", []model.Response{calls(call("navigate_to", `{}`))}, nil, 3, harness.ReasonValidationRepeated},
		{"an invalid finish", []model.Response{calls(call("finish", `{}`))}, nil, 3, harness.ReasonValidationRepeated},
		{"an id used again and again", []model.Response{calls(callID("x", "get_battery", `{}`))}, nil, 4, harness.ReasonValidationRepeated},
	} {
		t.Run(x.name, func(t *testing.T) {
			rob := newRobot()
			if x.set != nil {
				x.set(rob)
			}
			m := ends(x.answers...)
			r := newRig(t, m, rob.tools()...)
			want(t, r.run(), x.reason)
			if m.samples() != x.samples {
				t.Errorf("ended after %d samples, want %d", m.samples(), x.samples)
			}
		})
	}
}

// A refused answer never counts as stuck: acceptance has its own rounds.
func TestRefusedAnswersAreNotStuck(t *testing.T) {
	m := ends(finish("done"))
	r := newRig(t, m, newRobot().tools()...)
	r.cfg.AcceptanceRounds = 10
	want(t, r.run(), harness.ReasonUnverified)
	if m.samples() != 11 {
		t.Fatalf("%d samples", m.samples())
	}
}
