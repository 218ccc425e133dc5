package guard_test

import (
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// scene plays a few steps that random events rarely take one after another; what is going on meanwhile goes on.
func (c *chaos) scene() {
	k := c.rng.IntN(11)
	c.note("scene %d", k)
	set := func(f func(*guardtest.Faults)) { c.r.Set(f) }
	after := func(d time.Duration, do func()) { time.Sleep(d); do() }
	c.heal()
	c.resume()
	time.Sleep(time.Second)
	switch k {
	case 0, 1, 2: // the rest of a paused motion is refused, not answered, or cannot be sent
		c.command()
		after(800*ms, func() { c.g.Pause(guard.SourceOperator) })
		after(1900*ms, func() { set(func(f *guardtest.Faults) { f.Reject, f.NoAnswer = k == 0, k == 1 }) })
		c.resume()
		time.Sleep(2500 * ms)
	case 3: // too long a pause
		c.command()
		after(800*ms, func() { c.g.Pause("speed_scaling") })
		time.Sleep(5200 * ms)
	case 4: // it does not move, and nobody says why
		set(func(f *guardtest.Faults) { f.ProtectiveStop = true })
		c.command()
		time.Sleep(6 * time.Second)
	case 5: // canceled, then refused
		set(func(f *guardtest.Faults) { f.Reject = true; f.AcceptDelay = 600 * ms })
		c.command()
		after(200*ms, func() { c.cancel() })
		time.Sleep(time.Second)
	case 6: // the result overtakes the acceptance
		set(func(f *guardtest.Faults) { f.NoAcceptance, f.NoProgress, f.SucceedAt = true, true, 300*ms })
		c.command()
		time.Sleep(time.Second)
	case 7: // the server dies before it has answered
		set(func(f *guardtest.Faults) { f.NoAcceptance, f.NoProgress = true, true })
		c.command()
		after(200*ms, c.r.Die)
	case 10: // somebody else has left a goal behind
		if c.r.Running() == 0 {
			pos, _ := c.r.Truth()
			c.r.Left(c.a.Adopt(), pos[0]+2*(c.rng.Float64()-0.5), 0.4)
		}
	case 9: // a navigator that heeds neither cancel nor velocities, and then does
		set(func(f *guardtest.Faults) { f.Insists, f.IgnoreCancel = true, true })
		c.command()
		after(800*ms, func() { c.cancel() })
		time.Sleep(time.Duration(c.rng.IntN(16000)) * ms)
		set(func(f *guardtest.Faults) { f.IgnoreCancel = false })
		time.Sleep(2 * time.Second)
	case 8: // feedback comes, and is gone again
		set(func(f *guardtest.Faults) { f.NoFeedback = true })
		after(1500*ms, func() { set(func(f *guardtest.Faults) { f.NoFeedback = false }) })
		after(200*ms, func() { set(func(f *guardtest.Faults) { f.NoFeedback = true }) })
		time.Sleep(1500 * ms)
	}
}

func (c *chaos) fault() {
	k := c.rng.IntN(25)
	c.note("fault %d", k)
	if k == 23 {
		c.r.Push((c.rng.Float64() - 0.5) * 0.5)
		return
	}
	on := c.rng.IntN(3) > 0
	d := time.Duration(0)
	if on {
		d = time.Duration(c.rng.IntN(4000)) * ms
	}
	c.r.Set(func(f *guardtest.Faults) {
		switch k {
		case 0:
			f.NoFeedback = on
		case 1:
			f.FreezeValues = on && c.noisy // a quiet sensor that freezes cannot be told from rest while nothing is commanded
		case 2:
			f.FreezeStamps = on
		case 3:
			f.RepeatLast = on
		case 4:
			f.NaN = on
		case 5:
			f.Inf = on
		case 6:
			f.NaNPosition = on
		case 7:
			if f.StaleZero = d; on {
				f.StaleZero += time.Second // younger ones are no stale stamps but lies
			}
		case 8:
			f.Reject = on
		case 9:
			f.NoAcceptance = on
		case 10:
			f.NoAnswer = on
		case 11:
			f.AcceptDelay = d
		case 12:
			f.SucceedAt = d
		case 13:
			f.NoProgress = on
		case 14:
			f.RefuseCancel = on
		case 15:
			f.IgnoreCancel = on
		case 16:
			f.SilentCancel = on
		case 17:
			f.CancelDelay, f.StopDelay = d/2, d/3
		case 18:
			f.LateResult, f.LateSuccess = d, on
		case 19:
			f.NoResult = on
		case 20:
			f.IgnoreStop = on
		case 21:
			f.StopFails = on
		case 22:
			f.NoSubscriber = on
		case 24:
			f.Insists = on
		}
	})
}
