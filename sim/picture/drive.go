package main

import (
	"fmt"
	"time"

	"agent_node/sim/nav"
	"agent_node/sim/physics"
	"agent_node/sim/plot"
	"agent_node/sim/world"
)

// drive lets the robot drive from the dock to one place after the other and records
// where it truly was, ten times a second.
func drive(w *world.World, places []string, seed uint64) ([]plot.Sample, error) {
	s, err := physics.New(physics.Options{World: w, Seed: seed})
	if err != nil {
		return nil, err
	}
	planner := nav.NewPlanner(w)
	var samples []plot.Sample
	record := func() {
		if t := s.Truth(); t.Time%(100*time.Millisecond) == 0 {
			samples = append(samples, plot.Sample{T: t.Time.Seconds(), X: t.Pose.X, Y: t.Pose.Y, Yaw: t.Pose.Yaw})
		}
	}
	record()
	for _, name := range places {
		place, err := w.Place(name)
		if err != nil {
			return nil, err
		}
		path, err := planner.Plan(s.Estimate(), place.Pose)
		if err != nil {
			return nil, fmt.Errorf("to %s: %w", name, err)
		}
		f := nav.NewFollower(path, w.Robot.Limits)
		for done := false; !done; record() {
			var command world.Twist
			command, done, err = f.Step(s.Estimate(), s.Odometry().Twist, s.SpeedScaling(), physics.Step.Seconds())
			if err != nil {
				return nil, fmt.Errorf("to %s: %w", name, err)
			}
			s.Command(command)
			s.Step()
		}
	}
	return samples, nil
}
