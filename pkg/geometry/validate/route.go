package validate

import (
	"fmt"
	"strings"

	"agent_node/pkg/geometry"
)

// Route is a list of poses that somebody else will drive to, one after the other (the goal of nav2_msgs/NavigateThroughPoses).
type Route struct {
	Goals []PoseGoal
}

func (Route) command() {}

// maxRoute bounds a route: each of its goals may carry findings.
const maxRoute = 1000

// route judges each pose as a goal of its own; findings have its index. The ways between are somebody else's plan, judged as a Path.
func (w *World) route(c Route) Report {
	switch {
	case len(c.Goals) == 0:
		return Report{Findings: []geometry.Finding{geometry.New(geometry.RuleEmpty, "poses", -1, 0, 1, "", "is empty: there is no goal")}}
	case len(c.Goals) > maxRoute:
		return Report{Findings: []geometry.Finding{geometry.Over(geometry.RuleRange, "poses", -1, float64(len(c.Goals)), maxRoute, "poses")}}
	}
	var r Report
	near := Route{Goals: make([]PoseGoal, len(c.Goals))}
	whole := true // there is a valid pose near each
	for i, g := range c.Goals {
		one := w.goal(g)
		for _, f := range one.Findings {
			f.Index = i
			f.Message = strings.Replace(f.Message, f.Subject, fmt.Sprintf("%s [%d]", f.Subject, i), 1)
			r.Findings = append(r.Findings, f)
		}
		r.Notes = append(r.Notes, one.Notes...)
		near.Goals[i] = g
		if !one.Valid() {
			offer, ok := one.Nearest.(PoseGoal)
			near.Goals[i], whole = offer, whole && ok
		}
	}
	if len(r.Findings) > 0 && whole {
		r.Nearest = near
	}
	return r
}
