package guard_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// An operator's pause stops the motion, and resuming sends the rest of it in a new epoch, within the same Execute.
func TestOperatorPauseCancelsAndSendsTheRest(t *testing.T) {
	for _, stream := range []bool{false, true} {
		withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
			c := r.r.Goal(1.2, 0.4)
			if stream {
				c = r.r.Drive(1.2, 0.4)
			}
			var epochs []guard.Epoch
			send := c.Start
			c.Start = func(e guard.Epoch) error { epochs = append(epochs, e); return send(e) }
			c.Allowance = 8 * time.Second
			l := r.lease()
			r.path()
			out := r.execute(r.ctx, l, c)
			r.wait(1500 * ms)
			r.g.Pause(guard.SourceOperator)
			r.wait(10 * time.Second)
			if s := r.a.State(); s.State != guard.Paused || s.Reason != guard.SourceOperator {
				t.Errorf("state %+v", s)
			}
			if rest, _, _ := r.a.AtRest(); !rest || r.r.MovingFor() > 0 {
				t.Error("paused, and not at rest")
			}
			r.g.Resume(guard.SourceOperator)
			o := r.outcome(out, 10*time.Second)
			if o.Reason != guard.ReasonSucceeded || !o.AtRest || o.Paused < 9*time.Second {
				t.Errorf("outcome %+v", o)
			}
			if len(epochs) != 2 || epochs[1] <= epochs[0] || o.Epoch != epochs[1] {
				t.Errorf("epochs %v, outcome's %d", epochs, o.Epoch)
			}
			if p := r.path(); names(p) != "sent in_flight paused in_flight settling holding" {
				t.Errorf("path %s", names(p))
			}
			if p, _ := r.r.Truth(); math.Abs(p[0]-1.2) > 0.15 {
				t.Errorf("stands at %.3f m, want 1.2", p[0])
			}
		})
	}
}

func TestPauseThatTheServerDoesNotObeyEndsInTheStopPath(t *testing.T) {
	for name, set := range map[string]func(*guardtest.Faults){
		"refused":               func(f *guardtest.Faults) { f.RefuseCancel = true },
		"silent":                func(f *guardtest.Faults) { f.SilentCancel = true },
		"ignored":               func(f *guardtest.Faults) { f.IgnoreCancel = true },
		"it ends and drives on": func(f *guardtest.Faults) { f.RefuseCancel = false },
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				out := r.execute(r.ctx, r.lease(), r.r.Goal(10, 0.4))
				r.wait(1500 * ms)
				r.r.Set(set)
				if name == "it ends and drives on" {
					r.r.Push(0.2)
				}
				r.g.Pause(guard.SourceOperator)
				o := r.outcome(out, 12*time.Second)
				if o.Reason != guard.ReasonServerFailed {
					t.Errorf("outcome %+v", o)
				}
				if o.AtRest != (name != "it ends and drives on") {
					t.Errorf("at rest: %v", o.AtRest)
				}
			})
		})
	}
}

func TestResumeValidatesAfresh(t *testing.T) {
	for _, source := range []string{guard.SourceOperator, "protective_stop"} {
		for _, fail := range []bool{false, true} {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				asked, why := 0, errors.New("the path is blocked now")
				c := r.r.Goal(1.2, 0.4)
				c.Revalidate = func(ctx context.Context) error {
					asked++
					time.Sleep(300 * ms)
					if fail {
						return why
					}
					return ctx.Err()
				}
				out := r.execute(r.ctx, r.lease(), c)
				r.wait(1500 * ms)
				r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = true })
				r.g.Pause(source)
				r.wait(5 * time.Second)
				r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = false })
				starts := r.r.Counts().Starts
				r.g.Resume(source)
				o := r.outcome(out, 15*time.Second)
				if asked != 1 {
					t.Errorf("validated %d times", asked)
				}
				want := guard.ReasonSucceeded
				if fail {
					want = guard.ReasonCheck
					if r.r.Counts().Starts != starts || !errors.Is(o.Err, why) {
						t.Errorf("sent all the same, or %v", o.Err)
					}
				}
				if o.Reason != want || !o.AtRest {
					t.Errorf("%s: outcome %+v", source, o)
				}
			})
		}
	}
}

func TestCancelStopAndCapEndAPause(t *testing.T) {
	for name, tc := range map[string]struct {
		do   func(*rig, context.CancelFunc)
		want guard.Reason
	}{
		"cancel": {func(_ *rig, c context.CancelFunc) { c() }, guard.ReasonCanceled},
		"stop":   {func(r *rig, _ context.CancelFunc) { go r.g.StopAll(r.ctx, "operator_stop") }, guard.ReasonStopped},
		"estop":  {func(r *rig, _ context.CancelFunc) { r.g.EmergencyStop(true) }, guard.ReasonEstop},
		"lease":  {func(r *rig, _ context.CancelFunc) { r.held.Release() }, guard.ReasonCanceled},
		"cap":    {func(r *rig, _ context.CancelFunc) { r.wait(56 * time.Second) }, guard.ReasonPauseCap},
	} {
		for _, source := range []string{guard.SourceOperator, "speed_scaling"} {
			for _, stream := range []bool{false, true} {
				t.Run(name+"/"+source, func(t *testing.T) {
					withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
						ctx, cancel := context.WithCancel(r.ctx)
						defer cancel()
						c := r.r.Goal(5, 0.4)
						if stream {
							c = r.r.Drive(5, 0.4)
						}
						out := r.execute(ctx, r.lease(), c)
						r.wait(1500 * ms)
						r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = true })
						r.g.Pause(source)
						r.wait(4 * time.Second)
						tc.do(r, cancel)
						if o := r.outcome(out, 8*time.Second); o.Reason != tc.want || !o.AtRest {
							t.Errorf("outcome %+v", o)
						}
						r.g.Resume(source)
						r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = false })
						r.wait(3 * time.Second)
						if r.r.MovingFor() > 0 {
							t.Error("it went on when the pause was over")
						}
					})
				})
			}
		}
	}
}

