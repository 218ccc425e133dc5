package guard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// stubborn servers go on with a goal whatever they are told, and their velocities win again as soon as ours end.
var stubborn = map[string]func(*guardtest.Faults){
	"accepts cancels": func(f *guardtest.Faults) { f.Insists, f.IgnoreCancel = true, true },
	"refuses cancels": func(f *guardtest.Faults) { f.Insists, f.RefuseCancel = true, true },
	"answers nothing": func(f *guardtest.Faults) { f.Insists, f.SilentCancel = true, true },
}

// ways of ending a goal, and what the command then ends as.
var ways = map[string]struct {
	end     func(*rig, context.CancelFunc)
	command func(*guard.Command)
	reason  guard.Reason
	latched bool
}{
	"cancel":  {end: cancel, reason: guard.ReasonCanceled},
	"release": {end: func(r *rig, _ context.CancelFunc) { r.held.Release() }, reason: guard.ReasonCanceled},
	"stop": {end: func(r *rig, _ context.CancelFunc) {
		if err := r.g.StopAll(r.ctx, "operator_stop"); err == nil {
			r.t.Error("a stop of what a server still means to move says that it rests")
		}
	}, reason: guard.ReasonStopped},
	"quiesce": {end: func(r *rig, _ context.CancelFunc) {
		if err := r.g.Quiesce(r.ctx); err == nil {
			r.t.Error("quiesce says that it rests")
		}
	}, reason: guard.ReasonStopped},
	"e-stop":   {end: func(r *rig, _ context.CancelFunc) { r.g.EmergencyStop(true) }, reason: guard.ReasonEstop, latched: true},
	"deadline": {command: func(c *guard.Command) { c.Allowance = time.Second }, reason: guard.ReasonDeadline},
	"check": {command: func(c *guard.Command) {
		c.Check = func(s guard.Sample) error {
			if s.Position[0] > 0.2 {
				return errors.New("in the zone")
			}
			return nil
		}
	}, reason: guard.ReasonCheck},
	"pause": {end: func(r *rig, _ context.CancelFunc) { r.g.Pause(guard.SourceOperator) }, reason: guard.ReasonServerFailed},
	"hold, then cancel": {end: func(r *rig, c context.CancelFunc) {
		r.g.Pause("speed_scaling")
		r.wait(time.Second)
		c()
	}, reason: guard.ReasonCanceled},
}

