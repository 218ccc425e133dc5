package trajectory

import "time"

// Trajectory is a list of points in time for some joints (trajectory_msgs/JointTrajectory).
type Trajectory struct {
	Joints []string
	Points []Point
}

// Point is where the joints are at a time from the start; lists are in the order of Trajectory.Joints.
type Point struct {
	Positions     []float64 // rad or m
	Velocities    []float64 // rad/s or m/s; empty: not given
	Accelerations []float64 // rad/s^2 or m/s^2; empty: not given
	Effort        []float64 // Nm or N; empty: not given
	Time          time.Duration
}

// Duration from the start to the last point.
func (t Trajectory) Duration() time.Duration {
	if len(t.Points) == 0 {
		return 0
	}
	return t.Points[len(t.Points)-1].Time
}
