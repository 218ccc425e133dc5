package guard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func noisy() guardtest.Options {
	return guardtest.Options{Noise: 0.0005, Jitter: 0.2, Lag: 60 * time.Millisecond, Seed: 1}
}

func TestGoalSucceedsOnlyAtRest(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		r.path()
		o := r.outcome(r.execute(r.ctx, l, r.r.Goal(1, 0.4)), 20*time.Second)
		if o.Reason != guard.ReasonSucceeded || !o.AtRest || o.Err != nil {
			t.Errorf("outcome %+v", o)
		}
		if p := r.path(); names(p) != "sent in_flight settling holding" {
			t.Errorf("path %s", names(p))
		}
		if n := r.r.Counts().Stops; n != 0 {
			t.Errorf("%d stop commands during a goal that ended well", n)
		}
	})
}

func TestStreamEndsInZeroAndRest(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		r.path()
		o := r.outcome(r.execute(r.ctx, l, r.r.Drive(0.5, 0.3)), 20*time.Second)
		if o.Reason != guard.ReasonSucceeded || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		if p := r.path(); names(p) != "sent in_flight settling holding" {
			t.Errorf("path %s", names(p))
		}
		if s := r.r.Sequence(); s[len(s)-1] != "stop" {
			t.Errorf("the stream ends with %q: %v", s[len(s)-1], s)
		}
	})
}

func TestCancelWaitsForRest(t *testing.T) {
	for _, tc := range []struct {
		name    string
		command func(*guardtest.Robot) guard.Command
		path    string
		first   string
	}{
		{"goal", func(r *guardtest.Robot) guard.Command { return r.Goal(5, 0.5) }, "canceling settling holding", "cancel"},
		{"stream", func(r *guardtest.Robot) guard.Command { return r.Drive(5, 0.5) }, "canceling stopping settling holding", "stop"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				l := r.lease()
				ctx, cancel := context.WithCancelCause(r.ctx)
				out := r.execute(ctx, l, tc.command(r.r))
				r.wait(2 * time.Second)
				if s := r.state(); s != guard.InFlight {
					t.Fatalf("state %v", s)
				}
				r.path()
				r.r.Sequence()
				why := errors.New("changed my mind")
				cancel(why)
				o := r.outcome(out, 8*time.Second)
				if o.Reason != guard.ReasonCanceled || !o.AtRest || !errors.Is(o.Err, why) {
					t.Errorf("outcome %+v", o)
				}
				if p := r.path(); names(p) != tc.path {
					t.Errorf("path %s, want %s", names(p), tc.path)
				}
				if s := r.r.Sequence(); len(s) == 0 || s[0] != tc.first {
					t.Errorf("after the cancel: %v", s)
				}
				if _, v := r.r.Truth(); v[0] != 0 {
					t.Errorf("true speed %g m/s at the outcome", v[0])
				}
			})
		})
	}
}
