package robot_test

import (
	"log/slog"
	"testing"
	"testing/synctest"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

// made makes a robot with the command line's arguments.
func made(t *testing.T, o robot.Options, argv ...string) (*robot.Robot, func(), error) {
	t.Helper()
	a, err := args.Parse(argv)
	if err != nil {
		t.Fatal(err)
	}
	bus := mem.NewBus()
	node, err := bus.NewNode("sim_robot", mem.Options{Args: a, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := robot.New(node, o)
	return r, func() {
		if r != nil {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := node.Close(); err != nil {
			t.Error(err)
		}
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}, err
}

func TestTheCommandLineWinsOverOptions(t *testing.T) {
	elsewhere := world.Pose{X: 2}
	r, end, err := made(t, robot.Options{Start: &elsewhere, Seed: 3}, "--ros-args", "-p", "start.x:=1.5", "-p", "rate:=2", "-p", "fault.drift:=0.1", "-p", "sim.charge:=15.0")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if got := r.Truth(); got.Pose != (world.Pose{X: 1.5}) || got.Charge != 15 {
		t.Errorf("begins as %+v", got)
	}
}

func TestNamesFollowTheNamespace(t *testing.T) {
	r, end, err := made(t, robot.Options{}, "--ros-args", "-r", "__ns:=/r1", "-r", "cmd_vel:=/drive")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for _, name := range []string{"/drive", "/r1/cmd_vel_stamped", "/r1/navigate_to_pose"} {
		if n, ok := r.Counters()[name]; !ok || n != 0 {
			t.Errorf("no counter of %s: %v", name, r.Counters())
		}
	}
}

// What was opened on the way is closed again: goleak looks at the end.
func TestARobotThatCannotBeMadeLeavesNothing(t *testing.T) {
	wall := world.Pose{X: -0.6, Y: 2}
	for name, c := range map[string]struct {
		o    robot.Options
		argv []string
	}{
		"start in the wall":       {o: robot.Options{Start: &wall}},
		"a rate of zero":          {argv: []string{"--ros-args", "-p", "rate:=0.0"}},
		"a wrong type":            {argv: []string{"--ros-args", "-p", "fault.drift:=fast"}},
		"a record nowhere":        {argv: []string{"--ros-args", "-p", "sim.record:=/no/such/folder/run"}},
		"a teleport into a wall":  {argv: []string{"--ros-args", "-p", "sim.teleport:=[-0.6, 2.0, 0.0]"}},
		"a fault that is no fact": {argv: []string{"--ros-args", "-p", "fault.stop_odom:=1"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, end, err := made(t, c.o, c.argv...)
			if err == nil {
				t.Errorf("%s: it was made", name)
			}
			end()
		})
	}
}
