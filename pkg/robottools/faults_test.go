package robottools_test

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// setParam sets a parameter of the built-in robot as anybody would, by its service.
func (r *rig) setParam(name string, value any) {
	r.t.Helper()
	client := must1(r.peer.CreateClient("/sim_robot/set_parameters", "rcl_interfaces/srv/SetParameters"))(r.t)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	must(r.t, client.WaitReady(ctx))
	v := map[string]any{"type": 1, "bool_value": value}
	if f, ok := value.(float64); ok {
		v = map[string]any{"type": 3, "double_value": f}
	}
	if list, ok := value.([]float64); ok {
		v = map[string]any{"type": 8, "double_array_value": list}
	}
	req := must1(ros.FromMap(client.Type().Request, map[string]any{"parameters": []any{map[string]any{"name": name, "value": v}}}))(r.t)
	resp := must1(client.Call(ctx, req))(r.t)
	if got := resp.Msgs("results"); len(got) != 1 || !got[0].Bool("successful") {
		r.t.Fatalf("%s = %v: %v", name, value, resp.Map())
	}
}

// still judges by the truth, five samples.
func (r *rig) still() bool {
	for range 5 {
		w := r.bot.Truth().Twist
		if math.Abs(w.Linear) > 0.012 || math.Abs(w.Angular) > 0.025 {
			return false
		}
		time.Sleep(20 * time.Millisecond)
	}
	return true
}

// state of an actuator as the guard has it.
func (r *rig) state(name string) guard.State {
	for _, s := range r.robot.Guard().States() {
		if s.Name == name {
			return s.State
		}
	}
	return guard.Unknown
}

// TestFaultsNeverEndInAFalseClaim sets every fault before or during a motion, with and without a cancel: the
// call ends in time, and either the truth is at rest or the result says that it was not reached.
func TestFaultsNeverEndInAFalseClaim(t *testing.T) {
	faults := []string{"fault.ignore_cancel", "fault.freeze_odom", "fault.nan_odom"} // all of them are judged over ROS, in test/e2e
	if os.Getenv("PROOF") != "" {
		faults = append(faults, "fault.refuse_cancel", "fault.late_result", "fault.stop_odom", "fault.stale_stamps", "fault.drop_feedback")
	}
	for _, fault := range faults {
		for _, motion := range []struct{ name, args string }{{"navigate_to", `{"place":"kitchen"}`}, {"drive", `{"distance_m":2}`}} {
			for _, when := range []string{"before", "during", "during, then cancel"} {
				t.Run(fault+"/"+motion.name+"/"+when, func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						r := newRig(t)
						r.faulty = true
						r.ok("get_pose", "{}")
						ctx, cancel := context.WithCancel(context.Background())
						defer cancel()
						if when == "before" {
							r.setParam(fault, true)
						} else {
							time.AfterFunc(1500*time.Millisecond, func() { r.setParam(fault, true) })
						}
						if when == "during, then cancel" {
							time.AfterFunc(2500*time.Millisecond, cancel)
						}
						begin := time.Now()
						res := r.callCtx(ctx, motion.name, motion.args)
						took := time.Since(begin)
						still := r.still()
						t.Logf("%.1f s, ok %v %s %s still %v: %s", took.Seconds(), res.OK, res.ErrorKind, res.Interrupt, still, res.Content)
						if took > 40*time.Second {
							t.Errorf("took %v", took)
						}
						if res.Interrupt != "actuator_fault" && !still {
							t.Errorf("moves on: %+v", r.bot.Truth())
						}
						if when == "during, then cancel" && res.OK {
							t.Errorf("a canceled motion is no success")
						}
					})
				})
			}
		}
	}
}

// A motion that geometry ends on its way is refused by its kind, and has begun all the same.
func TestWhatIsRefusedOnItsWayHasBegun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		before := r.bot.Truth().Pose
		time.AfterFunc(2500*time.Millisecond, func() {
			if moved := math.Hypot(r.bot.Truth().Pose.X-before.X, r.bot.Truth().Pose.Y-before.Y); moved < 0.1 {
				t.Errorf("moved by %.2f m before it is set aside", moved)
			}
			r.setParam("sim.teleport", []float64{-0.75, 0.1, 0})
		})
		res := r.call("drive", `{"distance_m":1.0}`)
		if res.OK || res.ErrorKind != tool.GeometryRefused || !res.Begun || res.NeverRan() {
			t.Errorf("%+v", res)
		}
	})
}

func TestProtectiveStopPausesAndResumes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		time.AfterFunc(1500*time.Millisecond, func() { r.setParam("fault.protective_stop", true) })
		paused := make(chan guard.State, 1)
		time.AfterFunc(3500*time.Millisecond, func() { paused <- r.state("base") })
		time.AfterFunc(6500*time.Millisecond, func() { r.setParam("fault.protective_stop", false) })
		res := r.ok("navigate_to", `{"place":"kitchen"}`)
		if state := <-paused; state != guard.Paused {
			t.Errorf("while held: %v", state)
		}
		t.Log(res.Content)
	})
}

func TestOperatorPauseSendsTheRest(t *testing.T) {
	for _, motion := range []struct{ name, args string }{{"navigate_to", `{"place":"kitchen"}`}, {"drive", `{"distance_m":2}`}} {
		t.Run(motion.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.ok("get_pose", "{}")
				time.AfterFunc(1500*time.Millisecond, func() { r.robot.Guard().Pause(guard.SourceOperator) })
				still := make(chan bool, 1)
				time.AfterFunc(4*time.Second, func() { still <- r.still() })
				time.AfterFunc(5*time.Second, func() { r.robot.Guard().Resume(guard.SourceOperator) })
				res := r.ok(motion.name, motion.args)
				if !<-still {
					t.Error("moved while paused")
				}
				t.Log(res.Content)
			})
		})
	}
}

func TestEmergencyStopLatches(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		time.AfterFunc(1500*time.Millisecond, func() { r.robot.EmergencyInput("test", true) })
		res := r.call("navigate_to", `{"place":"kitchen"}`)
		if res.OK || res.Interrupt != "emergency_stop" || !r.still() {
			t.Errorf("%+v still %v", res, r.still())
		}
		r.robot.EmergencyInput("test", false)
		if res := r.call("drive", `{"distance_m":0.2}`); res.OK || res.ErrorKind != tool.GuardRefused {
			t.Errorf("a released stop is no reset: %+v", res)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		must(t, r.robot.Guard().Reset(ctx))
		r.ok("drive", `{"distance_m":0.2}`)
	})
}
