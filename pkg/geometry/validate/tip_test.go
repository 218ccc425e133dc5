package validate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"

	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

var armChain = must(kinematics.NewChain(armModel, "base_link", "tool0"))

// fastest is the greatest speed of the tip along a curve, from poses a tenth of a millisecond apart.
func fastest(c *trajectory.Curve, samples int) (linear, angular float64) {
	const h = 1e-4
	q := make([]float64, len(armJoints))
	pose := func(t float64) spatial.Transform {
		c.At(time.Duration(t*1e9), q, nil, nil)
		return must(armChain.FK(q))
	}
	end := c.End().Seconds()
	for i := range samples {
		t := (end - h) * float64(i) / float64(samples-1)
		a, b := pose(t), pose(t+h)
		linear = max(linear, r3.Norm(r3.Sub(b.Translation, a.Translation))/h)
		angular = max(angular, spatial.Angle(a.Rotation, b.Rotation)/h)
	}
	return linear, angular
}

// TestTipSpeedIsThatOfDenseSampling: nothing over the limit passes, nothing under it is refused, also between points.
func TestTipSpeedIsThatOfDenseSampling(t *testing.T) {
	refused, passed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := armWorld(above)
		w.Arm.Scene = scene(surroundingsNone())
		for i := range w.Arm.Joints { // speed of the tip alone
			w.Arm.Joints[i].Velocity, w.Arm.Joints[i].Acceleration = 100, 1e4
		}
		c := validate.JointTrajectory{Trajectory: trajectory.Trajectory{Joints: armJoints}}
		for i := range 2 {
			p := trajectory.Point{Positions: slices.Clone(above), Velocities: make([]float64, 6), Time: time.Duration(i+1) * time.Second}
			for k := range p.Positions {
				p.Positions[k] += rapid.Float64Range(-0.15, 0.15).Draw(t, "q")
				if i == 0 {
					p.Velocities[k] = rapid.Float64Range(-0.3, 0.3).Draw(t, "v")
				}
			}
			c.Points = append(c.Points, p)
		}
		curve := must(trajectory.NewCurve(trajectory.Start{Positions: above}, c.Trajectory))
		linear, angular := fastest(curve, 3000)
		w.Arm.Chain = armChain
		share := rapid.Float64Range(0.5, 1.5).Draw(t, "share")
		name, value, limit := "tip linear", linear, linear*share
		w.Arm.Tip = limits.Tip{Linear: limit}
		if rapid.Bool().Draw(t, "angular") {
			name, value, limit = "tip angular", angular, angular*share
			w.Arm.Tip = limits.Tip{Angular: limit}
		}
		if math.Abs(value-limit) < 5e-3*limit || limit < 1e-2 {
			return // too near to tell by samples
		}
		r := validate.Validate(c, w)
		if slices.ContainsFunc(r.Findings, func(f geometry.Finding) bool { return f.Rule != geometry.RuleTipSpeed }) {
			return // it touches itself
		}
		if r.Valid() != (value < limit) {
			t.Fatalf("%s: %g by samples, limit %g: %v", name, value, limit, r.Findings)
		}
		if r.Valid() {
			passed++
			return
		}
		refused++
		f := r.Findings[0]
		if f.Subject != name || math.Abs(f.Value-value) > 5e-3*value || f.Limit != limit {
			t.Fatalf("%+v: %g by samples", f, value)
		}
		near, ok := r.Nearest.(validate.JointTrajectory)
		if !ok {
			t.Fatal("no slower one is offered")
		}
		if again := validate.Validate(near, w); !again.Valid() {
			t.Fatal(again.Findings)
		}
		if slow := near.Duration().Seconds() / c.Duration().Seconds(); slow > 1.2*value/limit {
			t.Fatalf("slowed by %g where %g would do", slow, value/limit)
		}
	})
	if refused == 0 || passed == 0 {
		t.Errorf("%d refused, %d passed", refused, passed)
	}
}

