package harness

import (
	"fmt"
	"slices"
	"strings"

	"agent_node/pkg/harness/criteria"
)

// understanding is what the harness itself, and no model, knows of what a task leaves behind. docs/acceptance.md has the rules.
type understanding struct {
	Criteria []string `json:"criteria"`
	// Moves are tools whose actuators must have been moved.
	Moves []string `json:"moves"`

	parsed []criteria.Criterion
}

// understand the task of a goal that has neither criteria nor a plan. What a record says of it counts for whoever goes by the record.
func (s *session) understand() {
	u := &s.understood
	if s.script == nil && s.cfg.Understand != nil && len(s.goal.Criteria) == 0 && s.goal.Plan == nil && !s.goal.DryRun {
		u.Criteria, u.Moves = s.cfg.Understand(s.goal.Task, s.h.all)
	}
	var sound []string
	for _, text := range u.Criteria {
		c, err := criteria.Parse(text, s.cfg.Tools, s.cfg.Criteria)
		if err == nil && c.Kind != criteria.ByPerson && !has(u.parsed, c) {
			u.parsed, sound = append(u.parsed, c), append(sound, text)
		}
	}
	u.Criteria = sound
}

// standing is what has to hold without criteria of the caller: what is still to be checked, and what is settled already.
func (s *session) standing() (set []criteria.Criterion, settled []Verification) {
	set = slices.Clone(s.declared)
	for _, c := range s.understood.parsed {
		if !has(set, c) {
			set = append(set, c)
		}
	}
	set, settled = s.claims.pending(set)
	for _, name := range s.understood.Moves {
		spec, ok := s.cfg.Tools.Spec(name)
		moved := slices.ContainsFunc(spec.Actuators, func(a string) bool { return slices.Contains(s.claims.moved, a) })
		if !ok || len(spec.Actuators) == 0 || moved {
			continue // that something moved proves nothing yet; the skills' postconditions do
		}
		v := Verification{
			Criterion: fmt.Sprintf("a skill moved %s, as the task asks", strings.Join(spec.Actuators, " or ")),
			Evidence:  "no skill that moves it succeeded",
		}
		if !slices.Contains(settled, v) {
			settled = append(settled, v)
		}
	}
	return set, settled
}
