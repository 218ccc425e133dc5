package trajectory

import (
	"fmt"
	"math"
	"time"
)

// glide appends a motion from the last point to q in which the rate along the way, its change, and that one's change are limited (1/s, 1/s², 1/s³): seven
// stretches of even jerk, the same on the way up and on the way down.
func (t *Trajectory) glide(q, way []float64, top, push, jolt float64) error {
	rise, hold := lift(top, push, jolt)
	if ramp(rise, hold, jolt)*(2*rise+hold) > 1 {
		// The way is too short for the full rate: the greatest one at which going up and down is the whole way.
		lo, hi := 0.0, top
		for range 100 {
			mid := (lo + hi) / 2
			if rise, hold = lift(mid, push, jolt); ramp(rise, hold, jolt)*(2*rise+hold) <= 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		rise, hold = lift(lo, push, jolt)
	}
	cruise := max(0, 1/ramp(rise, hold, jolt)-2*rise-hold)
	// Stretches of less than a millisecond are left out or made longer: over so short a time, a controller's polynomial makes accelerations of the
	// positions' rounding. Longer stretches only make it slower.
	if cruise < shortest {
		hold, cruise = hold+cruise, 0
	}
	if hold < shortest {
		rise, hold = rise+hold, 0
	}
	rise = max(rise, shortest)
	riseTime, holdTime, cruiseTime := ceil(rise), ceil(hold), ceil(cruise)
	if total := 4*rise + 2*hold + cruise; !(total < maxSeconds) {
		return fmt.Errorf("%w: moving by %v takes %g s, at most %g s", ErrPath, way, total, float64(maxSeconds))
	}
	// With the times rounded up, the jerk that makes it the whole way is a hair less.
	r, h := riseTime.Seconds(), holdTime.Seconds()
	j := 1 / (r * (r + h) * (2*r + h + cruiseTime.Seconds()))
	last := t.Points[len(t.Points)-1]
	at, s, v, a := last.Time, 0.0, 0.0, 0.0
	for _, phase := range [...]struct {
		time time.Duration
		jerk float64
	}{{riseTime, j}, {holdTime, 0}, {riseTime, -j}, {cruiseTime, 0}, {riseTime, -j}, {holdTime, 0}, {riseTime, j}} {
		if phase.time == 0 {
			continue
		}
		d := phase.time.Seconds()
		s += d * (v + d*(a/2+d*phase.jerk/6))
		v += d * (a + d*phase.jerk/2)
		a += d * phase.jerk
		at += phase.time
		t.add(along(last.Positions, way, s), at, along(nil, way, v), along(nil, way, a))
	}
	end := &t.Points[len(t.Points)-1] // but for rounding, it is there and at rest
	end.Positions, end.Velocities, end.Accelerations = append([]float64(nil), q...), make([]float64, len(q)), make([]float64, len(q))
	return nil
}

// shortest stretch of a glide, s.
const shortest = 1e-3

// lift is how a rate is reached: how long the change rises (and falls), and how long it is held in between.
func lift(top, push, jolt float64) (rise, hold float64) {
	if rise = push / jolt; rise*push < top {
		return rise, top/push - rise
	}
	return math.Sqrt(top / jolt), 0
}

// ramp is the rate that is reached.
func ramp(rise, hold, jolt float64) float64 { return jolt * rise * (rise + hold) }

// along is from plus a share of the way; from nil is zero.
func along(from, way []float64, share float64) []float64 {
	out := make([]float64, len(way))
	for k := range out {
		out[k] = share * way[k]
		if from != nil {
			out[k] += from[k]
		}
	}
	return out
}
