package kinematics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// off is by how much a chain's tip at q misses a target: m, rad, and rad between the tip's axis and the target's.
func off(t testing.TB, c *kinematics.Chain, q []float64, target spatial.Transform, axis r3.Vec) (position, angle, pointing float64) {
	t.Helper()
	p, err := c.FK(q)
	if err != nil {
		t.Fatal(err)
	}
	a, b := spatial.Rotate(p.Rotation, axis), spatial.Rotate(target.Rotation, axis)
	return r3.Norm(r3.Sub(p.Translation, target.Translation)), spatial.Angle(p.Rotation, target.Rotation), math.Atan2(r3.Norm(r3.Cross(a, b)), r3.Dot(a, b))
}

func within(t testing.TB, c *kinematics.Chain, q []float64, margin float64) {
	t.Helper()
	for i, j := range c.Joints() {
		if !j.Contains(q[i], -margin+1e-12) {
			t.Fatalf("%s is at %g, limits %g and %g, margin %g", j.Name, q[i], j.Lower, j.Upper, margin)
		}
	}
}

// Poses that are reached, from the middle of the limits: the hardest seed, for it says nothing about the target.
func TestReachablePosesAreSolved(t *testing.T) {
	const tries = 1000
	for _, a := range arms {
		c := chain(t, a.file, a.base, a.tip)
		for _, f := range []kinematics.Freedom{kinematics.Whole, kinematics.Pointing, kinematics.PositionOnly} {
			r := rand.New(rand.NewPCG(7, uint64(f)))
			failed := 0
			for range tries {
				q := anywhere(r, c.Joints())
				target, err := c.FK(q)
				if err != nil {
					t.Fatal(err)
				}
				got, err := c.IK(target, nil, kinematics.Options{Freedom: f, Axis: r3.Vec{Z: 1}})
				if err != nil {
					failed++
					continue
				}
				within(t, c, got, 0)
				position, angle, pointing := off(t, c, got, target, r3.Vec{Z: 1})
				if position > 1.01e-6 || f == kinematics.Whole && angle > 1.01e-6 || f == kinematics.Pointing && pointing > 1.01e-6 {
					t.Fatalf("%s, freedom %d: %v misses by %g m, %g rad, %g rad", a.file, f, got, position, angle, pointing)
				}
			}
			if failed > tries/200 {
				t.Errorf("%s, freedom %d: %d of %d not solved", a.file, f, failed, tries)
			}
		}
	}
}

