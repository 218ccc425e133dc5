package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func TestStopAllReturnsAtRestAndTakesTheLease(t *testing.T) {
	for _, stream := range []bool{false, true} {
		withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
			l := r.lease()
			c := r.r.Goal(5, 0.5)
			if stream {
				c = r.r.Drive(5, 0.5)
			}
			out := r.execute(r.ctx, l, c)
			r.wait(2 * time.Second)
			if err := r.g.StopAll(r.ctx, "operator_stop"); err != nil {
				t.Error(err)
			}
			if r.r.MovingFor() > 0 {
				t.Error("StopAll returned, and it moves")
			}
			o := r.outcome(out, 0+time.Second)
			if o.Reason != guard.ReasonStopped || !o.AtRest || o.Detail != "operator_stop" {
				t.Errorf("outcome %+v", o)
			}
			if s := r.a.State(); s.Owner != "" || s.State != guard.Holding {
				t.Errorf("after a stop: %+v", s)
			}
			again := l.Execute(r.ctx, r.r.Goal(1, 0.5))
			if !errors.Is(again.Err, guard.ErrLeaseLost) || again.Reason != guard.ReasonRefused {
				t.Errorf("the lease outlived a stop: %+v", again)
			}
		})
	}
}

func TestStopOfWhatRestsReturnsAtOnceAndSendsZeroOnce(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease()
		r.wait(time.Second)
		began := time.Now()
		if err := r.g.StopAll(r.ctx, "operator_stop"); err != nil || time.Since(began) > 20*ms {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if n := r.r.Counts().Stops; n < 1 || n > 2 {
			t.Errorf("%d stop commands", n)
		}
	})
}

func TestQuiesceSendsNothingToWhatRests(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.wait(time.Second)
		if err := r.g.Quiesce(r.ctx); err != nil {
			t.Error(err)
		}
		if n := r.r.Counts().Stops; n != 0 {
			t.Errorf("%d stop commands", n)
		}
		out := r.execute(r.ctx, r.lease(), r.r.Goal(5, 0.5))
		r.wait(2 * time.Second)
		if err := r.g.Quiesce(r.ctx); err != nil || r.r.MovingFor() > 0 {
			t.Errorf("%v, moving for %v", err, r.r.MovingFor())
		}
		if o := r.outcome(out, time.Second); o.Reason != guard.ReasonStopped {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestQuiesceWaitsForAGapInTheMeasurementsToClose(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.wait(time.Second)
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		r.wait(300 * ms)
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
		r.wait(50 * ms)
		if err := r.g.Quiesce(r.ctx); err != nil || r.state() != guard.Holding {
			t.Errorf("%v in %v", err, r.state())
		}
		if n := r.r.Counts().Stops; n != 0 {
			t.Errorf("%d stop commands to what stood all the time", n)
		}
	})
}

func TestStopThatIsNotObeyedIsAFaultLoudly(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Drive(100, 0.5))
		r.wait(2 * time.Second)
		r.r.Set(func(f *guardtest.Faults) { f.IgnoreStop = true })
		err := r.g.StopAll(r.ctx, "operator_stop")
		var e *guard.NotAtRestError
		if !errors.As(err, &e) || len(e.Actuators) != 1 || e.Actuators[0].State != guard.Fault {
			t.Fatalf("StopAll says %v", err)
		}
		if o := r.outcome(out, time.Second); o.AtRest || o.Reason != guard.ReasonStopped {
			t.Errorf("outcome %+v", o)
		}
		// A fault goes on sending stop, at the control rate, and takes nobody.
		n := r.r.Counts().Stops
		r.wait(time.Second)
		if more := r.r.Counts().Stops - n; more < 19 || more > 21 {
			t.Errorf("%d stop commands in 1 s of fault", more)
		}
		_, err = r.a.Acquire(r.ctx, "next")
		wantStateError(t, err, guard.ErrFault, guard.Fault)
		// Reset alone releases nothing that moves.
		if err := r.g.Reset(r.ctx); err == nil {
			t.Error("reset of what moves")
		}
		r.r.Set(func(f *guardtest.Faults) { f.IgnoreStop = false })
		r.wait(3 * time.Second)
		if s := r.state(); s != guard.Fault {
			t.Errorf("a fault ended without acknowledgement: %v", s)
		}
		if err := r.g.Reset(r.ctx); err != nil {
			t.Error(err)
		}
		r.lease()
	})
}

