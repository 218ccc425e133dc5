//go:build !race

package manipulate

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
	"agent_node/test/house"
)

// TestTheErrandFromRandomStarts: wherever the robot stands and the objects lie, the cube is brought, and nothing else is moved. The
// profile's record is wrong then for most objects: they are looked for.
func TestTheErrandFromRandomStarts(t *testing.T) {
	seeds := []uint64{2, 5, 9, 14}
	if proof() {
		seeds = nil
		for s := range uint64(20) {
			seeds = append(seeds, s+1)
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			in(t, house.Options{Seed: seed, RandomStart: true, RandomObjects: true}, func(t *testing.T, h *house.House) {
				before := h.Now()
				r := h.Run(errand)
				done(t, h, r, before)
				t.Logf("from %+v, the cube at %q: %s", before.Pose, before.PlaceOf("red cube"), r.Str("answer"))
			})
		})
	}
}

// once calls f at the first moment at which when holds.
func once(when func(physics.Truth) bool, f func()) house.Watch {
	over := false
	return func(now physics.Truth, _ func()) {
		if !over && when(now) {
			over = true
			f()
		}
	}
}

// change is what happens while the errand is under way.
type change struct {
	task  string // "" for the errand
	start map[string]any
	watch func(h *house.House) house.Watch
	ends  string // reason code
	says  string // words of the answer
	cube  string // where the red cube truly is at the end, "" for at no place
	holds string // what is held at the end
	also  func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation)
}

