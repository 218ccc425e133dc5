package actiontest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

func (r *rig) wantCancel(id action.GoalID, stamp ros.Time, code action.CancelCode, ids ...action.GoalID) {
	r.t.Helper()
	gotCode, got := r.raw.cancel(r.ctx, id, stamp)
	if gotCode != code || !slices.Equal(got, ids) {
		r.t.Errorf("cancel %v before %d: code %d, goals %v; want code %d, goals %v", id, stamp, gotCode, got, code, ids)
	}
}

// waitAfter waits until the server's clock has passed a stamp.
func (r *rig) waitAfter(stamp ros.Time) {
	tick := newTicker()
	defer tick.Stop()
	for r.serverNode.Clock().Now() <= stamp {
		<-tick.C
	}
}

var cancelCases = []Case{
	{"CancelOneDeliversItsFullResult", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		g, h := r.send(action.GoalOptions{})
		_, untouched := r.send(action.GoalOptions{})
		h.Execute()
		if err := h.Canceled(r.result(1)); !errors.Is(err, action.ErrIllegal) {
			t.Errorf("canceled without a cancel: %v, want ErrIllegal", err)
		}
		code, err := g.Cancel(r.ctx)
		if err != nil || code != action.CancelNone {
			t.Fatalf("cancel: %v %v", code, err)
		}
		r.wait("Canceling", h.Canceling())
		if h.Context().Err() != nil {
			t.Error("a cancel ended the handle's context")
		}
		if s := untouched.Status(); s != action.StatusAccepted {
			t.Errorf("the other goal is %v", s)
		}
		r.must(h.Feedback(r.feedback(1)))
		r.must(h.Canceled(r.result(1, 2)))
		r.wantOutcome(g, action.StatusCanceled, r.result(1, 2))
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusExecuting, action.StatusCanceling, action.StatusCanceled)
	}},
	{"CancelBeforeExecution", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		g, h := r.send(action.GoalOptions{})
		r.wantCancel(g.ID(), 0, action.CancelNone, g.ID())
		h.Execute() // too late
		r.must(h.Canceled(nil))
		r.wantOutcome(g, action.StatusCanceled, r.result())
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusCanceling, action.StatusCanceled)
	}},
	{"CancelAllByZeroIDAndStamp", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		r.wantCancel(action.GoalID{}, 0, action.CancelNone)
		_, a := r.send(action.GoalOptions{})
		_, b := r.send(action.GoalOptions{})
		_, ended := r.send(action.GoalOptions{})
		r.must(ended.Succeed(nil))
		r.wantCancel(action.GoalID{}, 0, action.CancelNone, a.ID(), b.ID())
		r.wantCancel(action.GoalID{}, 0, action.CancelNone) // both are canceling already
		r.must(action.CancelAll(r.ctx, r.clientNode, name))
	}},
	{"CancelUpToAStamp", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		_, a := r.send(action.GoalOptions{})
		r.waitAfter(a.AcceptedAt())
		_, b := r.send(action.GoalOptions{})
		r.waitAfter(b.AcceptedAt())
		_, c := r.send(action.GoalOptions{})
		r.wantCancel(action.GoalID{}, a.AcceptedAt()-1, action.CancelNone)
		r.wantCancel(action.GoalID{}, a.AcceptedAt(), action.CancelNone, a.ID())
		// An id with a stamp means that goal, and all up to the stamp.
		r.wantCancel(c.ID(), b.AcceptedAt()-1, action.CancelNone, c.ID())
		if s := b.Status(); s != action.StatusAccepted {
			t.Errorf("the goal between them is %v", s)
		}
	}},
	{"CancelUnknownFinishedAndCancelingGoals", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		r.wantCancel(id(9), 0, action.CancelUnknownGoal)
		_, h := r.send(action.GoalOptions{})
		r.wantCancel(h.ID(), 0, action.CancelNone, h.ID())
		r.wantCancel(h.ID(), 0, action.CancelGoalTerminated)
		r.must(h.Canceled(nil))
		r.wantCancel(h.ID(), 0, action.CancelGoalTerminated)
		if err := h.Succeed(nil); !errors.Is(err, action.ErrEnded) {
			t.Errorf("a second end: %v, want ErrEnded", err)
		}
		if err := h.Feedback(r.feedback()); !errors.Is(err, action.ErrEnded) {
			t.Errorf("feedback after the end: %v, want ErrEnded", err)
		}
	}},
	{"RefusedCancelLeavesTheGoalRunning", func(t *testing.T, connect Connect) {
		var refused sync.Map
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Cancel = func(h *action.Handle) bool { _, no := refused.Load(h.ID()); return !no }
		})
		g, h := r.send(action.GoalOptions{})
		_, willing := r.send(action.GoalOptions{})
		refused.Store(h.ID(), true)
		h.Execute()
		r.wantCancel(h.ID(), 0, action.CancelRejected)
		if code, err := g.Cancel(r.ctx); err != nil || code != action.CancelRejected {
			t.Errorf("client's cancel: %v %v", code, err)
		}
		r.wantCancel(action.GoalID{}, 0, action.CancelNone, willing.ID())
		var refusal *action.CancelError
		if err := action.CancelAll(r.ctx, r.clientNode, name); !errors.As(err, &refusal) || refusal.Code != action.CancelRejected {
			t.Errorf("CancelAll: %v, want a refusal", err)
		}
		r.must(h.Succeed(r.result(5)))
		r.wantOutcome(g, action.StatusSucceeded, r.result(5))
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusExecuting, action.StatusSucceeded)
	}},
	{"CancelCallbackThatPanicsCancels", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Cancel = func(*action.Handle) bool { panic("as the test wants") }
		})
		g, h := r.send(action.GoalOptions{})
		r.wantCancel(g.ID(), 0, action.CancelNone, g.ID())
		r.must(h.Canceled(nil))
	}},
	{"CanceledGoalMayStillSucceedOrAbort", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		g, h := r.send(action.GoalOptions{})
		h.Execute()
		r.wantCancel(g.ID(), 0, action.CancelNone, g.ID())
		r.must(h.Abort(r.result(4)))
		r.wantOutcome(g, action.StatusAborted, r.result(4))
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusExecuting, action.StatusCanceling, action.StatusAborted)
	}},
	{"TwentyCancelsFromFourClientsTakeEffectOnce", func(t *testing.T, connect Connect) {
		asked := newLog[action.GoalID]()
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Cancel = func(h *action.Handle) bool { asked.add(h.ID()); return true }
		})
		g, h := r.send(action.GoalOptions{})
		h.Execute()
		var clients []*raw
		for _, n := range []string{"c1", "c2", "c3", "c4"} {
			clients = append(clients, newRaw(r.ctx, t, connect(t, n), r.at))
		}
		codes := newLog[action.CancelCode]()
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				code, _ := clients[i%4].cancel(r.ctx, g.ID(), 0)
				codes.add(code)
			})
		}
		wg.Wait()
		count := map[action.CancelCode]int{}
		for _, c := range codes.all() {
			count[c]++
		}
		if count[action.CancelNone] != 1 || count[action.CancelGoalTerminated] != 19 {
			t.Errorf("codes %v, want one 0 and nineteen 3", count)
		}
		if n := len(asked.all()); n != 1 {
			t.Errorf("the callback was asked %d times", n)
		}
		r.must(h.Canceled(r.result(8)))
		r.wantOutcome(g, action.StatusCanceled, r.result(8))
	}},
	{"ExactlyOneEndWhenCancelRacesCompletion", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		for range 20 {
			g, h := r.send(action.GoalOptions{})
			h.Execute()
			var wg sync.WaitGroup
			wins := newLog[action.Status]()
			wg.Go(func() {
				_, _ = g.Cancel(r.ctx)
				if h.Canceled(r.result(5)) == nil {
					wins.add(action.StatusCanceled)
				}
			})
			wg.Go(func() {
				if h.Succeed(r.result(4)) == nil {
					wins.add(action.StatusSucceeded)
				}
			})
			wg.Go(func() {
				if h.Abort(r.result(6)) == nil {
					wins.add(action.StatusAborted)
				}
			})
			wg.Wait()
			won := wins.all()
			if len(won) != 1 {
				t.Fatalf("ends that won: %v, want one", won)
			}
			o := r.outcome(g)
			if o.Status != won[0] || !ros.Equal(o.Result, r.result(int32(won[0]))) {
				t.Errorf("outcome %v %v, but %v won", o.Status, o.Result.Map(), won[0])
			}
		}
	}},
}
