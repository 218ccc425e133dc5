package arm_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

var names = world.Default().Arm.Names

// asked is a goal with all joints in their order and points of one value for all of them.
func asked(points ...arm.AskedPoint) arm.Asked {
	return arm.Asked{Names: names[:], Points: points}
}

func six(v float64) []float64 { return []float64{v, v, v, v, v, v} }

func all(v float64) arm.Values { return arm.Values(six(v)) }

func TestCheckRefusesWhatTheControllerRefuses(t *testing.T) {
	good := func() arm.Asked {
		return asked(arm.AskedPoint{Time: 1, Positions: six(0.1), Velocities: six(0.2)}, arm.AskedPoint{Time: 2, Positions: six(0.3), Velocities: six(0)})
	}
	if _, err := arm.Check(names, good()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(a *arm.Asked)
		code  arm.Code
		says  string
	}{
		"empty":                   {func(a *arm.Asked) { a.Points = nil }, arm.InvalidGoal, "no points"},
		"a joint missing":         {func(a *arm.Asked) { a.Names = a.Names[:5] }, arm.InvalidJoints, names[5]},
		"no joints":               {func(a *arm.Asked) { a.Names = nil }, arm.InvalidJoints, names[0]},
		"an unknown joint":        {func(a *arm.Asked) { a.Names = append(a.Names[:6:6], "tail_joint") }, arm.InvalidJoints, "tail_joint"},
		"a joint twice":           {func(a *arm.Asked) { a.Names = append(a.Names[:6:6], names[0]) }, arm.InvalidJoints, "twice"},
		"one twice, one missing":  {func(a *arm.Asked) { a.Names = append(a.Names[:5:5], names[0]) }, arm.InvalidJoints, names[5]},
		"no positions":            {func(a *arm.Asked) { a.Points[0].Positions = nil }, arm.InvalidGoal, "0 positions"},
		"five positions":          {func(a *arm.Asked) { a.Points[1].Positions = six(0)[:5] }, arm.InvalidGoal, "5 positions"},
		"five velocities":         {func(a *arm.Asked) { a.Points[1].Velocities = six(0)[:5] }, arm.InvalidGoal, "5 velocities"},
		"seven accelerations":     {func(a *arm.Asked) { a.Points[1].Accelerations = make([]float64, 7) }, arm.InvalidGoal, "7 accelerations"},
		"efforts":                 {func(a *arm.Asked) { a.Points[0].Efforts = six(1) }, arm.InvalidGoal, "effort"},
		"the same time twice":     {func(a *arm.Asked) { a.Points[1].Time = 1 }, arm.InvalidGoal, "point 1"},
		"time backwards":          {func(a *arm.Asked) { a.Points[1].Time = 0.5 }, arm.InvalidGoal, "point 1"},
		"time before the start":   {func(a *arm.Asked) { a.Points[0].Time = -1 }, arm.InvalidGoal, "point 0"},
		"NaN":                     {func(a *arm.Asked) { a.Points[0].Positions[2] = math.NaN() }, arm.InvalidGoal, "NaN"},
		"infinite velocity":       {func(a *arm.Asked) { a.Points[0].Velocities[2] = math.Inf(1) }, arm.InvalidGoal, "Inf"},
		"moving at the end":       {func(a *arm.Asked) { a.Points[1].Velocities[3] = 0.1 }, arm.InvalidGoal, names[3]},
		"it ended before it came": {func(a *arm.Asked) { a.Age = 3 }, arm.OldHeaderTimestamp, "1.000 s ago"},
	} {
		a := good()
		c.spoil(&a)
		_, err := arm.Check(names, a)
		var e *arm.Error
		if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %v, want %v and %q", name, err, c.code, c.says)
		}
	}
}

func TestJointsMayComeInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "order")
		a := arm.Asked{Points: []arm.AskedPoint{{Time: 1}}}
		for _, j := range order {
			a.Names = append(a.Names, names[j])
			a.Points[0].Positions = append(a.Points[0].Positions, float64(j))
		}
		points, err := arm.Check(names, a)
		if err != nil || points[0].Positions != (arm.Values{0, 1, 2, 3, 4, 5}) {
			t.Fatalf("%v: %v, %v", order, points, err)
		}
	})
}

