package actiontest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

func newTicker() *time.Ticker { return time.NewTicker(20 * time.Millisecond) }

// id makes an id of the test's own.
func id(n byte) action.GoalID { return action.GoalID{0: 0xa5, 15: n} }

// log collects what callbacks are told.
type log[T any] struct {
	mu      sync.Mutex
	entries []T
	changed chan struct{}
}

func newLog[T any]() *log[T] { return &log[T]{changed: make(chan struct{})} }

func (l *log[T]) add(x T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, x)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// waitLen waits for at least n entries.
func (l *log[T]) waitLen(r *rig, n int) []T {
	r.t.Helper()
	for {
		l.mu.Lock()
		entries, changed := slices.Clone(l.entries), l.changed
		l.mu.Unlock()
		if len(entries) >= n {
			return entries
		}
		r.wait("a callback", changed)
	}
}

var goalCases = []Case{
	{"GoalSucceedsWithFeedbackAndResult", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		states, feedback := newLog[action.Status](), newLog[*ros.Message]()
		g, h := r.send(action.GoalOptions{Status: states.add, Feedback: feedback.add})
		if h.ID() != g.ID() || h.Goal().Int("order") != 3 {
			t.Errorf("server has goal %v %v, client sent %v", h.ID(), h.Goal().Map(), g.ID())
		}
		r.seen.waitFor(r.ctx, g.ID(), action.StatusAccepted)
		h.Execute()
		r.must(h.Feedback(r.feedback(0)))
		r.must(h.Feedback(r.feedback(0, 1)))
		got := feedback.waitLen(r, 2)
		if !ros.Equal(got[0], r.feedback(0)) || !ros.Equal(got[1], r.feedback(0, 1)) {
			t.Errorf("feedback %v then %v", got[0].Map(), got[1].Map())
		}
		r.must(h.Succeed(r.result(0, 1, 1)))
		r.wantOutcome(g, action.StatusSucceeded, r.result(0, 1, 1))
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusExecuting, action.StatusSucceeded)
		told := states.all()
		if !slices.IsSorted(told) || told[len(told)-1] != action.StatusSucceeded {
			t.Errorf("client was told states %v", told)
		}
		if h.AcceptedAt().IsZero() {
			t.Error("no acceptance stamp")
		}
	}},
	{"AcceptanceStampIsTheSameInResponseAndStatus", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		accepted, stamp := r.raw.send(r.ctx, id(1), 1)
		if !accepted || stamp.IsZero() {
			t.Fatalf("accepted %v at %v", accepted, stamp)
		}
		r.seen.waitFor(r.ctx, id(1), action.StatusAccepted)
		r.seen.mu.Lock()
		defer r.seen.mu.Unlock()
		if got := r.seen.stamps[id(1)]; got != stamp {
			t.Errorf("stamp in status %v, in response %v", got, stamp)
		}
	}},
	{"RejectedGoalNeverStarts", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Goal = func(_ action.GoalID, goal *ros.Message) bool { return goal.Int("order") < 10 }
		})
		if _, err := r.client.Send(r.ctx, r.goal(11), action.GoalOptions{}); !errors.Is(err, ros.ErrRejected) {
			t.Errorf("error %v, want ErrRejected", err)
		}
		if accepted, _ := r.raw.send(r.ctx, id(1), 12); accepted {
			t.Error("accepted")
		}
		if s, _ := r.raw.result(r.ctx, id(1)); s != action.StatusUnknown {
			t.Errorf("a rejected goal's status is %v", s)
		}
		g, h := r.send(action.GoalOptions{})
		r.must(h.Succeed(nil))
		r.wantOutcome(g, action.StatusSucceeded, r.result())
	}},
	{"DuplicateIDIsRefused", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		if ok, _ := r.raw.send(r.ctx, id(1), 5); !ok {
			t.Fatal("not accepted")
		}
		h := r.handle()
		if ok, _ := r.raw.send(r.ctx, id(1), 6); ok {
			t.Error("duplicate of an active goal accepted")
		}
		r.must(h.Succeed(r.result(7)))
		if ok, _ := r.raw.send(r.ctx, id(1), 6); ok {
			t.Error("duplicate of an ended goal accepted")
		}
		if s, m := r.raw.result(r.ctx, id(1)); s != action.StatusSucceeded || !ros.Equal(m, r.result(7)) {
			t.Errorf("the first goal's result is %v %v", s, m.Map())
		}
	}},
	{"ZeroIDIsRefused", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		if ok, _ := r.raw.send(r.ctx, action.GoalID{}, 5); ok {
			t.Error("a goal of the id that means all goals was accepted")
		}
	}},
	{"TwoClientsHearOnlyOfTheirOwnGoals", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		other := newClient(t, connect(t, "other"))
		r.must(other.WaitReady(r.ctx))
		type heard struct {
			who   string
			value int32
		}
		feedback, states := newLog[heard](), newLog[string]()
		options := func(who string) action.GoalOptions {
			return action.GoalOptions{
				Feedback: func(m *ros.Message) {
					v, err := m.Get("sequence")
					if err != nil {
						t.Error(err)
						return
					}
					feedback.add(heard{who, v.([]int32)[0]})
				},
				Status: func(action.Status) { states.add(who) },
			}
		}
		a, ha := r.send(options("a"))
		b, err := other.Send(r.ctx, r.goal(3), options("b"))
		r.must(err)
		hb := r.handle()
		ha.Execute()
		hb.Execute()
		r.must(ha.Feedback(r.feedback(1)))
		r.must(hb.Feedback(r.feedback(2)))
		for _, f := range feedback.waitLen(r, 2) {
			if f.who == "a" && f.value != 1 || f.who == "b" && f.value != 2 {
				t.Errorf("%s heard feedback %d", f.who, f.value)
			}
		}
		r.must(ha.Succeed(r.result(1)))
		r.wantOutcome(a, action.StatusSucceeded, r.result(1))
		select {
		case <-b.Done():
			t.Error("b ended with a")
		default:
		}
		n := 0
		for _, who := range states.all() {
			if who == "b" {
				n++
			}
		}
		if n > 2 {
			t.Errorf("b was told %d states, it had accepted and executing", n)
		}
		r.must(hb.Abort(r.result(2)))
		r.wantOutcome(b, action.StatusAborted, r.result(2))
	}},
	{"ClientThatDiesLeavesTheServerServing", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		node := connect(t, "mortal")
		mortal, err := action.NewClient(node, name, Type)
		r.must(err)
		r.must(mortal.WaitReady(r.ctx))
		g, err := mortal.Send(r.ctx, r.goal(1), action.GoalOptions{})
		r.must(err)
		h := r.handle()
		h.Execute()
		r.must(mortal.Close())
		r.must(node.Close())
		if _, err := g.Result(r.ctx); !errors.Is(err, ros.ErrClosed) {
			t.Errorf("result of a goal of a closed client: %v, want ErrClosed", err)
		}
		r.must(h.Feedback(r.feedback(1)))
		g2, h2 := r.send(action.GoalOptions{})
		r.must(h2.Succeed(r.result(2)))
		r.wantOutcome(g2, action.StatusSucceeded, r.result(2))
		r.must(h.Succeed(r.result(1)))
		if s, m := r.raw.result(r.ctx, h.ID()); s != action.StatusSucceeded || !ros.Equal(m, r.result(1)) {
			t.Errorf("the orphan's result is %v %v", s, m.Map())
		}
	}},
	{"LateSubscriberGetsTheStatusArray", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, nil)
		_, done := r.send(action.GoalOptions{})
		_, running := r.send(action.GoalOptions{})
		_, canceling := r.send(action.GoalOptions{})
		r.must(done.Abort(nil))
		running.Execute()
		if code, _ := r.raw.cancel(r.ctx, canceling.ID(), 0); code != action.CancelNone {
			t.Fatal(code)
		}
		late := observe(t, connect(t, "late"))
		want := map[action.GoalID]action.Status{
			done.ID(): action.StatusAborted, running.ID(): action.StatusExecuting, canceling.ID(): action.StatusCanceling,
		}
		late.until(r.ctx, "the whole array", func() bool {
			for id, s := range want {
				if late.latest[id] != s {
					return false
				}
			}
			return len(late.latest) == len(want)
		})
	}},
	{"HandlerThatPanicsOrForgetsIsAborted", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Accepted = func(h *action.Handle) {
				h.Execute()
				if h.Goal().Int("order") == 1 {
					panic("as the test wants")
				}
			}
		})
		for order := 1; order <= 2; order++ {
			g, err := r.client.Send(r.ctx, r.goal(order), action.GoalOptions{})
			r.must(err)
			r.wantOutcome(g, action.StatusAborted, r.result())
		}
	}},
	{"GoalThatEndsAtOnceIsNotLost", func(t *testing.T, connect Connect) {
		r := newRig(t, connect, func(c *action.ServerConfig) {
			c.Accepted = func(h *action.Handle) {
				if err := h.Succeed(ros.New(h.Goal().Type)); err == nil {
					t.Error("a message of another type passed for a result")
				}
				if err := h.Succeed(nil); err != nil {
					t.Error(err)
				}
			}
		})
		g, err := r.client.Send(r.ctx, r.goal(1), action.GoalOptions{})
		r.must(err)
		r.wantOutcome(g, action.StatusSucceeded, r.result())
		r.seen.wantHistory(r.ctx, g.ID(), action.StatusAccepted, action.StatusExecuting, action.StatusSucceeded)
	}},
}
