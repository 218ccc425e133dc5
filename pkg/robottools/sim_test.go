package robottools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"agent_node/config"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/robot"
)

// rig is the built-in robot and a bound profile on the in-process transport.
type rig struct {
	t     *testing.T
	bot   *robot.Robot
	robot *robottools.Robot
	tools map[string]tool.Tool
	peer  ros.Node
	// faulty: a fault is set, so that the guard may honestly end without measured rest.
	faulty bool
}

// newRig takes pairs of texts to replace in the profile.
func newRig(t *testing.T, change ...string) *rig {
	t.Helper()
	text := string(config.SimRobot)
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(text, change[i]) {
			t.Fatalf("the profile has no %q", change[i])
		}
		text = strings.Replace(text, change[i], change[i+1], 1)
	}
	return newRigOf(t, []byte(text))
}

// newRigOf binds another profile to the built-in robot.
func newRigOf(t *testing.T, profile []byte) *rig {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if os.Getenv("RIG_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	bus := mem.NewBus()
	t.Cleanup(func() { must(t, bus.Close()) })
	body := must1(bus.NewNode("sim_robot", mem.Options{Logger: log}))(t)
	bot := must1(robot.New(body, robot.Options{Seed: 7}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- bot.Run(ctx) }()
	host := must1(bus.NewNode("agent_node", mem.Options{Logger: log}))(t)
	p := must1(robottools.Load("sim_robot.yaml", profile))(t)
	r := must1(robottools.New(robottools.Config{Node: host, Profile: p, WaitForBindings: 2 * time.Second}))(t)
	guarded, stop := context.WithCancel(context.Background())
	go func() { done <- r.Run(guarded) }()
	out := &rig{t: t, bot: bot, robot: r, tools: map[string]tool.Tool{}, peer: must1(bus.NewNode("peer", mem.Options{Logger: log}))(t)}
	t.Cleanup(func() {
		stop()
		var unresting *guard.NotAtRestError
		if err := <-done; !out.faulty || !errors.As(err, &unresting) {
			must(t, err)
		}
		must(t, r.Close())
		cancel()
		must(t, <-done)
	})
	for _, x := range r.Tools() {
		out.tools[x.Spec().Name] = x
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func must1[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (r *rig) call(name, args string) tool.Result {
	r.t.Helper()
	return r.callCtx(context.Background(), name, args)
}

func (r *rig) callCtx(ctx context.Context, name, args string) tool.Result {
	r.t.Helper()
	return r.tools[name].Call(ctx, tool.Call{
		ID: "c", Session: "s", Arguments: json.RawMessage(args), NotBefore: r.robot.RestSince(), Note: func(string, any) {},
	})
}

func (r *rig) ok(name, args string) tool.Result {
	r.t.Helper()
	begin := time.Now()
	res := r.call(name, args)
	if !res.OK {
		r.t.Fatalf("%s(%s): %s: %s", name, args, res.ErrorKind, res.Content)
	}
	r.t.Logf("%s(%s) %.2f s: %s %v", name, args, time.Since(begin).Seconds(), res.Content, res.Postconditions)
	return res
}

func TestToolsOfTheBuiltInRobot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		r.ok("get_battery", "{}")
		r.ok("list_places", "{}")
		r.ok("get_clearance", "{}")
		before := r.bot.Truth()
		for _, c := range []struct{ name, args string }{{"drive", `{"distance_m":0.5}`}, {"drive", `{"distance_m":-0.3}`}, {"turn", `{"angle_rad":1.5708}`}, {"wait", `{"seconds":0.2}`}} {
			res := r.ok(c.name, c.args)
			for _, p := range res.Postconditions {
				name, rest, _ := strings.Cut(strings.TrimSuffix(p, ")"), "(")
				if name != "at_pose" {
					t.Fatalf("postcondition %q", p)
				}
				x := strings.Split(rest, ", ")
				if v := r.ok("at_pose", `{"x":`+x[0]+`,"y":`+x[1]+`,"yaw":`+x[2]+`}`); !v.Passed {
					t.Errorf("%s does not hold: %s", p, v.Content)
				}
			}
		}
		t.Logf("truth before %+v after %+v", before, r.bot.Truth())
		r.ok("navigate_to", `{"place":"kitchen"}`)
		if v := r.ok("at_place", `{"place":"kitchen"}`); !v.Passed {
			t.Errorf("not in the kitchen: %s", v.Content)
		}
		if v := r.ok("at_place", `{"place":"office"}`); v.Passed {
			t.Errorf("in the office as well: %s", v.Content)
		}
		if v := r.ok("battery_above", `{"percent":5}`); !v.Passed {
			t.Errorf("battery: %s", v.Content)
		}
	})
}

func TestRefusalsReachNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		before := r.bot.Counters()
		for _, c := range []struct{ name, args, rule string }{
			{"drive", `{"distance_m":100}`, "range"},
			{"drive", `{"distance_m":1e308}`, "range"},
			{"drive", `{"distance_m":4.5}`, "swept path"},
			{"turn", `{"angle_rad":36000}`, "range"},
			{"navigate_to", `{"x":-0.6,"y":1.8,"yaw":0}`, "map"},
			{"navigate_to", `{"x":0,"y":0,"yaw":0}`, "keep-out"},
			{"navigate_to", `{"x":50,"y":0,"yaw":0}`, ""},
			{"navigate_to", `{"x":1e308,"y":0,"yaw":0}`, ""},
			{"wait", `{"seconds":-5}`, "negative"},
		} {
			res := r.call(c.name, c.args)
			if res.OK || res.ErrorKind != tool.GeometryRefused || !res.NeverRan() || !strings.Contains(res.Content, c.rule) {
				t.Errorf("%s(%s) = %v %s: %s", c.name, c.args, res.OK, res.ErrorKind, res.Content)
			} else {
				t.Logf("%s", res.Content)
			}
		}
		for name, n := range r.bot.Counters() {
			if n != before[name] {
				t.Errorf("counter %s went from %d to %d", name, before[name], n)
			}
		}
	})
}
