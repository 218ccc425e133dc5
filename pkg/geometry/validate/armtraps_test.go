package validate_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"

	"gonum.org/v1/gonum/spatial/r3"
)

// at is a trajectory of one point at a time.
func at(q []float64, after time.Duration) validate.JointTrajectory {
	c := to(q)
	c.Points[0].Time = after
	return c
}

// resting is c with velocities of zero at its last point: a controller makes a cubic of it.
func resting(c validate.JointTrajectory) validate.JointTrajectory {
	c.Points = slices.Clone(c.Points)
	c.Points[len(c.Points)-1].Velocities = make([]float64, len(c.Joints))
	return c
}

// permuted is c with its joints in another order.
func permuted(c validate.JointTrajectory) validate.JointTrajectory {
	c.Joints = slices.Clone(c.Joints)
	slices.Reverse(c.Joints)
	c.Points = slices.Clone(c.Points)
	for i := range c.Points {
		for _, list := range []*[]float64{&c.Points[i].Positions, &c.Points[i].Velocities, &c.Points[i].Accelerations} {
			*list = slices.Clone(*list)
			slices.Reverse(*list)
		}
	}
	return c
}

func TestTrajectoryTraps(t *testing.T) {
	nan := math.NaN()
	with := func(c validate.JointTrajectory, change func(*validate.JointTrajectory)) validate.JointTrajectory {
		c.Points = slices.Clone(c.Points)
		change(&c)
		return c
	}
	for _, tc := range []struct {
		name   string
		from   []float64 // nil: above
		c      validate.JointTrajectory
		change func(*validate.World)
		want   string
		says   string
		near   bool
	}{
		{name: "a little turn", c: to(moved(above, 0, 0.2))},
		{name: "the same, by name in another order", c: permuted(resting(at(moved(above, 0, 0.2), 2*time.Second)))},
		{name: "hold", c: to(above)},
		{name: "two points", c: to(moved(above, 0, 0.2), moved(above, 0, 0.4))},
		{name: "nothing", c: validate.JointTrajectory{}, want: "empty"},
		{name: "joints and no points", c: to(), want: "empty"},
		{name: "one joint is missing", c: with(to(above), func(c *validate.JointTrajectory) {
			c.Joints, c.Points[0].Positions = armJoints[:5], above[:5]
		}), want: "joint names", says: "wrist_3_joint"},
		{name: "one joint too many", c: with(to(above), func(c *validate.JointTrajectory) {
			c.Joints, c.Points[0].Positions = append(slices.Clone(armJoints), "finger_joint"), append(slices.Clone(above), 0)
		}), want: "joint names", says: "finger_joint"},
		{name: "a name in another case", c: with(to(above), func(c *validate.JointTrajectory) {
			c.Joints = append([]string{"Shoulder_Pan_Joint"}, armJoints[1:]...)
		}), want: "joint names, joint names"},
		{name: "no positions", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Positions = nil }), want: "length"},
		{name: "seven positions", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Positions = append(slices.Clone(above), 0) }), want: "length"},
		{name: "five accelerations", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Accelerations = make([]float64, 5) }), want: "length"},
		{name: "one effort", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Effort = []float64{1} }), want: "length"},
		{name: "too much effort", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Effort = []float64{0, 61, 0, 0, 0, 0} }), want: "effort"},
		{name: "NaN", c: to(moved(above, 2, nan)), want: "finite", says: "elbow_joint"},
		{name: "infinite velocity", c: with(to(above), func(c *validate.JointTrajectory) { c.Points[0].Velocities = []float64{0, 0, math.Inf(1), 0, 0, 0} }), want: "finite"},
		{name: "NaN in the tolerance", c: with(to(above), func(c *validate.JointTrajectory) {
			c.PathTolerance = []validate.Tolerance{{Joint: "elbow_joint", Position: nan}}
		}), want: "finite"},
		{name: "tolerances", c: with(to(above), func(c *validate.JointTrajectory) {
			c.PathTolerance = []validate.Tolerance{{Joint: "elbow_joint", Position: -1, Velocity: 0.5}}
		})},
		{name: "a tolerance twice", c: with(to(above), func(c *validate.JointTrajectory) {
			c.PathTolerance = []validate.Tolerance{{Joint: "elbow_joint"}, {Joint: "elbow_joint"}}
		}), want: "tolerance"},
		{name: "the same time twice", c: with(to(above, above), func(c *validate.JointTrajectory) { c.Points[1].Time = time.Second }), want: "time order"},
		{name: "before the start", c: at(above, -time.Second), want: "time order"},
		{name: "for two hours", c: at(above, 2*time.Hour), want: "range"},
		{name: "exactly at the limit", from: moved(above, 5, 1.5), c: resting(to(moved(above, 5, 3.05-above[5])))},
		{name: "a hair beyond", from: moved(above, 5, 1.5), c: resting(to(moved(above, 5, 3.05-above[5]+1e-6))), want: "position limit", says: "limit 3.05 rad"},
		{name: "beyond at a point in the middle", c: to(moved(above, 1, 1.65), above), want: "position limit"},
		{name: "between two points within the limits", from: moved(above, 5, 1.6), c: with(to(moved(above, 5, 1.6), moved(above, 5, 1.6)), func(c *validate.JointTrajectory) {
			c.Points[0].Velocities = []float64{0, 0, 0, 0, 0, 0.6}
			c.Points[1].Velocities = make([]float64, 6)
		}), want: "position limit", says: "between point 0 and point 1"},
		{name: "too fast", c: at(moved(above, 0, 0.5), 400*time.Millisecond), want: "velocity, acceleration", near: true},
		{
			name: "too fast only in between", c: with(resting(at(moved(above, 0, 0.6), 600*time.Millisecond)), func(*validate.JointTrajectory) {}),
			want: "velocity, acceleration", says: "1.5 rad/s", near: true,
		},
		{name: "fast without velocities: the speed would change at once", c: at(moved(above, 0, 0.5), 500*time.Millisecond), want: "acceleration", says: "at once", near: true},
		{name: "slow without velocities", c: at(moved(above, 0, 0.25), 500*time.Millisecond)},
		{name: "accelerations that a joint does not have", c: with(resting(at(moved(above, 0, 0.1), 100*time.Millisecond)), func(c *validate.JointTrajectory) {
			c.Points[0].Accelerations = make([]float64, 6)
		}), want: "velocity, acceleration", near: true},
		{name: "still moving at the end", c: with(to(moved(above, 0, 0.3)), func(c *validate.JointTrajectory) {
			c.Points[0].Velocities = []float64{0.3, 0, 0, 0, 0, 0}
		}), want: "final velocity"},
		{name: "evenly, and still moving at the end", c: with(to(moved(above, 0, 0.3), moved(above, 0, 0.6)), func(c *validate.JointTrajectory) {
			c.Points[0].Velocities = []float64{0.3, 0, 0, 0, 0, 0}
			c.Points[1].Velocities = []float64{0.3, 0, 0, 0, 0, 0}
		}), want: "final velocity"},
		{name: "at once, elsewhere", c: at(moved(above, 0, 0.3), 0), want: "start state", says: "shoulder_pan_joint"},
		{name: "at once, where it is but for noise", c: with(at(moved(above, 0, 0.01), 0), func(c *validate.JointTrajectory) {
			c.Points = append(c.Points, trajectory.Point{Positions: moved(above, 0, 0.2), Time: time.Second})
		})},
		{name: "started two seconds ago", c: with(to(above), func(c *validate.JointTrajectory) { c.Stamp = validate.StampOf(must2(armWorld(above)) - 2e9) }), want: "stamp"},
		{name: "started just now", c: with(resting(to(moved(above, 0, 0.2))), func(c *validate.JointTrajectory) { c.Stamp = validate.StampOf(must2(armWorld(above)) - 5e7) })},
		{name: "started just now: the first point is past, and elsewhere", c: with(at(moved(above, 0, 0.3), 0), func(c *validate.JointTrajectory) {
			c.Stamp = validate.StampOf(must2(armWorld(above)) - 5e7)
			c.Points[0].Time = 20 * time.Millisecond
			c.Points = append(c.Points, trajectory.Point{Positions: moved(above, 0, 0.4), Time: time.Second})
		}), want: "start state"},
		{name: "in a minute", c: with(to(above), func(c *validate.JointTrajectory) { c.Stamp = validate.StampOf(must2(armWorld(above)) + 6e10) }), want: "stamp"},
		{name: "nanoseconds of a full second", c: with(to(above), func(c *validate.JointTrajectory) { c.Stamp = validate.Stamp{Nanosec: 1e9} }), want: "stamp"},

		{name: "a joint at its limit, with noise, may leave it", from: moved(above, 5, 3.05-above[5]+0.004), c: to(moved(above, 5, 2.9-above[5]))},
		{
			name: "and a trajectory that begins there, as measured", from: moved(above, 5, 3.05-above[5]+0.004),
			c: with(at(moved(above, 5, 3.05-above[5]+0.004), 0), func(c *validate.JointTrajectory) {
				c.Points = append(c.Points, trajectory.Point{Positions: moved(above, 5, 2.9-above[5]), Time: time.Second})
			}),
		},
		{name: "but not stay there", from: moved(above, 5, 3.05-above[5]+0.004), c: to(moved(above, 5, 3.05-above[5]+0.004)), want: "position limit"},
		{
			name: "nor overshoot on the way in", from: moved(above, 5, 3.05-above[5]+0.004), c: with(resting(to(moved(above, 5, 2.95-above[5]))), func(*validate.JointTrajectory) {}),
			change: func(w *validate.World) { w.Arm.State.Velocities[6] = 0.5 }, want: "position limit",
		},
		{name: "a joint far beyond its limit", from: moved(above, 5, 3.4-above[5]), c: to(above), want: "start state", says: "3.4 rad"},

		{name: "into the table", c: resting(at(moved(above, 1, 0.45), 2*time.Second)), want: "collision", says: "table"},
		{name: "through the table: both ends are free", from: []float64{0, -1.9, 1.2, -0.9, -math.Pi / 2, 0}, c: resting(at([]float64{0, 0.3, 2, 0.5, -math.Pi / 2, 0}, 8*time.Second)), want: "collision", says: "point 0"},
		{name: "into itself", c: resting(at([]float64{-0.1, -1.2, 2.74, -2.6, -math.Pi / 2, 0}, 6*time.Second)), change: func(w *validate.World) {
			w.Arm.Scene = scene(collision.World{})
		}, want: "self-collision"},
		{name: "the mast is in the way, both ends are free", from: []float64{1.9, -1.4, 1.9, -2, -math.Pi / 2, 0}, c: resting(at([]float64{2.9, -1.4, 1.9, -2, -math.Pi / 2, 0}, 6*time.Second)), want: "self-collision", says: "camera"},
		{name: "a wall that stands in the way", c: resting(at(moved(above, 0, 0.5), 3*time.Second)), change: func(w *validate.World) {
			s := surroundings()
			s.Bodies = append(s.Bodies, box("wall", 0.5, 0.25, 0.5, 1, 0.02, 1))
			w.Arm.Scene = scene(s)
		}, want: "collision", says: "wall"},
		{name: "what is held hits the wall, the arm does not", c: to(moved(above, 0, 0.2)), change: func(w *validate.World) {
			s := surroundings()
			s.Bodies = append(s.Bodies, box("wall", 0.5, 0.22, 0.5, 1, 0.02, 1))
			s.Attached = []collision.Attached{{Body: collision.Body{
				Name: "tray", Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: 0.3, Y: 0.3, Z: 0.02}},
				Pose: spatial.Transform{Rotation: spatial.FromYaw(0)},
			}, Link: "tool0"}}
			w.Arm.Scene = scene(s)
		}, want: "collision", says: "tray, wall"},

		{name: "stale joint states", c: to(above), change: func(w *validate.World) { w.Now += int64(time.Second) }, want: "state age"},
		{name: "never any joint states", c: to(above), change: func(w *validate.World) { w.Arm.State = validate.JointState{} }, want: "state age"},
		{name: "joint states without one joint", c: to(above), change: func(w *validate.World) {
			s := &w.Arm.State
			s.Names, s.Positions, s.Velocities = s.Names[:6], s.Positions[:6], s.Velocities[:6]
		}, want: "state age", says: "wrist_3_joint"},
		{name: "joint states with too few positions", c: to(above), change: func(w *validate.World) { w.Arm.State.Positions = w.Arm.State.Positions[:6] }, want: "length"},
		{name: "NaN measured", c: to(above), change: func(w *validate.World) { w.Arm.State.Positions[3] = nan }, want: "finite"},
		{name: "NaN velocity measured", c: to(above), change: func(w *validate.World) { w.Arm.State.Velocities[3] = nan }, want: "finite"},
		{name: "NaN of somebody else's joint", c: to(above), change: func(w *validate.World) { w.Arm.State.Positions[0] = nan }},
		{name: "no velocities measured", c: to(above), change: func(w *validate.World) { w.Arm.State.Velocities = nil }},
		{name: "no arm", c: to(above), change: func(w *validate.World) { w.Arm = nil }, want: "limits"},
		{name: "no scene", c: to(above), change: func(w *validate.World) { w.Arm.Scene = nil }, want: "limits"},
		{name: "no acceleration limit", c: to(above), change: func(w *validate.World) { w.Arm.Joints[2].Acceleration = 0 }, want: "limits", says: "elbow_joint"},
		{name: "limits in another order", c: to(above), change: func(w *validate.World) { slices.Reverse(w.Arm.Joints) }, want: "limits"},
		{name: "a NaN limit", c: to(above), change: func(w *validate.World) { w.Arm.Joints[0].Upper = nan }, want: "limits"},
		{name: "a base that nothing is known of does not matter", c: to(above), change: func(w *validate.World) {
			w.Limits, w.Footprint, w.State, w.Map = nil, spatial.Footprint{}, validate.State{}, nil
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.from == nil {
				tc.from = above
			}
			w := armWorld(tc.from)
			if tc.change != nil {
				tc.change(w)
			}
			r := validate.Validate(tc.c, w)
			expect(t, r, tc.want)
			if tc.says != "" && (r.Err() == nil || !strings.Contains(r.Err().Error(), tc.says)) {
				t.Errorf("%v does not say %q", r.Err(), tc.says)
			}
			if (r.Nearest != nil) != tc.near {
				t.Errorf("offers %+v", r.Nearest)
			}
			if r.Nearest != nil {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
	expect(t, validate.Validate(to(above), nil), "limits")
}

func must2(w *validate.World) int64 { return w.Now }

// A table that was measured a little too near, or an object that stands on it, must not hold the arm for ever.
func TestStartInContact(t *testing.T) {
	held := func(depth float64) *validate.World {
		s := surroundings()
		// The object hangs from the fingers down into the table.
		w := armWorld(above)
		pose, _, err := w.Arm.Scene.LinkPose("tool0", above)
		if err != nil {
			t.Fatal(err)
		}
		length := pose.Translation.Z - 0.4 + depth
		s.Attached = []collision.Attached{{Link: "tool0", Body: collision.Body{
			Name: "cube", Pose: spatial.Transform{Translation: r3.Vec{Z: length / 2}, Rotation: spatial.FromYaw(0)},
			Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: 0.03, Y: 0.03, Z: length}},
		}}}
		w.Arm.Scene = scene(s)
		return w
	}
	up := resting(at(moved(above, 1, -0.2), 2*time.Second))
	down := resting(at(moved(above, 1, 0.03), 2*time.Second))
	expect(t, validate.Validate(up, held(0)), "")
	expect(t, validate.Validate(up, held(0.01)), "")
	expect(t, validate.Validate(up, held(0.04)), "collision")
	expect(t, validate.Validate(down, held(0)), "collision")
	expect(t, validate.Validate(down, held(0.01)), "collision")
	// Up and down again: it is clear once, and then the margin counts.
	again := up
	again.Points = append(slices.Clone(up.Points), trajectory.Point{Positions: above, Velocities: make([]float64, 6), Time: 4 * time.Second})
	expect(t, validate.Validate(again, held(0.004)), "collision")
}

