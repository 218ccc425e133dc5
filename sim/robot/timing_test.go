package robot

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
)

// A machine that is busy delays the looks at the clock, and the playing of what is due; stamps go forward all the same, and
// stay near the clock.
func TestStampsGoForwardOnABusyMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wall := time.Unix(1000, 0)
		clock := ros.NewManualClock(ros.TimeFrom(wall))
		pass := func(d time.Duration) {
			wall = wall.Add(d)
			clock.Advance(d)
		}
		tm := timing{rate: 1, clock: clock}
		pace := pacer{rate: 1, last: wall}
		var sim time.Duration
		tm.begin(sim, clock.Now())
		last := ros.Time(0)
		delay := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 30 * time.Millisecond, 200 * time.Millisecond, 3 * time.Second})
		each := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 9 * time.Millisecond})
		for range rapid.IntRange(1, 60).Draw(t, "looks") {
			pass(shortest + delay.Draw(t, "delay"))
			now, seen := wall, clock.Now()
			step := each.Draw(t, "step")
			for range pace.due(now) {
				sim += physics.Step
				pass(step)
				stamp := tm.stamp(sim)
				if stamp <= last {
					t.Fatalf("a stamp goes back by %v", last.Sub(stamp))
				}
				last = stamp
			}
			tm.adjust(sim, seen)
			if off := seen.Sub(tm.stamp(sim)); off > skew || off < -skew {
				t.Fatalf("stamps are %v off the clock", off)
			}
		}
	})
}
