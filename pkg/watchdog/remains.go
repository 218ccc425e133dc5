package watchdog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros/action"
)

// Goal is an action goal that a trace or a heartbeat tells was sent, and not that it ended.
type Goal = robottools.LiveGoal

// Remains are what a session that never ended has left behind, by its trace.
type Remains struct {
	Trace   string // file
	Session string
	Goals   []Goal
	// Tools are the skills that were called and never observed.
	Tools []string
	// Moving are the actuators that were last told to be other than at rest.
	Moving []string
}

// Empty says that nothing was under way.
func (r *Remains) Empty() bool {
	return r == nil || len(r.Goals) == 0 && len(r.Tools) == 0 && len(r.Moving) == 0
}

// With adds goals that somebody else has told of.
func (r *Remains) With(goals []Goal) *Remains {
	if r == nil {
		r = &Remains{}
	}
	out := *r
	out.Goals = slices.Clone(r.Goals)
	for _, g := range goals {
		if !slices.ContainsFunc(out.Goals, func(x Goal) bool { return x.ID == g.ID }) {
			out.Goals = append(out.Goals, g)
		}
	}
	return &out
}

// LastRemains reads the newest trace of a folder. nil: there is none, or its session has ended and with it all of its goals.
func LastRemains(dir string) (*Remains, error) {
	file, err := newestTrace(dir)
	if err != nil || file == "" {
		return nil, err
	}
	return ReadRemains(file)
}

// newestTrace is the trace written to last; plans move nothing and do not count.
func newestTrace(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("watchdog: %w", err)
	}
	newest, at := "", time.Time{}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".jsonl" || strings.HasPrefix(e.Name(), PlanPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // gone since
		}
		if t := info.ModTime(); newest == "" || t.After(at) {
			newest, at = filepath.Join(dir, e.Name()), t
		}
	}
	return newest, nil
}

// PlanPrefix is what the names of the sessions of decompositions begin with: they move nothing.
const PlanPrefix = "decompose-"

// ReadRemains reads one trace; a torn last line is no error. nil: the session has ended. Goals may have outlived it (it ended as
// actuator_fault then): they are what remains.
func ReadRemains(file string) (*Remains, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	defer f.Close() // only read
	r := reader{remains: Remains{Trace: file}, calls: map[string]string{}, moving: map[string]bool{}}
	report, err := trace.Read(f, r.event)
	if err != nil {
		return nil, err
	}
	out := r.result(report.Session)
	if report.Complete {
		if len(out.Goals) == 0 {
			return nil, nil
		}
		out.Tools, out.Moving = nil, nil
	}
	return out, nil
}

// reader follows a session's events.
type reader struct {
	remains Remains
	order   []string          // of calls
	calls   map[string]string // skills under way: call -> tool
	moving  map[string]bool   // actuators
}

func (r *reader) event(e trace.Event) error {
	var d struct {
		Tool, Class, Action, Goal, Actuator, To string
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return nil //nolint:nilerr // an event of other data says nothing here
	}
	switch e.Kind {
	case "call":
		if d.Class == "skill" {
			r.calls[e.CallID] = d.Tool
			r.order = append(r.order, e.CallID)
		}
	case "observation":
		delete(r.calls, e.CallID)
	case "guard.transition":
		r.moving[d.Actuator] = d.To != "holding" && d.To != "unknown"
	case "tool.skill.goal_sent":
		if id, err := action.ParseGoalID(d.Goal); err == nil && d.Action != "" {
			r.remains.Goals = append(r.remains.Goals, Goal{Action: d.Action, ID: id, Actuator: d.Actuator})
		}
	case "tool.skill.goal_ended", "tool.skill.goal_rejected", "tool.skill.server_lost":
		r.remains.Goals = slices.DeleteFunc(r.remains.Goals, func(g Goal) bool { return g.ID.String() == d.Goal })
	}
	return nil
}

func (r *reader) result(session string) *Remains {
	out := r.remains
	out.Session = session
	for _, id := range r.order {
		if tool, open := r.calls[id]; open {
			out.Tools = append(out.Tools, tool)
		}
	}
	for name, moving := range r.moving {
		if moving {
			out.Moving = append(out.Moving, name)
		}
	}
	slices.Sort(out.Moving)
	return &out
}
