package robottools

import (
	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// checkGripper judges a goal of an action that closes grippers (GripperCommand, ParallelGripperCommand), and says to which position, m.
func (r *Robot) checkGripper(a *jointActuator, action string, goal *ros.Message) (validate.Report, float64) {
	reader, ok := readers[action]
	if !ok || reader.kind != kindGripper {
		return validate.Report{Findings: []geometry.Finding{geometry.New(geometry.RuleType, action, -1, 0, 0, "", "is no action that a gripper's validator reads")}}, 0
	}
	c := reader.read(goal, a.def)
	if c.command == nil {
		return validate.Report{Findings: c.found}, 0
	}
	report := validate.Validate(c.command, r.gripperWorld(a))
	report.Findings = append(report.Findings, c.found...)
	width := 0.0
	if g, ok := c.command.(validate.GripperCommand); ok {
		width = g.Position
	}
	return report, width
}

// gripperWorld is what a gripper's commands are judged in.
func (r *Robot) gripperWorld(a *jointActuator) *validate.World {
	w := r.world.snapshotOf()
	l := a.def.Limit
	w.Gripper = &validate.Gripper{Open: l.Open, Closed: l.Closed, MaxEffort: l.MaxEffort}
	return w
}
