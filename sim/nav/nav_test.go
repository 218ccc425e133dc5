package nav_test

import (
	"math"
	"testing"

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

func TestNavigatorReachesEveryPlaceAndTouchesNothing(t *testing.T) {
	t.Parallel()
	planner := nav.NewPlanner(world.Default())
	rapid.Check(t, func(t *rapid.T) {
		w := world.Default()
		start := freePose(t, w, 0.01, "start")
		goal := freePose(t, w, nav.Margin, "goal")
		if i := rapid.IntRange(0, 2*len(w.Places)).Draw(t, "place"); i < len(w.Places) {
			goal = w.Places[i].Pose
		}
		s, err := physics.New(physics.Options{Seed: rapid.Uint64().Draw(t, "seed"), Start: &start})
		if err != nil {
			t.Fatal(err)
		}
		path, err := planner.Plan(s.Estimate(), goal)
		if err != nil {
			t.Fatal(err)
		}
		f := nav.NewFollower(path, w.Robot.Limits)
		for {
			command, done, err := f.Step(s.Estimate(), s.Odometry().Twist, s.SpeedScaling(), physics.Step.Seconds())
			if err != nil {
				t.Fatal(err)
			}
			s.Command(command)
			s.Step()
			truth := s.Truth()
			if truth.Contact {
				t.Fatalf("touched an obstacle at %+v", truth.Pose)
			}
			if d := w.ZoneDistance(truth.Pose.X, truth.Pose.Y); d < w.Robot.Radius {
				t.Fatalf("entered the keep-out zone at %+v: %.3f m", truth.Pose, d)
			}
			if done {
				break
			}
			if s.Time().Seconds() > 60 {
				t.Fatalf("not there after a minute, at %+v, %.3f m left", truth.Pose, f.DistanceRemaining())
			}
		}
		truth := s.Truth()
		if d := truth.Pose.DistanceTo(goal); d > 0.05 {
			t.Fatalf("%.3f m from the goal", d)
		}
		if d := math.Abs(world.WrapAngle(truth.Pose.Yaw - goal.Yaw)); d > 0.05 {
			t.Fatalf("%.3f rad from the goal's heading", d)
		}
		if math.Abs(truth.Twist.Linear) > 0.01 || math.Abs(truth.Twist.Angular) > 0.02 {
			t.Fatalf("done while moving: %+v", truth.Twist)
		}
	})
}
