package suite

import (
	"log/slog"
	"testing"

	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// TestStopsAreNoCommands: a goal is taken for a hold only while the node stops that actuator, and only if nothing has moved.
func TestStopsAreNoCommands(t *testing.T) {
	bus := mem.NewBus()
	defer bus.Close()
	node, err := bus.NewNode("n", mem.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	state, err := node.Types().Message("agent_msgs/msg/AgentState")
	if err != nil {
		t.Fatal(err)
	}
	actuator, err := node.Types().Message("agent_msgs/msg/ActuatorState")
	if err != nil {
		t.Fatal(err)
	}
	joints, err := node.Types().Message(jointStates)
	if err != nil {
		t.Fatal(err)
	}
	profile := &robottools.Profile{Actuators: map[string]robottools.Actuator{
		"arm":   {Joints: []string{"elbow"}, Stop: robottools.StopBinding{Action: "arm/follow"}},
		"wrist": {Joints: []string{"wrist"}, Stop: robottools.StopBinding{Action: "/wrist/follow"}},
	}}
	for _, tc := range []struct {
		name           string
		actuator       string
		state          uint8
		elbow, base    float64 // how far they move
		unseen         bool
		held, commands uint64
	}{
		{"held at rest", "arm", 6, 0, 0, false, 2, 1},
		{"held after a fault", "arm", 8, 0.001, 0, false, 2, 1},
		{"another is held", "wrist", 6, 0, 0, false, 1, 2},
		{"nobody stops it", "arm", 3, 0, 0, false, 0, 3},
		{"it moves", "arm", 6, 0.02, 0, false, 0, 3},
		{"the base moves", "arm", 6, 0, 0.1, false, 0, 3},
		{"nobody knows where it was", "arm", 6, 0, 0, true, 0, 3},
	} {
		b := &Bench{Node: node, Profile: profile, truth: true}
		see := func(q float64) {
			b.watchJoints(ros.New(joints).With("name", []string{"elbow", "wheel"}).With("position", []float64{q, 50 * q}))
		}
		see(1)
		from := b.where()
		if tc.unseen {
			from = map[string]float64{}
		}
		b.watchStops(ros.New(state).With("actuators", []*ros.Message{ros.New(actuator).With("name", tc.actuator).With("state", tc.state)}))
		see(1 + tc.elbow)
		b.pose[0] += tc.base
		before := map[string]uint64{"/arm/follow": 4, "/wrist/follow": 1}
		rest, held := b.stops(before, map[string]uint64{"/arm/follow": 6, "/wrist/follow": 2}, from)
		if commands, what := more(before, rest); held != tc.held || commands != tc.commands {
			t.Errorf("%s: %d held, %d commands:%s, want %d and %d", tc.name, held, commands, what, tc.held, tc.commands)
		}
		b.afresh()
		if _, held := b.stops(before, map[string]uint64{"/arm/follow": 6}, b.where()); held != 0 {
			t.Errorf("%s: %d held afterwards", tc.name, held)
		}
	}
}
