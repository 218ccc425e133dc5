package validate

import "agent_node/pkg/geometry"

func (w *World) joints(c JointTrajectory) Report {
	return Report{Findings: []geometry.Finding{geometry.New(geometry.RuleLimits, "arm", -1, 0, 0, "", "is not judged yet")}}
}

func (w *World) gripper(c GripperCommand) Report {
	return Report{Findings: []geometry.Finding{geometry.New(geometry.RuleLimits, "gripper", -1, 0, 0, "", "is not judged yet")}}
}
