package guard_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// Source time that stands keeps nobody who wants a command over: not in the stop path, not while it settles, whenever the cancel comes. What
// is told names the clock.
func TestACancelWaitsForNoClock(t *testing.T) {
	const reserve = 7 * time.Second
	for name, c := range map[string]struct {
		stream bool
		set    func(*guardtest.Faults) // of the robot while time stands
		cancel time.Duration           // after time stands
		stop   bool
	}{
		"a stream":                         {stream: true},
		"a stream, held":                   {stream: true, cancel: 2 * time.Second},
		"a goal":                           {},
		"a goal, held":                     {cancel: 2 * time.Second},
		"a goal that arrived":              {cancel: 20 * time.Second, set: func(f *guardtest.Faults) { f.ProtectiveStop = false }},
		"a goal whose server is frozen":    {cancel: 100 * ms, set: func(f *guardtest.Faults) { f.IgnoreCancel = true }},
		"a goal that arrived, and a stop":  {cancel: 20 * time.Second, set: func(f *guardtest.Faults) { f.ProtectiveStop = false }, stop: true},
		"a goal that is held, then a stop": {cancel: 2 * time.Second, stop: true},
	} {
		t.Run(name, func(t *testing.T) {
			withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
				command := r.r.Goal(1.2, 0.4)
				if c.stream {
					command = r.r.Drive(1.2, 0.4)
				}
				ctx, cancel := context.WithCancel(r.ctx)
				defer cancel()
				out := r.execute(ctx, r.lease(), command)
				r.wait(time.Second)
				r.stand(true)
				if c.set != nil {
					r.r.Set(c.set)
				}
				r.wait(c.cancel)
				asked := time.Now()
				if c.stop {
					stopped, done := context.WithTimeout(r.ctx, reserve)
					defer done()
					if err := r.g.StopAll(stopped, "test"); err == nil || !strings.Contains(err.Error(), "ROS time stands still (source: clock)") {
						t.Errorf("the stop says %v", err)
					}
				} else {
					cancel()
				}
				o := r.outcome(out, time.Minute)
				if took := time.Since(asked); took > reserve || o.AtRest || !strings.Contains(o.Detail, "ROS time stands still (source: clock)") {
					t.Errorf("after %v, in %s: %+v", took, names(r.path()), o)
				}
				r.stand(false)
			})
		})
	}
}

// A goal that nobody wants over is measured when time goes on.
func TestSettlingWaitsForTheClock(t *testing.T) {
	withRig(t, rigOptions{robot: noisy()}, func(r *rig) {
		out := r.execute(r.ctx, r.lease(), r.r.Goal(0.5, 0.4))
		r.wait(time.Second)
		r.stand(true)
		r.r.Set(func(f *guardtest.Faults) { f.ProtectiveStop = false })
		r.wait(20 * time.Second)
		r.stand(false)
		if o := r.outcome(out, 5*time.Second); o.Reason != guard.ReasonSucceeded || !o.AtRest {
			t.Errorf("outcome %+v", o)
		}
	})
}
