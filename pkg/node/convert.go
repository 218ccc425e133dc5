package node

import (
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/harness/budget"
	"agent_node/pkg/ros"
)

// types are the message types of the contract, looked up once.
type types struct {
	step, verification, actuator, finding, toolInfo *ros.Type
	plan, planStep                                  *ros.Type
	state, approval, trace                          *ros.Type
	execute, resume                                 told
}

func lookUp(source ros.TypeSource) (*types, error) {
	t := &types{}
	for name, into := range map[string]**ros.Type{
		"Step": &t.step, "Verification": &t.verification, "ActuatorState": &t.actuator, "Finding": &t.finding,
		"ToolInfo": &t.toolInfo, "AgentState": &t.state, "ApprovalRequest": &t.approval, "TraceEvent": &t.trace,
		"Plan": &t.plan, "PlanStep": &t.planStep,
	} {
		got, err := source.Message("agent_msgs/msg/" + name)
		if err != nil {
			return nil, err
		}
		*into = got
	}
	for name, into := range map[string]*told{executeType: &t.execute, resumeType: &t.resume} {
		a, err := source.Action(name)
		if err != nil {
			return nil, err
		}
		*into = told{result: a.Result, feedback: a.Feedback}
	}
	return t, nil
}

// told is how an action's goals are told about. The fields of all of them are the same.
type told struct{ result, feedback *ros.Type }

const (
	executeType = "agent_msgs/action/ExecuteTask"
	resumeType  = "agent_msgs/action/ResumeTask"
)

func (t *types) stepMsg(s harness.Step) *ros.Message {
	m := ros.New(t.step).
		With("index", s.Index).With("call_id", s.CallID).With("tool", s.Tool).With("tool_class", uint8(s.Class)).
		With("source", s.Source).With("arguments_json", s.Arguments).With("ok", s.OK).
		With("error_kind", string(s.ErrorKind)).With("content", s.Content)
	m.SetStamp("start", stamp(s.Start))
	m.SetStamp("end", stamp(s.End))
	return m
}

// stamp is a wall-clock time as ROS has it; a time that is not set is zero.
func stamp(t time.Time) ros.Time {
	if t.IsZero() {
		return 0
	}
	return ros.TimeFrom(t)
}

func (t *types) actuatorMsgs(states []guard.ActuatorState) []*ros.Message {
	out := make([]*ros.Message, len(states))
	for i, s := range states {
		m := ros.New(t.actuator).With("name", s.Name).With("state", uint8(s.State)).With("owner", s.Owner).With("reason", s.Reason)
		m.SetStamp("last_feedback", stamp(s.LastFeedback))
		out[i] = m
	}
	return out
}

func setUsage(m *ros.Message, u budget.Usage) {
	m.With("steps", u.Steps).With("tool_calls", u.ToolCalls).With("input_tokens", u.InputTokens).
		With("output_tokens", u.OutputTokens).With("cost", u.Cost)
	m.SetDuration("wall_time", u.WallTime)
}

// budgetOf reads agent_msgs/msg/Budget.
func budgetOf(m *ros.Message) budget.Limits {
	return budget.Limits{
		Steps: uint32(m.Int("max_steps")), ToolCalls: uint32(m.Int("max_tool_calls")),
		InputTokens: unsigned(m, "max_input_tokens"), OutputTokens: unsigned(m, "max_output_tokens"),
		WallTime: m.Duration("max_wall_time"), Cost: m.Float("max_cost"),
	}
}

func unsigned(m *ros.Message, path string) uint64 {
	v, _ := m.Get(path)
	u, _ := v.(uint64)
	return u
}

func texts(m *ros.Message, path string) []string {
	v, _ := m.Get(path)
	s, _ := v.([]string)
	return s
}

func (t *types) resultMsg(as told, r harness.Result) *ros.Message {
	m := ros.New(as.result).
		With("outcome", uint8(r.Outcome)).With("reason_code", string(r.Reason)).With("answer", r.Answer).
		With("unmet_goals", append([]string{}, r.UnmetGoals...)).With("trace", r.Trace)
	steps := make([]*ros.Message, len(r.Steps))
	for i, s := range r.Steps {
		steps[i] = t.stepMsg(s)
	}
	checks := make([]*ros.Message, len(r.Verifications))
	for i, v := range r.Verifications {
		checks[i] = ros.New(t.verification).With("criterion", v.Criterion).With("passed", v.Passed).With("evidence", v.Evidence)
	}
	m.With("completed_steps", steps).With("verifications", checks)
	setUsage(m.Msg("usage"), r.Usage)
	return m
}

func (t *types) feedbackMsg(as told, p harness.Progress, states []guard.ActuatorState) *ros.Message {
	m := ros.New(as.feedback).With("state", uint8(p.State)).With("phase", string(p.Phase)).With("step", p.Step).
		With("actuators", t.actuatorMsgs(states))
	if p.LastStep != nil {
		m.With("last_step", t.stepMsg(*p.LastStep))
	}
	setUsage(m.Msg("usage"), p.Usage)
	return m
}

func (t *types) findingMsgs(findings []geometry.Finding) []*ros.Message {
	out := make([]*ros.Message, len(findings))
	for i, f := range findings {
		out[i] = ros.New(t.finding).With("rule", f.Rule).With("subject", f.Subject).With("index", int32(f.Index)).
			With("value", f.Value).With("limit", f.Limit).With("unit", f.Unit).With("message", f.String())
	}
	return out
}
