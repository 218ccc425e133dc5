package harness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// takeUp begins a session that goes on with another one's record: its goal, its settings, and its events as a script. The robot is at
// rest before anything else happens.
func (s *session) takeUp() *ending {
	r := s.goal.Resume
	if r == nil {
		return nil
	}
	if err := r.fits(s.h); err != nil {
		return endOf(ReasonBadRequest, "session %s cannot go on: %v", r.Session, err)
	}
	if err := errors.Join(s.stopAll("resume"), second(s.settle(s.safe, s.cfg.StopReserve))); err != nil {
		return endOf(ReasonActuatorFault, "session %s cannot go on: rest was not measured: %v", r.Session, err)
	}
	k, err := r.script()
	if err != nil {
		return endOf(ReasonBadRequest, "session %s cannot go on: %v", r.Session, err)
	}
	k.resume, k.loose = true, true
	cfg := *s.cfg
	r.data.settings(&cfg)
	s.cfg = &cfg
	goal := r.data.goal()
	goal.Session, goal.Resume = s.goal.Session, r
	if !s.goal.Deadline.IsZero() {
		goal.Deadline = s.goal.Deadline
	}
	s.goal, s.resumes = goal, r.Session
	s.follow(k, r)
	return nil
}

func second[T any](_ T, err error) error { return err }

// follow a script of a record from its beginning.
func (s *session) follow(k *script, r *Record) {
	s.script, s.self = k, cmp.Or(r.data.Identity, r.Session)
	s.overlong, s.understood = r.data.Overlong, r.data.Understood
	s.start = k.events[0].Time
	s.last = s.start
}

// sync goes live where the record is over: what comes now happens for the first time.
func (s *session) sync() {
	if s.script != nil {
		s.recorded()
	}
}

// goLive ends the script: from here on the world answers. The time between the two processes does not count.
func (s *session) goLive() {
	k := s.script
	s.script = nil
	before := s.last
	s.drop(s.cfg.Clock.Now())
	gap := s.last.Sub(before)
	if gap < 0 { // the record's clock was ahead of this one: its time goes on
		gap, s.anchor, s.last = 0, before, before
	}
	var f trace.Fields // an event may be under construction in s.fields
	s.append(KindResumed, "", s.state(), f.Reset().String("session", k.session).String("as", s.goal.Session).Int("events", int64(len(k.events))).Int("gap_ns", int64(gap)).JSON())
	s.goesOn(s.goal.Session, gap)
	s.arm()
	if c, ok := s.cfg.Trace.(trace.Claimer); ok {
		if err := c.Claim(s.resumes, s.goal.Session); err != nil {
			s.interrupt(endOf(ReasonBadRequest, "the session cannot go on: %v", err))
			return
		}
		s.claimed, s.carried, s.spentBy = true, false, s.tokens()
	}
	s.cfg.Logger.Info("session goes on", "session", s.goal.Session, "from", k.session, "events", len(k.events), "gap", gap)
}

func (s *session) tokens() uint64 {
	u := s.usage()
	return u.InputTokens + u.OutputTokens
}

// release the record that the session went on with, where it ended at once, by a failure: it carried out nothing and used nothing, so the
// record says all, and another session may go on with it. One that was interrupted keeps it: it can go on by its own record.
func (s *session) release(e Reason) {
	if !s.claimed || s.carried || e.Outcome() != Failed || s.tokens() != s.spentBy {
		return
	}
	c, ok := s.cfg.Trace.(trace.Claimer)
	if !ok {
		return
	}
	if err := c.Release(s.resumes, s.goal.Session); err != nil {
		s.cfg.Logger.Error("the record was not given back", "session", s.goal.Session, "of", s.resumes, "error", err)
	}
}