func TestContinuousJointTakesTheShorterWay(t *testing.T) {
	w := armWorld(above)
	j := &w.Arm.Joints[5]
	j.Continuous, j.Lower, j.Upper = true, math.Inf(-1), math.Inf(1)
	w.Arm.State.Positions[6] = 3.1
	c := resting(at(moved(above, 5, -3.1-above[5]), time.Second))
	expect(t, validate.Validate(c, w), "")
	// The same for a joint that has an end there is a whole turn.
	w = armWorld(above)
	w.Arm.State.Positions[6] = 3.05
	c.Points[0].Positions[5] = -3.05
	expect(t, validate.Validate(c, w), "velocity, acceleration")
}

func TestGripper(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    validate.GripperCommand
		g    *validate.Gripper
		want string
		near validate.Command
	}{
		{"open", validate.GripperCommand{Position: 0.08, MaxEffort: 20}, nil, "", nil},
		{"close with the gripper's own effort", validate.GripperCommand{}, nil, "", nil},
		{"below closed", validate.GripperCommand{Position: -0.01, MaxEffort: 5}, nil, "position", validate.GripperCommand{MaxEffort: 5}},
		{"beyond open", validate.GripperCommand{Position: 0.0801}, nil, "position", validate.GripperCommand{Position: 0.08}},
		{"too strong", validate.GripperCommand{Position: 0.04, MaxEffort: 41}, nil, "effort", validate.GripperCommand{Position: 0.04, MaxEffort: 40}},
		{"negative effort", validate.GripperCommand{Position: 0.04, MaxEffort: -1}, nil, "effort", validate.GripperCommand{Position: 0.04}},
		{"NaN", validate.GripperCommand{Position: math.NaN(), MaxEffort: math.Inf(1)}, nil, "finite, finite", nil},
		{"a gripper whose closed is the greater", validate.GripperCommand{Position: 0.5, MaxEffort: 1}, &validate.Gripper{Open: 0, Closed: 0.8, MaxEffort: 2}, "", nil},
		{"nothing known", validate.GripperCommand{}, &validate.Gripper{}, "limits", nil},
		{"NaN known", validate.GripperCommand{}, &validate.Gripper{Open: math.NaN(), MaxEffort: 1}, "limits", nil},
		{"no effort known", validate.GripperCommand{}, &validate.Gripper{Open: 1}, "limits", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := armWorld(above)
			if tc.g != nil {
				w.Gripper = tc.g
			}
			r := validate.Validate(tc.c, w)
			expect(t, r, tc.want)
			if r.Nearest != tc.near {
				t.Errorf("offers %+v, want %+v", r.Nearest, tc.near)
			}
		})
	}
	expect(t, validate.Validate(validate.GripperCommand{}, nil), "limits")
	expect(t, validate.Validate(validate.GripperCommand{}, world(spatial.Pose2{})), "limits")
}

