package trajectory_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"

	"pgregory.net/rapid"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// joints of a small arm: one turns between bounds, one for ever, one slides.
func joints() []limits.Joint {
	return []limits.Joint{
		{Name: "lift", Lower: -2, Upper: 2, Velocity: 1.5, Acceleration: 3, Effort: 10},
		{Name: "roll", Lower: math.Inf(-1), Upper: math.Inf(1), Velocity: 3, Acceleration: 6, Continuous: true},
		{Name: "slide", Lower: 0, Upper: 0.5, Velocity: 0.3, Acceleration: 1, Prismatic: true},
	}
}

func point(at float64, q, v, a []float64) trajectory.Point {
	return trajectory.Point{Positions: q, Velocities: v, Accelerations: a, Time: time.Duration(math.Round(at * 1e9))}
}

var names = []string{"lift", "roll", "slide"}

// state is where a curve is: positions, velocities, accelerations of the three joints.
type state struct{ q, v, a [3]float64 }

func at(c *trajectory.Curve, t float64) (s state) {
	c.At(time.Duration(math.Round(t*1e9)), s.q[:], s.v[:], s.a[:])
	return s
}

func near(a, b [3]float64, eps float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= eps) {
			return false
		}
	}
	return true
}

func vec(t *rapid.T, name string, r float64) []float64 {
	return []float64{rapid.Float64Range(-r, r).Draw(t, name), rapid.Float64Range(-r, r).Draw(t, name), rapid.Float64Range(-r, r).Draw(t, name)}
}

// The interpolant meets what is given at both ends, and nothing between two points depends on others.
func TestCurvesMeetTheirPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		degree := rapid.SampledFrom([]int{1, 3, 5}).Draw(t, "degree")
		make3 := func(at float64) trajectory.Point {
			p := point(at, vec(t, "q", 2), nil, nil)
			if degree >= 3 {
				p.Velocities = vec(t, "v", 2)
			}
			if degree == 5 {
				p.Accelerations = vec(t, "a", 5)
			}
			return p
		}
		t1 := rapid.Float64Range(0.05, 3).Draw(t, "t1")
		t2 := t1 + rapid.Float64Range(0.05, 3).Draw(t, "t2")
		a, b := make3(t1), make3(t2)
		c := must(trajectory.NewCurve(trajectory.Start{Positions: vec(t, "start", 2), Velocities: vec(t, "start", 1)},
			trajectory.Trajectory{Joints: names, Points: []trajectory.Point{a, b}}))
		// Approached from within: at the point itself the segment before answers.
		for _, end := range []struct {
			at float64
			p  trajectory.Point
		}{{t1 + 2e-9, a}, {t2, b}} {
			s := at(c, end.at)
			if !near(s.q, [3]float64(end.p.Positions), 1e-6) {
				t.Fatalf("at %g: %v, want %v", end.at, s.q, end.p.Positions)
			}
			if degree >= 3 && !near(s.v, [3]float64(end.p.Velocities), 1e-4) {
				t.Fatalf("at %g: %v, want %v", end.at, s.v, end.p.Velocities)
			}
			if degree == 5 && !near(s.a, [3]float64(end.p.Accelerations), 1e-2) {
				t.Fatalf("at %g: %v, want %v", end.at, s.a, end.p.Accelerations)
			}
		}
		if degree == 1 {
			s := at(c, (t1+t2)/2)
			for k := range 3 {
				if math.Abs(s.v[k]-(b.Positions[k]-a.Positions[k])/(t2-t1)) > 1e-6 || s.a[k] != 0 {
					t.Fatalf("not straight: %+v", s)
				}
			}
		}
		// Velocities and accelerations are the derivatives.
		const h = 1e-4
		m := t1 + 0.37*(t2-t1)
		lo, mid, hi := at(c, m-h), at(c, m), at(c, m+h)
		for k := range 3 {
			if math.Abs((hi.q[k]-lo.q[k])/(2*h)-mid.v[k]) > 1e-2*(1+math.Abs(mid.v[k])) || math.Abs((hi.v[k]-lo.v[k])/(2*h)-mid.a[k]) > 1e-2*(1+math.Abs(mid.a[k])) {
				t.Fatalf("derivatives: %+v %+v %+v", lo, mid, hi)
			}
		}
	})
}

