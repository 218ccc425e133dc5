package nav_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/sim/nav"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// freePose draws a pose with at least the given room around the robot's edge.
func freePose(t *rapid.T, w *world.World, room float64, label string) world.Pose {
	p := world.Pose{}
	for {
		p.X = rapid.Float64Range(w.Bounds.MinX, w.Bounds.MaxX).Draw(t, label+" x")
		p.Y = rapid.Float64Range(w.Bounds.MinY, w.Bounds.MaxY).Draw(t, label+" y")
		if min(w.Clearance(p.X, p.Y), w.ZoneDistance(p.X, p.Y)) >= w.Robot.Radius+room {
			break
		}
	}
	p.Yaw = rapid.Float64Range(-math.Pi, math.Pi).Draw(t, label+" yaw")
	return p
}

// trip is one drive along a planned path.
type trip struct {
	sim  *physics.Sim
	f    *nav.Follower
	each func(physics.Truth) // looks at every step; may be nil
}

var errSlow = errors.New("not there after two minutes")

func (d *trip) run() error {
	for d.sim.Time() < 2*time.Minute {
		command, done, err := d.f.Step(d.sim.Estimate(), d.sim.Odometry().Twist, d.sim.SpeedScaling(), physics.Step.Seconds())
		if err != nil || done {
			return err
		}
		d.sim.Command(command)
		d.sim.Step()
		if d.each != nil {
			d.each(d.sim.Truth())
		}
	}
	return errSlow
}

// begin plans a trip.
func begin(p *nav.Planner, start, goal world.Pose, seed uint64) (*trip, error) {
	s, err := physics.New(physics.Options{Seed: seed, Start: &start})
	if err != nil {
		return nil, err
	}
	path, err := p.Plan(s.Estimate(), goal)
	if err != nil {
		return nil, err
	}
	return &trip{sim: s, f: nav.NewFollower(path, s.World().Robot.Limits)}, nil
}

