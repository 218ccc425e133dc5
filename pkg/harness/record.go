package harness

import (
	"encoding/json"
	"fmt"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/trace"
)

// fire records a transition with the data in s.fields and makes it. Observers see it afterwards.
func (s *session) fire(kind Kind, callID string, to Phase, last *Step) {
	if err := CheckTransition(s.phase, kind, to); err != nil {
		panic(err)
	}
	s.sync() // what comes behind the end of a script is live, and the record says so first
	s.phase = to
	s.write(kind, callID, s.state(), s.fields.JSON())
	s.progress(last)
}

// record writes an event that changes no phase, with the data in s.fields.
func (s *session) record(kind Kind, callID string) {
	s.write(kind, callID, s.state(), s.fields.JSON())
}

// write appends to the log; where there is a script, it says what the event must be.
func (s *session) write(kind Kind, callID string, state State, data json.RawMessage) {
	data = s.h.redact.JSON(data)
	if s.script != nil {
		s.compare(kind, callID, state, data)
	}
	s.append(kind, callID, state, data)
}

// append to the log. A failure sticks and ends the session at the next phase.
func (s *session) append(kind Kind, callID string, state State, data json.RawMessage) {
	if s.log == nil {
		return
	}
	err := s.log.Append(trace.Event{
		Time: s.last, Kind: string(kind), CallID: callID, Phase: string(s.phase), State: state.String(), Data: data,
	})
	if err != nil && s.traceErr == nil {
		s.traceErr = err
		s.cfg.Logger.Error("the record cannot be written", "session", s.goal.Session, "error", err)
	}
}

// note records something from any goroutine; a failure shows at the session's own next event, since it sticks in the log.
func (s *session) note(kind Kind, callID string, data any) {
	if s.log == nil {
		return
	}
	raw := trace.Marshal(data)
	if len(raw) == 0 || raw[0] != '{' {
		var f trace.Fields
		raw = f.Reset().Raw("value", raw).JSON()
	}
	if err := s.log.Append(trace.Event{Time: s.cfg.Clock.Now(), Kind: string(kind), CallID: callID, Data: s.h.redact.JSON(raw)}); err != nil {
		s.cfg.Logger.Warn("an event was not recorded", "session", s.goal.Session, "kind", string(kind), "error", err)
	}
}

// flush returns when the record is safe. The log bounds it by itself; its context is not the session's, since what it
// protects must not depend on one that is about to end.
func (s *session) flush() error {
	if s.traceErr != nil {
		return s.traceErr
	}
	if s.log == nil || s.script != nil { // nothing moves by a script
		return nil
	}
	if err := s.log.Flush(s.safe); err != nil {
		s.traceErr = err
		return err
	}
	return nil
}

// close gives the record up.
func (s *session) close() {
	s.workers.close()
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil {
		s.cfg.Logger.Error("the record was not closed", "session", s.goal.Session, "error", err)
	}
}

func (s *session) state() State {
	if s.asking {
		return StateAwaitingUser
	}
	return stateIn(s.phase)
}

func (s *session) usage() budget.Usage {
	if s.account == nil {
		return budget.Usage{WallTime: s.elapsed()}
	}
	return s.account.Used(s.elapsed())
}

func (s *session) progress(last *Step) {
	s.show(s.state(), last)
}

// show tells the observer; its panic costs it further news, and the session nothing.
func (s *session) show(state State, last *Step) {
	if s.obs == nil || s.script != nil {
		return
	}
	if last == nil && len(s.steps) > 0 {
		last = &s.steps[len(s.steps)-1]
	}
	p := Progress{Session: s.goal.Session, State: state, Phase: s.phase, Step: s.step, Usage: s.usage()}
	if last != nil {
		step := *last
		p.LastStep = &step
	}
	defer func() {
		if v := recover(); v != nil {
			s.obs = nil
			s.note(KindFault, "", map[string]any{"message": fmt.Sprintf("the observer panicked: %v", v)})
		}
	}()
	s.obs.Progress(p)
}