// As the controller does it: what is missing at either end lowers the degree.
func TestTheInterpolantIsThatOfWhatIsGiven(t *testing.T) {
	zero := []float64{0, 0, 0}
	one := []float64{1, 1, 0.1}
	mid := func(first, second trajectory.Point) state {
		c := must(trajectory.NewCurve(trajectory.Start{Positions: zero}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{first, second}}))
		return at(c, 1.25)
	}
	for _, tc := range []struct {
		name          string
		first, second trajectory.Point
		want          float64 // of the first joint at a quarter of the way
	}{
		{"no velocities", point(1, zero, nil, nil), point(2, one, nil, nil), 0.25},
		{"velocities at one end", point(1, zero, zero, nil), point(2, one, nil, nil), 0.25},
		{"velocities at the other end", point(1, zero, nil, nil), point(2, one, zero, nil), 0.25},
		{"accelerations alone", point(1, zero, nil, zero), point(2, one, nil, zero), 0.25},
		{"velocities", point(1, zero, zero, nil), point(2, one, zero, nil), 3*0.0625 - 2*0.015625},
		{"accelerations at one end", point(1, zero, zero, zero), point(2, one, zero, nil), 3*0.0625 - 2*0.015625},
		{"accelerations", point(1, zero, zero, zero), point(2, one, zero, zero), 10*0.015625 - 15*0.00390625 + 6*0.0009765625},
	} {
		if got := mid(tc.first, tc.second).q[0]; math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
	}
	// From the start, which has a velocity and no acceleration.
	c := must(trajectory.NewCurve(trajectory.Start{Positions: zero, Velocities: []float64{0.5, 0, 0}},
		trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, one, zero, zero)}}))
	if s := at(c, 1e-9); math.Abs(s.v[0]-0.5) > 1e-6 {
		t.Errorf("begins with %v", s.v)
	}
	// A first point at once: the curve begins there.
	c = must(trajectory.NewCurve(trajectory.Start{Positions: one}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(0, zero, zero, nil), point(1, one, zero, nil)}}))
	if s := at(c, 0); s.q != [3]float64{} || c.Segments() != 1 || c.Segment(0).Point() != 1 {
		t.Errorf("%+v", s)
	}
	// One point at once: it stays there.
	c = must(trajectory.NewCurve(trajectory.Start{Positions: one}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(0, one, nil, nil)}}))
	if s := at(c, 3); s.q != [3]float64(one) || s.v != [3]float64{} || c.Duration() != 0 {
		t.Errorf("%+v", s)
	}
	// Late: the first stretch is shorter.
	c = must(trajectory.NewCurve(trajectory.Start{Positions: zero, Time: 500 * time.Millisecond}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, one, nil, nil)}}))
	if s := at(c, 0.75); math.Abs(s.q[0]-0.5) > 1e-9 || math.Abs(s.v[0]-2) > 1e-9 || c.Duration() != 500*time.Millisecond || c.End() != time.Second {
		t.Errorf("%+v", s)
	}
	if s := at(c, 0.2); s.v != [3]float64{} {
		t.Errorf("moves before it begins: %+v", s)
	}
}