func TestBodiesAreKnownWhereTheBaseStands(t *testing.T) {
	at := spatial.Pose2{X: 1, Y: 2, Yaw: math.Pi / 2}
	w := world(at)
	got, found := w.ToBase("map", []collision.Body{box("table", 1, 3, 0.2, 1, 1, 0.4)})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if p := got[0].Pose.Translation; math.Hypot(p.X-1, p.Y) > 1e-9 || math.Abs(p.Z-0.2) > 1e-9 {
		t.Errorf("the table is at %v of the base", p)
	}
	if got, found = w.ToBase("moon", nil); got != nil || rules(found) != "frame" {
		t.Errorf("%v, %v", got, found)
	}
	w.Now += int64(3 * time.Second)
	if got, found = w.ToBase("map", nil); got != nil || rules(found) != "transform age" {
		t.Errorf("%v, %v", got, found)
	}
}

func TestJointsInFlight(t *testing.T) {
	for _, tc := range []struct {
		name   string
		q      []float64
		change func(*validate.World, *validate.JointState)
		want   string
	}{
		{"on its way", above, func(_ *validate.World, s *validate.JointState) { s.Velocities[1] = 1.3 }, ""},
		{"far too fast", above, func(_ *validate.World, s *validate.JointState) { s.Velocities[1] = -1.5 }, "velocity"},
		{"NaN velocity", above, func(_ *validate.World, s *validate.JointState) { s.Velocities[1] = math.NaN() }, "finite"},
		{"noise at the limit", moved(above, 5, 3.06-above[5]), nil, ""},
		{"beyond the limit", moved(above, 5, 3.1-above[5]), nil, "start state"},
		{"stale", above, func(w *validate.World, _ *validate.JointState) { w.Now += 1e9 }, "state age"},
		{"close to the table", moved(above, 1, 0.33), nil, ""},
		{"deep in the table", moved(above, 1, 0.45), nil, "collision"},
		{"no arm", above, func(w *validate.World, _ *validate.JointState) { w.Arm = nil }, "limits"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := armWorld(tc.q)
			s := w.Arm.State
			w.Arm.State = validate.JointState{} // not looked at
			if tc.change != nil {
				tc.change(w, &s)
			}
			got := validate.JointsInFlight(s, w)
			if tc.want == "collision" { // palm and fingers, one finding each
				for _, f := range got {
					if f.Rule != "collision" {
						t.Errorf("%v", f)
					}
				}
				if len(got) == 0 {
					t.Error("nothing found")
				}
				return
			}
			expect(t, validate.Report{Findings: got}, tc.want)
		})
	}
	if got := validate.JointsInFlight(validate.JointState{}, nil); rules(got) != "limits" {
		t.Error(got)
	}
}