func TestASolutionNextToTheSeedIsFound(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	r := rand.New(rand.NewPCG(3, 3))
	near := 0
	for range 200 {
		q := anywhere(r, c.Joints())
		target, _ := c.FK(q)
		seed := append([]float64(nil), q...)
		for i := range seed {
			seed[i] += 0.1 * (2*r.Float64() - 1)
		}
		got, err := c.IK(target, seed, kinematics.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := 0.0
		for i := range q {
			d = max(d, math.Abs(got[i]-seed[i]))
		}
		if d < 0.3 {
			near++
		}
	}
	if near < 190 {
		t.Errorf("only %d of 200", near)
	}
}

func TestTheSameArgumentsGiveTheSameSolution(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	target := spatial.Transform{Translation: r3.Vec{X: 0.4, Y: 0.2, Z: 0.5}, Rotation: spatial.FromRPY(math.Pi, 0, 1)}
	a, err := c.Solutions(target, nil, 8, kinematics.Options{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := c.Solutions(target, nil, 8, kinematics.Options{Seed: 5})
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%v and %v", a, b)
	}
	if len(a) < 2 {
		t.Errorf("%d solutions", len(a))
	}
	for i := range a {
		if p, angle, _ := off(t, c, a[i], target, r3.Vec{Z: 1}); p > 1.01e-6 || angle > 1.01e-6 {
			t.Error(p, angle)
		}
		for k := range i {
			d := 0.0
			for n := range a[i] {
				d = max(d, math.Abs(a[i][n]-a[k][n]))
			}
			if d < 0.05 {
				t.Errorf("%v and %v are the same", a[i], a[k])
			}
		}
	}
}

func TestAcceptChoosesAmongSolutions(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	target := spatial.Transform{Translation: r3.Vec{X: 0.5, Z: 0.5}, Rotation: spatial.FromRPY(math.Pi, 0, 0)}
	up := func(q []float64) bool { return q[2] > 0 }
	down := func(q []float64) bool { return q[2] < 0 }
	for _, accept := range []func([]float64) bool{up, down} {
		q, err := c.IK(target, nil, kinematics.Options{Accept: accept})
		if err != nil || !accept(q) {
			t.Errorf("%v, %v", q, err)
		}
	}
	var e *kinematics.UnreachableError
	if _, err := c.IK(target, nil, kinematics.Options{Accept: func([]float64) bool { return false }}); !errors.As(err, &e) || e.Rejected == 0 {
		t.Error(err)
	}
	q, err := c.IK(target, nil, kinematics.Options{Margin: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	within(t, c, q, 0.3)
}

func TestAToolThatPointsDownWithAnyYaw(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	target := spatial.Transform{Translation: r3.Vec{X: 0.45, Y: -0.1, Z: 0.45}, Rotation: spatial.FromRPY(math.Pi, 0, 0)}
	q, err := c.IK(target, nil, kinematics.Options{Freedom: kinematics.Pointing})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.FK(q)
	if z := spatial.Rotate(p.Rotation, r3.Vec{Z: 1}); math.Abs(z.Z+1) > 1e-9 {
		t.Errorf("points along %v", z)
	}
	// From a tool that points up: just the other way round.
	up, err := c.IK(spatial.Transform{Translation: target.Translation, Rotation: quat.Number{Real: 1}}, nil, kinematics.Options{Freedom: kinematics.Pointing})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.IK(target, up, kinematics.Options{Freedom: kinematics.Pointing, Restarts: 8}); err != nil {
		t.Error(err)
	}
}

func TestContinuousJointsStayNextToTheSeed(t *testing.T) {
	c := chain(t, "industrial", "world", "tool")
	q := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 40}
	target, _ := c.FK(q)
	seed := append([]float64(nil), q...)
	seed[5]++
	got, err := c.IK(target, seed, kinematics.Options{})
	if err != nil || math.Abs(got[5]-40) > 1e-3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestUnreachableSaysWhatIsMissing(t *testing.T) {
	for _, a := range arms {
		c := chain(t, a.file, a.base, a.tip)
		r := rand.New(rand.NewPCG(9, 9))
		for range 20 {
			q := anywhere(r, c.Joints())
			p, _ := c.FK(q)
			// Far outside: between 0.1 and 2 m beyond any place that can be reached.
			dir := r3.Unit(r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()})
			p.Translation = r3.Add(p.Translation, r3.Scale(1.5+2*r.Float64(), dir))
			_, err := c.IK(p, nil, kinematics.Options{})
			var e *kinematics.UnreachableError
			if !errors.As(err, &e) {
				if err == nil {
					continue // it was within reach after all
				}
				t.Fatal(err)
			}
			within(t, c, e.Nearest, 0)
			position, angle, _ := off(t, c, e.Nearest, p, r3.Vec{Z: 1})
			if math.Abs(position-e.Missing) > 1e-9 || math.Abs(angle-e.Angle) > 1e-9 {
				t.Errorf("%v; its nearest misses by %g m, %g rad", e, position, angle)
			}
			// Nothing that is tried comes nearer, by more than a centimetre.
			for range 3000 {
				if d, _, _ := off(t, c, anywhere(r, c.Joints()), p, r3.Vec{Z: 1}); d < e.Missing-0.01 {
					t.Fatalf("%s: %v, but %g m are possible", a.file, e, d)
				}
			}
		}
	}
}

func TestAPlaceWithinReachAndAnOrientationThatIsNot(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	// At arm's length, the tool cannot look back at the robot.
	target := spatial.Transform{Translation: r3.Vec{X: 0.8, Z: 0.45}, Rotation: spatial.FromRPY(0, -math.Pi/2, 0)}
	_, err := c.IK(target, nil, kinematics.Options{})
	var e *kinematics.UnreachableError
	if !errors.As(err, &e) || e.Missing != 0 || !(e.Angle > 0.2) || len(e.Nearest) != 6 {
		t.Fatalf("%v", err)
	}
	if position, angle, _ := off(t, c, e.Nearest, target, r3.Vec{Z: 1}); position > 1e-3 || math.Abs(angle-e.Angle) > 1e-9 {
		t.Errorf("misses by %g m, %g rad; says %v", position, angle, e)
	}
	if _, err := c.IK(target, nil, kinematics.Options{Freedom: kinematics.PositionOnly}); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	c := chain(t, "sim_robot", "base_link", "tool0")
	nan := math.NaN()
	good := spatial.Transform{Translation: r3.Vec{X: 0.4, Z: 0.5}, Rotation: quat.Number{Real: 1}}
	for name, tc := range map[string]struct {
		target spatial.Transform
		o      kinematics.Options
	}{
		"NaN place":             {spatial.Transform{Translation: r3.Vec{X: nan}, Rotation: quat.Number{Real: 1}}, kinematics.Options{}},
		"no orientation":        {spatial.Transform{}, kinematics.Options{}},
		"not a unit":            {spatial.Transform{Rotation: quat.Number{Real: 2}}, kinematics.Options{}},
		"negative margin":       {good, kinematics.Options{Margin: -1}},
		"no room between":       {good, kinematics.Options{Margin: 2}},
		"NaN tolerance":         {good, kinematics.Options{Position: nan}},
		"infinite angle":        {good, kinematics.Options{Angle: math.Inf(1)}},
		"negative restarts":     {good, kinematics.Options{Restarts: -1}},
		"an axis of NaN":        {good, kinematics.Options{Axis: r3.Vec{X: nan}}},
		"a freedom of its own":  {good, kinematics.Options{Freedom: 9}},
		"a freedom below whole": {good, kinematics.Options{Freedom: -1}},
	} {
		if _, err := c.IK(tc.target, nil, tc.o); !errors.Is(err, kinematics.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Solutions(good, nil, 0, kinematics.Options{}); !errors.Is(err, kinematics.ErrOptions) {
		t.Error(err)
	}
}

func FuzzIK(f *testing.F) {
	f.Add(0.4, 0.1, 0.5, 1.0, 0.0, 0.0, uint8(0))
	f.Add(1e300, -1e300, 0.0, 0.7, 0.7, 0.1, uint8(1))
	f.Add(0.0, 0.0, 0.0, math.NaN(), 0.0, 0.0, uint8(2))
	c := chain(f, "sim_robot", "base_link", "tool0")
	f.Fuzz(func(t *testing.T, x, y, z, w, i, margin float64, kind uint8) {
		target := spatial.Transform{Translation: r3.Vec{X: x, Y: y, Z: z}, Rotation: quat.Number{Real: w, Imag: i}}
		o := kinematics.Options{Freedom: kinematics.Freedom(kind % 4), Margin: margin, Restarts: 4}
		q, err := c.IK(target, nil, o)
		if err != nil {
			return
		}
		within(t, c, q, margin)
		if d, _, _ := off(t, c, q, target, r3.Vec{Z: 1}); !(d <= 1.01e-6) {
			t.Fatalf("misses by %g m", d)
		}
	})
}

func BenchmarkIK(b *testing.B) {
	for _, a := range arms {
		c := chain(b, a.file, a.base, a.tip)
		r := rand.New(rand.NewPCG(1, 2))
		targets := make([]spatial.Transform, 512)
		for i := range targets {
			targets[i], _ = c.FK(anywhere(r, c.Joints()))
		}
		b.Run(a.file, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				_, _ = c.IK(targets[i%len(targets)], nil, kinematics.Options{})
			}
		})
	}
	c := chain(b, "sim_robot", "base_link", "tool0")
	far := spatial.Transform{Translation: r3.Vec{X: 3, Z: 0.5}, Rotation: spatial.FromRPY(math.Pi, 0, 0)}
	b.Run("unreachable", func(b *testing.B) {
		for b.Loop() {
			_, _ = c.IK(far, nil, kinematics.Options{})
		}
	})
}
