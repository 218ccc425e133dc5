package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// script is what a record says of everything outside the loop: the model's answers, the tools' results, people, time and interrupts. A
// session with a script runs today's loop on them and compares each event that it comes to with the recorded one. It is what a replay
// is, and how a session goes on from where a killed process left it.
type script struct {
	session string        // of the record
	events  []trace.Event // of the session's own goroutine
	at      int           // the next one
	results map[string]*recordedResult
	resume  bool // at the end of the record the session goes on live; else it is over
	loose   bool // the session's event is of another session: it is not compared
	notes   []string
}

// Difference is where today's loop leaves the record.
type Difference struct {
	// Seq and Kind of the recorded event; 0 and "" behind the last.
	Seq  uint64 `json:"seq"`
	Kind string `json:"kind"`
	// At is the place in the event: "kind", "phase", "data.content" …
	At string `json:"at"`
	// Recorded and Today are what stands there.
	Recorded string `json:"recorded"`
	Today    string `json:"today"`
}

// Error says it in a sentence.
func (d *Difference) Error() string {
	return fmt.Sprintf("event %d (%s) differs at %s: recorded %s, today %s", d.Seq, d.Kind, d.At, d.Recorded, d.Today)
}

// recordOver ends a replay where its record ends. It is a panic of the replay's own goroutine, which unwinds the loop.
type recordOver struct{}

// recordedResult is an observation as it was recorded.
type recordedResult struct {
	Tool           string         `json:"tool"`
	Class          string         `json:"class"`
	Source         string         `json:"source"`
	OK             bool           `json:"ok"`
	ErrorKind      tool.ErrorKind `json:"error_kind"`
	Content        string         `json:"content"`
	Said           *string        `json:"said"` // what a skill said that was overruled
	Passed         bool           `json:"passed"`
	Postconditions []string       `json:"postconditions"`
	Interrupt      string         `json:"interrupt"`
	Begun          bool           `json:"begun"`
	DependencyLost bool           `json:"dependency_lost"`
	Ending         string         `json:"ending"`
	End            time.Time      `json:"end"`
}

// result as the tool returned it.
func (r *recordedResult) result() (tool.Result, tool.Ending) {
	out := tool.Result{
		OK: r.OK, ErrorKind: r.ErrorKind, Content: r.Content, Source: r.Source, Passed: r.Passed, Postconditions: r.Postconditions,
		Interrupt: r.Interrupt, DependencyLost: r.DependencyLost, Begun: r.Begun,
	}
	if r.Said != nil {
		out.OK, out.ErrorKind, out.Content = true, "", *r.Said
	}
	return out, endingNamed(r.Ending)
}

// Names of how a call ended, in records.
const (
	endingPanicked  = "panicked"
	endingAbandoned = "abandoned"
	// endingUnknown: the process ended while the call was under way.
	endingUnknown = "unknown"
)

func endingName(e tool.Ending) string {
	switch e {
	case tool.Panicked:
		return endingPanicked
	case tool.Abandoned:
		return endingAbandoned
	case tool.Returned:
	}
	return ""
}

func endingNamed(name string) tool.Ending {
	switch name {
	case endingPanicked:
		return tool.Panicked
	case endingAbandoned:
		return tool.Abandoned
	}
	return tool.Returned
}

// newScript reads a record; events of other goroutines (a tool's notes) are nothing that the loop comes to.
func newScript(events []trace.Event) (*script, error) {
	s := &script{results: map[string]*recordedResult{}}
	for _, e := range events {
		if e.Phase == "" {
			continue
		}
		s.session = e.Session
		s.events = append(s.events, e)
		if Kind(e.Kind) == KindObservation {
			r := &recordedResult{}
			if err := json.Unmarshal(e.Data, r); err != nil {
				return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
			}
			s.results[e.CallID] = r
		}
	}
	if len(s.events) == 0 || Kind(s.events[0].Kind) != KindSession {
		return nil, errors.New("the record does not begin with a session")
	}
	return s, nil
}

// result of a call by the record; nil: it says of none.
func (k *script) result(callID string) *recordedResult {
	if k == nil {
		return nil
	}
	return k.results[callID]
}

// peek is the next recorded event; nil: the record is over. What happened between two processes is gone through on the way.
func (s *session) peek() *trace.Event {
	k := s.script
	for k.at < len(k.events) && Kind(k.events[k.at].Kind) == KindResumed {
		e := k.events[k.at]
		k.at++
		var d struct {
			As  string `json:"as"`
			Gap int64  `json:"gap_ns"`
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			panic(fmt.Sprintf("event %d: %v", e.Seq, err))
		}
		s.last = e.Time
		s.append(KindResumed, "", s.state(), e.Data)
		s.goesOn(d.As, time.Duration(d.Gap))
	}
	if k.at >= len(k.events) {
		return nil
	}
	return &k.events[k.at]
}

// recorded is the next event if the record decides what happens now. At its end the session goes on live, and false is returned.
func (s *session) recorded() (*trace.Event, bool) {
	if s.script == nil {
		return nil, false
	}
	e := s.peek()
	if e != nil {
		return e, true
	}
	if !s.script.resume {
		panic(recordOver{})
	}
	s.goLive()
	return nil, false
}

// expect the next recorded event to be of a kind, and decode its data.
func (s *session) expect(kind Kind, into any) bool {
	e, ok := s.recorded()
	if !ok {
		return false
	}
	if Kind(e.Kind) != kind {
		panic(&Difference{Seq: e.Seq, Kind: e.Kind, At: "kind", Recorded: e.Kind, Today: string(kind)})
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		panic(&Difference{Seq: e.Seq, Kind: e.Kind, At: "data", Recorded: string(e.Data), Today: err.Error()})
	}
	return true
}

