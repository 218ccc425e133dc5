package limits

import (
	"math"
	"time"
)

// Duration estimates how long a base takes at its limits for a distance driven (m) and an angle turned (rad), one after the
// other, from rest to rest: up with Accel (Decel where that is not known), down with Decel. Infinite where either is not finite.
func (b *Base) Duration(distance, angle float64) time.Duration {
	speed := b.Forward
	if distance < 0 && b.Backward > 0 {
		speed = b.Backward
	}
	t := ramped(math.Abs(distance), speed, b.Accel, b.Decel) + ramped(math.Abs(angle), b.Angular, b.AngularAccel, b.AngularDecel)
	if !(t < math.MaxInt64/float64(time.Second)) {
		return math.MaxInt64
	}
	return time.Duration(t * float64(time.Second))
}

// ramped is the time for a way at a speed, with a ramp up and a ramp down; a way too short for the full speed has a peak.
func ramped(way, speed, up, down float64) float64 {
	if way == 0 {
		return 0
	}
	if !(up > 0) {
		up = down
	}
	if !(speed > 0) || !(down > 0) {
		return math.Inf(1)
	}
	ramps := speed*speed/(2*up) + speed*speed/(2*down)
	if way >= ramps {
		return (way-ramps)/speed + speed/up + speed/down
	}
	peak := math.Sqrt(2 * way / (1/up + 1/down))
	return peak/up + peak/down
}
