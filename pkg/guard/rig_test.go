package guard_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a guard with one scripted actuator, in a synctest bubble.
type rig struct {
	t   *testing.T
	g   *guard.Guard
	a   *guard.Actuator
	r   *guardtest.Robot
	ctx context.Context // of the bubble
	end context.CancelFunc
	run chan error

	sentAt time.Time
	held   *guard.Lease

	mu          sync.Mutex
	transitions []guard.Transition
	reports     []guard.Report
	standing    bool          // source time stands still
	stoodAt     time.Time     // and shows this
	shift       time.Duration // of source time
}

type rigOptions struct {
	robot  guardtest.Options
	config func(*guard.Config)
}

// withRig runs a test in a bubble and checks on the way that rest is never claimed of what moves.
func withRig(t *testing.T, o rigOptions, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, o)
		test(r)
		r.close()
	})
}

func newRig(t *testing.T, o rigOptions) *rig {
	r := &rig{t: t, ctx: t.Context(), r: guardtest.New(o.robot), run: make(chan error, 1)}
	r.g = guard.New(guard.GuardConfig{
		OnTransition: func(x guard.Transition) { r.mu.Lock(); r.transitions = append(r.transitions, x); r.mu.Unlock() },
		OnReport:     func(x guard.Report) { r.mu.Lock(); r.reports = append(r.reports, x); r.mu.Unlock() },
		SourceTime:   r.sourceTime,
	})
	cfg := r.r.Config("base")
	if o.config != nil {
		o.config(&cfg)
	}
	a, err := r.g.Add(cfg, r.r)
	if err != nil {
		t.Fatal(err)
	}
	r.a = a
	r.r.Attach(a)
	ctx, cancel := context.WithCancel(t.Context())
	r.end = cancel
	go func() { r.run <- r.g.Run(ctx) }()
	robotCtx, stopRobot := context.WithCancel(context.Background())
	robotDone := make(chan struct{})
	go func() { r.r.Run(robotCtx); close(robotDone) }()
	t.Cleanup(func() { stopRobot(); <-robotDone })
	return r
}

// second adds another actuator, with a robot of its own.
func (r *rig) second(name string, o guardtest.Options) *guardtest.Robot {
	r.t.Helper()
	robot := guardtest.New(o)
	a, err := r.g.Add(robot.Config(name), robot)
	if err != nil {
		r.t.Fatal(err)
	}
	robot.Attach(a)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { robot.Run(ctx); close(done) }()
	r.t.Cleanup(func() { cancel(); <-done })
	return robot
}

func (r *rig) sourceTime() (time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.standing {
		return r.stoodAt, true
	}
	return time.Now().Add(r.shift), true
}

// close ends the guard and gives what Run says.
func (r *rig) close() error {
	if r.run == nil {
		return nil
	}
	r.end()
	err := <-r.run
	r.run = nil
	return err
}

// wait lets time pass.
func (r *rig) wait(d time.Duration) { time.Sleep(d) }

// lease takes the actuator, once it has settled.
func (r *rig) lease() *guard.Lease {
	r.t.Helper()
	l, err := r.a.Acquire(r.ctx, "test")
	if err != nil {
		r.t.Fatalf("acquire: %v", err)
	}
	r.held = l
	return l
}

// execute runs a command in the background.
func (r *rig) execute(ctx context.Context, l *guard.Lease, c guard.Command) <-chan guard.Outcome {
	out := make(chan guard.Outcome, 1)
	go func() {
		o := l.Execute(ctx, c)
		// The claim is checked at the moment it is made.
		if moving := r.r.MovingFor(); o.AtRest && moving > 100*time.Millisecond {
			r.t.Errorf("outcome %+v claims rest of what has moved for %v", o, moving)
		}
		out <- o
	}()
	return out
}

// outcome waits for it, at most limit.
func (r *rig) outcome(out <-chan guard.Outcome, limit time.Duration) guard.Outcome {
	r.t.Helper()
	select {
	case o := <-out:
		return o
	case <-time.After(limit):
		r.t.Fatalf("no outcome in %v: %+v", limit, r.a.State())
		return guard.Outcome{}
	}
}

func (r *rig) state() guard.State { synctest.Wait(); return r.a.State().State }

// path is the states gone through since the last call, in order.
func (r *rig) path() []guard.State {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var p []guard.State
	for _, t := range r.transitions {
		p = append(p, t.To)
	}
	r.transitions = nil
	return p
}

func (r *rig) reported(k guard.ReportKind) []guard.Report {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.reports), func(p guard.Report) bool { return p.Kind != k })
}

// names is a path in words.
func names(path []guard.State) string {
	var s []string
	for _, x := range path {
		s = append(s, x.String())
	}
	return strings.Join(s, " ")
}