// trajectories draws a trajectory of a kind: 0 has positions alone, 1 velocities, 2 accelerations, too.
func draw(t *rapid.T, kind int) (*arm.Trajectory, []arm.Point) {
	value := func(label string) (v arm.Values) {
		for j := range v {
			v[j] = rapid.Float64Range(-2, 2).Draw(t, label)
		}
		return v
	}
	now := 0.0
	var points []arm.Point
	for range rapid.IntRange(1, 5).Draw(t, "points") {
		now += rapid.Float64Range(0.1, 3).Draw(t, "time")
		points = append(points, arm.Point{
			Time: now, Positions: value("position"), Velocities: value("velocity"), Accelerations: value("acceleration"),
			HasVelocities: kind > 0, HasAccelerations: kind > 1,
		})
	}
	tr, err := arm.NewTrajectory(names, arm.Setpoint{Positions: value("from"), Velocities: value("speed")}, points, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tr, points
}

// It passes every point when it should, with what the point has, and between them its positions, velocities and
// accelerations are each other's derivatives.
func TestTrajectoryPassesItsPointsSmoothly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		tr, points := draw(t, kind)
		const tiny = 1e-7
		for i, p := range points {
			before, after := tr.At(p.Time-1e-9), tr.At(p.Time)
			for j := range world.Joints {
				last := i == len(points)-1
				switch {
				case math.Abs(after.Positions[j]-p.Positions[j]) > tiny || math.Abs(before.Positions[j]-p.Positions[j]) > tiny:
					t.Fatalf("point %d is missed by %v", i, after.Positions[j]-p.Positions[j])
				case kind > 0 && math.Abs(before.Velocities[j]-p.Velocities[j]) > 1e-5:
					t.Fatalf("point %d is passed with %v, want %v", i, before.Velocities[j], p.Velocities[j])
				case kind > 1 && math.Abs(before.Accelerations[j]-p.Accelerations[j]) > 1e-3:
					t.Fatalf("point %d is passed with the acceleration %v, want %v", i, before.Accelerations[j], p.Accelerations[j])
				case last && after.Velocities[j] != 0:
					t.Fatal("it does not stand at its end")
				}
			}
		}
		const h = 1e-5
		now := rapid.Float64Range(0, tr.End()).Draw(t, "now")
		for _, p := range points {
			if math.Abs(now-p.Time) < 3*h || now < 3*h {
				return // a corner
			}
		}
		a, is, b := tr.At(now-h), tr.At(now), tr.At(now+h)
		for j := range world.Joints {
			if v := (b.Positions[j] - a.Positions[j]) / (2 * h); math.Abs(v-is.Velocities[j]) > 1e-3*(1+math.Abs(v)) {
				t.Fatalf("velocity is %v, the way changes by %v", is.Velocities[j], v)
			}
			if acc := (b.Velocities[j] - a.Velocities[j]) / (2 * h); math.Abs(acc-is.Accelerations[j]) > 1e-2*(1+math.Abs(acc)) {
				t.Fatalf("acceleration is %v, the velocity changes by %v", is.Accelerations[j], acc)
			}
		}
	})
}

func TestWhereATrajectoryBegins(t *testing.T) {
	points := []arm.Point{{Time: 0, Positions: all(0.01)}, {Time: 1, Positions: all(1)}, {Time: 2, Positions: all(2)}}
	begin := func(from, age float64) (*arm.Trajectory, error) {
		return arm.NewTrajectory(names, arm.Setpoint{Positions: all(from)}, points, age)
	}
	if _, err := begin(0.2, 0); err == nil || !strings.Contains(err.Error(), "0.190 rad") {
		t.Errorf("from 0.19 rad beside its first point: %v", err)
	}
	for name, c := range map[string]struct{ age, at, want float64 }{
		"now":                            {0, 0, 0},
		"halfway":                        {0, 0.5, 0.5},
		"one point has passed":           {1.5, 1.5, 0},
		"and the rest is made up for":    {1.5, 1.75, 1},
		"not before its time":            {-1, -1, 0},
		"already on the way to point 0":  {-1, -0.5, 0.005},
		"beyond its end it stands there": {0, 9, 2},
	} {
		tr, err := begin(0, c.age)
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.At(c.at).Positions[0]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	one, err := arm.NewTrajectory(names, arm.Setpoint{Positions: all(0.01)}, points[:1], 0)
	if err != nil || one.At(0).Positions != all(0.01) {
		t.Errorf("a single point at once: %v", err)
	}
}
