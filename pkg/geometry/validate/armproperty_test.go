package validate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"

	"pgregory.net/rapid"
)

// drawTrajectory goes from above through a few places, at any speed, with velocities and accelerations or without.
func drawTrajectory(t *rapid.T) validate.JointTrajectory {
	c := validate.JointTrajectory{Trajectory: trajectory.Trajectory{Joints: armJoints}}
	q, at := slices.Clone(above), time.Duration(0)
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	n := rapid.IntRange(1, 4).Draw(t, "points")
	for i := range n {
		for k := range q {
			q[k] += rapid.Float64Range(-0.4, 0.4).Draw(t, "step")
		}
		at += time.Duration(rapid.Float64Range(0.2, 3).Draw(t, "time") * float64(time.Second))
		p := trajectory.Point{Positions: slices.Clone(q), Time: at}
		if kind > 0 {
			p.Velocities = make([]float64, 6)
			if kind > 1 {
				p.Accelerations = make([]float64, 6)
			}
			for k := range 6 {
				if i < n-1 {
					p.Velocities[k] = rapid.Float64Range(-0.5, 0.5).Draw(t, "velocity")
				}
			}
		}
		c.Points = append(c.Points, p)
	}
	return c
}

// sampled follows the controller's curve densely and says which rules it breaks there, with a tolerance on each: what is over the limit by it is in worse, what comes to the
// limit but for it is in near.
func sampled(c validate.JointTrajectory, w *validate.World) (worse, near map[string]bool) {
	worse, near = map[string]bool{}, map[string]bool{}
	curve := must(trajectory.NewCurve(trajectory.Start{Positions: above}, c.Trajectory))
	q, v, a := make([]float64, 6), make([]float64, 6), make([]float64, 6)
	look := func(rule string, value, limit, eps float64) {
		if value > limit+eps {
			worse[rule] = true
		}
		if value > limit-eps {
			near[rule] = true
		}
	}
	const steps = 800
	for i := range steps + 1 {
		curve.At(time.Duration(float64(curve.End())*float64(i)/steps), q, v, a)
		for k, j := range w.Arm.Joints {
			look(geometry.RulePositionLimit, max(j.Lower-q[k], q[k]-j.Upper), 0, 1e-3)
			look(geometry.RuleVelocity, math.Abs(v[k]), j.Velocity, 2e-2)
			look(geometry.RuleAcceleration, math.Abs(a[k]), j.Acceleration, 0.2)
		}
		contact, _, err := w.Arm.Scene.Nearest(q)
		if err != nil {
			panic(err)
		}
		rule := geometry.RuleCollision
		if contact.Self {
			rule = geometry.RuleSelfCollision
		}
		// The least clearance is that of some pair; which of the two rules it is does not matter here.
		look(rule, contact.Margin-contact.Distance, 0, 4e-3)
		if contact.Distance <= contact.Margin {
			worse[rule] = true
		}
	}
	return worse, near
}

func TestArmTrajectoryThatPassesBreaksNothingAndWhatIsRefusedDoes(t *testing.T) {
	w := armWorld(above)
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrajectory(t)
		r := validate.Validate(c, w)
		worse, near := sampled(c, w)
		if r.Valid() && len(worse) > 0 {
			t.Fatalf("passes, but breaks %v", worse)
		}
		for _, f := range r.Findings {
			rule := f.Rule
			if f.Rule == geometry.RuleAcceleration && f.Unit == "rad/s" {
				continue // a speed that changes at once is between samples
			}
			if (rule == geometry.RuleCollision || rule == geometry.RuleSelfCollision) && (near[geometry.RuleCollision] || near[geometry.RuleSelfCollision]) {
				continue
			}
			if !near[rule] {
				t.Fatalf("%v, but no sample is near it", f)
			}
		}
		if r.Nearest != nil {
			if again := validate.Validate(r.Nearest, w); !again.Valid() {
				t.Fatalf("the nearest is refused: %v", again.Findings)
			}
		}
	})
}

