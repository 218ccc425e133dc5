package limits

import (
	"math"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
)

// CheckTwist appends a finding for every component of a body twist that is not finite, that a ground base does not have, or that is over its limit.
func (b *Base) CheckTwist(t spatial.Twist, into []geometry.Finding) []geometry.Finding {
	start := len(into)
	into = CheckFinite(t, into)
	if len(into) > start {
		return into // limits say nothing about what is no number
	}
	if x := t.Linear.X; !(x <= b.Forward) {
		into = append(into, geometry.Over(geometry.RuleLinearVelocity, "linear.x", -1, x, b.Forward, "m/s"))
	} else if !(x >= -b.Backward) {
		into = append(into, geometry.Over(geometry.RuleLinearVelocity, "linear.x", -1, x, -b.Backward, "m/s"))
	}
	if y := math.Abs(t.Linear.Y); b.Lateral == 0 && y != 0 {
		into = append(into, geometry.New(geometry.RuleLinearY, "linear.y", -1, t.Linear.Y, 0, "m/s", "must be 0: the base does not move sideways"))
	} else if !(y <= b.Lateral) {
		into = append(into, geometry.Over(geometry.RuleLinearVelocity, "linear.y", -1, t.Linear.Y, math.Copysign(b.Lateral, t.Linear.Y), "m/s"))
	}
	if w := t.Angular.Z; !(math.Abs(w) <= b.Angular) {
		into = append(into, geometry.Over(geometry.RuleAngularVelocity, "angular.z", -1, w, math.Copysign(b.Angular, w), "rad/s"))
	}
	if t.Linear.Z != 0 {
		into = append(into, geometry.New(geometry.RuleLinearZ, "linear.z", -1, t.Linear.Z, 0, "m/s", "must be 0: the base stays on the ground"))
	}
	if t.Angular.X != 0 {
		into = append(into, geometry.New(geometry.RuleAngularX, "angular.x", -1, t.Angular.X, 0, "rad/s", "must be 0: the base does not roll"))
	}
	if t.Angular.Y != 0 {
		into = append(into, geometry.New(geometry.RuleAngularY, "angular.y", -1, t.Angular.Y, 0, "rad/s", "must be 0: the base does not pitch"))
	}
	return into
}

// CheckFinite appends a finding for every component that is NaN or infinite.
func CheckFinite(t spatial.Twist, into []geometry.Finding) []geometry.Finding {
	if t.Finite() {
		return into
	}
	for _, c := range [...]struct {
		name  string
		value float64
		unit  string
	}{
		{"linear.x", t.Linear.X, "m/s"},
		{"linear.y", t.Linear.Y, "m/s"},
		{"linear.z", t.Linear.Z, "m/s"},
		{"angular.x", t.Angular.X, "rad/s"},
		{"angular.y", t.Angular.Y, "rad/s"},
		{"angular.z", t.Angular.Z, "rad/s"},
	} {
		if !spatial.Finite(c.value) {
			into = append(into, geometry.NotFinite(c.name, -1, c.value, c.unit))
		}
	}
	return into
}

// Clamp gives the nearest twist within the limits: components that the base does not have are zero, the rest is
// scaled as a whole, so that the curve stays the same. ok is false when a component is not finite, or nothing is left to move.
func (b *Base) Clamp(t spatial.Twist) (clamped spatial.Twist, ok bool) {
	if !t.Finite() {
		return spatial.Twist{}, false
	}
	var c spatial.Twist
	c.Linear.X, c.Angular.Z = t.Linear.X, t.Angular.Z
	if b.Lateral > 0 {
		c.Linear.Y = t.Linear.Y
	}
	forward := b.Forward
	if c.Linear.X < 0 {
		forward = b.Backward
	}
	f := min(1, ratio(forward, c.Linear.X), ratio(b.Lateral, c.Linear.Y), ratio(b.Angular, c.Angular.Z))
	c = c.Scaled(f)
	// Scaling rounds; what is over by that is set onto the limit.
	c.Linear.X = min(max(c.Linear.X, -b.Backward), b.Forward)
	c.Linear.Y = min(max(c.Linear.Y, -b.Lateral), b.Lateral)
	c.Angular.Z = min(max(c.Angular.Z, -b.Angular), b.Angular)
	return c, !c.IsZero()
}