func TestArmConfigurationIsChecked(t *testing.T) {
	for name, change := range map[string]func(*validate.Arm){
		"no scene":                              func(a *validate.Arm) { a.Scene = nil },
		"a joint too few":                       func(a *validate.Arm) { a.Joints = a.Joints[:5] },
		"another joint":                         func(a *validate.Arm) { a.Joints[0].Name = "waist" },
		"no velocity":                           func(a *validate.Arm) { a.Joints[0].Velocity = 0 },
		"bounds in wrong order":                 func(a *validate.Arm) { a.Joints[0].Lower = 4 },
		"negative tolerance":                    func(a *validate.Arm) { a.StartTolerance = -1 },
		"tolerance not a number":                func(a *validate.Arm) { a.LimitTolerance = math.NaN() },
		"bounds of a joint that turns for ever": func(a *validate.Arm) { a.Joints[5].Continuous = true },
	} {
		a := &validate.Arm{Joints: armLimits(), Scene: scene(surroundings())}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
		change(a)
		if a.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
	if (*validate.Arm)(nil).Check() == nil {
		t.Error("no arm passes")
	}
	if (limits.Joint{Name: "x", Lower: math.Inf(-1), Upper: math.Inf(1)}).Check() == nil {
		t.Error("a joint without bounds that does not turn for ever passes")
	}
}
