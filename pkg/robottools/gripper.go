package robottools

import (
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// checkGripper judges a control_msgs/action/GripperCommand goal.
func (r *Robot) checkGripper(a *jointActuator, goal *ros.Message) validate.Report {
	return validate.Validate(gripperOf(goal.Msg("command")), r.gripperWorld(a))
}

// gripperWorld is what a gripper's commands are judged in.
func (r *Robot) gripperWorld(a *jointActuator) *validate.World {
	w := r.world.snapshotOf()
	l := a.def.Limit
	w.Gripper = &validate.Gripper{Open: l.Open, Closed: l.Closed, MaxEffort: l.MaxEffort}
	return w
}