// TestTheWorldChanges: what goes wrong on the way is found out, and mended or told.
func TestTheWorldChanges(t *testing.T) {
	put := func(x, y float64) []float64 { return []float64{x, y} }
	for name, c := range map[string]change{
		"the cube is moved by hand while it drives there": {
			watch: func(h *house.House) house.Watch {
				return once(moving, func() { h.Set("sim.object.red_cube", put(-3.5, 1.6)) })
			},
			ends: "accepted", cube: "kitchen",
		},
		"the cube is moved by hand before its eyes": {
			watch: func(h *house.House) house.Watch {
				return once(func(s physics.Truth) bool { return s.Pose.X > 2 }, func() { h.Set("sim.object.red_cube", put(2.75, -1.6)) })
			},
			ends: "accepted", cube: "kitchen",
		},
		"the cube is taken away under the hand": {
			watch: func(h *house.House) house.Watch {
				return once(lowering, func() { h.Set("sim.take_away", "red cube") })
			},
			ends: "infeasible", says: "I see it at none of the places",
		},
		"there is no cube": {
			start: map[string]any{"sim.take_away": "red cube"},
			ends:  "infeasible", says: "I do not know where the red cube is",
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				if n := h.Bot.Counters()["/arm_controller/follow_joint_trajectory"]; n != 0 {
					t.Errorf("the arm was moved %d times", n)
				}
				for _, place := range []string{"kitchen", "office", "table", "dock"} {
					if !visited(h, place) {
						t.Errorf("it did not look at the %s", place)
					}
				}
			},
		},
		"the fingers close on nothing, always": {
			start: map[string]any{"fault.gripper_empty": true},
			ends:  "infeasible", says: "The red cube cannot be picked up at the table", cube: "table",
		},
		"the fingers close on nothing, once": {
			start: map[string]any{"fault.gripper_empty": true},
			watch: func(h *house.House) house.Watch {
				return once(func(s physics.Truth) bool { return s.Width < 0.005 }, func() { h.Set("fault.gripper_empty", false) })
			},
			ends: "accepted", cube: "kitchen",
		},
		"the cube is dropped on the way": {
			watch: func(h *house.House) house.Watch {
				return once(carrying, func() { h.Set("fault.gripper_slip", true) })
			},
			ends: "infeasible", says: "red cube",
		},
		"the cube is dropped on the way and put back on the table": {
			watch: func(h *house.House) house.Watch {
				slip := once(carrying, func() { h.Set("fault.gripper_slip", true) })
				back := once(func(s physics.Truth) bool { return moving(s) && s.Held == "" && fell(h) }, func() {
					h.Set("fault.gripper_slip", false)
					h.Set("sim.object.red_cube", put(2.8, -1.5))
				})
				return func(now physics.Truth, cancel func()) { slip(now, cancel); back(now, cancel) }
			},
			ends: "accepted", cube: "kitchen",
		},
		"the cube is taken out of the hand on the way": {
			watch: func(h *house.House) house.Watch {
				return once(carrying, func() { h.Set("sim.object.red_cube", put(-3.5, 1.6)) })
			},
			ends: "accepted", cube: "kitchen",
		},
		"the first navigation is aborted": {
			watch: func(h *house.House) house.Watch {
				pub, err := h.Caller.CreatePublisher("/cmd_vel", "geometry_msgs/msg/Twist", ros.QoS{Depth: 1})
				house.Fatal(h.T, err)
				return once(moving, func() { house.Fatal(h.T, pub.Publish(ros.New(pub.Type()))) })
			},
			ends: "accepted", cube: "kitchen",
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				if n := h.Bot.Counters()["/navigate_to_pose"]; n < 3 {
					t.Errorf("%d goals of navigation, 3 or more are needed", n)
				}
			},
		},
		"the place is occupied": {
			start: map[string]any{"sim.object.blue_cube": put(1.3, 2.015), "sim.object.green_ball": put(1.5, 2.015)},
			ends:  "infeasible", says: "no spot is free there", holds: "red cube",
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				untouched(t, before, after, "blue cube", "green ball")
			},
		},
		"the middle of the place is occupied": {
			start: map[string]any{"sim.object.blue_cube": put(1.4, 2.015)},
			ends:  "accepted", cube: "kitchen",
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				untouched(t, before, after, "blue cube", "green ball")
			},
		},
		"the cube is taken away again before it says done": {
			watch: func(h *house.House) house.Watch {
				held := false
				return once(func(s physics.Truth) bool {
					held = held || s.Held == "red cube"
					return held && s.Held == "" && h.Now().PlaceOf("red cube") == "kitchen" && s.Width < 0.02
				}, func() { h.Set("sim.object.red_cube", put(-3.5, 1.6)) })
			},
			ends: "", cube: "", // whatever it makes of it: see also
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				if done := r.Str("reason_code") == "accepted"; done != (after.PlaceOf("red cube") == "kitchen") {
					t.Errorf("it says %s, the cube is at %q", r.Str("reason_code"), after.PlaceOf("red cube"))
				}
			},
		},
		"two objects in one sentence": {
			task: "take the red cube to the kitchen and the green ball to the dock", ends: "accepted", cube: "kitchen",
			also: func(t *testing.T, h *house.House, r *ros.Message, before, after house.Situation) {
				if at := after.PlaceOf("green ball"); at != "dock" {
					t.Errorf("the green ball is at %q", at)
				}
				untouched(t, before, after, "blue cube")
			},
		},
		"bring me the cube":                {task: "bring me the cube", ends: "infeasible", says: "Which cube? I know red cube and blue cube.", cube: "table", also: nothingSent},
		"which cube":                       {task: "take the cube to the kitchen", ends: "infeasible", says: "Which cube?", cube: "table", also: nothingSent},
		"bring me the red cube, but where": {task: "bring me the red cube", ends: "infeasible", says: "Where am I to bring the red cube?", cube: "table", also: nothingSent},
		"an unknown object":                {task: "take the yellow cube to the kitchen", ends: "infeasible", says: `I know no object "yellow"`, cube: "table", also: nothingSent},
		"an unknown place":                 {task: "take the red cube to the bathroom", ends: "infeasible", says: `I know no place "bathroom"`, cube: "table", also: nothingSent},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, house.Options{Seed: 3, Robot: c.start}, func(t *testing.T, h *house.House) {
				task := c.task
				if task == "" {
					task = errand
				}
				var watch house.Watch
				if c.watch != nil {
					watch = c.watch(h)
				}
				before := h.Now()
				out, _ := h.Send(ros.New(h.Execute.Type().Goal).With("task", task), watch)
				r := out.Result
				time.Sleep(2 * time.Second)
				after := h.Now()
				t.Logf("%s: %s", r.Str("reason_code"), r.Str("answer"))
				if c.ends != "" && r.Str("reason_code") != c.ends || !strings.Contains(r.Str("answer"), c.says) {
					t.Errorf("it ends as %s: %q; wanted %s with %q", r.Str("reason_code"), r.Str("answer"), c.ends, c.says)
				}
				if at := after.PlaceOf("red cube"); c.ends != "" && at != c.cube {
					t.Errorf("the red cube is at %q, wanted %q", at, c.cube)
				}
				if after.Held != c.holds {
					t.Errorf("it holds %q, wanted %q", after.Held, c.holds)
				}
				if strings.Contains(r.Str("answer"), "Go on with the task") {
					t.Errorf("words for a model reach the person: %q", r.Str("answer"))
				}
				if after.Held == "" {
					folded(t, after)
				}
				bumped(t, h)
				if c.also != nil {
					c.also(t, h, r, before, after)
				}
			})
		})
	}
}

// lowering: the arm comes down on something at the table.
func lowering(s physics.Truth) bool {
	return s.Held == "" && s.Pose.X > 2 && math.Abs(s.Twist.Linear) < 0.01 && s.Arm[1] > -1 && math.Abs(s.ArmVelocity[1]) > 0.05
}

// fell: the cube lies on the floor.
func fell(h *house.House) bool { return h.Now().Objects["red cube"].Z < 0.1 }

func visited(h *house.House, place string) bool {
	for _, s := range h.Path {
		if house.At(s.Pose, place, 0.25) {
			return true
		}
	}
	return false
}

// nothingSent: the robot was asked for nothing.
func nothingSent(t *testing.T, h *house.House, _ *ros.Message, before, after house.Situation) {
	t.Helper()
	for name, n := range h.Bot.Counters() {
		if n != 0 {
			t.Errorf("%s got %d goals or commands", name, n)
		}
	}
	if !before.Still(after) {
		t.Error("it moved")
	}
}
