package harness

import (
	"fmt"
	"slices"
	"strings"

	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/tool"
)

// Bounds of what a goal may say. A goal beyond them is refused, and of what is too much only the beginning is recorded and told.
const (
	// MaxTask of a goal, bytes.
	MaxTask = 64 << 10
	// MaxCriteria of a caller.
	MaxCriteria = 100
	// MaxEcho bounds how much of a goal's text is repeated in results and logs, bytes.
	MaxEcho = 4096
	// maxName of a tool, bytes.
	maxName = 256
)

// Echo is as much of a text as is repeated: cut between runes, with a note.
func Echo(text string) string {
	short, _ := tool.Cut(text, MaxEcho, "the rest is not repeated")
	return short
}

// bound a goal: what of it is too much is cut, and overlong says what that was; "": nothing.
func bound(g Goal) (_ Goal, overlong string) {
	var why []string
	if n := len(g.Task); n > MaxTask {
		why = append(why, fmt.Sprintf("the task has %d bytes, the limit is %d bytes", n, MaxTask))
		g.Task = Echo(g.Task)
	}
	if g.Plan != nil && len(g.Plan.Task) > MaxTask {
		why = append(why, fmt.Sprintf("the plan's task has %d bytes, the limit is %d bytes", len(g.Plan.Task), MaxTask))
		p := *g.Plan
		p.Task = Echo(p.Task)
		g.Plan = &p
	}
	if n := len(g.Criteria); n > MaxCriteria {
		why = append(why, fmt.Sprintf("there are %d success criteria, the limit is %d", n, MaxCriteria))
		g.Criteria = g.Criteria[:MaxCriteria]
	}
	var list []string
	for i, text := range g.Criteria {
		if n := len(strings.TrimSpace(text)); n > criteria.MaxText {
			why = append(why, fmt.Sprintf("success criterion %d has %d bytes, the limit is %d bytes", i+1, n, criteria.MaxText))
			text, _ = tool.Cut(text, 80, "the rest is not repeated")
		}
		list = append(list, text)
	}
	g.Criteria = list
	g.AllowedTools = slices.Clone(g.AllowedTools)
	for i, name := range g.AllowedTools {
		if n := len(name); n > maxName {
			why = append(why, fmt.Sprintf("allowed tool %d has a name of %d bytes, the limit is %d bytes", i+1, n, maxName))
			g.AllowedTools[i] = clip(name)
		}
	}
	return g, strings.Join(why, "; ")
}
