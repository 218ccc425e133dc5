package guard_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func quiet(o *guardtest.Options) { o.Noise = 0 }

func far(r *rig, c *guard.Command) { *c = r.r.Goal(100, 0.4) }

func detail(want string) func(*rig, guard.Outcome) {
	return func(r *rig, o guard.Outcome) {
		if !strings.Contains(o.Detail, want) {
			r.t.Errorf("detail %q does not say %q", o.Detail, want)
		}
	}
}

// orphanGone: the server runs no goal that nobody owns.
func orphanGone(r *rig, _ guard.Outcome) {
	r.wait(3 * time.Second)
	if e := r.r.Running(); e != 0 {
		r.t.Errorf("the goal of epoch %d still runs", e)
	}
	if r.r.MovingFor() > 0 {
		r.t.Error("it moves")
	}
}

// vouchedFor: a goal that was never accepted is in doubt until a person says that it does not run.
func vouchedFor(r *rig, _ guard.Outcome) {
	if err := r.g.Reset(r.ctx); err != nil || r.state() != guard.Holding {
		r.t.Errorf("reset: %v, in %v", err, r.state())
	}
}

// staysAtRest: nothing moves it any more, however long one looks.
func staysAtRest(r *rig, _ guard.Outcome) {
	before, _ := r.r.Truth()
	for range 200 {
		r.wait(100 * ms)
		if r.r.MovingFor() > 0 {
			r.t.Fatal("it moves again")
		}
	}
	if after, _ := r.r.Truth(); math.Abs(after[0]-before[0]) > 0.005 {
		r.t.Fatalf("it has moved by %.3f m", after[0]-before[0])
	}
}

// start is when the first command was sent.
func start(r *rig) time.Time { return r.sentAt }

func (r *rig) stand(on bool) {
	r.mu.Lock()
	r.standing, r.stoodAt = on, time.Now().Add(r.shift)
	if !on { // time goes on where it stood
		r.shift = time.Until(r.stoodAt)
	}
	r.mu.Unlock()
	r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = on; f.ProtectiveStop = on; f.StampShift = r.shift })
}

func (r *rig) jump(d time.Duration) {
	r.mu.Lock()
	r.shift += d
	r.mu.Unlock()
	r.r.Set(func(f *guardtest.Faults) { f.StampShift += d })
}

func (r *rig) protect(on bool) {
	r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = on })
	if on {
		r.g.Pause("protective_stop")
	} else {
		r.g.Resume("protective_stop")
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range faultCases {
		t.Run(tc.name, func(t *testing.T) {
			robot := noisy()
			if tc.robot != nil {
				tc.robot(&robot)
			}
			withRig(t, rigOptions{robot: robot}, func(r *rig) { tc.run(r) })
		})
	}
}

func (tc *faultCase) run(r *rig) {
	l := r.lease()
	if tc.before != nil {
		r.r.Set(tc.before)
	}
	r.wait(50 * ms)
	r.path()
	c := r.r.Goal(1.2, 0.4)
	if tc.stream {
		c = r.r.Drive(1.2, 0.4)
	}
	if tc.command != nil {
		tc.command(r, &c)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	r.sentAt = time.Now()
	out := r.execute(ctx, l, c)
	go func() {
		for _, a := range tc.acts {
			time.Sleep(a.at - time.Since(r.sentAt))
			a.do(r, cancel)
		}
	}()
	o := r.outcome(out, tc.within)
	path := names(r.path())
	if o.Reason != tc.reason || o.AtRest != tc.atRest {
		r.t.Errorf("outcome %+v, want %s, at rest %v", o, tc.reason, tc.atRest)
	}
	if path != tc.path {
		r.t.Errorf("path %q, want %q", path, tc.path)
	}
	if s := r.state(); s != tc.ends {
		r.t.Errorf("ends in %v, want %v", s, tc.ends)
	}
	if !o.AtRest && o.Detail == "" {
		r.t.Error("an outcome without rest says what could not be measured")
	}
	if tc.check != nil {
		tc.check(r, o)
	}
	if p := r.reported(guard.ReportInternal); len(p) > 0 {
		r.t.Errorf("internal: %+v", p)
	}
}

func TestNoOdometryEver(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		began := time.Now()
		_, err := r.a.Acquire(r.ctx, "test")
		wantStateError(t, err, guard.ErrUnobservable, guard.Unknown)
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("refused after %v", d)
		}
		if err := r.g.Quiesce(r.ctx); err == nil {
			t.Error("what was never measured is not at rest")
		}
		if rest, _, _ := r.a.AtRest(); rest {
			t.Error("what was never measured is not at rest")
		}
		if n := r.r.Counts(); n.Stops != 0 || n.Starts != 0 {
			t.Errorf("nothing was asked for: %+v", n)
		}
		if err := r.close(); err == nil || !strings.Contains(err.Error(), "base") {
			t.Errorf("Run says %v", err)
		}
	})
}
