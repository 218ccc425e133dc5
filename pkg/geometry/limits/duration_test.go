package limits_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/geometry/limits"
)

func TestDuration(t *testing.T) {
	b := limits.Base{Forward: 0.5, Backward: 0.25, Angular: 1, Accel: 0.5, Decel: 1, AngularDecel: 2}
	for _, c := range []struct {
		distance, angle float64
		want            time.Duration
	}{
		{0, 0, 0},
		{1, 0, 2750 * time.Millisecond},            // 1 s up over 0.25 m, 0.5 s down over 0.125 m, 0.625 m at 0.5 m/s
		{-1, 0, 4375 * time.Millisecond},           // likewise at half the speed
		{0, math.Pi, 3641592653 * time.Nanosecond}, // half a second up and down each
		{0.1, 0, 774596669 * time.Nanosecond},      // too short for the full speed
		{math.Inf(1), 0, math.MaxInt64},
		{math.NaN(), 0, math.MaxInt64},
	} {
		if got := b.Duration(c.distance, c.angle); got < c.want-time.Microsecond || got > c.want {
			t.Errorf("%g m, %g rad: %v, want %v", c.distance, c.angle, got, c.want)
		}
	}
}

// It is the time of the motion that is driven at the limits, step by step.
func TestDurationIsThatOfTheMotion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := limits.Base{
			Forward: rapid.Float64Range(0.05, 2).Draw(t, "speed"), Accel: rapid.Float64Range(0.1, 3).Draw(t, "up"), Decel: rapid.Float64Range(0.1, 3).Draw(t, "down"),
		}
		way := rapid.Float64Range(0.01, 20).Draw(t, "way")
		const dt = 1e-4
		x, v, took := 0.0, 0.0, 0.0
		for x < way && took < 1e4 {
			// As fast as it may be and still stop in time.
			v = math.Min(math.Min(v+b.Accel*dt, b.Forward), math.Sqrt(2*b.Decel*(way-x)))
			if v < 1e-3 && x > way/2 {
				break
			}
			x += v * dt
			took += dt
		}
		if got := b.Duration(way, 0).Seconds(); math.Abs(got-took) > 0.02+0.01*took {
			t.Fatalf("%g m: %g s, driven in %g s", way, got, took)
		}
	})
}
