package harness

import (
	"context"
	"fmt"
	"time"
)

// A session's times are wall times as of its beginning: what passes since is measured by the clock's monotonic reading, so that a wall
// clock that is set in the middle changes no decision, and so that the record's times are exactly those that were decided by.

// drop the anchor: this reading of the clock is its wall time.
func (s *session) drop(raw time.Time) {
	s.raw, s.anchor = raw, raw.Round(0)
	s.last = s.anchor
}

// rawTime is a time of the session on the clock.
func (s *session) rawTime(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return s.raw.Add(t.Sub(s.anchor))
}

// now reads the clock. Between two pieces of somebody else's code no time passes that matters: what happens there is
// stamped with s.last, since reading the clock costs as much as writing an event.
func (s *session) now() time.Time {
	switch {
	case s.script == nil:
		s.last = s.anchor.Add(s.cfg.Clock.Now().Sub(s.raw))
	default:
		if e := s.peek(); e != nil {
			s.last = e.Time
		}
	}
	return s.last
}

// elapsed of the wall time, as of the last reading.
func (s *session) elapsed() time.Duration { return s.last.Sub(s.start) - s.waited }

// deadlines of the session and of its motions, from its start and from how long it waited for people.
func (s *session) deadlines() {
	s.wallEnd, s.motion, s.over = time.Time{}, time.Time{}, nil
	if wall := s.account.Limits().WallTime; wall > 0 {
		s.wallEnd = s.start.Add(wall + s.waited)
	}
	end := earlier(s.wallEnd, s.goal.Deadline)
	if end.IsZero() {
		return
	}
	s.motion = end.Add(-s.cfg.StopReserve)
	s.over = Interrupt{ReasonBudgetWallTime, "the wall-time budget is used up but for the stop reserve: the motion was stopped"}
	if end.Equal(s.goal.Deadline) {
		s.over = Interrupt{ReasonUpstreamTimeout, "the goal's deadline is near: the motion was stopped"}
	}
}

// arm what ends the session, and its motions, in time.
func (s *session) arm() {
	if s.script != nil {
		return // the record says what ended and when
	}
	s.endAt(s.wallEnd, s.cancel, Interrupt{ReasonBudgetWallTime, fmt.Sprintf("the wall-time budget of %v is used up", s.account.Limits().WallTime)})
	s.endAt(s.motion, s.halt, s.over)
	s.armDeadline()
}

// armDeadline arms the goal's deadline alone.
func (s *session) armDeadline() {
	s.endAt(s.goal.Deadline, s.cancel, Interrupt{ReasonUpstreamTimeout, "the goal's deadline is over"})
}

func (s *session) endAt(at time.Time, cancel context.CancelCauseFunc, cause error) {
	if at.IsZero() {
		return
	}
	left := s.rawTime(at).Sub(s.cfg.Clock.Now())
	if left <= 0 {
		cancel(cause)
		return
	}
	s.timers = append(s.timers, s.after(left, func() { cancel(cause) }))
}

func (s *session) disarm() {
	for _, stop := range s.timers {
		stop()
	}
	s.timers = s.timers[:0]
}

// waiting for a person begins; the function that is returned ends it. Where that time does not count, the wall time stands still.
func (s *session) waiting() (over func()) {
	if !s.cfg.WaitFree {
		return func() {}
	}
	since := s.last
	if s.script == nil {
		s.disarm()
		s.armDeadline()
	}
	return func() {
		s.waited += s.last.Sub(since)
		s.deadlines()
		if s.script == nil {
			s.disarm()
			s.arm()
		}
	}
}
