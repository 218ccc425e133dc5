package ros

import (
	"fmt"
	"sync"
	"time"
)

// SystemClock is ROS time taken from the system's wall clock.
type SystemClock struct{}

// Now is the wall clock's time.
func (SystemClock) Now() Time { return TimeFrom(time.Now()) }

// Simulated is false.
func (SystemClock) Simulated() bool { return false }

// Advancing is true.
func (SystemClock) Advancing() bool { return true }

// OnJump never calls: steps of the system's clock are not told to programs.
func (SystemClock) OnJump(func(from, to Time)) (remove func()) { return func() {} }

// jumps are functions to call when time jumps.
type jumps struct {
	mu   sync.Mutex
	next int
	fns  map[int]func(from, to Time)
}

func (j *jumps) add(fn func(from, to Time)) (remove func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fns == nil {
		j.fns = make(map[int]func(from, to Time))
	}
	id := j.next
	j.next++
	j.fns[id] = fn
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.fns, id)
	}
}

// call calls the functions without holding a lock: they may register and remove.
func (j *jumps) call(from, to Time) {
	j.mu.Lock()
	fns := make([]func(from, to Time), 0, len(j.fns))
	for id := range j.next {
		if fn, ok := j.fns[id]; ok {
			fns = append(fns, fn)
		}
	}
	j.mu.Unlock()
	for _, fn := range fns {
		fn(from, to)
	}
}

// jumpForward is how far time may go on between two clock messages before it is a jump.
const jumpForward = time.Second

// jumped reports whether going from one time to the next is a jump. Time that begins is none.
func jumped(from, to Time) bool {
	return !from.IsZero() && (to < from || to.Sub(from) > jumpForward)
}

// SimClock is simulated time: the newest time that it was fed. Zero until the first.
type SimClock struct {
	elapsed func() time.Duration // monotonic real time

	mu      sync.Mutex
	now     Time
	moved   bool
	movedAt time.Duration
	jumps   jumps
}

// NewSimClock makes a simulated clock. elapsed is monotonic real time since any
// fixed moment, nil for the machine's; tests give their own.
func NewSimClock(elapsed func() time.Duration) *SimClock {
	if elapsed == nil {
		start := time.Now()
		elapsed = func() time.Duration { return time.Since(start) }
	}
	return &SimClock{elapsed: elapsed}
}

// Feed takes the time of a /clock message. It calls the jump functions before it returns.
func (c *SimClock) Feed(t Time) {
	c.mu.Lock()
	from := c.now
	c.now = t
	if t != from {
		c.moved, c.movedAt = true, c.elapsed()
	}
	c.mu.Unlock()
	if jumped(from, t) {
		c.jumps.call(from, t)
	}
}

// Now is the newest time fed.
func (c *SimClock) Now() Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Simulated is true.
func (*SimClock) Simulated() bool { return true }

// Advancing reports whether time changed within the last second of real time.
func (c *SimClock) Advancing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved && c.elapsed()-c.movedAt <= time.Second
}

// OnJump registers a function for jumps of the clock.
func (c *SimClock) OnJump(fn func(from, to Time)) (remove func()) { return c.jumps.add(fn) }

// ManualClock is a clock for tests, moved by hand.
type ManualClock struct {
	mu        sync.Mutex
	now       Time
	simulated bool
	stopped   bool
	jumps     jumps
}

// NewManualClock makes a clock that stands at t and says that it is not simulated.
func NewManualClock(t Time) *ManualClock { return &ManualClock{now: t} }

// Advance moves the clock by d, without a jump.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set moves the clock to t; a jump if t is earlier or more than a second later.
func (c *ManualClock) Set(t Time) {
	c.mu.Lock()
	from := c.now
	c.now = t
	c.mu.Unlock()
	if jumped(from, t) {
		c.jumps.call(from, t)
	}
}

// SetSimulated sets what Simulated says.
func (c *ManualClock) SetSimulated(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.simulated = on
}

// SetAdvancing sets what Advancing says; it is true at first.
func (c *ManualClock) SetAdvancing(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = !on
}

// Now is the time the clock stands at.
func (c *ManualClock) Now() Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Simulated is what SetSimulated said.
func (c *ManualClock) Simulated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.simulated
}

// Advancing is what SetAdvancing said.
func (c *ManualClock) Advancing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.stopped
}

// OnJump registers a function for jumps made by Set.
func (c *ManualClock) OnJump(fn func(from, to Time)) (remove func()) { return c.jumps.add(fn) }

// SimTimeSetter is what a node is, beside Node, when its clock can be made to
// follow /clock: the parameter use_sim_time calls it.
type SimTimeSetter interface {
	UseSimTime(on bool) error
}

// NodeClock is a node's ROS time: a base clock, or /clock with simulated time. Transports make one for each node.
type NodeClock struct {
	base Clock

	mu       sync.Mutex
	sim      *SimClock    // nil without simulated time
	clock    Subscription // of /clock
	jumps    jumps
	forwards func() // removes the forwarding of the current clock's jumps
	closed   bool
}

// NewNodeClock makes a clock that tells base's time until UseSimTime.
func NewNodeClock(base Clock) *NodeClock {
	c := &NodeClock{base: base}
	c.forwards = base.OnJump(c.jumps.call)
	return c
}

// UseSimTime makes the clock follow /clock through a subscription of the node, or
// the base clock again. A switch counts as a jump if both times are known.
func (c *NodeClock) UseSimTime(node Node, on bool) error {
	c.mu.Lock()
	if on == (c.sim != nil) || c.closed {
		c.mu.Unlock()
		return nil
	}
	from := c.source().Now()
	var old Subscription
	if on {
		sim := NewSimClock(nil)
		sub, err := node.CreateSubscription("/clock", "rosgraph_msgs/msg/Clock", QoS{Depth: 1, Reliability: BestEffort},
			func(r Received) { sim.Feed(r.Message.Stamp("clock")) })
		if err != nil {
			c.mu.Unlock()
			return fmt.Errorf("use simulated time: %w", err)
		}
		c.sim, c.clock = sim, sub
	} else {
		old, c.sim, c.clock = c.clock, nil, nil
	}
	c.forwards()
	c.forwards = c.source().OnJump(c.jumps.call)
	to := c.source().Now()
	c.mu.Unlock()
	if !to.IsZero() && jumped(from, to) {
		c.jumps.call(from, to)
	}
	if old != nil {
		return old.Close()
	}
	return nil
}

// source is the clock that tells the time now.
func (c *NodeClock) source() Clock {
	if c.sim != nil {
		return c.sim
	}
	return c.base
}

func (c *NodeClock) current() Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source()
}

// Now is the current ROS time.
func (c *NodeClock) Now() Time { return c.current().Now() }

// Simulated reports whether the time comes from /clock.
func (c *NodeClock) Simulated() bool { return c.current().Simulated() }

// Advancing is that of the clock in use.
func (c *NodeClock) Advancing() bool { return c.current().Advancing() }

// OnJump registers a function for jumps of whichever clock is in use.
func (c *NodeClock) OnJump(fn func(from, to Time)) (remove func()) { return c.jumps.add(fn) }

// Close ends the forwarding of the base clock's jumps; the node closes the subscription.
func (c *NodeClock) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.forwards()
	}
}