func TestEmergencyStopLatches(t *testing.T) {
	for _, stream := range []bool{false, true} {
		withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
			l := r.lease()
			c := r.r.Goal(5, 0.5)
			if stream {
				c = r.r.Drive(5, 0.5)
			}
			out := r.execute(r.ctx, l, c)
			r.wait(2 * time.Second)
			r.r.Sequence()
			r.path()
			r.g.EmergencyStop(true)
			o := r.outcome(out, 5*time.Second)
			if o.Reason != guard.ReasonEstop || !o.AtRest {
				t.Errorf("outcome %+v", o)
			}
			if p := r.path(); names(p) != "estop" {
				t.Errorf("path %s", names(p))
			}
			if s := r.r.Sequence(); !stream && (len(s) < 2 || s[0] != "stop" || s[1] != "cancel") {
				t.Errorf("an e-stop stops and cancels: %v", s)
			}
			n := r.r.Counts().Stops
			r.wait(2 * time.Second)
			if more := r.r.Counts().Stops - n; more > 2 {
				t.Errorf("%d stop commands after rest", more)
			}
			if err := r.g.Reset(r.ctx); !errors.Is(err, guard.ErrEstop) {
				t.Errorf("reset with the input true: %v", err)
			}
			r.g.EmergencyStop(false)
			r.wait(2 * time.Second)
			if s := r.state(); s != guard.Estop {
				t.Errorf("released by itself: %v", s)
			}
			_, err := r.a.Acquire(r.ctx, "next")
			wantStateError(t, err, guard.ErrEstop, guard.Estop)
			if o := l.Execute(r.ctx, c); !errors.Is(o.Err, guard.ErrEstop) {
				t.Errorf("a command under e-stop: %+v", o)
			}
			starts := r.r.Counts().Starts
			if err := r.g.Reset(r.ctx); err != nil {
				t.Error(err)
			}
			r.wait(2 * time.Second)
			if r.r.Counts().Starts != starts || r.r.MovingFor() > 0 {
				t.Error("it went on by itself after the reset")
			}
			r.lease()
		})
	}
}

func TestEmergencyStopThatIsNotObeyedSaysSo(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Drive(100, 0.5))
		r.wait(2 * time.Second)
		r.r.Set(func(f *guardtest.Faults) { f.IgnoreStop = true })
		r.g.EmergencyStop(true)
		o := r.outcome(out, 5*time.Second)
		if o.Reason != guard.ReasonEstop || o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		if len(r.reported(guard.ReportNotAtRest)) != 1 {
			t.Error("not reported")
		}
		r.g.EmergencyStop(false)
		if err := r.g.Reset(r.ctx); err == nil || r.state() != guard.Estop {
			t.Errorf("released while it moves: %v", err)
		}
	})
}

func TestEmergencyStopBeforeAnythingElse(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.g.EmergencyStop(true)
		if s := r.state(); s != guard.Estop {
			t.Errorf("state %v", s)
		}
		if active, latched := r.g.Estop(); !active || !latched {
			t.Error("not latched")
		}
	})
}