func TestCommandWaitsWhilePaused(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		r.g.Pause(guard.SourceOperator)
		out := r.execute(r.ctx, l, r.r.Goal(0.5, 0.4))
		r.wait(5 * time.Second)
		if n := r.r.Counts().Starts; n != 0 || r.state() != guard.Holding {
			t.Errorf("%d commands sent while paused, state %v", n, r.state())
		}
		r.g.Resume(guard.SourceOperator)
		if o := r.outcome(out, 8*time.Second); o.Reason != guard.ReasonSucceeded {
			t.Errorf("outcome %+v", o)
		}
		r.g.Pause(guard.SourceOperator)
		if o := r.outcome(r.execute(r.ctx, l, r.r.Goal(0, 0.4)), 62*time.Second); o.Reason != guard.ReasonPauseCap || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		ctx, cancel := context.WithCancel(r.ctx)
		out = r.execute(ctx, l, r.r.Goal(0, 0.4))
		r.wait(time.Second)
		cancel()
		if o := r.outcome(out, time.Second); o.Reason != guard.ReasonCanceled || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestTwoSourcesHoldUntilBothAreGone(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Goal(1.2, 0.4))
		r.wait(1500 * ms)
		r.protect(true)
		r.wait(time.Second)
		r.g.Pause(guard.SourceOperator) // now the goal is canceled as well
		r.wait(2 * time.Second)
		r.protect(false)
		r.wait(2 * time.Second)
		if s := r.state(); s != guard.Paused || r.r.Counts().Cancels != 1 || r.r.MovingFor() > 0 {
			t.Errorf("state %v, %+v", s, r.r.Counts())
		}
		r.g.Resume(guard.SourceOperator)
		if o := r.outcome(out, 10*time.Second); o.Reason != guard.ReasonSucceeded || r.r.Counts().Starts != 2 {
			t.Errorf("outcome %+v, %+v", o, r.r.Counts())
		}
	})
}

func TestPausedTimeIsNotCounted(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		c := r.r.Goal(100, 0.4)
		c.Allowance = 5 * time.Second
		began := time.Now()
		out := r.execute(r.ctx, r.lease(), c)
		for range 3 {
			r.wait(time.Second)
			r.protect(true)
			r.wait(4 * time.Second)
			r.protect(false)
		}
		o := r.outcome(out, 10*time.Second)
		if o.Reason != guard.ReasonDeadline || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		if d := time.Since(began); d < 17*time.Second || d > 20*time.Second {
			t.Errorf("ended after %v, want 5 s + 12 s paused + stopping", d)
		}
	})
}

// A sensor that freezes while the robot holds by itself shows rest when the motion goes on: it must show life again.
func TestSensorThatFreezesInAPauseIsFound(t *testing.T) {
	robot := noisy()
	quiet(&robot)
	withRig(t, rigOptions{robot: robot}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Goal(2, 0.4))
		r.wait(1500 * ms)
		r.protect(true)
		r.wait(2 * time.Second)
		r.r.Set(func(f *guardtest.Faults) { f.FreezeValues = true })
		r.wait(time.Second)
		r.protect(false)
		if o := r.outcome(out, 20*time.Second); o.AtRest {
			t.Errorf("outcome %+v", o)
		}
	})
}

// What was validated before another hold is validated again after it.
func TestHoldAfterValidationAsksForAnother(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		asked := 0
		c := r.r.Goal(4, 0.4)
		c.Revalidate = func(context.Context) error {
			asked++
			time.Sleep(2 * time.Second)
			return nil
		}
		out := r.execute(r.ctx, r.lease(), c)
		r.wait(1500 * ms)
		r.protect(true)
		r.wait(time.Second)
		r.protect(false) // the body goes on by itself, as robots do; the guard validates
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		r.wait(3 * time.Second)
		if s := r.state(); s != guard.Paused || asked != 1 {
			t.Errorf("resumed without feedback: %v, validated %d times", s, asked)
		}
		r.protect(true)
		r.wait(100 * ms)
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
		r.protect(false)
		if o := r.outcome(out, 20*time.Second); o.Reason != guard.ReasonSucceeded || asked != 2 {
			t.Errorf("validated %d times, outcome %+v", asked, o)
		}
	})
}
