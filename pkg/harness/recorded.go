package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/harness/workflow"
)

// recordVersion of what is recorded; a record of another version is shown and verified, but neither replayed nor taken up.
const recordVersion = 2

// Record is what a session left behind.
type Record struct {
	Session string
	// Reason with which it ended; "": it did not end, its process was killed, or it is still running.
	Reason Reason
	data   sessionData
	events []trace.Event
}

// ErrNotResumable is wrapped where a session cannot go on.
var ErrNotResumable = errors.New("it cannot go on")

// ReadRecord reads the sound events of a session's record.
func ReadRecord(events []trace.Event) (*Record, error) {
	if len(events) == 0 || Kind(events[0].Kind) != KindSession {
		return nil, errors.New("harness: the record does not begin with a session")
	}
	r := &Record{Session: events[0].Session, events: events}
	if err := json.Unmarshal(events[0].Data, &r.data); err != nil {
		return nil, fmt.Errorf("harness: event 1 (session): %w", err)
	}
	switch {
	case r.data.Decompose:
		return nil, errors.New("harness: the record is a decomposition's, in which nothing was carried out")
	case r.data.Version != recordVersion:
		return nil, fmt.Errorf("harness: the record has version %d, this program's is %d", r.data.Version, recordVersion)
	}
	r.events = slices.DeleteFunc(slices.Clone(events), func(e trace.Event) bool { return e.Phase == "" })
	for _, e := range r.events {
		if k := Kind(e.Kind); k == KindStopping || k == KindEnd {
			var d struct{ Reason Reason }
			if err := json.Unmarshal(e.Data, &d); err != nil {
				return nil, fmt.Errorf("harness: event %d (%s): %w", e.Seq, e.Kind, err)
			}
			r.Reason = d.Reason
		}
	}
	return r, nil
}

// Task of the recorded goal, in words.
func (r *Record) Task() string { return r.data.Task }

// Resumable says why the session cannot go on; nil: it was killed, or interrupted from outside.
func (r *Record) Resumable() error {
	if r.Reason == "" || r.Reason.Outcome() == Interrupted {
		return nil
	}
	return fmt.Errorf("%w: it ended as %s", ErrNotResumable, r.Reason)
}

// fits says why a harness cannot take the session up.
func (r *Record) fits(h *Harness) error {
	if err := r.Resumable(); err != nil {
		return err
	}
	have := map[string][]byte{}
	for _, d := range h.definitions {
		have[d.spec.Name] = d.json
	}
	for _, t := range append(slices.Clone(r.data.Tools), r.data.Others...) {
		is, ok := have[t.Name]
		if !ok {
			return fmt.Errorf("%w: tool %s is gone", ErrNotResumable, t.Name)
		}
		if string(is) != string(trace.Marshal(t)) {
			return fmt.Errorf("%w: tool %s has changed", ErrNotResumable, t.Name)
		}
	}
	return nil
}

// sessionData is the data of a session's first event.
type sessionData struct {
	Version          int            `json:"version"`
	Decompose        bool           `json:"decompose"`
	Task             string         `json:"task"`
	Plan             *workflow.Plan `json:"plan"`
	Criteria         []string       `json:"criteria"`
	AllowedTools     []string       `json:"allowed_tools"`
	DryRun           bool           `json:"dry_run"`
	Deadline         time.Time      `json:"deadline"`
	Limits           budget.Limits  `json:"limits"`
	Prices           budget.Prices  `json:"prices"`
	Model            string         `json:"model"`
	MaxOutputTokens  uint64         `json:"max_output_tokens"`
	AcceptanceRounds int            `json:"acceptance_rounds"`
	StopReserve      time.Duration  `json:"stop_reserve_ns"`
	MaxResultBytes   int            `json:"max_result_bytes"`
	WaitFree         bool           `json:"wait_free"`
	Compaction       bool           `json:"compaction"`
	ModelSummaries   bool           `json:"model_summaries"`
	ContextTokens    uint64         `json:"context_tokens"`
	Approver         bool           `json:"approver"`
	Settles          bool           `json:"settles"`
	Policy           recordedPolicy `json:"policy"`
	Facts            string         `json:"facts"`
	Tools            []model.Tool   `json:"tools"`
	Others           []model.Tool   `json:"others"`
	Table            []recordedTool `json:"table"`
	Resumes          string         `json:"resumes"`
	Identity         string         `json:"identity"`
	Overlong         string         `json:"overlong"`
	Understood       understanding  `json:"understood"`
}

