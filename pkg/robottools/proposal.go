package robottools

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// The writers put a valid command near a refused one into a copy of its message.

func setVec(m *ros.Message, v r3.Vec) { m.With("x", v.X).With("y", v.Y).With("z", v.Z) }

func writeTwist(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.Twist)
	if !ok {
		return false
	}
	if m.Type.FieldIndex("twist") >= 0 {
		m.With("header.stamp.sec", 0).With("header.stamp.nanosec", 0)
		m = m.Msg("twist")
	}
	setVec(m.Msg("linear"), n.Twist.Linear)
	setVec(m.Msg("angular"), n.Twist.Angular)
	return true
}

func writeGoal(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.PoseGoal)
	if !ok {
		return false
	}
	if m.Type.FieldIndex("header") < 0 { // an action's goal
		m = m.Msg("pose")
	}
	setGoal(m, n)
	return true
}

func setGoal(m *ros.Message, n validate.PoseGoal) {
	m.With("header.frame_id", n.Frame)
	setVec(m.Msg("pose.position"), n.Pose.Position)
	q := n.Pose.Orientation
	m.Msg("pose.orientation").With("x", q.Imag).With("y", q.Jmag).With("z", q.Kmag).With("w", q.Real)
}

func writeRoute(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.Route)
	if !ok {
		return false
	}
	poses := routePoses(m)
	if len(poses) != len(n.Goals) {
		return false
	}
	for i, p := range poses {
		setGoal(p, n.Goals[i])
	}
	return true
}

func writeDrive(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.Drive)
	if !ok {
		return false
	}
	x := m.Float("target.x")
	m.With("target.x", math.Copysign(n.Distance, x)).With("speed", math.Copysign(notOver(n.Speed), m.Float("speed")))
	return true
}

// notOver is a speed that a float32 holds and that is not over v.
func notOver(v float64) float64 {
	f := float32(v)
	if float64(f) > v {
		f = math.Nextafter32(f, 0)
	}
	return float64(f)
}

func writeSpin(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.Turn)
	if ok {
		m.With("target_yaw", math.Copysign(notOver(math.Abs(n.Angle)), n.Angle))
	}
	return ok
}

func writeTrajectory(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.JointTrajectory)
	if !ok {
		return false
	}
	if m.Type.FieldIndex("trajectory") >= 0 {
		m = m.Msg("trajectory")
	}
	return setPoints(m, n.Points)
}

// setPoints writes times, velocities and accelerations of points that are there already.
func setPoints(m *ros.Message, points []trajectory.Point) bool {
	list := m.Msgs("points")
	if len(list) != len(points) {
		return false
	}
	for i, p := range points {
		list[i].With("positions", p.Positions).With("velocities", p.Velocities).With("accelerations", p.Accelerations)
		list[i].SetDuration("time_from_start", p.Time)
	}
	return true
}

func writeWrench(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.WrenchCommand)
	if !ok {
		return false
	}
	if m.Type.FieldIndex("wrench") >= 0 {
		m = m.Msg("wrench")
	}
	setVec(m.Msg("force"), n.Wrench.Force)
	setVec(m.Msg("torque"), n.Wrench.Torque)
	return true
}

func writeGripper(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.GripperCommand)
	if !ok {
		return false
	}
	if m.Type.FieldIndex("command") >= 0 {
		m = m.Msg("command")
	}
	m.With("position", n.Position).With("max_effort", n.MaxEffort)
	return true
}

func writeParallelGripper(m *ros.Message, c validate.Command) bool {
	n, ok := c.(validate.GripperCommand)
	if !ok {
		return false
	}
	s := m.Msg("command")
	s.With("position", []float64{n.Position})
	if len(s.Floats("effort")) == 1 {
		s.With("effort", []float64{n.MaxEffort})
	}
	return true
}
