package guard_test

import (
	"testing"
	"time"

	"agent_node/pkg/guard"
)

// A stream is told of each pause before it goes on, by whoever it was made and however short: its own time begins anew.
func TestAStreamIsToldThatItResumes(t *testing.T) {
	for _, source := range []string{guard.SourceOperator, "protective_stop"} {
		for _, pause := range []time.Duration{ms, 60 * ms, 10 * time.Second} {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				c := r.r.Drive(1.2, 0.4)
				var last, told time.Time
				resumed, gaps := 0, 0
				stream := c.Stream
				c.Stream = func(e guard.Epoch, now time.Time, latest guard.Sample) (bool, error) {
					if !last.IsZero() && now.Sub(last) > 3*r.a.Config().ControlPeriod/2 && !told.After(last) {
						gaps++
					}
					last = now
					return stream(e, now, latest)
				}
				c.Resumed = func() { resumed, told = resumed+1, time.Now() }
				out := r.execute(r.ctx, r.lease(), c)
				const pauses = 4
				for range pauses {
					r.wait(700 * ms)
					r.g.Pause(source)
					r.wait(pause)
					r.g.Resume(source)
				}
				if o := r.outcome(out, 30*time.Second); o.Reason != guard.ReasonSucceeded || !o.AtRest {
					t.Errorf("%s: outcome %+v", source, o)
				}
				if gaps > 0 || resumed > pauses || resumed < 2 {
					t.Errorf("%s of %v: told %d times of %d pauses, %d gaps untold", source, pause, resumed, pauses, gaps)
				}
			})
		}
	}
}

// A panic there ends the command, not the guard.
func TestAPanicOnResumingEndsTheCommand(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		c := r.r.Drive(5, 0.4)
		c.Resumed = func() { panic("drawn") }
		out := r.execute(r.ctx, r.lease(), c)
		r.wait(1500 * ms)
		r.g.Pause("protective_stop")
		r.wait(time.Second)
		r.g.Resume("protective_stop")
		if o := r.outcome(out, 8*time.Second); o.Reason != guard.ReasonCommandFailed || !o.AtRest || o.Err == nil {
			t.Errorf("outcome %+v", o)
		}
	})
}
