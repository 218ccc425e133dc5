package watchdog_test

import (
	"reflect"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/watchdog"
)

// What a heartbeat says is read as it was written, goals and all; goals that are none are an error.
func TestABeatIsReadAsItWasWritten(t *testing.T) {
	r := newRig(t)
	for _, goals := range [][]watchdog.Goal{
		nil,
		{{Action: "/navigate_to_pose", ID: action.GoalID{1, 2, 3}, Actuator: "base"}},
		{{Action: "/a", ID: action.GoalID{4}, Actuator: "base"}, {Action: "/ns/b", ID: action.GoalID{5}, Actuator: "left arm"}},
	} {
		b := r.beat
		b.Busy, b.Goals = []string{"base"}, goals
		m := b.Write(ros.New(r.beats.Type()), "agent_node", r.pair)
		got, err := watchdog.ReadBeat(m)
		if err != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%+v, %v, wrote %+v", got, err, b)
		}
		for _, kv := range m.Msgs("values") {
			if kv.Str("key") == "goals" {
				kv.With("value", "/navigate_to_pose xyz base")
			}
		}
		if _, err := watchdog.ReadBeat(m); err == nil {
			t.Error("a goal without an id is taken")
		}
	}
}
