package robottools

import (
	"time"

	"agent_node/pkg/guard"
)

// SimClock shows the time of a robot that is simulated in this process, faster than real time or slower. It stands still while
// the simulation does: what a busy machine holds up, it holds up for both.
type SimClock struct {
	begin   time.Time
	rate    float64
	elapsed func() time.Duration
}

// NewSimClock begins now; elapsed is the simulated time that has passed, rate how many simulated seconds there are to be in a real one.
func NewSimClock(rate float64, elapsed func() time.Duration) *SimClock {
	return &SimClock{begin: time.Now(), rate: rate, elapsed: elapsed}
}

// Now implements guard.Clock.
func (c *SimClock) Now() time.Time { return c.begin.Add(c.elapsed()) }

// NewTicker implements guard.Clock: d passes rate times as fast, and never in less than a millisecond.
func (c *SimClock) NewTicker(d time.Duration) guard.Ticker {
	t := time.NewTicker(max(time.Duration(float64(d)/c.rate), time.Millisecond))
	out := &simTicker{ticker: t, clock: c, times: make(chan time.Time, 1), stop: make(chan struct{})}
	go out.run()
	return out
}

// simTicker passes ticks on with the simulated time.
type simTicker struct {
	ticker *time.Ticker
	clock  *SimClock
	times  chan time.Time
	stop   chan struct{}
}

func (t *simTicker) run() {
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
func (t *simTicker) C() <-chan time.Time { return t.times }

// Stop implements guard.Ticker.
func (t *simTicker) Stop() {
	t.ticker.Stop()
	close(t.stop)
}