// goesOn takes up the session behind a gap, under its new name.
func (s *session) goesOn(as string, gap time.Duration) {
	s.self = as
	s.start = s.start.Add(gap)
	s.deadlines()
	s.resumed = true
	if n := len(s.steps); n > 0 && s.steps[n-1].ErrorKind == tool.Canceled {
		s.cut = s.steps[n-1].CallID
	}
	if b := s.batch; b != nil && !b.planned && b.finished == "" {
		b.finished = "not begun: the session was interrupted before this call's turn came, and the world may have changed since"
	}
}

// welcome tells the model once that time has passed.
func (s *session) welcome() {
	if s.resumed {
		s.resumed = false
		s.tell("The session was interrupted here and goes on now. What was under way may be done in part. Look at the world before you rely on it.")
	}
}

// leave the record at the session's end. A session that goes on must not end before its record does.
func (s *session) leave(e *ending) *ending {
	if s.script == nil || !s.script.resume {
		return e
	}
	next := s.peek()
	if next == nil {
		s.goLive()
		return e
	}
	s.script = nil
	s.now()
	return endOf(ReasonBadRequest, "the session cannot go on: by its record it went on with event %d (%s), today's loop ends it as %s: %s", next.Seq, next.Kind, e.reason, e.message)
}

// restOfRecord is how the recorded session came to rest.
func (s *session) restOfRecord() (stopped bool, err error) {
	for _, e := range s.script.events[s.script.at:] {
		if Kind(e.Kind) != KindRest {
			continue
		}
		var d struct {
			Measured, Stopped bool
			Error             string
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			panic(&Difference{Seq: e.Seq, Kind: e.Kind, At: "data", Recorded: string(e.Data), Today: err.Error()})
		}
		if d.Measured {
			return d.Stopped, nil
		}
		return d.Stopped, errors.New(d.Error)
	}
	panic(recordOver{})
}

// script of what a session goes on with: all that was recorded up to where it was left, but for what has to be done anew.
func (r *Record) script() (*script, error) {
	events := slices.Clone(r.events)
	for i, e := range events {
		if k := Kind(e.Kind); k == KindInterrupt || k == KindStopping {
			events = events[:i]
			break
		}
	}
	events = withoutInFlight(events)
	for n := len(events); n > 0 && anew(Kind(events[n-1].Kind)); n-- {
		events = events[:n-1]
	}
	if n := len(events); n > 0 && Kind(events[n-1].Kind) == KindObservation {
		last, err := released(events[n-1])
		if err != nil {
			return nil, err
		}
		events[n-1] = last
	}
	return newScript(events)
}

// anew says that such events at the end of a record led to nothing yet: questions and checks, which are made again.
func anew(k Kind) bool {
	switch k {
	case KindAsked, KindAnswered, KindCheck, KindSettle, KindVerification, KindLimited, KindWhole, KindImages, KindStop:
		return true
	default:
		return false
	}
}

// withoutInFlight drops what was noted behind the beginning of a call that has no observation: it is answered as interrupted, whatever came
// of it. The harness's own tools are carried out anew: they change nothing outside.
func withoutInFlight(events []trace.Event) []trace.Event {
	begun, observed := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		switch Kind(e.Kind) {
		case KindCall:
			begun[e.CallID] = true
		case KindObservation:
			observed[e.CallID] = true
		default:
		}
	}
	for i, e := range events {
		var d struct{ Class string }
		if Kind(e.Kind) == KindCall && !observed[e.CallID] && json.Unmarshal(e.Data, &d) == nil && d.Class == tool.Control.String() {
			return events[:i+1]
		}
	}
	return slices.DeleteFunc(events, func(e trace.Event) bool {
		return e.CallID != "" && begun[e.CallID] && !observed[e.CallID] && anew(Kind(e.Kind)) && Kind(e.Kind) != KindAsked && Kind(e.Kind) != KindAnswered
	})
}

// released is an observation that ended its session, without that end.
func released(e trace.Event) (trace.Event, error) {
	var data map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return e, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	if _, has := data["interrupt"]; !has {
		return e, nil
	}
	delete(data, "interrupt")
	e.Data = trace.Marshal(data)
	return e, nil
}
