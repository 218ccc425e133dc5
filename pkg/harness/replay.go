package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// ReplayReport says what became of a replay.
type ReplayReport struct {
	Session string `json:"session"`
	// Events of the loop in the record, and how many of them today's loop came to in the same way.
	Events int `json:"events"`
	Same   int `json:"same"`
	// Complete: the record has its end, and today's loop came to the same one.
	Complete bool `json:"complete"`
	// Difference is the first; nil: none.
	Difference *Difference `json:"difference,omitempty"`
	// Notes on what differs without deciding anything: the words of the system prompt.
	Notes []string `json:"notes,omitempty"`
}

// Replay runs today's loop on what a record says of everything outside it (the model's answers, the tools' results, people, time and
// interrupts) and compares every event that it comes to with the recorded one. Nothing is called and nothing moves. An error says that
// the record cannot be replayed at all.
func Replay(events []trace.Event) (report ReplayReport, err error) {
	r, err := ReadRecord(events)
	if err != nil {
		return report, err
	}
	h, err := r.harness()
	if err != nil {
		return report, fmt.Errorf("harness: the record's settings: %w", err)
	}
	k, err := newScript(r.events)
	if err != nil {
		return report, fmt.Errorf("harness: %w", err)
	}
	goal := r.data.goal()
	goal.Session = r.Session
	s := newSession(h, goal, nil)
	defer s.close()
	s.resumes = r.data.Resumes
	s.follow(k, r)
	ended := false
	func() {
		defer func() {
			switch p := recover().(type) {
			case nil, recordOver:
			case *Difference:
				report.Difference = p
			default:
				panic(p)
			}
		}()
		s.run(context.Background())
		ended = true
	}()
	report.Session, report.Events, report.Same, report.Notes = r.Session, len(k.events), k.at, k.notes
	if report.Difference != nil {
		report.Same = max(0, k.at-1)
	} else if ended && k.at < len(k.events) {
		e := k.events[k.at]
		report.Difference = &Difference{Seq: e.Seq, Kind: e.Kind, At: "kind", Recorded: e.Kind, Today: "nothing"}
	}
	report.Complete = ended && report.Difference == nil
	return report, nil
}

// harness that runs on the record alone.
func (r *Record) harness() (*Harness, error) {
	d := &r.data
	seen := map[string]model.Tool{}
	for _, list := range [][]model.Tool{d.Tools, d.Others} {
		for _, t := range list {
			seen[t.Name] = t
		}
	}
	var tools []tool.Tool
	for _, t := range d.Table {
		t.seen = seen[t.Name]
		if classNamed(t.seen.Class) != tool.Control {
			tools = append(tools, t)
		}
	}
	table, err := tool.NewTable(tools...)
	if err != nil {
		return nil, err
	}
	p, err := d.Policy.policy()
	if err != nil {
		return nil, err
	}
	cfg := Config{
		Model: recordedModel(d.Model), Tools: table, Policy: p, Facts: d.Facts, Trace: discard{},
	}
	if d.Approver {
		cfg.Approver = nobody{}
	}
	if d.Settles {
		cfg.Settle = func(context.Context) (time.Time, error) { return time.Time{}, errRecorded }
	}
	h, err := New(cfg)
	if err != nil {
		return nil, err
	}
	d.settings(&h.cfg) // as they were, where New would put its defaults
	return h, nil
}

// errRecorded is what everything outside the loop answers in a replay: nothing there is called.
var errRecorded = errors.New("a replay calls nothing")

// recordedModel has the name of a recorded one.
type recordedModel string

// Name implements model.Model.
func (m recordedModel) Name() string { return string(m) }

// Sample implements model.Model.
func (recordedModel) Sample(context.Context, model.Request) (model.Response, error) {
	return model.Response{}, errRecorded
}

type nobody struct{}

// Ask implements policy.Approver.
func (nobody) Ask(context.Context, policy.Request) (policy.Answer, error) {
	return policy.Answer{}, errRecorded
}

// discard records nothing.
type discard struct{}

// Open implements trace.Sink.
func (discard) Open(string) (trace.Log, error) { return discard{}, nil }

// Append implements trace.Log.
func (discard) Append(trace.Event) error { return nil }

// Flush implements trace.Log.
func (discard) Flush(context.Context) error { return nil }

// Keep implements trace.Log.
func (discard) Keep(string, []byte) (string, error) { return "", errRecorded }

// Name implements trace.Log.
func (discard) Name() string { return "" }

// Close implements trace.Log.
func (discard) Close() error { return nil }
