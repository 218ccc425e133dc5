package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"agent_node/config"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
	"agent_node/sim/robot"
)

// beside runs f beside the built-in robot, in virtual time; the robot's arguments may remap and set what they like. visit is a
// node that looks around.
func beside(t *testing.T, robotArgs []string, f func(t *testing.T, visit *mem.Node)) {
	t.Helper()
	onBus(t, robotArgs, func(t *testing.T, _ *mem.Bus, visit *mem.Node) { f(t, visit) })
}

func onBus(t *testing.T, robotArgs []string, f func(t *testing.T, bus *mem.Bus, visit *mem.Node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		quiet := slog.New(slog.DiscardHandler)
		a, err := args.Parse(append([]string{"--ros-args"}, robotArgs...))
		fatal(t, err)
		body, err := bus.NewNode("sim_robot", mem.Options{Args: a, Logger: quiet})
		fatal(t, err)
		bot, err := robot.New(body, robot.Options{Seed: 1})
		fatal(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- bot.Run(ctx) }()
		defer func() {
			stop()
			if err := errors.Join(<-done, bus.Close()); err != nil {
				t.Error(err)
			}
		}()
		visit, err := bus.NewNode("visitor", mem.Options{Logger: quiet})
		fatal(t, err)
		f(t, bus, visit)
	})
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// written is the built-in robot's profile with some text replaced: old, new, old, new ...
func written(t *testing.T, changes ...string) string {
	t.Helper()
	text := string(config.SimRobot)
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			t.Fatalf("the profile does not say %q", changes[i])
		}
		text = strings.ReplaceAll(text, changes[i], changes[i+1])
	}
	file := filepath.Join(t.TempDir(), "profile.yaml")
	fatal(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// seen is what --json says of the graph.
type seen struct {
	OK, Sound, Looked bool
	Why               string
	Faults            []struct {
		Line    int
		Message string
	}
	Graph struct {
		Bindings []struct {
			For, Kind, Name, Type, Level, QoS, Measured string
			Present                                     bool
			Rate                                        float64
			Validators                                  []string
			Problems                                    []struct{ Level, Message, Advice string }
		}
	}
}

func check(t *testing.T, host ros.Node, c shell.Check) (seen, string, error) {
	t.Helper()
	var data bytes.Buffer
	c.JSON = true
	err := shell.CheckProfile(t.Context(), host, c, &data)
	var s seen
	fatal(t, json.Unmarshal(data.Bytes(), &s))
	return s, data.String(), err
}

// table is the same for people.
func table(t *testing.T, host ros.Node, c shell.Check) string {
	t.Helper()
	var text bytes.Buffer
	if err := shell.CheckProfile(t.Context(), host, c, &text); err != nil && !errors.Is(err, shell.ErrNotInOrder) {
		t.Error(err)
	}
	return text.String()
}

func TestCheckFindsEveryBindingOfTheBuiltInRobot(t *testing.T) {
	file := written(t)
	beside(t, nil, func(t *testing.T, visit *mem.Node) {
		s, text, err := check(t, visit, shell.Check{File: file, Look: true})
		if err != nil || !s.OK || !s.Looked {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, b := range s.Graph.Bindings {
			if !b.Present || b.Level != "ok" {
				t.Errorf("%s %s: %+v", b.For, b.Name, b.Problems)
			}
			if b.Kind == "topic" && (b.QoS == "" || b.Measured == "") {
				t.Errorf("%s %s: QoS %q, measured %q", b.For, b.Name, b.QoS, b.Measured)
			}
			if b.For == "actuator base: feedback" && (b.Rate < 45 || b.Rate > 55) {
				t.Errorf("odometry at %g Hz, wanted 50", b.Rate)
			}
		}
		text = table(t, visit, shell.Check{File: file, Look: true})
		for _, want := range []string{"BINDING", "pose, path, in_flight", "reliable transient_local", "actuator base: feedback", "50.0 Hz"} {
			if !strings.Contains(text, want) {
				t.Errorf("the table does not say %q:\n%s", want, text)
			}
		}
	})
}

// What does not fit is named with its advice, and the exit code tells.
func TestCheckNamesWhatDoesNotFit(t *testing.T) {
	for _, x := range []struct {
		name     string
		robot    []string
		changes  []string
		of, says string
		advice   string
	}{
		{"a name that is not there", nil, []string{"name: /battery_state", "name: /battery"}, "tool get_battery", "nobody publishes /battery", "there is /battery_state"},
		{"an action's name", nil, []string{"name: /navigate_to_pose", "name: /go"}, "tool navigate_to", "nobody serves the action /go", "there is /navigate_to_pose"},
		{
			"another type", nil,
			[]string{"topic: {name: /scan, type: sensor_msgs/msg/LaserScan", "topic: {name: /scan, type: sensor_msgs/msg/Range"},
			"tool get_clearance", "it is of type sensor_msgs/msg/LaserScan, the profile says sensor_msgs/msg/Range", "mend the type",
		},
		{"another type to drive by", []string{"-r", "/cmd_vel_stamped:=/drive"}, []string{"/cmd_vel", "/drive"}, "tool drive", "it is of type geometry_msgs/msg/TwistStamped, the profile says geometry_msgs/msg/Twist", "mend the type"},
		{"a frame", nil, []string{"frames: {map: map,", "frames: {map: world,", "target: map,", "target: world,"}, "world: pose", `unknown frame "world"`, "localisation"},
		{"a joint", nil, []string{"joints: [finger_joint]", "joints: [thumb_joint]"}, "actuator gripper: feedback", "it lacks the joints thumb_joint", "it has left_wheel_joint"},
		{"a rate", nil, []string{"feedback: {topic: /odom, type: nav_msgs/msg/Odometry, period: 0.02}", "feedback: {topic: /odom, type: nav_msgs/msg/Odometry, period: 0.005}"}, "actuator base: feedback", "the profile says 200 Hz", "period"},
		{"remapped away", []string{"-r", "/odom:=/wheels/odom"}, nil, "actuator base: feedback", "nobody publishes /odom", "there is "},
	} {
		t.Run(x.name, func(t *testing.T) {
			file := written(t, x.changes...)
			beside(t, x.robot, func(t *testing.T, visit *mem.Node) {
				s, text, err := check(t, visit, shell.Check{File: file, Look: true})
				bad := x.name != "a rate" // which is a warning
				if (err != nil) != bad || s.OK == bad || err != nil && !errors.Is(err, shell.ErrNotInOrder) {
					t.Errorf("ok %t, error %v", s.OK, err)
				}
				found := false
				for _, b := range s.Graph.Bindings {
					for _, p := range b.Problems {
						found = found || b.For == x.of && strings.Contains(p.Message, x.says) && strings.Contains(p.Advice, x.advice)
					}
				}
				if !found {
					t.Errorf("not said of %s: %q, %q\n%s", x.of, x.says, x.advice, text)
				}
			})
		})
	}
}

// Without a robot the file alone is judged, and that is said; asked for, what is missing is an error.
func TestCheckWithoutARobot(t *testing.T) {
	file := written(t)
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		defer bus.Close()
		visit, err := bus.NewNode("visitor", mem.Options{Logger: slog.New(slog.DiscardHandler)})
		fatal(t, err)
		s, text, err := check(t, visit, shell.Check{File: file, Look: true})
		if err != nil || !s.OK || s.Looked || !strings.Contains(s.Why, "no other ROS node is in sight") {
			t.Errorf("%v\n%s", err, text)
		}
		s, _, err = check(t, visit, shell.Check{File: file, Demand: true})
		if !errors.Is(err, shell.ErrNotInOrder) || s.OK || !s.Looked {
			t.Errorf("demanded: %v, %+v", err, s)
		}
		s, _, err = check(t, nil, shell.Check{File: file, Look: true})
		if err != nil || !s.Sound || s.Looked {
			t.Errorf("no ROS: %v", err)
		}
	})
	bad := written(t, "class: verify", "class: verifies")
	s, _, err := check(t, nil, shell.Check{File: bad})
	text := table(t, nil, shell.Check{File: bad})
	if !errors.Is(err, shell.ErrNotInOrder) || s.Sound || len(s.Faults) == 0 || s.Faults[0].Line == 0 || !strings.Contains(text, bad+":") {
		t.Errorf("%v\n%s", err, text)
	}
}
