package workflow

import (
	"encoding/json"
	"slices"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// Plan for a task (agent_msgs/msg/Plan).
type Plan struct {
	Task            string   `json:"task"`
	Steps           []Step   `json:"steps"`
	SuccessCriteria []string `json:"success_criteria,omitempty"`
}

// Step is one stage: a call of a tool, or with an empty tool an agent stage whose task is its description.
type Step struct {
	ID          string          `json:"id"`
	Description string          `json:"description,omitempty"`
	Tool        string          `json:"tool,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty"` // of a tool; they are executed as Canonical writes them
	DependsOn   []string        `json:"depends_on,omitempty"`
	// Acceptance are criteria that must hold, at rest, after the stage: its gate.
	Acceptance  []string       `json:"acceptance,omitempty"`
	Feasibility Feasibility    `json:"feasibility,omitempty"`
	Findings    []tool.Finding `json:"findings,omitempty"`
}

// Canonical is the plan with each stage's arguments as a record writes them, without white space between their parts: what is executed
// is what a replay of the record reads. Arguments that are no JSON stay as they are, and Check refuses them.
func (p Plan) Canonical() Plan {
	p.Steps = slices.Clone(p.Steps)
	for i := range p.Steps {
		if s := &p.Steps[i]; json.Valid(s.Arguments) {
			s.Arguments = trace.Marshal(s.Arguments)
		}
	}
	return p
}

// Agent reports whether the stage is an agent's.
func (s Step) Agent() bool { return s.Tool == "" }

// Feasibility of a step, as predicted; the values are agent_msgs/msg/PlanStep's.
type Feasibility uint8

// Feasibilities.
const (
	Unknown  Feasibility = 0
	Feasible Feasibility = 1
	Refused  Feasibility = 2
)

// Limits of a plan.
const (
	// MaxSteps that a plan may have unless a request names fewer.
	MaxSteps = 100
	// MaxCriteria of a step's gate, and of a plan.
	MaxCriteria = 32
	// MaxText bounds ids, names and descriptions, bytes.
	MaxText = 4096
)

// Order is the order in which the stages run: by their dependencies, and among the free ones by their place in the list. The
// plan must be sound (Check).
func Order(p Plan) []int {
	done := make(map[string]bool, len(p.Steps))
	left := make([]bool, len(p.Steps))
	order := make([]int, 0, len(p.Steps))
	for len(order) < len(p.Steps) {
		before := len(order)
		for i, s := range p.Steps {
			if left[i] || !ready(s, done) {
				continue
			}
			left[i] = true
			done[s.ID] = true
			order = append(order, i)
			break // the earliest free stage comes first, always
		}
		if len(order) == before {
			return order // a cycle: Check refuses it
		}
	}
	return order
}

func ready(s Step, done map[string]bool) bool {
	for _, d := range s.DependsOn {
		if !done[d] {
			return false
		}
	}
	return true
}
