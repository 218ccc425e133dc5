package robottools

import (
	"time"

	"agent_node/pkg/guard"
)

// ScaledClock runs rate times as fast as the machine's: for a robot simulated faster than real time.
type ScaledClock struct {
	begin time.Time
	rate  float64
}

// NewScaledClock begins now.
func NewScaledClock(rate float64) *ScaledClock { return &ScaledClock{begin: time.Now(), rate: rate} }

// Now implements guard.Clock.
func (c *ScaledClock) Now() time.Time {
	return c.begin.Add(time.Duration(float64(time.Since(c.begin)) * c.rate))
}

// Machine is the machine's time at which this clock showed t: what arrives is stamped by that one.
func (c *ScaledClock) Machine(t time.Time) time.Time {
	return c.begin.Add(time.Duration(float64(t.Sub(c.begin)) / c.rate))
}

// NewTicker implements guard.Clock: d passes rate times as fast, and never in less than a millisecond.
func (c *ScaledClock) NewTicker(d time.Duration) guard.Ticker {
	t := time.NewTicker(max(time.Duration(float64(d)/c.rate), time.Millisecond))
	out := &scaledTicker{ticker: t, clock: c, times: make(chan time.Time, 1), stop: make(chan struct{})}
	go out.run()
	return out
}

// scaledTicker passes ticks on with the scaled time.
type scaledTicker struct {
	ticker *time.Ticker
	clock  *ScaledClock
	times  chan time.Time
	stop   chan struct{}
}

func (t *scaledTicker) run() {
	for {
		select {
		case <-t.ticker.C:
			select {
			case t.times <- t.clock.Now():
			default: // a slow receiver misses ticks
			}
		case <-t.stop:
			return
		}
	}
}

// C implements guard.Ticker.
func (t *scaledTicker) C() <-chan time.Time { return t.times }

// Stop implements guard.Ticker.
func (t *scaledTicker) Stop() {
	t.ticker.Stop()
	close(t.stop)
}
