package trajectory_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"

	"pgregory.net/rapid"
)

func drawPath(t *rapid.T) [][]float64 {
	var path [][]float64
	for range rapid.IntRange(1, 5).Draw(t, "configurations") {
		q := vec(t, "q", 2)
		q[2] = 0.25 + q[2]/8
		if rapid.IntRange(0, 5).Draw(t, "repeats") == 0 && len(path) > 0 {
			q = slices.Clone(path[len(path)-1])
		}
		path = append(path, q)
	}
	return path
}

// Within the limits everywhere, at rest at both ends, on the straight lines of the path, and not slower than it need be.
func TestFromPath(t *testing.T) {
	js := joints()
	rapid.Check(t, func(t *rapid.T) {
		path := drawPath(t)
		speed := rapid.Float64Range(0.05, 1).Draw(t, "speed")
		tr := must(trajectory.FromPath(path, js, speed))
		var form []geometry.Finding
		if form = tr.CheckForm(js, "trajectory", nil); len(form) > 0 {
			t.Fatal(form)
		}
		first, last := tr.Points[0], tr.Points[len(tr.Points)-1]
		if first.Time != 0 || !slices.Equal(first.Positions, path[0]) || !near([3]float64(last.Positions), [3]float64(path[len(path)-1]), 1e-9) {
			t.Fatalf("from %v to %v", first, last)
		}
		if !near([3]float64(first.Velocities), [3]float64{}, 0) || !near([3]float64(last.Velocities), [3]float64{}, 0) {
			t.Fatal("not at rest at its ends")
		}
		slower := slices.Clone(js)
		for i := range slower {
			slower[i].Velocity *= speed
			slower[i].Acceleration *= speed
		}
		c := must(trajectory.NewCurve(trajectory.Start{Positions: path[0]}, tr))
		found, excess := c.CheckLimits(slower, 0.1, nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		moves := false
		for i := 1; i < len(path); i++ {
			moves = moves || !near([3]float64(path[i]), [3]float64(path[i-1]), 1e-6) // a hair's breadth takes one tick, whatever the limits
		}
		if moves && max(excess.Velocity, excess.Acceleration) < 0.999 {
			t.Fatalf("slower than it need be: %+v", excess)
		}
		for i := range 200 {
			s := at(c, c.End().Seconds()*float64(i)/199)
			if d := fromPath(s.q, path); d > 1e-7 {
				t.Fatalf("%g beside the path at %v", d, s.q)
			}
		}
	})
}

// fromPath is the distance of q from the path, by the largest coordinate of its segments' nearest points.
func fromPath(q [3]float64, path [][]float64) float64 {
	best := math.Inf(1)
	for i := range path {
		a, b := path[max(i-1, 0)], path[i]
		dot, n := 0.0, 0.0
		for k := range 3 {
			dot += (q[k] - a[k]) * (b[k] - a[k])
			n += (b[k] - a[k]) * (b[k] - a[k])
		}
		u := 0.0
		if n > 0 {
			u = min(max(dot/n, 0), 1)
		}
		d := 0.0
		for k := range 3 {
			d = max(d, math.Abs(q[k]-a[k]-u*(b[k]-a[k])))
		}
		best = min(best, d)
	}
	return best
}

func TestTimesOfKnownMotions(t *testing.T) {
	one := []limits.Joint{{Name: "j", Lower: -10, Upper: 10, Velocity: 2, Acceleration: 4}}
	for _, tc := range []struct {
		way, speed, want float64
	}{
		{4, 1, 2.5},    // half a second up, 1.5 s at full speed, half a second down
		{1, 1, 1},      // just up and down
		{0.25, 1, 0.5}, // never at full speed
		{4, 0.5, 4.5},  // half the speed, half the acceleration: 0.5 s up, 3.5 s
		{1e-12, 1, 0},  // no motion
		{-4, 0, 2.5},   // full speed
	} {
		tr := must(trajectory.FromPath([][]float64{{0}, {tc.way}}, one, tc.speed))
		if got := tr.Duration().Seconds(); math.Abs(got-tc.want) > 2e-9 {
			t.Errorf("%g at %g: %g s, want %g s", tc.way, tc.speed, got, tc.want)
		}
	}
}

func TestPathsThatMakeNoTrajectory(t *testing.T) {
	js := joints()
	still := slices.Clone(js)
	still[1].Acceleration = 0
	odd := slices.Clone(js)
	odd[0].Lower = 5
	zero := []float64{0, 0, 0}
	for name, tc := range map[string]struct {
		path  [][]float64
		js    []limits.Joint
		speed float64
	}{
		"nothing":         {nil, js, 1},
		"no joints":       {[][]float64{{}}, nil, 1},
		"too short":       {[][]float64{zero, {1, 2}}, js, 1},
		"NaN":             {[][]float64{zero, {0, math.NaN(), 0}}, js, 1},
		"no acceleration": {[][]float64{zero}, still, 1},
		"odd limits":      {[][]float64{zero}, odd, 1},
		"too fast":        {[][]float64{zero}, js, 1.1},
		"backwards":       {[][]float64{zero}, js, -1},
		"speed of NaN":    {[][]float64{zero}, js, math.NaN()},
		"for hours":       {[][]float64{zero, {0, 1e300, 0}}, js, 1},
	} {
		if tr, err := trajectory.FromPath(tc.path, tc.js, tc.speed); !errors.Is(err, trajectory.ErrPath) {
			t.Errorf("%s: %v, %v", name, tr, err)
		}
	}
}

func TestSlowed(t *testing.T) {
	tr := trajectory.Trajectory{Joints: names, Points: []trajectory.Point{
		{Positions: []float64{1, 2, 3}, Velocities: []float64{1, 0, 0}, Accelerations: []float64{4, 0, 0}, Time: time.Second},
		{Positions: []float64{1, 2, 3}, Time: 2 * time.Second},
	}}
	slow := tr.Slowed(2)
	if p := slow.Points[0]; p.Time != 2*time.Second || p.Velocities[0] != 0.5 || p.Accelerations[0] != 1 || p.Positions[2] != 3 {
		t.Errorf("%+v", p)
	}
	if tr.Points[0].Velocities[0] != 1 {
		t.Error("changes what it is given")
	}
	for _, f := range []float64{0.5, 0, -1, math.NaN(), math.Inf(1), 1e12} {
		if got := tr.Slowed(f); got.Duration() != tr.Duration() {
			t.Errorf("slowed by %g to %v", f, got.Duration())
		}
	}
}

func TestForm(t *testing.T) {
	js := joints()
	zero := []float64{0, 0, 0.2}
	rest := []float64{0, 0, 0}
	good := func() trajectory.Trajectory {
		return trajectory.Trajectory{Joints: slices.Clone(names), Points: []trajectory.Point{point(1, zero, rest, rest), point(2, zero, rest, nil)}}
	}
	for _, tc := range []struct {
		name   string
		change func(*trajectory.Trajectory)
		want   []string
	}{
		{"sound", func(*trajectory.Trajectory) {}, nil},
		{"in another order", func(t *trajectory.Trajectory) {
			slices.Reverse(t.Joints)
			t.Points = t.Points[:1]
			t.Points[0].Positions = []float64{0.2, 0, 0}
		}, nil},
		{"no points", func(t *trajectory.Trajectory) { t.Points = nil }, []string{"empty"}},
		{"a million points", func(t *trajectory.Trajectory) { t.Points = make([]trajectory.Point, 1_000_000) }, []string{"range"}},
		{"no names", func(t *trajectory.Trajectory) { t.Joints = nil }, []string{"joint names", "joint names", "joint names"}},
		{"a stranger", func(t *trajectory.Trajectory) { t.Joints[1] = "x" }, []string{"joint names", "joint names"}},
		{"twice", func(t *trajectory.Trajectory) { t.Joints[1] = "lift" }, []string{"joint names", "joint names"}},
		{"lengths", func(t *trajectory.Trajectory) { t.Points[0].Positions = nil; t.Points[1].Effort = rest[:1] }, []string{"length", "length"}},
		{"NaN", func(t *trajectory.Trajectory) { t.Points[1].Positions = []float64{math.NaN(), math.Inf(1), 0} }, []string{"finite", "finite"}},
		{"times", func(t *trajectory.Trajectory) { t.Points[0].Time = -1; t.Points[1].Time = -2 }, []string{"time order", "time order"}},
		{"hours", func(t *trajectory.Trajectory) { t.Points[1].Time = 3 * time.Hour }, []string{"range"}},
		{"beyond", func(t *trajectory.Trajectory) { t.Points[1].Positions = []float64{2.1, 99, -0.1} }, []string{"position limit", "position limit"}},
		{"beyond at once is where it is", func(t *trajectory.Trajectory) { t.Points[0].Time = 0; t.Points[0].Positions = []float64{2.1, 0, 0} }, nil},
		{"effort", func(t *trajectory.Trajectory) { t.Points[0].Effort = []float64{-11, 1e9, 1e9} }, []string{"effort"}},
		{"still moving", func(t *trajectory.Trajectory) { t.Points[1].Velocities = []float64{0, 0.1, 0} }, []string{"final velocity"}},
	} {
		tr := good()
		tc.change(&tr)
		var got []string
		for _, f := range tr.CheckForm(js, "trajectory", nil) {
			got = append(got, f.Rule)
			if f.Subject == "" || f.Message == "" {
				t.Errorf("%+v", f)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