func TestFormsThatMakeNoCurve(t *testing.T) {
	zero := []float64{0, 0, 0}
	good := trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero, nil, nil), point(2, zero, nil, nil)}}
	start := trajectory.Start{Positions: zero}
	for name, tc := range map[string]struct {
		s trajectory.Start
		t trajectory.Trajectory
	}{
		"nothing":            {start, trajectory.Trajectory{}},
		"no points":          {start, trajectory.Trajectory{Joints: names}},
		"a short start":      {trajectory.Start{Positions: zero[:2]}, good},
		"short velocities":   {trajectory.Start{Positions: zero, Velocities: zero[:2]}, good},
		"a start of NaN":     {trajectory.Start{Positions: []float64{0, math.NaN(), 0}}, good},
		"a start in between": {trajectory.Start{Positions: zero, Time: 1500 * time.Millisecond}, good},
		"times that fall":    {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(2, zero, nil, nil), point(1, zero, nil, nil)}}},
		"times that repeat":  {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(0, zero, nil, nil), point(0, zero, nil, nil)}}},
		"a negative time":    {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(-1, zero, nil, nil)}}},
		"two positions":      {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero[:2], nil, nil)}}},
		"four velocities":    {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero, make([]float64, 4), nil)}}},
		"an infinite one":    {start, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero, []float64{0, math.Inf(1), 0}, nil)}}},
	} {
		if c, err := trajectory.NewCurve(tc.s, tc.t); c != nil || !errors.Is(err, trajectory.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// draw makes a trajectory with any of the interpolants.
func draw(t *rapid.T) (trajectory.Start, trajectory.Trajectory) {
	start := trajectory.Start{Positions: []float64{0, 0, 0.2}, Velocities: vec(t, "start velocity", 0.2)}
	tr := trajectory.Trajectory{Joints: names}
	when := 0.0
	for range rapid.IntRange(1, 4).Draw(t, "points") {
		when += rapid.Float64Range(0.3, 2).Draw(t, "time")
		p := point(when, vec(t, "q", 2.2), nil, nil)
		p.Positions[2] = 0.25 + p.Positions[2]/10
		if rapid.IntRange(0, 3).Draw(t, "has velocities") > 0 {
			p.Velocities = vec(t, "v", 1)
			if rapid.Bool().Draw(t, "has accelerations") {
				p.Accelerations = vec(t, "a", 3)
			}
		}
		tr.Points = append(tr.Points, p)
	}
	return start, tr
}

// Limits are held against the extremes: dense samples find no more, and come close to what was found.
func TestLimitsAgreeWithDenseSamples(t *testing.T) {
	js := joints()
	rapid.Check(t, func(t *rapid.T) {
		start, tr := draw(t)
		c := must(trajectory.NewCurve(start, tr))
		found, excess := c.CheckLimits(js, 1e6, nil)
		// Worst of the samples, per rule and joint.
		type key struct{ rule, joint string }
		worst := map[key]float64{}
		const steps = 4000
		for i := 1; i < steps; i++ {
			s := at(c, c.End().Seconds()*float64(i)/steps)
			for k, j := range js {
				worst[key{geometry.RuleVelocity, j.Name}] = max(worst[key{geometry.RuleVelocity, j.Name}], math.Abs(s.v[k])/j.Velocity)
				worst[key{geometry.RuleAcceleration, j.Name}] = max(worst[key{geometry.RuleAcceleration, j.Name}], math.Abs(s.a[k])/j.Acceleration)
				if !j.Continuous {
					p := key{geometry.RulePositionLimit, j.Name}
					worst[p] = max(worst[p], 1+max(j.Lower-s.q[k], s.q[k]-j.Upper))
				}
			}
		}
		for k, w := range worst {
			if w > 1+1e-6 {
				ok := false
				for _, f := range found {
					ok = ok || f.Rule == k.rule && f.Subject == k.joint
				}
				if !ok {
					t.Fatalf("%v is %g of its limit in a sample, and nothing is found: %v", k, w, found)
				}
			}
		}
		for _, f := range found {
			if w := worst[key{f.Rule, f.Subject}]; w < 0.98 {
				t.Fatalf("%v, and the worst sample is %g of the limit", f, w)
			}
		}
		// Stretched by what is said to be needed, from rest: within the limits but for the position.
		if len(start.Velocities) > 0 {
			start.Velocities = nil
			c = must(trajectory.NewCurve(start, tr))
			_, excess = c.CheckLimits(js, 1e6, nil)
		}
		slow := tr.Slowed(excess.Slowing() * (1 + 1e-4))
		again, _ := must(trajectory.NewCurve(start, slow)).CheckLimits(js, 1e6, nil)
		for _, f := range again {
			if f.Rule != geometry.RulePositionLimit {
				t.Fatalf("slowed by %g: %v", excess.Slowing(), f)
			}
		}
	})
}

func TestSpeedsThatChangeAtOnce(t *testing.T) {
	js := joints()
	zero := []float64{0, 0, 0.2}
	for _, tc := range []struct {
		name  string
		start []float64
		p     []trajectory.Point
		want  int
	}{
		{"slowly off and on", nil, []trajectory.Point{point(1, []float64{0.5, 0, 0.2}, nil, nil)}, 0},
		{"fast off and on", nil, []trajectory.Point{point(1, []float64{1, 0, 0.2}, nil, nil)}, 1},
		{"in full motion already, and stopping at once", []float64{1, 0, 0}, []trajectory.Point{point(1, []float64{1, 0, 0.2}, nil, nil)}, 1},
		{"in full motion already, and slowing down", []float64{1, 0, 0}, []trajectory.Point{point(1, []float64{1, 0, 0.2}, nil, nil), point(3, []float64{2, 0, 0.2}, nil, nil)}, 0},
		{"to and fro", nil, []trajectory.Point{point(1, []float64{0.6, 0, 0.2}, nil, nil), point(2, zero, nil, nil)}, 1},
		{"smoothly", nil, []trajectory.Point{point(3, []float64{1, 0, 0.2}, []float64{0, 0, 0}, nil)}, 0},
	} {
		c := must(trajectory.NewCurve(trajectory.Start{Positions: zero, Velocities: tc.start}, trajectory.Trajectory{Joints: names, Points: tc.p}))
		// 0.1 rad behind at 3 rad/s² allow for sqrt(0.6) = 0.77 rad/s at once.
		found, excess := c.CheckLimits(js, 0.1, nil)
		if len(found) != tc.want || (excess.Step > 1) != (tc.want > 0) {
			t.Errorf("%s: %v, %+v", tc.name, found, excess)
		}
	}
	if found, _ := must(trajectory.NewCurve(trajectory.Start{Positions: zero}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero, nil, nil)}})).CheckLimits(js[:2], 0.1, nil); len(found) != 1 || found[0].Rule != geometry.RuleLimits {
		t.Error(found)
	}
	js[0].Velocity, js[1].Acceleration = 0, 0
	js[2].Upper = math.NaN()
	if found, _ := must(trajectory.NewCurve(trajectory.Start{Positions: zero}, trajectory.Trajectory{Joints: names, Points: []trajectory.Point{point(1, zero, nil, nil)}})).CheckLimits(js, 0.1, nil); len(found) != 3 {
		t.Error(found)
	}
}

func BenchmarkCurve(b *testing.B) {
	path := [][]float64{{0, 0, 0}, {1, 2, 0.4}, {-1, 0, 0.1}, {0.5, 0.5, 0.5}}
	js := joints()
	tr := must(trajectory.FromPath(path, js, 1))
	start := trajectory.Start{Positions: path[0]}
	b.Run("from-path", func(b *testing.B) {
		for b.Loop() {
			_, _ = trajectory.FromPath(path, js, 1)
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			_, _ = trajectory.NewCurve(start, tr)
		}
	})
	c := must(trajectory.NewCurve(start, tr))
	b.Run("limits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if f, _ := c.CheckLimits(js, 0.1, nil); len(f) > 0 {
				b.Fatal(f)
			}
		}
	})
}
