package guard_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

func wantStateError(t *testing.T, err error, want error, state guard.State) {
	t.Helper()
	var e *guard.StateError
	if !errors.As(err, &e) || !errors.Is(err, want) || e.State != state {
		t.Errorf("error %v, want %v in state %v", err, want, state)
	}
}

func TestOneOwnerAtATime(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		_, err := r.a.Acquire(r.ctx, "second")
		wantStateError(t, err, guard.ErrOwned, guard.Holding)
		var e *guard.StateError
		if errors.As(err, &e); e.Owner != "test" {
			t.Errorf("owned by %q", e.Owner)
		}
		if s := r.a.State(); s.Owner != "test" {
			t.Errorf("state %+v", s)
		}
		l.Release()
		l.Release()
		second, err := r.a.Acquire(r.ctx, "second")
		if err != nil {
			t.Fatal(err)
		}
		l.Release() // the first owner's, late: it takes nothing from the second
		synctest.Wait()
		if s := r.a.State(); s.Owner != "second" {
			t.Errorf("state %+v", s)
		}
		if o := l.Execute(r.ctx, r.r.Goal(1, 0.5)); !errors.Is(o.Err, guard.ErrLeaseLost) || o.Reason != guard.ReasonRefused {
			t.Errorf("a released lease executes: %+v", o)
		}
		out := r.execute(r.ctx, second, r.r.Goal(1, 0.5))
		r.wait(time.Second)
		if o := second.Execute(r.ctx, r.r.Goal(0, 0.5)); !errors.Is(o.Err, guard.ErrBusy) {
			t.Errorf("two commands at once: %+v", o)
		}
		if o := r.outcome(out, 20*time.Second); o.Reason != guard.ReasonSucceeded {
			t.Errorf("the first of the two: %+v", o)
		}
	})
}

func TestReleaseInFlightCancels(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		out := r.execute(r.ctx, l, r.r.Goal(5, 0.5))
		r.wait(2 * time.Second)
		l.Release()
		next := make(chan error, 1)
		go func() {
			_, err := r.a.Acquire(r.ctx, "next")
			if r.r.MovingFor() > 0 {
				t.Error("acquired while it moves")
			}
			next <- err
		}()
		if o := r.outcome(out, 5*time.Second); o.Reason != guard.ReasonCanceled || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
		if err := <-next; err != nil {
			t.Errorf("who waited for it: %v", err)
		}
	})
}

func TestAcquireWaitsForAnActuatorThatIsAboutToBeReady(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		began := time.Now()
		r.lease() // from Unknown, through Settling
		if d := time.Since(began); d > time.Second {
			t.Errorf("ready after %v", d)
		}
	})
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		ctx, cancel := context.WithTimeout(r.ctx, time.Second)
		defer cancel()
		_, err := r.a.Acquire(ctx, "hasty")
		wantStateError(t, err, context.DeadlineExceeded, guard.Unknown)
		r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
		r.wait(2 * time.Second)
		if s := r.a.State(); s.Owner != "" {
			t.Errorf("who gave up owns it: %+v", s)
		}
	})
}

// Giving up in the same instant as the lease is granted leaks no lease.
func TestAcquireRacesItsContext(t *testing.T) {
	for i := range 20 {
		withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
			ctx, cancel := context.WithTimeout(r.ctx, time.Duration(480+5*i)*ms)
			defer cancel()
			l, err := r.a.Acquire(ctx, "racer")
			if err == nil {
				l.Release()
			}
			r.wait(time.Second)
			if s := r.a.State(); s.Owner != "" {
				t.Errorf("%d ms: %+v", 480+5*i, s)
			}
		})
	}
}

