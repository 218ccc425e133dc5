package trajectory_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/trajectory"

	"pgregory.net/rapid"
)

// TestFromPathWithLimitedJerk: within all limits by dense sampling of a curve made of the points, on the path's lines, and not slower than it need be.
func TestFromPathWithLimitedJerk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		js := joints()
		for i := range js {
			js[i].Jerk = math.Pow(10, rapid.Float64Range(-1, 4).Draw(t, "jerk"))
		}
		path := drawPath(t)
		tr := must(trajectory.FromPath(path, js, 1))
		if f := tr.CheckForm(js, "trajectory", nil); len(f) > 0 {
			t.Fatal(f)
		}
		c := must(trajectory.NewCurve(trajectory.Start{Positions: path[0]}, tr))
		found, excess := c.CheckLimits(js, 0.1, nil)
		if len(found) > 0 {
			t.Fatal(found)
		}
		moves := false
		for i := 1; i < len(path); i++ {
			moves = moves || !near([3]float64(path[i]), [3]float64(path[i-1]), 0.05)
		}
		if moves && max(excess.Velocity, excess.Acceleration, excess.Jerk) < 0.95 {
			t.Fatalf("slower than it need be: %+v", excess)
		}
		const n = 400
		end := c.End().Seconds()
		var before state
		for i := range n + 1 {
			s := at(c, end*float64(i)/n)
			if d := fromPath(s.q, path); d > 1e-7 {
				t.Fatalf("%g beside the path at %v", d, s.q)
			}
			for k, j := range js {
				if math.Abs(s.v[k]) > j.Velocity*(1+1e-6) || math.Abs(s.a[k]) > j.Acceleration*(1+1e-6) {
					t.Fatalf("%s at %g s: %g, %g", j.Name, end*float64(i)/n, s.v[k], s.a[k])
				}
				if i > 0 && math.Abs(s.a[k]-before.a[k]) > j.Jerk*(end/n)*(1+1e-2)+1e-3*j.Acceleration {
					t.Fatalf("%s at %g s: the acceleration goes from %g to %g", j.Name, end*float64(i)/n, before.a[k], s.a[k])
				}
			}
			before = s
		}
	})
}

func TestTimesOfKnownGlides(t *testing.T) {
	one := []limits.Joint{{Name: "j", Lower: -10, Upper: 10, Velocity: 2, Acceleration: 4, Jerk: 8}}
	for _, tc := range []struct{ way, want float64 }{
		{4, 3},     // half a second to the acceleration and back makes the speed; a way of 2 up and down in 2 s, 1 s between
		{2, 2},     // just up and down
		{0.25, 1},  // four times a quarter of a second
		{-0.25, 1}, // and back
		{0, 0},     // nowhere
	} {
		tr := must(trajectory.FromPath([][]float64{{0}, {tc.way}}, one, 1))
		if got := tr.Duration().Seconds(); math.Abs(got-tc.want) > 1e-7 {
			t.Errorf("%g: %g s, want %g s: %+v", tc.way, got, tc.want, tr.Points)
		}
	}
}

func TestJerkIsLimitedWhereItIs(t *testing.T) {
	one := []limits.Joint{{Name: "j", Lower: -10, Upper: 10, Velocity: 10, Acceleration: 100, Jerk: 50}}
	smooth := trajectory.Trajectory{Joints: []string{"j"}, Points: []trajectory.Point{
		{Positions: []float64{0}, Velocities: []float64{0}, Accelerations: []float64{0}},
		{Positions: []float64{1}, Velocities: []float64{0}, Accelerations: []float64{0}, Time: 2 * time.Second},
	}}
	for _, tc := range []struct {
		name   string
		change func(*trajectory.Trajectory)
		want   []string
	}{
		{"a quintic: 60 / 8 at its ends", func(*trajectory.Trajectory) {}, nil},
		{"a faster one: 60 / 1", func(t *trajectory.Trajectory) { t.Points[1].Time = time.Second }, []string{geometry.RuleJerk}},
		{"a cubic begins with an acceleration", func(t *trajectory.Trajectory) { t.Points[0].Accelerations, t.Points[1].Accelerations = nil, nil }, []string{geometry.RuleJerk}},
		{"a slow one with a small acceleration", func(t *trajectory.Trajectory) {
			t.Points[0].Accelerations, t.Points[1].Accelerations = nil, nil
			t.Points[1].Time = 4 * time.Second
		}, nil},
		{"a list of positions steps its speed", func(t *trajectory.Trajectory) {
			for i := range t.Points {
				t.Points[i].Velocities, t.Points[i].Accelerations = nil, nil
			}
		}, []string{geometry.RuleAcceleration}},
	} {
		tr := smooth
		tr.Points = slices.Clone(smooth.Points)
		tc.change(&tr)
		c := must(trajectory.NewCurve(trajectory.Start{Positions: []float64{0}}, tr))
		found, excess := c.CheckLimits(one, 0.1, nil)
		var got []string
		for _, f := range found {
			got = append(got, f.Rule)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, found, tc.want)
		}
		// Slowed by what is said to be enough, it is.
		slow := must(trajectory.NewCurve(trajectory.Start{Positions: []float64{0}}, tr.Slowed(excess.Slowing()*(1+1e-6))))
		if again, _ := slow.CheckLimits(one, 0.1, nil); len(again) > 0 {
			t.Errorf("%s: slowed by %g: %v", tc.name, excess.Slowing(), again)
		}
	}
}
