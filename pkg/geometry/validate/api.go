package validate

import "agent_node/pkg/geometry"

// Validate judges a command in a world.
func Validate(cmd Command, w *World) Report {
	return Report{Findings: []geometry.Finding{{Rule: geometry.RuleLimits, Index: -1, Message: "nothing is judged yet"}}}
}

// CheckTwist is Validate for a twist, for control loops: it appends to into and allocates only for findings.
func CheckTwist(t Twist, w *World, into []geometry.Finding) []geometry.Finding {
	return append(into, geometry.Finding{Rule: geometry.RuleLimits, Index: -1, Message: "nothing is judged yet"})
}

// InFlight judges the measured state while a motion is under way: measured speed against limits and speed zones, the measured
// pose and the way the base needs to stop against zones (and the map, where World.MapInFlight says so).
func InFlight(s State, w *World) []geometry.Finding {
	return []geometry.Finding{{Rule: geometry.RuleLimits, Index: -1, Message: "nothing is judged yet"}}
}
