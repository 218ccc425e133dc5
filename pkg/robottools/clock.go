package robottools

import (
	"slices"
	"sync"
	"time"

	"agent_node/pkg/guard"
)

// SimClock shows the time of a robot that is simulated in this process, faster than real time or slower. It stands still while
// the simulation does: what a busy machine holds up, it holds up for both. Its tickers tick by the simulated time too, as
// Advance tells of it.
type SimClock struct {
	begin   time.Time
	elapsed func() time.Duration

	mu      sync.Mutex
	tickers []*simTicker
}

// NewSimClock begins now; elapsed is the simulated time that has passed.
func NewSimClock(elapsed func() time.Duration) *SimClock {
	return &SimClock{begin: time.Now(), elapsed: elapsed}
}

// Now implements guard.Clock.
func (c *SimClock) Now() time.Time { return c.begin.Add(c.elapsed()) }

// NewTicker implements guard.Clock.
func (c *SimClock) NewTicker(d time.Duration) guard.Ticker {
	if d <= 0 {
		panic("robottools: the period of a ticker must be positive")
	}
	t := &simTicker{clock: c, period: d, next: c.elapsed() + d, times: make(chan time.Time), stop: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tickers = append(c.tickers, t)
	return t
}

// Advance lets the tickers tick that are due. It waits until their receivers have taken the ticks, so that a simulation that calls
// it after each step does not run ahead of whoever watches it; a receiver that takes none for so long in real time is waited for
// no more until it takes one.
func (c *SimClock) Advance(patience time.Duration) {
	now := c.elapsed()
	c.mu.Lock()
	due := make([]*simTicker, 0, len(c.tickers))
	for _, t := range c.tickers {
		if t.next > now {
			continue
		}
		if t.next += t.period; t.next <= now { // a slow receiver misses ticks
			t.next = now + t.period
		}
		due = append(due, t)
	}
	c.mu.Unlock()
	for _, t := range due {
		t.tick(c.Now(), patience)
	}
}

// simTicker passes ticks on with the simulated time.
type simTicker struct {
	clock  *SimClock
	period time.Duration
	next   time.Duration // guarded by the clock
	late   bool          // only Advance's goroutine looks at it
	times  chan time.Time
	once   sync.Once
	stop   chan struct{}
}

func (t *simTicker) tick(now time.Time, patience time.Duration) {
	select {
	case t.times <- now:
		t.late = false
		return
	case <-t.stop:
		return
	default:
	}
	if t.late {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case t.times <- now:
	case <-t.stop:
	case <-timer.C:
		t.late = true
	}
}

// C implements guard.Ticker.
func (t *simTicker) C() <-chan time.Time { return t.times }

// Stop implements guard.Ticker.
func (t *simTicker) Stop() {
	t.once.Do(func() { close(t.stop) })
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	t.clock.tickers = slices.DeleteFunc(t.clock.tickers, func(x *simTicker) bool { return x == t })
}