func TestEndOfRunStopsWhatMoves(t *testing.T) {
	for _, tc := range []struct {
		name string
		set  func(*guardtest.Faults)
		rest bool
	}{
		{"obeyed", func(*guardtest.Faults) {}, true},
		{"cancel refused", func(f *guardtest.Faults) { f.RefuseCancel = true }, true},
		{"nothing obeyed", func(f *guardtest.Faults) { f.RefuseCancel, f.IgnoreStop = true, true }, false},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
					c := r.r.Goal(100, 0.5)
					if stream {
						c = r.r.Drive(100, 0.5)
					}
					l := r.lease()
					out := r.execute(r.ctx, l, c)
					r.wait(2 * time.Second)
					r.r.Set(tc.set)
					began := time.Now()
					err := r.close()
					if (err == nil) != tc.rest {
						t.Errorf("Run says %v", err)
					}
					if d := time.Since(began); d > 10*time.Second {
						t.Errorf("Run ended after %v", d)
					}
					if tc.rest && r.r.MovingFor() > 0 {
						t.Error("it moves")
					}
					o := r.outcome(out, ms)
					if o.Reason != guard.ReasonCanceled || o.AtRest != tc.rest {
						t.Errorf("outcome %+v", o)
					}
					// Nobody waits for a guard that is gone.
					if o := l.Execute(r.ctx, c); !errors.Is(o.Err, guard.ErrNotRunning) {
						t.Errorf("execute: %+v", o)
					}
					if _, err := r.a.Acquire(r.ctx, "late"); !errors.Is(err, guard.ErrNotRunning) {
						t.Errorf("acquire: %v", err)
					}
					if err := r.g.StopAll(r.ctx, "late"); (err == nil) != tc.rest {
						t.Errorf("stop: %v", err)
					}
				})
			})
		}
	}
}

// What brakes slowly is given the time that it needs, and no more.
func TestStoppingTimeFollowsSpeed(t *testing.T) {
	robot := noisy()
	robot.Acceleration, robot.Deceleration = 2, 0.4
	withRig(t, rigOptions{robot: robot}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Drive(100, 2))
		r.wait(3 * time.Second)
		if err := r.g.StopAll(r.ctx, "operator_stop"); err != nil { // 5 s of braking
			t.Error(err)
		}
		r.outcome(out, time.Second)
	})
}

func TestStopGoesOnWhenItsContextEnds(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Drive(100, 0.5))
		r.wait(2 * time.Second)
		ctx, cancel := context.WithCancel(r.ctx)
		cancel()
		if err := r.g.StopAll(ctx, "operator_stop"); err == nil {
			t.Error("with its context over, StopAll cannot know of rest")
		}
		if o := r.outcome(out, 3*time.Second); o.Reason != guard.ReasonStopped || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestMotionNobodyCommandedIsReportedAndStopped(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.path()
		r.r.Push(0.1)
		r.wait(time.Second)
		if s := r.state(); s != guard.Settling {
			t.Errorf("state %v", s)
		}
		if rest, _, _ := r.a.AtRest(); rest {
			t.Error("it claims rest")
		}
		if len(r.reported(guard.ReportUncommanded)) != 1 {
			t.Error("not reported")
		}
		r.wait(10 * time.Second)
		if p := r.path(); names(p) != "settling stopping fault" {
			t.Errorf("path %s", names(p))
		}
	})
}

func TestMotionByAPermittedPublisherIsNotFought(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.path()
		ctx, cancel := context.WithCancel(r.ctx)
		go func() {
			for ctx.Err() == nil {
				r.r.Velocity(0.2)
				r.a.Permitted("/teleop")
				time.Sleep(100 * ms)
			}
		}()
		r.wait(10 * time.Second)
		if p := r.path(); names(p) != "settling" {
			t.Errorf("path %s", names(p))
		}
		if n := r.r.Counts().Stops; n != 0 {
			t.Errorf("%d stop commands against a permitted publisher", n)
		}
		cancel()
		r.wait(2 * time.Second)
		if p := r.path(); names(p) != "holding" {
			t.Errorf("path %s", names(p))
		}
	})
}

func TestOneTouchIsNoMotion(t *testing.T) {
	withRig(t, rigOptions{robot: guardtest.Options{Period: 100 * ms}}, func(r *rig) {
		r.lease().Release()
		r.path()
		r.a.Observe(guard.Sample{Stamp: time.Now(), Position: []float64{0}, Velocity: []float64{0.5}})
		synctest.Wait()
		if rest, _, _ := r.a.AtRest(); rest {
			t.Error("a fast sample in the window is not rest")
		}
		r.wait(2 * time.Second)
		if p := r.path(); len(p) != 0 {
			t.Errorf("path %s", names(p))
		}
		if rest, _, _ := r.a.AtRest(); !rest {
			t.Error("a window later it is")
		}
	})
}

