package robottools_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"agent_node/sim/arm/armtest"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

func TestPickAndPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}") // waits until the robot is seen
		time.Sleep(time.Second)
		r.ok("get_joints", "{}")
		r.ok("navigate_to", `{"place":"table"}`)
		r.ok("list_objects", "{}")
		r.ok("pick", `{"object":"red cube"}`)
		if v := r.ok("holding", `{"object":"red cube"}`); !v.Passed {
			t.Errorf("not held: %s", v.Content)
		}
		r.ok("navigate_to", `{"place":"kitchen"}`)
		res := r.ok("place", `{"place":"kitchen"}`)
		if len(res.Postconditions) != 1 || res.Postconditions[0] != "object_at(red cube, kitchen)" {
			t.Errorf("postconditions %v", res.Postconditions)
		}
		if v := r.ok("object_at", `{"object":"red cube","place":"kitchen"}`); !v.Passed {
			t.Errorf("not there: %s", v.Content)
		}
	})
}

// toolYaw is how the tool truly is turned in the map, rad, and how far its z axis is from pointing straight down, rad.
func toolYaw(now physics.Truth) (yaw, tilt float64) {
	tool := now.Pose.Transform(0).Mul(armtest.Tool(world.Default(), now.Arm))
	return tool.R.Yaw(), math.Acos(math.Min(1, -tool.R.Column(2).Z))
}

// beside is how far an angle is from the nearest side of a cube, rad.
func beside(yaw, cube float64) float64 { return math.Abs(math.Remainder(yaw-cube, math.Pi/2)) }

// A yaw that is given is kept: by the truth of the joints, not by what the tool says.
func TestAToolThatPointsDownIsTurnedAsAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		time.Sleep(time.Second)
		for _, want := range []float64{0, 0.7, -1.2, 1.5} {
			r.ok("move_arm", fmt.Sprintf(`{"pose":{"frame":"map","x":-1.1,"y":-1.45,"z":0.6,"yaw":%g}}`, want))
			yaw, tilt := toolYaw(r.bot.Truth())
			if math.Abs(math.Remainder(yaw-want, 2*math.Pi)) > 0.02 || tilt > 0.02 {
				t.Errorf("asked for a yaw of %g rad, it is turned by %.3f rad and tilted by %.3f rad", want, yaw, tilt)
			}
		}
		r.ok("move_arm", `{"pose":{"x":0.5,"y":0.05,"z":0.6}}`) // with any yaw
		if _, tilt := toolYaw(r.bot.Truth()); tilt > 0.02 {
			t.Errorf("it is tilted by %.3f rad", tilt)
		}
	})
}

// What is picked is taken by its sides, as they are when the hand comes down.
func TestACubeIsPickedByItsSides(t *testing.T) {
	for name, c := range map[string]struct{ first, then float64 }{
		"straight": {0, 0}, "askew": {0.7, 0.7}, "just before the other side": {0.78, 0.78}, "the other way": {-0.4, -0.4},
		"turned by hand while the arm comes": {0, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				turn := func(yaw float64) { r.setParam("sim.object.red_cube", []float64{2.8, -1.45, 0.425, yaw}) }
				turn(c.first)
				r.ok("get_pose", "{}")
				r.ok("navigate_to", `{"place":"table"}`)
				time.Sleep(time.Second)
				picked := make(chan struct{})
				go func() {
					defer close(picked)
					r.ok("pick", `{"object":"red cube"}`)
				}()
				for turned := c.then == c.first; ; {
					time.Sleep(10 * time.Millisecond)
					now := r.bot.Truth()
					if !turned && math.Abs(now.ArmVelocity[0]) > 0.02 {
						turned = true
						turn(c.then)
					}
					if now.Held != "" {
						yaw, tilt := toolYaw(now)
						if off := beside(yaw, c.then); off > 0.02 || tilt > 0.02 || math.Abs(math.Remainder(yaw, 2*math.Pi)) > math.Pi/4+0.02 {
							t.Errorf("the cube is turned by %g rad, the hand by %.3f rad, %.3f rad off a side", c.then, yaw, off)
						}
						break
					}
				}
				<-picked
			})
		})
	}
}
