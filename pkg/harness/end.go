package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/harness/trace"
)

// settleAgain is the pause between two tries to measure rest.
const settleAgain = 200 * time.Millisecond

// restGrace is how long Settle and Stop may take to notice that their context has ended.
const restGrace = 500 * time.Millisecond

// rest measures rest before something is checked, and records that.
func (s *session) rest(callID string) (at time.Time, err error) {
	s.sync()
	if s.cfg.Settle == nil {
		return s.now(), nil
	}
	var was struct {
		At    time.Time
		Error string
	}
	if s.expect(KindSettle, &was) {
		at, err = was.At, errorOf(was.Error)
	} else {
		at, err = s.settle(s.ctx, s.cfg.StopReserve)
	}
	s.now()
	s.fields.Reset().Time("at", at).Text("error", text(err))
	s.record(KindSettle, callID)
	return at, err
}

// settle waits until everything is measured at rest and returns when that was. An actuator that cannot be observed is
// given until the limit to be observed again: a gap in its measurements is no fault yet. Once that was in vain, later
// calls try once.
func (s *session) settle(ctx context.Context, limit time.Duration) (time.Time, error) {
	settle := s.cfg.Settle
	if settle == nil {
		return s.now(), nil
	}
	clock := s.cfg.Clock
	ctx, done := within(ctx, clock, limit, fmt.Errorf("no rest within %v", limit))
	defer done()
	for {
		at, err := guarded(ctx, clock, s.apart, restGrace, "settling", settle)
		s.now()
		if err == nil {
			s.restless = false
			return at, nil
		}
		if ctx.Err() == nil && !s.restless {
			again, cancel := within(ctx, clock, settleAgain, errAgain)
			<-again.Done()
			cancel()
		}
		if ctx.Err() != nil || s.restless {
			s.restless = true
			return time.Time{}, err
		}
	}
}

// errAgain ends the pause between two tries.
var errAgain = errors.New("again")

// stopAll stops everything. Its context is never the session's: a stop that shares the context it cancels stops nothing.
func (s *session) stopAll(reason string) error { return s.stopFor(s.cfg.StopReserve, reason) }

// stopFor is stopAll, waited for no longer than limit.
func (s *session) stopFor(limit time.Duration, reason string) error {
	stop := s.cfg.Stop
	if stop == nil {
		return nil
	}
	clock := s.cfg.Clock
	ctx, done := within(s.safe, clock, limit, fmt.Errorf("not stopped within %v", limit))
	defer done()
	_, err := guarded(ctx, clock, s.apart, restGrace, "stopping", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, stop(ctx, reason)
	})
	return err
}

// noteEnd notes when the session's motions are told to end, until that is undone.
func (s *session) noteEnd() (undo func() bool) {
	clock := s.cfg.Clock
	return context.AfterFunc(s.moving, func() {
		now := clock.Now()
		s.cutAt.Store(&now)
	})
}

// reserve is how long stopping and measuring rest may take. Where time stands, rest is not measured however long one waits: what the motion
// took to end counts, then.
func (s *session) reserve() time.Duration {
	limit, at := s.cfg.StopReserve, s.cutAt.Load()
	if at == nil || s.cfg.Standstill == nil || !s.cfg.Standstill() {
		return limit
	}
	return max(limit-s.cfg.Clock.Now().Sub(*at), restGrace)
}

// end brings everything to rest and makes the result. It is the only way out of a session.
func (s *session) end(e *ending) (r Result) {
	defer func() {
		// Nothing may come between a session and its result, least of all a panic on the way to it.
		if p := recover(); p != nil {
			if s.script != nil {
				panic(p) // the replay's
			}
			s.cfg.Logger.Error("internal error at the end", "session", s.goal.Session, "panic", fmt.Sprint(p))
			r = s.result(endOf(ReasonActuatorFault, "internal error of the harness while stopping: %v; the session had ended as %s: %s", p, e.reason, e.message), false)
		}
	}()
	s.asking = false
	e = s.leave(e)
	if s.log != nil && s.phase != PhaseStop && s.phase != PhaseIdle {
		s.fields.Reset().String("reason", string(e.reason)).String("message", e.message)
		s.fire(KindStopping, "", PhaseStop, nil)
	}
	stopped, atRest := s.bringToRest(e)
	if s.phase == PhaseStop {
		s.orphans(e)
		s.fields.Reset().Bool("measured", atRest == nil).Bool("stopped", stopped).Text("error", text(atRest))
		s.fire(KindRest, "", PhaseStop, nil)
	}
	if atRest != nil && e.reason != ReasonActuatorFault {
		e = endOf(ReasonActuatorFault, "rest was not measured (%v); the session had ended as %s: %s", atRest, e.reason, e.message)
	}
	if s.phase == PhaseStop {
		if err := s.flush(); err != nil && e.reason.Outcome() == Done {
			e = endOf(ReasonDependencyLost, "the record could not be written (%v), so nothing is claimed; the answer was: %s", err, e.message)
		}
	}
	r = s.result(e, atRest == nil)
	s.finishRecord(r)
	s.cfg.Logger.Info("session ended", "session", s.goal.Session, "outcome", r.Outcome.String(), "reason", string(r.Reason), "answer", r.Answer)
	return r
}

// bringToRest stops what may move, and measures rest. All of it fits into the stop reserve.
func (s *session) bringToRest(e *ending) (stopped bool, err error) {
	if s.script != nil {
		return s.restOfRecord()
	}
	clock, limit := s.cfg.Clock, s.reserve()
	began := clock.Now()
	var stopErr error
	if s.begun && !final(e.reason) {
		stopped = true
		stopErr = s.stopFor(limit, string(e.reason))
	}
	left := max(limit-clock.Now().Sub(began), restGrace)
	if _, err := s.settle(s.safe, left); err != nil {
		return stopped, errors.Join(err, stopErr)
	}
	// Measured rest outweighs what the stop said on the way to it.
	return stopped, nil
}

// final answers need no stop: nothing of the session is under way.
func final(r Reason) bool {
	switch r {
	case ReasonAccepted, ReasonUnverified, ReasonDryRun, ReasonInfeasible, ReasonBadRequest:
		return true
	default:
		return false
	}
}

// orphans are calls that an internal error left without an observation.
func (s *session) orphans(e *ending) {
	b := s.batch
	if b == nil {
		return
	}
	b.halted = e
	s.callOff(b, "")
}

// finishRecord writes the last event and shows the last state.
func (s *session) finishRecord(r Result) {
	if s.phase == PhaseStop {
		s.fields.Reset().
			String("outcome", r.Outcome.String()).
			String("reason", string(r.Reason)).
			String("answer", r.Answer).
			Int("steps", int64(len(r.Steps))).
			Strings("unmet_goals", r.UnmetGoals).
			List("verifications", len(r.Verifications), func(i int, o *trace.Fields) {
				v := r.Verifications[i]
				o.String("criterion", v.Criterion).Bool("passed", v.Passed).String("evidence", v.Evidence)
			}).
			Any("usage", r.Usage).
			Bool("rest_measured", r.RestMeasured)
		if err := CheckTransition(s.phase, KindEnd, PhaseEnd); err != nil {
			panic(err)
		}
		s.phase = PhaseEnd
		s.write(KindEnd, "", stateAtEnd(r.Outcome), s.fields.JSON())
		if err := s.flush(); err != nil {
			s.cfg.Logger.Error("the end was not recorded", "session", s.goal.Session, "error", err)
		}
	}
	s.phase = PhaseEnd
	s.release(r.Reason)
	s.show(stateAtEnd(r.Outcome), nil)
}