func TestCommandsEndForTheirOwnReasons(t *testing.T) {
	why := errors.New("why")
	for _, tc := range []struct {
		name   string
		edit   func(*rig, *guard.Command)
		stream bool
		want   guard.Reason
		err    error
		path   string
	}{
		{name: "deadline of a goal", edit: func(_ *rig, c *guard.Command) { c.Allowance = 2 * time.Second }, want: guard.ReasonDeadline, path: "sent in_flight canceling settling holding"},
		{name: "deadline of a stream", stream: true, edit: func(_ *rig, c *guard.Command) { c.Allowance = 2 * time.Second }, want: guard.ReasonDeadline, path: "sent in_flight canceling stopping settling holding"},
		{name: "check", edit: func(_ *rig, c *guard.Command) {
			c.Check = func(s guard.Sample) error {
				if s.Position[0] > 0.5 {
					return why
				}
				return nil
			}
		}, want: guard.ReasonCheck, err: why, path: "sent in_flight canceling settling holding"},
		{name: "check panics", edit: func(_ *rig, c *guard.Command) { c.Check = func(guard.Sample) error { panic(why) } }, want: guard.ReasonCheck, path: "sent in_flight canceling settling holding"},
		{name: "start of a goal fails", edit: func(_ *rig, c *guard.Command) { c.Start = func(guard.Epoch) error { return why } }, want: guard.ReasonCommandFailed, err: why, path: "sent holding"},
		{name: "start of a goal panics", edit: func(_ *rig, c *guard.Command) { c.Start = func(guard.Epoch) error { panic(why) } }, want: guard.ReasonCommandFailed, path: "sent holding"},
		{name: "start of a stream fails", stream: true, edit: func(_ *rig, c *guard.Command) { c.Start = func(guard.Epoch) error { return why } }, want: guard.ReasonCommandFailed, err: why, path: "sent canceling stopping settling holding"},
		{name: "stream fails", stream: true, edit: func(r *rig, c *guard.Command) {
			inner, n := c.Stream, 0
			c.Stream = func(e guard.Epoch, now time.Time, s guard.Sample) (bool, error) {
				if n++; n > 10 {
					return false, why
				}
				return inner(e, now, s)
			}
		}, want: guard.ReasonCommandFailed, err: why, path: "sent in_flight canceling stopping settling holding"},
		{name: "stream panics", stream: true, edit: func(_ *rig, c *guard.Command) {
			c.Stream = func(guard.Epoch, time.Time, guard.Sample) (bool, error) { panic(why) }
		}, want: guard.ReasonCommandFailed, path: "sent in_flight canceling stopping settling holding"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				c := r.r.Goal(5, 0.4)
				if tc.stream {
					c = r.r.Drive(5, 0.4)
				}
				tc.edit(r, &c)
				l := r.lease()
				r.path()
				o := r.outcome(r.execute(r.ctx, l, c), 15*time.Second)
				if o.Reason != tc.want || !o.AtRest {
					t.Errorf("outcome %+v", o)
				}
				var p *guard.PanicError
				if tc.err != nil && !errors.Is(o.Err, tc.err) || tc.err == nil && o.Err != nil && !errors.As(o.Err, &p) {
					t.Errorf("error %v", o.Err)
				}
				if p := names(r.path()); p != tc.path {
					t.Errorf("path %q, want %q", p, tc.path)
				}
			})
		})
	}
}

func TestServerFailureIsJudgedAtRest(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Goal(5, 0.4))
		r.wait(2 * time.Second)
		r.r.Velocity(0) // somebody takes the base over: the server aborts
		o := r.outcome(out, 5*time.Second)
		if o.Reason != guard.ReasonServerFailed || !o.AtRest || o.Err == nil {
			t.Errorf("outcome %+v", o)
		}
	})
}

// A motion at a tenth of the expected speed goes on well, and is no timeout.
func TestLongMotionThatGoesOnWellIsNotATimeout(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		o := r.outcome(r.execute(r.ctx, r.lease(), r.r.Goal(2, 0.015)), 200*time.Second)
		if o.Reason != guard.ReasonSucceeded || o.Took < 100*time.Second {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestCanceledBeforeItBegins(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		ctx, cancel := context.WithCancel(r.ctx)
		cancel()
		o := r.outcome(r.execute(ctx, r.lease(), r.r.Goal(1, 0.4)), time.Second)
		if o.Reason != guard.ReasonCanceled || !o.AtRest || r.r.Counts().Starts != 0 {
			t.Errorf("outcome %+v, %d starts", o, r.r.Counts().Starts)
		}
	})
}

// Whenever the cancel comes, the motion ends canceled and at rest; with a sensor that shows no noise too.
func TestCancelAtEveryMoment(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, quietSensor := range []bool{false, true} {
			for d := time.Duration(0); d <= 600*ms; d += 20 * ms {
				robot := noisy()
				if quietSensor {
					quiet(&robot)
				}
				withRig(t, rigOptions{robot: robot}, func(r *rig) {
					c := r.r.Goal(5, 0.4)
					if stream {
						c = r.r.Drive(5, 0.4)
					}
					ctx, cancel := context.WithTimeout(r.ctx, d)
					defer cancel()
					if o := r.outcome(r.execute(ctx, r.lease(), c), 8*time.Second); o.Reason != guard.ReasonCanceled || !o.AtRest {
						t.Errorf("canceled after %v (stream %v, quiet %v): %+v", d, stream, quietSensor, o)
					}
				})
			}
		}
	}
}