// next says whether the next recorded event is of a kind and about a call, and decodes its data. It never goes live.
func (s *session) next(kind Kind, callID string, into any) bool {
	if s.script == nil {
		return false
	}
	e := s.peek()
	return e != nil && Kind(e.Kind) == kind && e.CallID == callID && json.Unmarshal(e.Data, into) == nil
}

// compare an event that the loop comes to with the recorded one.
func (s *session) compare(kind Kind, callID string, state State, data json.RawMessage) {
	e, ok := s.recorded()
	if !ok {
		return
	}
	k := s.script
	k.at++
	differ := func(at, recorded, today string) {
		panic(&Difference{Seq: e.Seq, Kind: e.Kind, At: at, Recorded: recorded, Today: today})
	}
	for _, x := range [...][3]string{
		{"kind", e.Kind, string(kind)}, {"call_id", e.CallID, callID}, {"phase", e.Phase, string(s.phase)}, {"state", e.State, state.String()},
	} {
		if x[1] != x[2] {
			differ(x[0], x[1], x[2])
		}
	}
	if kind == KindSession && k.loose {
		return
	}
	var was, is any
	if json.Unmarshal(e.Data, &was) != nil || json.Unmarshal(data, &is) != nil {
		differ("data", string(e.Data), string(data))
	}
	if at, a, b, same := differs("data", was, is); !same {
		differ(at, a, b)
	}
}

// differs finds the first place where two JSON values do.
func differs(at string, a, b any) (where, was, is string, same bool) {
	show := func(v any) string {
		text, _ := tool.Cut(string(trace.Marshal(v)), 400, "shortened")
		return text
	}
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			break
		}
		keys := make([]string, 0, len(x)+len(y))
		for k := range x {
			keys = append(keys, k)
		}
		for k := range y {
			if _, both := x[k]; !both {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		for _, k := range keys {
			_, inX := x[k]
			_, inY := y[k]
			switch {
			case !inX:
				return at + "." + k, "nothing", show(y[k]), false
			case !inY:
				return at + "." + k, show(x[k]), "nothing", false
			}
			if where, was, is, same := differs(at+"."+k, x[k], y[k]); !same {
				return where, was, is, false
			}
		}
		return "", "", "", true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			if where, was, is, same := differs(fmt.Sprintf("%s[%d]", at, i), x[i], y[i]); !same {
				return where, was, is, false
			}
		}
		return "", "", "", true
	}
	if reflect.DeepEqual(a, b) {
		return "", "", "", true
	}
	return at, show(a), show(b), false
}

// recordedResponse is an answer as it was recorded.
type recordedResponse struct {
	Text  string `json:"text"`
	Calls []struct {
		ID           string `json:"id"`
		Name         string `json:"name"`
		Arguments    string `json:"arguments"`
		ArgumentsRaw []byte `json:"arguments_raw"`
	} `json:"calls"`
	Finish    string            `json:"finish"`
	Known     bool              `json:"usage_known"`
	Input     uint64            `json:"input_tokens"`
	Output    uint64            `json:"output_tokens"`
	Cached    uint64            `json:"cached_tokens"`
	Reasoning uint64            `json:"reasoning_tokens"`
	WastedIn  uint64            `json:"wasted_input_tokens"`
	WastedOut uint64            `json:"wasted_output_tokens"`
	Error     string            `json:"error"`
	Overflow  bool              `json:"context_overflow"`
	Exhausted *budget.Exhausted `json:"exhausted"`
}

// response as the model gave it.
func (r *recordedResponse) response() (model.Response, error) {
	out := model.Response{
		Text: r.Text, Finish: model.FinishReason(r.Finish),
		Usage:  model.Usage{InputTokens: r.Input, OutputTokens: r.Output, CachedTokens: r.Cached, ReasoningTokens: r.Reasoning, Known: r.Known},
		Wasted: model.Usage{InputTokens: r.WastedIn, OutputTokens: r.WastedOut},
	}
	for _, c := range r.Calls {
		arguments := c.Arguments
		if c.ArgumentsRaw != nil {
			arguments = string(c.ArgumentsRaw)
		}
		out.Calls = append(out.Calls, model.Call{ID: c.ID, Tool: c.Name, Arguments: arguments})
	}
	if r.Error == "" {
		return out, nil
	}
	return out, &recordedError{text: r.Error, overflow: r.Overflow, exhausted: r.Exhausted}
}

// recordedError is an error as it was recorded.
type recordedError struct {
	text      string
	overflow  bool
	exhausted *budget.Exhausted
}

// Error implements error.
func (e *recordedError) Error() string { return e.text }

// Is tells a full context apart.
func (e *recordedError) Is(target error) bool {
	return e.overflow && target == model.ErrContextOverflow
}

// As tells an exhausted budget apart.
func (e *recordedError) As(target any) bool {
	x, ok := target.(**budget.Exhausted)
	if ok && e.exhausted != nil {
		*x = e.exhausted
		return true
	}
	return false
}

// recordedAnswer is a person's answer as it was recorded.
type recordedAnswer struct {
	RequestID string `json:"request_id"`
	Approved  bool   `json:"approved"`
	Text      string `json:"text"`
	Error     string `json:"error"`
}

func (a recordedAnswer) answer() (policy.Answer, error) {
	if a.Error != "" {
		return policy.Answer{}, errors.New(a.Error)
	}
	return policy.Answer{RequestID: a.RequestID, Approved: a.Approved, Text: a.Text}, nil
}

// recordedError of a stop or a measurement of rest.
func errorOf(text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return errors.New(text)
}
