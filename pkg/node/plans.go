package node

import (
	"encoding/json"
	"strings"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/workflow"
	"agent_node/pkg/ros"
)

// planOf reads agent_msgs/msg/Plan; nil where it has no steps. Nothing is repaired: arguments are taken as they stand, only
// an empty text stands for no arguments. What is wrong with a plan, the harness says.
func planOf(m *ros.Message) *workflow.Plan {
	steps := m.Msgs("steps")
	if len(steps) == 0 {
		return nil
	}
	p := &workflow.Plan{Task: m.Str("task"), SuccessCriteria: texts(m, "success_criteria"), Steps: make([]workflow.Step, len(steps))}
	for i, s := range steps {
		p.Steps[i] = workflow.Step{
			ID: s.Str("id"), Description: s.Str("description"), Tool: s.Str("tool"),
			DependsOn: texts(s, "depends_on"), Acceptance: texts(s, "acceptance"),
		}
		if text := s.Str("arguments_json"); strings.TrimSpace(text) != "" {
			p.Steps[i].Arguments = json.RawMessage(text)
		}
	}
	return p
}

// planMsg writes agent_msgs/msg/Plan. Every tool's step has arguments; an agent stage has none.
func (t *types) planMsg(p workflow.Plan) *ros.Message {
	steps := make([]*ros.Message, len(p.Steps))
	for i, s := range p.Steps {
		arguments := string(s.Arguments)
		if arguments == "" && !s.Agent() {
			arguments = "{}"
		}
		steps[i] = ros.New(t.planStep).
			With("id", s.ID).With("description", s.Description).With("tool", s.Tool).With("arguments_json", arguments).
			With("depends_on", append([]string{}, s.DependsOn...)).With("acceptance", append([]string{}, s.Acceptance...)).
			With("feasibility", uint8(s.Feasibility)).With("findings", t.predictedMsgs(s.Findings))
	}
	return ros.New(t.plan).With("task", p.Task).With("steps", steps).
		With("success_criteria", append([]string{}, p.SuccessCriteria...))
}

// predictedMsgs writes the findings of predictions.
func (t *types) predictedMsgs(findings []tool.Finding) []*ros.Message {
	out := make([]*ros.Message, len(findings))
	for i, f := range findings {
		out[i] = ros.New(t.finding).With("rule", f.Rule).With("subject", f.Subject).With("index", int32(f.Index)).
			With("value", f.Value).With("limit", f.Limit).With("unit", f.Unit).With("message", f.Message)
	}
	return out
}
