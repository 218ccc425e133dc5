package validate

import (
	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// gripper judges a position and an effort against the gripper's ends.
func (w *World) gripper(c GripperCommand) Report {
	if w == nil {
		w = &World{}
	}
	var r Report
	g := w.Gripper
	if err := g.Check(); err != nil {
		r.Findings = append(r.Findings, geometry.New(geometry.RuleLimits, "gripper", -1, 0, 0, "", "no motion can be judged: "+err.Error()))
		return r
	}
	if !spatial.Finite(c.Position) {
		r.Findings = append(r.Findings, geometry.NotFinite("command.position", -1, c.Position, "m"))
	}
	if !spatial.Finite(c.MaxEffort) {
		r.Findings = append(r.Findings, geometry.NotFinite("command.max_effort", -1, c.MaxEffort, "N"))
	}
	if len(r.Findings) > 0 {
		return r
	}
	low, high := min(g.Open, g.Closed), max(g.Open, g.Closed)
	near := GripperCommand{Position: min(max(c.Position, low), high), MaxEffort: min(max(c.MaxEffort, 0), g.MaxEffort)}
	if c.Position != near.Position {
		r.Findings = append(r.Findings, geometry.Over(geometry.RulePosition, "command.position", -1, c.Position, near.Position, "m"))
	}
	if c.MaxEffort != near.MaxEffort {
		r.Findings = append(r.Findings, geometry.Over(geometry.RuleEffort, "command.max_effort", -1, c.MaxEffort, near.MaxEffort, "N"))
	}
	if len(r.Findings) > 0 {
		r.Nearest = near
	}
	return r
}