func TestAtRestSaysSinceWhen(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		l := r.lease()
		r.wait(time.Second)
		_, first, _ := r.a.AtRest()
		if d := time.Since(first); d < time.Second {
			t.Errorf("rest was measured %v ago", d)
		}
		began := time.Now()
		r.outcome(r.execute(r.ctx, l, r.r.Goal(1, 0.4)), 20*time.Second)
		ended := time.Now()
		r.wait(time.Second)
		rest, since, stamp := r.a.AtRest()
		if !rest || since.Before(began) || since.After(ended) || !stamp.After(ended) {
			t.Errorf("rest %v since %v, newest %v; began %v, ended %v", rest, since, stamp, began, ended)
		}
	})
}

func TestASecondSourceAgreesOrContradicts(t *testing.T) {
	feed := func(r *rig, v func() float64) {
		for r.ctx.Err() == nil {
			_, vel := r.r.Truth()
			if v != nil {
				vel[0] = v()
			}
			pos, _ := r.r.Truth()
			r.a.ObserveSecond(guard.Sample{Stamp: time.Now(), Position: pos, Velocity: vel})
			select {
			case <-time.After(50 * ms):
			case <-r.ctx.Done():
			}
		}
	}
	second := func(c *guard.Config) {
		c.Second = &guard.SecondSource{Axes: c.Axes, Period: 50 * ms}
	}
	robot := noisy()
	quiet(&robot)
	t.Run("agrees where values are frozen", func(t *testing.T) {
		withRig(t, rigOptions{robot: robot, config: second}, func(r *rig) {
			go feed(r, nil)
			l := r.lease()
			r.r.Set(func(f *guardtest.Faults) { f.FreezeValues = true })
			if o := r.outcome(r.execute(r.ctx, l, r.r.Goal(1, 0.4)), 20*time.Second); o.Reason != guard.ReasonSucceeded || !o.AtRest {
				t.Errorf("outcome %+v", o)
			}
			r.close()
		})
	})
	t.Run("contradicts", func(t *testing.T) {
		withRig(t, rigOptions{robot: robot, config: second}, func(r *rig) {
			var moves atomic.Bool
			go feed(r, func() float64 {
				if moves.Load() {
					return 0.1
				}
				return 0
			})
			l := r.lease()
			out := r.execute(r.ctx, l, r.r.Goal(1, 0.4))
			r.wait(time.Second)
			moves.Store(true)
			if o := r.outcome(out, 20*time.Second); o.AtRest {
				t.Errorf("outcome %+v", o)
			}
			r.close()
		})
	})
}

func TestManyActuatorsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := guard.New(guard.GuardConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		var robots []*guardtest.Robot
		var leases []*guard.Lease
		done := make(chan struct{})
		names := []string{"base", "arm", "gripper"}
		for i, name := range names {
			r := guardtest.New(guardtest.Options{Axes: []guard.Axis{{Name: "j", Group: guard.Joint}}, Noise: 1e-5, Seed: uint64(i)})
			a, err := g.Add(r.Config(name), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Attach(a)
			robots = append(robots, r)
			go func() { r.Run(ctx); done <- struct{}{} }()
		}
		ran := make(chan error, 1)
		runCtx, stop := context.WithCancel(ctx)
		go func() { ran <- g.Run(runCtx) }()
		if _, err := g.Add(robots[0].Config("base"), robots[0]); !errors.Is(err, guard.ErrConfig) {
			t.Errorf("two of one name: %v", err)
		}
		for i := range robots {
			s := g.States()
			if s[i].Name != names[i] {
				t.Errorf("states %+v", s)
			}
		}
		late := guardtest.New(guardtest.Options{Noise: 1e-5})
		a, err := g.Add(late.Config("late"), late) // while it runs
		if err != nil {
			t.Fatal(err)
		}
		late.Attach(a)
		go func() { late.Run(ctx); done <- struct{}{} }()
		if _, err := a.Acquire(ctx, "test"); err != nil {
			t.Error(err)
		}
		_ = leases
		robots[1].Set(func(f *guardtest.Faults) { f.NoFeedback = true })
		time.Sleep(2 * time.Second)
		err = g.StopAll(ctx, "test")
		var e *guard.NotAtRestError
		if !errors.As(err, &e) || len(e.Actuators) != 1 || e.Actuators[0].Name != "arm" {
			t.Errorf("StopAll says %v", err)
		}
		stop()
		if err := <-ran; !errors.As(err, &e) {
			t.Errorf("Run says %v", err)
		}
		cancel()
		for range 4 {
			<-done
		}
	})
}

