package validate

import "agent_node/pkg/geometry"

// Validate judges a command in a world. It never panics on what it is given, and what it cannot judge it refuses.
func Validate(cmd Command, w *World) Report {
	switch c := cmd.(type) {
	case Twist:
		r := Report{Findings: CheckTwist(c, w, nil)}
		if !r.Valid() {
			r.Nearest = nearestTwist(c, w)
		}
		return r
	case PoseGoal:
		return w.goal(c)
	case Route:
		return w.route(c)
	case Path:
		return w.path(c)
	case Drive:
		return w.drive(c)
	case Turn:
		return w.turn(c)
	case JointTrajectory:
		return w.joints(c)
	case GripperCommand:
		return w.gripper(c)
	case WrenchCommand:
		return w.wrench(c)
	}
	return Report{Findings: []geometry.Finding{geometry.New(geometry.RuleEmpty, "command", -1, 0, 0, "", "there is none")}}
}
