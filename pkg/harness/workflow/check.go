package workflow

import (
	"errors"
	"fmt"
	"strings"

	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/tool"
)

// Kind of a violation.
type Kind string

// Kinds of violations.
const (
	Empty             Kind = "empty"
	TooLong           Kind = "too_long"
	DuplicateID       Kind = "duplicate_id"
	MissingID         Kind = "missing_id"
	UnknownDependency Kind = "unknown_dependency"
	Cycle             Kind = "cycle"
	UnknownTool       Kind = "unknown_tool"
	NotAStage         Kind = "not_a_stage" // a control tool, or an agent stage without a description
	InvalidArguments  Kind = "invalid_arguments"
	BadCriterion      Kind = "bad_criterion"
	MissingCriteria   Kind = "missing_criteria"
)

// Violation is one thing that is wrong with a plan.
type Violation struct {
	Kind Kind
	// Index and Step of the step, -1 and "" for the plan itself.
	Index int
	Step  string
	Err   error
}

// Error names the step and what is wrong.
func (v Violation) Error() string {
	if v.Index < 0 {
		return fmt.Sprintf("plan: %s: %v", v.Kind, v.Err)
	}
	return fmt.Sprintf("step %d (%q): %s: %v", v.Index+1, v.Step, v.Kind, v.Err)
}

// Unwrap gives the cause.
func (v Violation) Unwrap() error { return v.Err }

// PlanError is everything that is wrong with a plan.
type PlanError struct{ Violations []Violation }

// Error names every violation.
func (e *PlanError) Error() string {
	lines := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		lines[i] = v.Error()
	}
	return "workflow: the plan is not sound: " + strings.Join(lines, "; ")
}

// Has reports whether a kind of violation is among them.
func (e *PlanError) Has(k Kind) bool {
	for _, v := range e.Violations {
		if v.Kind == k {
			return true
		}
	}
	return false
}

// Rules of a check.
type Rules struct {
	Table *tool.Table
	Eval  criteria.Evaluator
	// Allowed tools by name; empty: all of the table.
	Allowed []string
	// MaxSteps; 0: MaxSteps.
	MaxSteps int
	// NeedCriteria: some step must have a gate, or the plan success criteria, or a skill that brings its own postconditions.
	NeedCriteria bool
}

// Check says everything that is wrong with a plan, as a *PlanError, or nil. Nothing is repaired: a tool's name is taken as it
// stands, arguments must be valid against the tool's schema.
func Check(p Plan, r Rules) error {
	c := &checker{rules: r, ids: map[string]int{}}
	c.shape(p)
	if len(c.found) == 0 { // a plan of ten thousand steps is not looked at any closer
		for i, s := range p.Steps {
			c.step(i, s)
		}
		c.dependencies(p)
		c.criteria(-1, "", p.SuccessCriteria)
		c.enough(p)
	}
	if len(c.found) == 0 {
		return nil
	}
	return &PlanError{c.found}
}

type checker struct {
	rules Rules
	ids   map[string]int
	found []Violation
}

func (c *checker) add(kind Kind, index int, id, format string, args ...any) {
	c.found = append(c.found, Violation{kind, index, id, fmt.Errorf(format, args...)})
}

func (c *checker) shape(p Plan) {
	most := c.rules.MaxSteps
	if most <= 0 || most > MaxSteps {
		most = MaxSteps
	}
	switch {
	case len(p.Steps) == 0:
		c.add(Empty, -1, "", "it has no steps")
	case len(p.Steps) > most:
		c.add(TooLong, -1, "", "it has %d steps, limit %d steps", len(p.Steps), most)
	case len(p.SuccessCriteria) > MaxCriteria:
		c.add(TooLong, -1, "", "it has %d success criteria, limit %d", len(p.SuccessCriteria), MaxCriteria)
	}
}

func (c *checker) step(i int, s Step) {
	if s.ID == "" {
		c.add(MissingID, i, s.ID, "a step needs an id")
	} else if first, twice := c.ids[s.ID]; twice {
		c.add(DuplicateID, i, s.ID, "step %d has the same id", first+1)
	} else {
		c.ids[s.ID] = i
	}
	if n := max(len(s.ID), len(s.Tool), len(s.Description)); n > MaxText {
		c.add(TooLong, i, "", "a text of %d bytes, limit %d bytes", n, MaxText)
	}
	if len(s.Acceptance) > MaxCriteria {
		c.add(TooLong, i, s.ID, "%d acceptance criteria, limit %d", len(s.Acceptance), MaxCriteria)
		return
	}
	c.criteria(i, s.ID, s.Acceptance)
	if s.Agent() {
		if strings.TrimSpace(s.Description) == "" {
			c.add(NotAStage, i, s.ID, "an agent stage needs a description: that is its task")
		}
		if len(s.Arguments) > 0 && string(s.Arguments) != "{}" {
			c.add(NotAStage, i, s.ID, "an agent stage takes no arguments")
		}
		return
	}
	spec, ok := c.rules.Table.Spec(s.Tool)
	switch {
	case !ok || !c.allowed(s.Tool):
		c.add(UnknownTool, i, s.ID, "no tool is called %q here", s.Tool)
		return
	case spec.Class == tool.Control:
		c.add(NotAStage, i, s.ID, "%s steers a session and is no stage", s.Tool)
		return
	}
	raw := []byte(s.Arguments)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if _, err := c.rules.Table.Validate(s.Tool, raw); err != nil {
		c.found = append(c.found, Violation{InvalidArguments, i, s.ID, err})
	}
}

func (c *checker) allowed(name string) bool {
	if len(c.rules.Allowed) == 0 {
		return true
	}
	for _, a := range c.rules.Allowed {
		if a == name {
			return true
		}
	}
	return false
}

func (c *checker) criteria(i int, id string, list []string) {
	for _, text := range list {
		if _, err := criteria.Parse(text, c.rules.Table, c.rules.Eval); err != nil {
			c.found = append(c.found, Violation{BadCriterion, i, id, err})
		}
	}
}

var errCycle = errors.New("its dependencies lead back to itself")

func (c *checker) dependencies(p Plan) {
	sound := true
	for i, s := range p.Steps {
		for _, d := range s.DependsOn {
			if _, ok := c.ids[d]; !ok {
				c.add(UnknownDependency, i, s.ID, "it depends on %q, which is no step", d)
				sound = false
			}
		}
	}
	if !sound || len(c.ids) != len(p.Steps) {
		return
	}
	ordered := map[int]bool{}
	for _, i := range Order(p) {
		ordered[i] = true
	}
	for i, s := range p.Steps {
		if !ordered[i] {
			c.found = append(c.found, Violation{Cycle, i, s.ID, errCycle})
		}
	}
}

// enough: an empty set of criteria never accepts, so a plan that moves nothing and checks nothing is no plan.
func (c *checker) enough(p Plan) {
	if !c.rules.NeedCriteria || len(p.SuccessCriteria) > 0 {
		return
	}
	for _, s := range p.Steps {
		if len(s.Acceptance) > 0 || s.Agent() {
			return
		}
		if spec, ok := c.rules.Table.Spec(s.Tool); ok && (spec.Class == tool.Skill || spec.Class == tool.Verify) {
			return
		}
	}
	c.add(MissingCriteria, -1, "", "nothing in it says when it is done: name success_criteria or a step's acceptance")
}