func TestNavigatorReachesItsGoalAndTouchesNothing(t *testing.T) {
	planner := nav.NewPlanner(world.Default())
	rapid.Check(t, func(t *rapid.T) {
		w := world.Default()
		start, goal := freePose(t, w, 0.01, "start"), freePose(t, w, nav.Margin, "goal")
		if i := rapid.IntRange(0, 2*len(w.Places)-1).Draw(t, "place"); i < len(w.Places) {
			goal = w.Places[i].Pose
		}
		d, err := begin(planner, start, goal, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		d.each = func(truth physics.Truth) {
			if truth.Contact {
				t.Fatalf("touched an obstacle at %+v", truth.Pose)
			}
			if room := w.ZoneDistance(truth.Pose.X, truth.Pose.Y); room < w.Robot.Radius {
				t.Fatalf("entered the keep-out zone at %+v: %.3f m", truth.Pose, room)
			}
		}
		if err := d.run(); err != nil {
			t.Fatal(err)
		}
		truth := d.sim.Truth()
		if e := truth.Pose.DistanceTo(goal); e > 0.05 {
			t.Fatalf("%.3f m from the goal", e)
		}
		if e := math.Abs(world.WrapAngle(truth.Pose.Yaw - goal.Yaw)); e > 0.05 {
			t.Fatalf("%.3f rad from the goal's heading", e)
		}
		if truth.Twist.Linear != 0 || math.Abs(truth.Twist.Angular) > 0.02 {
			t.Fatalf("done while moving: %+v", truth.Twist)
		}
	})
}

func TestPlacesAreSixSecondsApart(t *testing.T) {
	w := world.Default()
	planner := nav.NewPlanner(w)
	for _, from := range w.Places {
		for _, to := range w.Places {
			if from.Name == to.Name || from.Name == "table" || to.Name == "table" {
				continue
			}
			d, err := begin(planner, from.Pose, to.Pose, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.run(); err != nil {
				t.Fatalf("from %s to %s: %v", from.Name, to.Name, err)
			}
			driving := d.sim.Truth().Driven / w.Robot.Limits.Linear
			if driving < 6 {
				t.Errorf("from %s to %s: %.1f s at full speed, want 6 s", from.Name, to.Name, driving)
			}
			t.Logf("from %s to %s: %.2f m in %.1f s", from.Name, to.Name, d.sim.Truth().Driven, d.sim.Time().Seconds())
		}
	}
}

func TestPlannerRefusesWithNav2sCodes(t *testing.T) {
	w := world.Default()
	// A closet without a door.
	for _, b := range []world.Box{{MinX: 2.4, MinY: 0, MaxX: 3.6, MaxY: 0.1}, {MinX: 2.4, MinY: 1.1, MaxX: 3.6, MaxY: 1.2}, {MinX: 2.4, MinY: 0.1, MaxX: 2.5, MaxY: 1.1}, {MinX: 3.5, MinY: 0.1, MaxX: 3.6, MaxY: 1.1}} {
		w.Walls = append(w.Walls, world.Obstacle{Name: "closet", Box: b, Height: 1})
	}
	p := nav.NewPlanner(w)
	dock := w.Start()
	for _, c := range []struct {
		name        string
		start, goal world.Pose
		want        nav.Code
	}{
		{"in the wall", dock, world.Pose{X: -0.6, Y: 2}, nav.GoalOccupied},
		{"in the zone", dock, world.Pose{X: 0, Y: 0.1}, nav.GoalOccupied},
		{"footprint in the zone", dock, world.Pose{X: 0.5, Y: 0.1}, nav.GoalOccupied},
		{"off the map", dock, world.Pose{X: 20}, nav.GoalOutsideMap},
		{"start off the map", world.Pose{X: -20}, dock, nav.StartOutsideMap},
		{"start in the zone", world.Pose{X: 0, Y: 0.1}, dock, nav.StartOccupied},
		{"closed in", dock, world.Pose{X: 3, Y: 0.6}, nav.NoValidPath},
		{"not a number", dock, world.Pose{X: math.NaN()}, nav.PlannerUnknown},
		{"infinite start", world.Pose{Y: math.Inf(1)}, dock, nav.PlannerUnknown},
	} {
		path, err := p.Plan(c.start, c.goal)
		var e *nav.Error
		if !errors.As(err, &e) || e.Code != c.want || path != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestPathsAreWholeAndKeepTheirDistance(t *testing.T) {
	w := world.Default()
	p := nav.NewPlanner(w)
	rapid.Check(t, func(t *rapid.T) {
		start, goal := freePose(t, w, nav.Margin, "start"), freePose(t, w, nav.Margin, "goal")
		path, err := p.Plan(start, goal)
		if err != nil {
			t.Fatal(err)
		}
		if path[len(path)-1] != goal {
			t.Fatalf("ends at %+v, goal is %+v", path[len(path)-1], goal)
		}
		if path[0].DistanceTo(start) > 1e-9 {
			t.Fatalf("begins at %+v, start is %+v", path[0], start)
		}
		for i, q := range path {
			if room := min(w.Clearance(q.X, q.Y), w.ZoneDistance(q.X, q.Y)); room < w.Robot.Radius {
				t.Fatalf("pose %d is %.3f m from something", i, room)
			}
			if i > 0 && path[i-1].DistanceTo(q) > 0.05+1e-9 {
				t.Fatalf("poses %d and %d are %.3f m apart", i-1, i, path[i-1].DistanceTo(q))
			}
		}
		if path.Length() > 3*start.DistanceTo(goal)+4 {
			t.Fatalf("%.2f m for %.2f m", path.Length(), start.DistanceTo(goal))
		}
	})
}

func TestFollowerGivesUpWhereItDoesNotGoOn(t *testing.T) {
	w := world.Default()
	d, err := begin(nav.NewPlanner(w), w.Start(), w.Places[0].Pose, 1)
	if err != nil {
		t.Fatal(err)
	}
	pose := d.sim.Estimate()
	waited := func(scaling float64, limit int) (int, error) {
		for i := range limit {
			if _, _, err := d.f.Step(pose, world.Twist{}, scaling, 0.01); err != nil {
				return i, err
			}
		}
		return limit, nil
	}
	if _, err := waited(0, 10000); err != nil {
		t.Errorf("it gave up while the robot was held: %v", err)
	}
	steps, err := waited(1, 1000)
	var e *nav.Error
	if !errors.As(err, &e) || e.Code != nav.FailedToMakeProgress || steps < 450 || steps > 550 {
		t.Errorf("after %.2f s: %v, want %v after 5 s", float64(steps)/100, err, nav.FailedToMakeProgress)
	}
	if _, done, err := d.f.Step(pose, world.Twist{}, 1, 0.01); !done || err != nil {
		t.Errorf("afterwards: done %v, %v", done, err)
	}
}

func TestRemainingDistanceShrinks(t *testing.T) {
	w := world.Default()
	d, err := begin(nav.NewPlanner(w), w.Start(), w.Places[0].Pose, 1)
	if err != nil {
		t.Fatal(err)
	}
	last, whole := d.f.DistanceRemaining(), d.f.DistanceRemaining()
	d.each = func(physics.Truth) {
		if left := d.f.DistanceRemaining(); left > last+0.05 {
			t.Errorf("from %.3f to %.3f m left", last, left)
		}
		last = d.f.DistanceRemaining()
	}
	if err := d.run(); err != nil {
		t.Fatal(err)
	}
	if whole < 4 || last > 0.05 || d.f.TimeRemaining() != 0 {
		t.Errorf("%.2f m at first, %.2f m and %.2f s at the end", whole, last, d.f.TimeRemaining())
	}
}

func TestCodesHaveNav2sNames(t *testing.T) {
	for c, want := range map[nav.Code]string{nav.GoalOccupied: "GOAL_OCCUPIED", nav.None: "NONE", nav.Code(9): "code 9"} {
		if got := c.String(); got != want {
			t.Errorf("%d is %q, want %q", uint16(c), got, want)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	w := world.Default()
	p := nav.NewPlanner(w)
	for b.Loop() {
		if _, err := p.Plan(w.Start(), w.Places[0].Pose); err != nil {
			b.Fatal(err)
		}
	}
}