func TestTipLimitsNeedAChain(t *testing.T) {
	w := armWorld(carry)
	w.Arm.Tip.Linear = 0.25
	expect(t, validate.Validate(to(carry), w), "limits")
	w.Arm.Chain = armChain
	expect(t, validate.Validate(to(carry), w), "")
	w.Arm.Tip.Linear = math.NaN()
	expect(t, validate.Validate(to(carry), w), "limits")
	w.Arm.Tip.Linear = 0.25
	s := w.Arm.State
	s.Velocities = slices.Clone(s.Velocities)
	s.Velocities[1] = 1.1 // the shoulder: some 0.2 m/s at the tip, folded
	if f := validate.JointsInFlight(s, w); len(f) > 0 {
		t.Error(f)
	}
	w.Arm.Tip.Linear = 0.05
	if f := validate.JointsInFlight(s, w); len(f) != 1 || f[0].Rule != geometry.RuleTipSpeed {
		t.Error(f)
	}
}

func TestJerkOfArms(t *testing.T) {
	w := armWorld(carry)
	for i := range w.Arm.Joints {
		w.Arm.Joints[i].Jerk = 20
	}
	aside := append([]float64{-0.6}, carry[1:]...)
	glide := validate.JointTrajectory{Trajectory: must(trajectory.FromPath([][]float64{carry, aside}, w.Arm.Joints, 1))}
	expect(t, validate.Validate(glide, w), "")
	for i := range w.Arm.Joints {
		w.Arm.Joints[i].Jerk = 10
	}
	r := validate.Validate(glide, w)
	if r.Valid() || r.Findings[0].Rule != geometry.RuleJerk {
		t.Fatal(r.Findings)
	}
	if r.Nearest == nil || !validate.Validate(r.Nearest, w).Valid() {
		t.Error("no slower one is offered")
	}
}

func TestWrenches(t *testing.T) {
	force := func(x, y, z float64) spatial.Wrench { return spatial.Wrench{Force: r3.Vec{X: x, Y: y, Z: z}} }
	for _, tc := range []struct {
		name   string
		cmd    validate.WrenchCommand
		change func(*validate.World)
		want   string
		offer  bool
	}{
		{"at the limit", validate.WrenchCommand{Wrench: force(0, 3, -4)}, nil, "", false},
		{"over it together", validate.WrenchCommand{Wrench: force(0, 4, -4)}, nil, "force", true},
		{"too much torque", validate.WrenchCommand{Wrench: spatial.Wrench{Torque: r3.Vec{Z: 2}}}, nil, "torque", true},
		{"both", validate.WrenchCommand{Wrench: spatial.Wrench{Force: r3.Vec{X: 9}, Torque: r3.Vec{Z: 2}}}, nil, "force, torque", true},
		{"NaN", validate.WrenchCommand{Wrench: force(math.NaN(), 0, 0)}, nil, "finite", false},
		{"the largest double", validate.WrenchCommand{Wrench: force(math.MaxFloat64, math.MaxFloat64, 0)}, nil, "force", false},
		{"no limits", validate.WrenchCommand{Wrench: force(1, 0, 0)}, func(w *validate.World) { w.Arm.Wrench = limits.Wrench{} }, "force", false},
		{"nothing always passes", validate.WrenchCommand{}, func(w *validate.World) { w.Arm = nil }, "", false},
		{"no arm", validate.WrenchCommand{Wrench: force(1, 0, 0)}, func(w *validate.World) { w.Arm = nil }, "limits", false},
		{"odd limits", validate.WrenchCommand{Wrench: force(1, 0, 0)}, func(w *validate.World) { w.Arm.Wrench.Force = math.Inf(1) }, "limits", false},
		{"a frame with a slash", validate.WrenchCommand{Wrench: force(1, 0, 0), Frame: "/tool0"}, nil, "frame", false},
		{"from long ago", validate.WrenchCommand{Wrench: force(1, 0, 0), Stamp: validate.Stamp{Sec: 12}}, nil, "stamp", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := armWorld(carry)
			w.Arm.Wrench = limits.Wrench{Force: 5, Torque: 1}
			if tc.change != nil {
				tc.change(w)
			}
			r := validate.Validate(tc.cmd, w)
			expect(t, r, tc.want)
			if (r.Nearest != nil) != tc.offer {
				t.Fatalf("nearest %+v", r.Nearest)
			}
			if tc.offer {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}