func ratio(limit, v float64) float64 {
	if v == 0 {
		return 1
	}
	return limit / math.Abs(v)
}

// CheckStep appends a finding for every axis whose velocity changes faster between two successive commands of one stream than
// the limits allow. Slowing down is bounded by the acceleration limit or the deceleration that the base is capable of, whichever is
// more. dt is the time between them; zero velocity is always allowed, for it is how streams end.
func (b *Base) CheckStep(prev, next spatial.Twist, dt time.Duration, into []geometry.Finding) []geometry.Finding {
	if next.IsZero() {
		return into
	}
	s := dt.Seconds()
	if !(s > 0) {
		return append(into, geometry.Over(geometry.RuleTimeOrder, "stamp", -1, s, 0, "s"))
	}
	into = step("linear.x", prev.Linear.X, next.Linear.X, s, b.Accel, b.Decel, "m/s^2", into)
	into = step("linear.y", prev.Linear.Y, next.Linear.Y, s, b.Accel, b.Decel, "m/s^2", into)
	return step("angular.z", prev.Angular.Z, next.Angular.Z, s, b.AngularAccel, b.AngularDecel, "rad/s^2", into)
}

// stepSlack absorbs the rounding of ramps computed from the same limits.
const stepSlack = 1e-9

func step(name string, from, to, dt, accel, decel float64, unit string, into []geometry.Finding) []geometry.Finding {
	if accel == 0 {
		return into
	}
	limit := accel
	if from*to >= 0 && math.Abs(to) < math.Abs(from) {
		limit = max(accel, decel)
	}
	if a := math.Abs(to-from) / dt; !(a <= limit*(1+stepSlack)) {
		return append(into, geometry.Over(geometry.RuleAcceleration, name, -1, a, limit, unit))
	}
	return into
}

// Ramp gives the twist closest to want that is within the limits and that CheckStep allows after prev.
func (b *Base) Ramp(prev, want spatial.Twist, dt time.Duration) spatial.Twist {
	want, ok := b.Clamp(want)
	s := dt.Seconds()
	if !ok || !(s > 0) || !prev.Finite() {
		return spatial.Twist{}
	}
	want.Linear.X = ramp(prev.Linear.X, want.Linear.X, s, b.Accel, b.Decel)
	want.Linear.Y = ramp(prev.Linear.Y, want.Linear.Y, s, b.Accel, b.Decel)
	want.Angular.Z = ramp(prev.Angular.Z, want.Angular.Z, s, b.AngularAccel, b.AngularDecel)
	return want
}

func ramp(from, to, dt, accel, decel float64) float64 {
	if accel == 0 {
		return to
	}
	if from*to < 0 {
		// Through zero: brake first. What is left of the period is not used to speed up again.
		to = 0
	}
	limit := accel
	if math.Abs(to) < math.Abs(from) {
		limit = max(accel, decel)
	}
	return from + min(max(to-from, -limit*dt), limit*dt)
}

// StoppingDistance is how far the base goes on at a speed (m/s) before it rests: reaction time, then braking.
func (b *Base) StoppingDistance(speed float64, reaction time.Duration) float64 {
	v := math.Abs(speed)
	return v*reaction.Seconds() + v*v/(2*b.Decel)
}

// StoppingAngle is the same for turning (rad/s).
func (b *Base) StoppingAngle(speed float64, reaction time.Duration) float64 {
	w := math.Abs(speed)
	return w*reaction.Seconds() + w*w/(2*b.AngularDecel)
}