func TestArmPathInTimePassesWhereItIsClear(t *testing.T) {
	w := armWorld(above)
	rapid.Check(t, func(t *rapid.T) {
		path := [][]float64{above}
		for range rapid.IntRange(1, 4).Draw(t, "points") {
			q := slices.Clone(path[len(path)-1])
			for k := range q {
				q[k] += rapid.Float64Range(-0.3, 0.3).Draw(t, "step")
			}
			path = append(path, q)
		}
		speed := rapid.Float64Range(0.05, 1).Draw(t, "speed")
		c := validate.JointTrajectory{Trajectory: must(trajectory.FromPath(path, w.Arm.Joints, speed))}
		r := validate.Validate(c, w)
		hit := must(w.Arm.Scene.CheckPath(path...))
		for _, f := range r.Findings {
			switch f.Rule {
			case geometry.RuleCollision, geometry.RuleSelfCollision:
				if hit == nil {
					t.Fatalf("%v, but the path is clear", f)
				}
			case geometry.RulePositionLimit:
			default:
				t.Fatal(f)
			}
		}
		if hit != nil && r.Valid() {
			t.Fatalf("passes, but the path hits %+v", hit)
		}
	})
}

func FuzzArm(f *testing.F) {
	f.Add(0.1, 0.2, 0.0, 0.0, int64(time.Second), int64(2*time.Second), int64(0), uint8(0))
	f.Add(1e300, -1e300, 0.5, 1.0, int64(1), int64(2), int64(1), uint8(3))
	f.Add(math.NaN(), math.Inf(1), 0.0, 0.0, int64(-1), int64(math.MaxInt64), int64(-1e9), uint8(7))
	w := armWorld(above)
	f.Fuzz(func(t *testing.T, a, b, va, vb float64, t1, t2, ns int64, kind uint8) {
		c := to(moved(above, int(kind)%6, a), moved(above, int(kind/6)%6, b))
		c.Points[0].Time, c.Points[1].Time = time.Duration(t1), time.Duration(t2)
		if kind&1 != 0 {
			c.Stamp = validate.StampOf(w.Now - ns)
		}
		if kind&2 != 0 {
			c.Points[0].Velocities, c.Points[1].Velocities = moved(make([]float64, 6), 1, va), moved(make([]float64, 6), 1, vb)
		}
		if kind&4 != 0 {
			c.Points[0].Accelerations, c.Points[1].Accelerations = moved(make([]float64, 6), 2, vb), make([]float64, 6)
		}
		for _, cmd := range []validate.Command{c, validate.GripperCommand{Position: a, MaxEffort: b}} {
			r := validate.Validate(cmd, w)
			for _, f := range r.Findings {
				if f.Rule == "" || f.Subject == "" || f.Message == "" {
					t.Fatalf("finding lacks something: %+v", f)
				}
			}
			if r.Nearest != nil {
				if again := validate.Validate(r.Nearest, w); !again.Valid() {
					t.Fatalf("%+v: the nearest %+v is refused: %v", cmd, r.Nearest, again.Findings)
				}
			}
		}
		s := w.Arm.State
		s.Positions = append([]float64{0}, moved(above, 3, a)...)
		validate.JointsInFlight(s, w)
	})
}

func BenchmarkJointTrajectory(b *testing.B) {
	w := armWorld(above)
	path := [][]float64{above, moved(above, 0, 0.4), moved(above, 1, -0.3), moved(above, 4, 0.3), above}
	short := validate.JointTrajectory{Trajectory: must(trajectory.FromPath(path, w.Arm.Joints, 0.5))}
	dense := validate.JointTrajectory{Trajectory: trajectory.Trajectory{Joints: armJoints}}
	curve := must(trajectory.NewCurve(trajectory.Start{Positions: above}, short.Trajectory))
	for i := range 100 {
		p := trajectory.Point{Positions: make([]float64, 6), Velocities: make([]float64, 6), Time: curve.End() * time.Duration(i) / 99}
		curve.At(p.Time, p.Positions, p.Velocities, nil)
		dense.Points = append(dense.Points, p)
	}
	crowded := armWorld(above)
	s := surroundings()
	for i := range 50 {
		a := float64(i) / 50 * 2 * math.Pi
		s.Bodies = append(s.Bodies, box("post", 1.2*math.Cos(a), 1.2*math.Sin(a), 0.5, 0.1, 0.1, 1))
	}
	crowded.Arm.Scene = scene(s)
	for _, c := range []struct {
		name string
		c    validate.JointTrajectory
		w    *validate.World
	}{{"13-points", short, w}, {"100-points", dense, w}, {"100-points-50-obstacles", dense, crowded}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := validate.Validate(c.c, c.w); !r.Valid() {
					b.Fatal(r.Err())
				}
			}
		})
	}
}
