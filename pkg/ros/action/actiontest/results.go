package actiontest

import (
	"context"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

var resultCases = []Case{
	{"ResultEarlyLateAndTwice", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		if ok, _ := r.raw.send(r.ctx, id(1), 1); !ok {
			t.Fatal("not accepted")
		}
		h := r.handle()
		early := make(chan struct{})
		go func() {
			defer close(early)
			if s, m := r.raw.result(r.ctx, id(1)); s != action.StatusSucceeded || !ros.Equal(m, r.result(1)) {
				t.Errorf("early: %v %v", s, m.Map())
			}
		}()
		h.Execute()
		r.must(h.Succeed(r.result(1)))
		r.wait("the early answer", early)
		for range 2 {
			if s, m := r.raw.result(r.ctx, id(1)); s != action.StatusSucceeded || !ros.Equal(m, r.result(1)) {
				t.Errorf("late: %v %v", s, m.Map())
			}
		}
	}},
	{"ResultOfAnUnknownGoalHasStatusZero", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		if s, m := r.raw.result(r.ctx, id(1)); s != action.StatusUnknown || !ros.Equal(m, r.result()) {
			t.Errorf("%v %v", s, m.Map())
		}
	}},
	{"ResultExpires", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, func(c *action.ServerConfig) { c.ResultTimeout = 500 * time.Millisecond })
		_, first := r.send(action.GoalOptions{})
		_, active := r.send(action.GoalOptions{})
		r.must(first.Succeed(r.result(1)))
		r.seen.waitFor(r.ctx, first.ID(), action.StatusSucceeded)
		r.seen.until(r.ctx, "the ended goal to leave the array", func() bool {
			_, there := r.seen.latest[first.ID()]
			return !there
		})
		if s, _ := r.raw.result(r.ctx, first.ID()); s != action.StatusUnknown {
			t.Errorf("after expiry: %v", s)
		}
		r.wantCancel(first.ID(), 0, action.CancelUnknownGoal)
		// Only ended goals expire.
		r.wantCancel(active.ID(), 0, action.CancelNone, active.ID())
		r.must(active.Canceled(nil))
	}},
	{"HundredsOfWaitingResultRequestsStarveNobody", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		g, h := r.send(action.GoalOptions{})
		const waiting = 300
		ctx, cancel := context.WithTimeout(context.Background(), 3*limit)
		defer cancel()
		var wg sync.WaitGroup
		statuses := newLog[action.Status]()
		for i := range waiting {
			wg.Go(func() {
				s, _ := r.raw.result(ctx, g.ID())
				statuses.add(s)
			})
			if i%10 == 0 {
				// Middlewares keep few requests: the answer says that those before have arrived.
				if s, _ := r.raw.result(ctx, id(1)); s != action.StatusUnknown {
					t.Error(s)
				}
			}
		}
		// Another goal's result, asked for after all of them, comes through.
		g2, h2 := r.send(action.GoalOptions{})
		r.must(h2.Succeed(r.result(2)))
		r.wantOutcome(g2, action.StatusSucceeded, r.result(2))
		if s, _ := r.raw.result(r.ctx, id(1)); s != action.StatusUnknown {
			t.Error(s)
		}
		r.must(h.Succeed(r.result(1)))
		wg.Wait()
		for _, s := range statuses.all() {
			if s != action.StatusSucceeded {
				t.Errorf("a waiting request got %v", s)
			}
		}
	}},
	{"LateResultBelongsToItsOwnGoal", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		first, h1 := r.send(action.GoalOptions{})
		if code, err := first.Cancel(r.ctx); err != nil || code != action.CancelNone {
			t.Fatal(code, err)
		}
		second, h2 := r.send(action.GoalOptions{})
		h2.Execute()
		r.must(h1.Canceled(r.result(1)))
		r.wantOutcome(first, action.StatusCanceled, r.result(1))
		select {
		case <-second.Done():
			t.Error("the second goal ended with the first one's result")
		default:
		}
		r.must(h2.Succeed(r.result(2)))
		r.wantOutcome(second, action.StatusSucceeded, r.result(2))
	}},
}

var shutdownCases = []Case{
	{"CloseEndsEveryGoalAndAnswersItsClients", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		g, h := r.send(action.GoalOptions{})
		h.Execute()
		canceling, hc := r.send(action.GoalOptions{})
		if code, err := canceling.Cancel(r.ctx); err != nil || code != action.CancelNone {
			t.Fatal(code, err)
		}
		r.must(r.server.Close(r.ctx))
		if h.Status() != action.StatusAborted || hc.Status() != action.StatusAborted {
			t.Errorf("after Close: %v, %v", h.Status(), hc.Status())
		}
		r.wantOutcome(g, action.StatusAborted, r.result(-1)) // the handler's own partial result
		r.wantOutcome(canceling, action.StatusAborted, r.result(-1))
		r.must(r.server.Close(r.ctx))
	}},
	{"CloseAbortsWhatDoesNotEnd", func(t *testing.T, connect Connect) {
		release := make(chan struct{})
		ended := make(chan error, 1)
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Accepted = func(h *action.Handle) {
				<-release
				ended <- h.Succeed(nil)
			}
		})
		g, err := r.client.Send(r.ctx, r.goal(1), action.GoalOptions{})
		r.must(err)
		r.seen.waitFor(r.ctx, g.ID(), action.StatusAccepted)
		short, cancel := context.WithTimeout(r.ctx, 100*time.Millisecond)
		defer cancel()
		if err := r.server.Close(short); err == nil {
			t.Error("Close says nothing of a handler that did not end")
		}
		r.wantOutcome(g, action.StatusAborted, r.result())
		close(release)
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a second end won")
			}
		case <-r.ctx.Done():
			t.Error("the handler hangs")
		}
	}},
	{"ClosingServerRefusesGoals", func(t *testing.T, connect Connect) {
		closing := make(chan struct{})
		release := make(chan struct{})
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Accepted = func(h *action.Handle) {
				h.Execute()
				<-h.Context().Done()
				close(closing)
				<-release
				_ = h.Abort(nil)
			}
		})
		g, err := r.client.Send(r.ctx, r.goal(1), action.GoalOptions{})
		r.must(err)
		r.seen.waitFor(r.ctx, g.ID(), action.StatusExecuting)
		closed := make(chan error, 1)
		go func() { closed <- r.server.Close(r.ctx) }()
		r.wait("the handle's context", closing)
		if ok, _ := r.raw.send(r.ctx, id(2), 1); ok {
			t.Error("a closing server accepted a goal")
		}
		close(release)
		r.must(<-closed)
		r.wantOutcome(g, action.StatusAborted, r.result())
	}},
}
