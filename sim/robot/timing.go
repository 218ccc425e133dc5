package robot

import (
	"sync/atomic"
	"time"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
)

const (
	// epoch is what /clock shows at the start: not zero, which means "not set".
	epoch = ros.Time(100 * time.Second)
	// shortest is the shortest time between two looks at the clock; a rate beyond
	// what it allows makes several steps at a look.
	shortest = time.Millisecond
	// backlog is how much real time is caught up with after a pause of the process.
	// What exceeds it is left out: the robot's time then stands still.
	backlog = time.Second
	// burst is how much simulated time is played in one go at most where time is held up for those who listen. More than one look's
	// worth is played at least.
	burst = 50 * time.Millisecond
	// skew is how far stamps may be from the node's clock before they are set by it anew.
	skew = 100 * time.Millisecond
)

// timing maps simulated time to stamps.
type timing struct {
	rate      float64
	simulated bool      // stamps are simulated time, which goes out on /clock
	clock     ros.Clock // else they are this clock's
	zero      atomic.Int64
}

// begin sets the stamps: the simulated time now was at that time of the clock.
func (t *timing) begin(now time.Duration, clock ros.Time) {
	t.zero.Store(int64(epoch))
	if !t.simulated {
		t.zero.Store(int64(clock.Add(-now)))
	}
}

// stamp is the ROS time of a simulated time.
func (t *timing) stamp(now time.Duration) ros.Time { return ros.Time(t.zero.Load()).Add(now) }

// adjust follows the node's clock when it was set, or when the robot's time stood still: the simulated time now was due at
// that time of the clock.
func (t *timing) adjust(now time.Duration, clock ros.Time) {
	if t.simulated {
		return
	}
	if off := clock.Sub(t.stamp(now)); off > skew || off < -skew {
		t.begin(now, clock)
	}
}

// period is the real time between two looks at the clock.
func (t *timing) period() time.Duration {
	return max(t.real(physics.Step), shortest)
}

// real is how long a simulated time lasts.
func (t *timing) real(d time.Duration) time.Duration {
	return time.Duration(float64(d) / t.rate)
}

// pacer says how many steps are due.
type pacer struct {
	rate float64
	last time.Time
	owed time.Duration // simulated
	held bool          // nothing is caught up with
}

func (p *pacer) due(now time.Time) int {
	passed := min(now.Sub(p.last), backlog)
	p.last = now
	p.owed += time.Duration(float64(passed) * p.rate)
	if p.held {
		p.owed = min(p.owed, max(burst, time.Duration(2*p.rate*float64(shortest))))
	}
	n := p.owed / physics.Step
	p.owed -= n * physics.Step
	return int(n)
}