func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	good := guardtest.New(guardtest.Options{}).Config("base")
	g := guard.New(guard.GuardConfig{})
	for name, spoil := range map[string]func(*guard.Config){
		"no name":          func(c *guard.Config) { c.Name = "" },
		"no axes":          func(c *guard.Config) { c.Axes = nil },
		"unknown group":    func(c *guard.Config) { c.Axes = []guard.Axis{{Name: "x", Group: "elastic"}} },
		"no period":        func(c *guard.Config) { c.Period = 0 },
		"no stop time":     func(c *guard.Config) { c.StopTime = -1 },
		"one sample":       func(c *guard.Config) { c.MinSamples = 1 },
		"NaN gap":          func(c *guard.Config) { c.MaxGapPeriods = nan() },
		"NaN spread":       func(c *guard.Config) { c.ArrivalSpread = nan() },
		"NaN deceleration": func(c *guard.Config) { c.Deceleration = nan() },
		"zero threshold":   func(c *guard.Config) { c.Groups = map[guard.Group]guard.Limits{guard.Linear: {Displacement: 1}} },
		"NaN threshold": func(c *guard.Config) {
			c.Groups = map[guard.Group]guard.Limits{guard.Linear: {Speed: nan(), Displacement: 1}}
		},
		"nothing settles":   func(c *guard.Config) { c.SettleTime = c.Window },
		"period is timeout": func(c *guard.Config) { c.Period, c.Window = 500*ms, 1*ms },
		"second, no axes":   func(c *guard.Config) { c.Second = &guard.SecondSource{Period: 1} },
		"second, no period": func(c *guard.Config) { c.Second = &guard.SecondSource{Axes: c.Axes} },
	} {
		c := good
		spoil(&c)
		if _, err := g.Add(c, guardtest.New(guardtest.Options{})); !errors.Is(err, guard.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := g.Add(good, nil); !errors.Is(err, guard.ErrConfig) {
		t.Errorf("no driver: %v", err)
	}
}

func nan() float64 { z := 0.0; return z / z }

// What comes while the actuator still settles waits for rest, however long that takes: it is no refusal that it has just ended something.
func TestWhatComesWhileItSettlesWaitsForRest(t *testing.T) {
	for name, play := range map[string]func(*rig){
		// Somebody pushes it: settling, then stopped, then at rest.
		"pushed": func(r *rig) {
			r.r.Push(0.05)
			r.wait(500 * ms)
			go func() { time.Sleep(4500 * ms); r.r.Push(0) }()
		},
		// Measurements are lost, come back late, and have gaps then.
		"not seen": func(r *rig) {
			r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
			r.wait(1200 * ms)
			go func() {
				time.Sleep(3500 * ms)
				r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
				for range 6 {
					time.Sleep(300 * ms)
					r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = true })
					time.Sleep(100 * ms)
					r.r.Set(func(f *guardtest.Faults) { f.NoFeedback = false })
				}
			}()
		},
	} {
		t.Run(name+"/lease", func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				r.lease().Release()
				play(r)
				if _, err := r.a.Acquire(r.ctx, "next"); err != nil {
					t.Error(err)
				}
			})
		})
		t.Run(name+"/command", func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				l := r.lease()
				play(r)
				o := r.outcome(r.execute(r.ctx, l, r.r.Goal(0.3, 0.4)), 20*time.Second)
				if stopped := errors.Is(o.Err, guard.ErrLeaseLost); name == "not seen" && (o.Reason != guard.ReasonSucceeded || stopped) {
					t.Errorf("outcome %+v", o)
				}
				if o.Reason == guard.ReasonRefused && errors.Is(o.Err, guard.ErrBusy) {
					t.Errorf("refused as busy: %+v", o)
				}
			})
		})
	}
}

// A goal on the heels of another one, at every moment of its settling.
func TestACommandOnTheHeelsOfAnother(t *testing.T) {
	for after := time.Duration(0); after < 1500*ms; after += 100 * ms {
		withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
			l := r.lease()
			ctx, cancel := context.WithCancel(r.ctx)
			out := r.execute(ctx, l, r.r.Goal(100, 0.4))
			r.wait(time.Second)
			cancel()
			r.wait(after)
			go l.Release()
			next, err := r.a.Acquire(r.ctx, "next")
			for errors.Is(err, guard.ErrOwned) { // the command before has not ended
				r.wait(20 * ms)
				next, err = r.a.Acquire(r.ctx, "next")
			}
			if err != nil {
				t.Fatalf("%v after the cancel: %v", after, err)
			}
			r.outcome(out, time.Second)
			pos, _ := r.r.Truth()
			if o := r.outcome(r.execute(r.ctx, next, r.r.Goal(pos[0]+0.3, 0.4)), 20*time.Second); o.Reason != guard.ReasonSucceeded {
				t.Errorf("%v after the cancel: %+v", after, o)
			}
		})
	}
}
