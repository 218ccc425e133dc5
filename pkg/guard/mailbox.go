package guard

import (
	"sync"
	"time"
)

// mailbox brings inputs to the actuator's goroutine. Nobody who posts ever waits. Events are kept in order and never dropped, and go
// before measurements, so that a stop waits for no backlog; of measurements the oldest give way when the goroutine lags behind.
// Storage is reused: the periodic path allocates nothing.
type mailbox struct {
	wake chan struct{} // holds one token while something is there

	mu      sync.Mutex
	closed  bool
	events  []input
	samples []slot
	first   int
	held    int
	dropped int
}

// slot keeps one measurement with its own storage.
type slot struct {
	second  bool
	stamp   time.Time
	arrived mono
	pos     []float64
	vel     []float64
}

// samplesKept is how many measurements may wait: a quarter of a second at 1 kHz.
const samplesKept = 256

// newMailbox has room for measurements of so many axes.
func newMailbox(axes int) *mailbox {
	b := &mailbox{wake: make(chan struct{}, 1), samples: make([]slot, samplesKept)}
	for i := range b.samples {
		b.samples[i] = newSlot(axes)
	}
	return b
}

func newSlot(axes int) slot {
	return slot{pos: make([]float64, 0, axes), vel: make([]float64, 0, axes)}
}

// post adds an event; false after close.
func (b *mailbox) post(in input) bool {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return false
	}
	b.events = append(b.events, in)
	b.mu.Unlock()
	b.ring()
	return true
}

// postSample adds a copy of a measurement.
func (b *mailbox) postSample(second bool, arrived mono, s *Sample) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	if b.held == len(b.samples) {
		b.first = (b.first + 1) % len(b.samples)
		b.held--
		b.dropped++
	}
	to := &b.samples[(b.first+b.held)%len(b.samples)]
	b.held++
	to.second, to.stamp, to.arrived = second, s.Stamp, arrived
	to.pos = append(to.pos[:0], s.Position...)
	to.vel = append(to.vel[:0], s.Velocity...)
	b.mu.Unlock()
	b.ring()
}

func (b *mailbox) ring() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// takeEvents swaps the waiting events for an empty slice to fill.
func (b *mailbox) takeEvents(empty []input) []input {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = empty[:0]
	return events
}

// takeSample moves the oldest measurement to s, exchanging storage; false when none is left or an event waits.
func (b *mailbox) takeSample(s *slot) (ok bool, dropped int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dropped, b.dropped = b.dropped, 0
	if b.held == 0 || len(b.events) > 0 {
		return false, dropped
	}
	from := &b.samples[b.first]
	*s, *from = *from, *s
	b.first = (b.first + 1) % len(b.samples)
	b.held--
	return true, dropped
}

// close refuses what comes from now on, and returns what was not taken.
func (b *mailbox) close() []input {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	events := b.events
	b.events = nil
	return events
}