// A gap in the measurements of what nobody moves, as a busy machine makes them: it is waited for, and nothing is sent.
func TestQuiesceWaitsForMeasurementsOfWhatHoldsStill(t *testing.T) {
	for _, gap := range []time.Duration{200 * ms, 700 * ms, 1500 * ms, 2500 * ms} {
		for _, before := range []time.Duration{0, 500 * ms, 1100 * ms} {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				r.lease().Release()
				r.wait(time.Second)
				sent := r.r.Counts()
				r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
				r.wait(before)
				go func() {
					time.Sleep(gap)
					r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
				}()
				if err := r.g.Quiesce(r.ctx); err != nil {
					t.Errorf("a gap of %v, looked at after %v: %v", before+gap, before, err)
				}
				r.wait(gap)
				if n := r.r.Counts(); n.Stops != sent.Stops || n.Cancels != sent.Cancels {
					t.Errorf("a gap of %v, looked at after %v: %d stops and %d cancels of what holds still", before+gap, before, n.Stops-sent.Stops, n.Cancels-sent.Cancels)
				}
			})
		}
	}
	// What is never measured again is not at rest, and is sent nothing either.
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		r.wait(300 * ms)
		began := time.Now()
		if err := r.g.Quiesce(r.ctx); err == nil {
			t.Error("rest is claimed of what is not measured")
		}
		if d := time.Since(began); d > 5*time.Second || r.r.Counts().Stops > 0 {
			t.Errorf("after %v, %d stops", d, r.r.Counts().Stops)
		}
	})
	// Motion is no gap: it is stopped at once.
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.lease().Release()
		r.r.Push(0.1)
		r.wait(400 * ms)
		began := time.Now()
		go func() { time.Sleep(time.Second); r.r.Push(0) }()
		if err := r.g.Quiesce(r.ctx); err != nil {
			t.Error(err)
		}
		r.wait(2 * time.Second)
		if d := r.r.Counts().FirstStop.Sub(began); d > 100*ms {
			t.Errorf("the first stop came after %v", d)
		}
	})
}

// A gap in the measurements of what came to rest first, while another is still being stopped: it is given time to close, and no longer than that.
func TestAStopOfAllWaitsForAGapOfWhatRestsAlready(t *testing.T) {
	stops := map[string]func(*guard.Guard, context.Context) error{
		"quiesce": (*guard.Guard).Quiesce,
		"stop":    func(g *guard.Guard, ctx context.Context) error { return g.StopAll(ctx, "operator_stop") },
	}
	for name, stop := range stops {
		for what, c := range map[string]struct {
			push  float64
			gap   time.Duration
			rests bool
		}{"a gap": {0, 1200 * ms, true}, "no end of it": {0, time.Minute, false}, "it moves": {0.3, 1200 * ms, false}} {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				second := r.second("arm", noisy())
				r.lease().Release()
				second.Push(0.3)
				r.wait(time.Second)
				over := make(chan struct{})
				go func() {
					defer close(over)
					time.Sleep(1500 * ms)
					r.r.Push(c.push)
					time.Sleep(300 * ms)
					r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
					time.Sleep(200 * ms)
					second.Push(0)
					time.Sleep(c.gap - 200*ms)
					r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
				}()
				began := time.Now()
				if err := stop(r.g, r.ctx); (err == nil) != c.rests {
					t.Errorf("%s, %s: %v", name, what, err)
				}
				if d := time.Since(began); d > 7*time.Second {
					t.Errorf("%s, %s: it took %v", name, what, d)
				}
				r.r.Push(0)
				<-over
				r.wait(4 * time.Second)
			})
		}
	}
}
