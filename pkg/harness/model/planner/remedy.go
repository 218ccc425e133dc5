package planner

import (
	"encoding/json"
	"strings"
)

// remedy is the call that a refusal names as what helps: "… interlock: the arm is not folded: first call move_arm {…} (rule: …)".
// Only the robot's own rules speak so, never a server's text: a precondition that the called tool itself reports.
func (r *runner) remedy(o observation) (call, bool) {
	rest, ok := strings.CutPrefix(o.content, "precondition_failed: "+o.tool+": interlock: ")
	if !ok || o.kind != "precondition_failed" {
		return call{}, false
	}
	_, rest, ok = strings.Cut(rest, ": first call ")
	if !ok {
		return call{}, false
	}
	name, rest, _ := strings.Cut(rest, " ")
	args := map[string]any{}
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&args); err != nil || !r.world.tools[name] || name == o.tool {
		return call{}, false
	}
	return call{tool: name, args: args}, true
}