func (d *sessionData) goal() Goal {
	return Goal{
		Task: d.Task, Plan: d.Plan, Criteria: d.Criteria, AllowedTools: d.AllowedTools, DryRun: d.DryRun, Deadline: d.Deadline, Budget: d.Limits,
	}
}

// settings of the record that a session which goes on keeps.
func (d *sessionData) settings(cfg *Config) {
	cfg.Prices, cfg.MaxOutputTokens, cfg.AcceptanceRounds, cfg.StopReserve = d.Prices, d.MaxOutputTokens, d.AcceptanceRounds, d.StopReserve
	cfg.MaxResultBytes, cfg.WaitFree = d.MaxResultBytes, d.WaitFree
	cfg.Compaction = Compaction{On: d.Compaction, ByModel: d.ModelSummaries, ContextTokens: d.ContextTokens}
}

// recordedTool is a tool as the loop knows it, beside what the model sees. As a tool.Tool it is what a replay has instead: its results are
// the record's.
type recordedTool struct {
	Name       string        `json:"name"`
	Source     string        `json:"source,omitempty"`
	TimeLimit  time.Duration `json:"time_limit_ns,omitempty"`
	Actuators  []string      `json:"actuators,omitempty"`
	Alongside  []string      `json:"alongside,omitempty"`
	Validated  bool          `json:"validated,omitempty"`
	Repeatable bool          `json:"repeatable,omitempty"`

	seen model.Tool
}

func recordTool(s tool.Spec) recordedTool {
	return recordedTool{
		Name: s.Name, Source: s.Source, TimeLimit: s.TimeLimit, Actuators: s.Actuators, Alongside: s.Alongside, Validated: s.Validated, Repeatable: s.Repeatable,
	}
}

// Spec implements tool.Tool.
func (t recordedTool) Spec() tool.Spec {
	return tool.Spec{
		Name: t.Name, Class: classNamed(t.seen.Class), Description: t.seen.Description, Parameters: t.seen.Parameters, Source: t.Source,
		TimeLimit: t.TimeLimit, Actuators: t.Actuators, Alongside: t.Alongside, Validated: t.Validated, Repeatable: t.Repeatable,
	}
}

// Call implements tool.Tool; a replay calls nothing.
func (t recordedTool) Call(context.Context, tool.Call) tool.Result {
	return tool.Result{ErrorKind: tool.Failed, Content: "a recorded tool is not called"}
}

func classNamed(name string) tool.Class {
	for _, c := range []tool.Class{tool.Control, tool.Query, tool.Skill, tool.Verify} {
		if c.String() == name {
			return c
		}
	}
	return tool.Control
}

// recordedPolicy is a policy as records show it.
type recordedPolicy struct {
	Classes    map[string]policy.Permission `json:"classes,omitempty"`
	Tools      map[string]policy.Permission `json:"tools,omitempty"`
	Conditions map[string][]string          `json:"conditions,omitempty"`
	Rates      map[string]policy.Rate       `json:"rates,omitempty"`
	Simulation bool                         `json:"simulation,omitempty"`
	Timeout    time.Duration                `json:"timeout_ns,omitempty"`
}

func recordPolicy(p policy.Policy) recordedPolicy {
	out := recordedPolicy{Tools: p.Tools, Rates: p.Rates, Simulation: p.Simulation, Timeout: p.Timeout}
	if len(p.Classes) > 0 {
		out.Classes = map[string]policy.Permission{}
		for c, v := range p.Classes {
			out.Classes[c.String()] = v
		}
	}
	if len(p.Conditions) > 0 {
		out.Conditions = map[string][]string{}
		for name, list := range p.Conditions {
			for _, c := range list {
				out.Conditions[name] = append(out.Conditions[name], c.String())
			}
		}
	}
	return out
}

func (p recordedPolicy) policy() (policy.Policy, error) {
	out := policy.Policy{Tools: p.Tools, Rates: p.Rates, Simulation: p.Simulation, Timeout: p.Timeout}
	if len(p.Classes) > 0 {
		out.Classes = map[tool.Class]policy.Permission{}
		for name, v := range p.Classes {
			out.Classes[classNamed(name)] = v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Conditions)) {
		for _, text := range p.Conditions[name] {
			c, err := policy.ParseCondition(text)
			if err != nil {
				return out, err
			}
			if out.Conditions == nil {
				out.Conditions = map[string][]policy.Condition{}
			}
			out.Conditions[name] = append(out.Conditions[name], c)
		}
	}
	return out, nil
}