// Whatever ends it: of a goal that is not known to have ended rest is not claimed, and the stop is not let go of. An operator cannot
// let go of it either; the goal's end can.
func TestAGoalThatDoesNotEndIsHeld(t *testing.T) {
	for server, faults := range stubborn {
		for way, w := range ways {
			t.Run(way+"/"+server, func(t *testing.T) {
				withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
					l := r.lease()
					r.r.Set(faults)
					c := r.r.Goal(100, 0.4)
					if w.command != nil {
						w.command(&c)
					}
					ctx, cancel := context.WithCancel(r.ctx)
					defer cancel()
					out := r.execute(ctx, l, c)
					r.wait(time.Second)
					if w.end != nil {
						go w.end(r, cancel)
					}
					o := r.outcome(out, 20*time.Second)
					if o.Reason != w.reason || o.AtRest || o.Detail == "" {
						t.Errorf("outcome %+v, want %s, not at rest", o, w.reason)
					}
					ends := guard.Fault
					if w.latched {
						ends = guard.Estop
					}
					staysAtRest(r, o)
					if s := r.state(); s != ends {
						t.Errorf("ends in %v", s)
					}
					if s := r.a.State(); s.Reason != guard.ReasonGoalLives && !w.latched {
						t.Errorf("says %+v", s)
					}
					if n := r.r.Counts().Cancels; n < 5 {
						t.Errorf("%d cancels: it does not insist", n)
					}
					r.g.EmergencyStop(false)
					r.g.Resume(guard.SourceOperator)
					r.g.Resume("speed_scaling")
					if err := r.g.Reset(r.ctx); err == nil {
						t.Error("a reset lets go of a goal that lives")
					}
					staysAtRest(r, o)

					r.r.Set(func(f *guardtest.Faults) { *f = guardtest.Faults{Insists: true} }) // now it obeys
					r.wait(3 * time.Second)
					if err := r.g.Reset(r.ctx); err != nil || r.r.Running() != 0 {
						t.Fatalf("the goal has ended, and reset says %v", err)
					}
					staysAtRest(r, o)
					l.Release()
					if _, err := r.a.Acquire(r.ctx, "next"); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}

// The end of Run cannot hold for ever. It holds for as long as a goal may take to end, asks for that all the while, and then says that
// it does not rest, so that whoever stands in for it takes over.
func TestAGuardThatEndsOverAGoalThatLivesSaysSo(t *testing.T) {
	for server, faults := range stubborn {
		t.Run(server, func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				l := r.lease()
				r.r.Set(faults)
				out := r.execute(r.ctx, l, r.r.Goal(100, 0.4))
				r.wait(time.Second)
				began := time.Now()
				err := r.close()
				var not *guard.NotAtRestError
				if !errors.As(err, &not) || len(not.Actuators) != 1 {
					t.Errorf("Run says %v", err)
				}
				if d := time.Since(began); d < r.a.Config().EndTime || d > 20*time.Second {
					t.Errorf("ended after %v", d)
				}
				if moving := r.r.MovingFor(); moving > 0 {
					t.Errorf("moving for %v at the end", moving)
				}
				if o := r.outcome(out, time.Second); o.AtRest {
					t.Errorf("outcome %+v", o)
				}
				if rest, _, _ := r.a.AtRest(); rest {
					t.Error("rest is claimed")
				}
			})
		})
	}
}

// A goal that the server itself has put another one in the place of, which holds, drives no more: arms and grippers, whose stop is a goal.
func TestAGoalThatAHoldHasReplacedIsNotWaitedFor(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		r.r.Set(func(f *guardtest.Faults) { f.NoResult = true })
		ctx, cancel := context.WithCancel(r.ctx)
		out := r.execute(ctx, l, r.r.Goal(100, 0.4))
		r.wait(time.Second)
		r.r.Set(func(f *guardtest.Faults) { f.RefuseCancel = true })
		cancel()
		r.wait(2 * time.Second)
		r.a.Replaced(1)
		if o := r.outcome(out, 3*time.Second); o.Reason != guard.ReasonCanceled || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		if s := r.state(); s != guard.Holding {
			t.Errorf("in %v", s)
		}
	})
}

// A goal that somebody else left behind is canceled, stopped and held like one's own.
func TestAnAdoptedGoalIsHeldUntilItEnds(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.r.Set(func(f *guardtest.Faults) { f.Insists, f.IgnoreCancel = true, true })
		e := r.a.Adopt()
		r.r.Left(e, 100, 0.4)
		r.wait(300 * ms)
		if err := r.a.Stop(r.ctx, "watchdog"); err == nil {
			t.Error("it is said to rest")
		}
		if s := r.state(); s != guard.Fault {
			t.Errorf("in %v", s)
		}
		staysAtRest(r, guard.Outcome{})
		r.r.Set(func(f *guardtest.Faults) { f.IgnoreCancel = false })
		r.wait(3 * time.Second)
		if err := r.g.Reset(r.ctx); err != nil {
			t.Errorf("reset: %v", err)
		}
		staysAtRest(r, guard.Outcome{})
	})
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) { // one that obeys, and nobody asks for a stop
		r.lease().Release()
		r.path()
		e := r.a.Adopt()
		r.r.Left(e, 100, 0.4)
		r.wait(5 * time.Second)
		if p := names(r.path()); p != "settling holding" || r.r.Running() != 0 {
			t.Errorf("path %q", p)
		}
	})
}
