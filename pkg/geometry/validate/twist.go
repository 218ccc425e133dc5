package validate

import (
	"fmt"
	"math"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/zone"
)

// CheckTwist is Validate for a twist, for control loops: it appends to into and allocates only for findings.
//
// A zero twist passes in every world: it is how things stop. Any other must be finite, a body twist, within the limits, and
// change no faster than they allow; and the footprint must stay clear of zones and blocked cells while the twist is applied from the measured
// pose for its duration (by default the command timeout) and the base then brakes.
func CheckTwist(t Twist, w *World, into []geometry.Finding) []geometry.Finding {
	n := len(into)
	if into = limits.CheckFinite(t.Twist, into); len(into) > n || t.Twist.IsZero() {
		return into
	}
	if into = w.motionNeeds(into); len(into) > n {
		return into
	}
	into = w.stamp(t.Stamp, "header.stamp", into)
	if t.Frame != "" && t.Frame != w.base() {
		into = append(into, geometry.New(geometry.RuleFrame, "header.frame_id", -1, 0, 0, "",
			fmt.Sprintf("is %q: a twist for the base must be in %q", t.Frame, w.base())))
	}
	if t.Duration < 0 || t.Duration > maxDuration {
		into = append(into, geometry.Over(geometry.RuleRange, "duration", -1, t.Duration.Seconds(), maxDuration.Seconds(), "s"))
	}
	into = w.Limits.CheckTwist(t.Twist, into)
	if w.Previous != nil && len(into) == n {
		at := w.Now
		if !t.Stamp.IsZero() {
			at = t.Stamp.Ns()
		}
		into = w.Limits.CheckStep(*w.Previous, t.Twist, time.Duration(at-w.PreviousStamp), into)
	}
	if len(into) > n {
		return into // where it would lead is of interest for what may be sent at all
	}
	st, into := w.locate(&w.State, into)
	if len(into) > n {
		return into
	}
	applied := or(t.Duration, w.commandTimeout()) + st.age
	if w.farFromAll(st, w.travel(t.Twist, applied)) {
		return into
	}
	var legs [1 + brakeSteps]leg
	c := course{legs: w.predict(&legs, st.pose, t.Twist, applied), grace: math.Inf(1)}
	into, _ = w.judge(st, &c, into)
	return w.speedZones(st, t.Twist, &c, 1, 0, into)
}

// travel bounds the way of every point of the footprint while a twist is applied for a time and then braked to rest.
func (w *World) travel(t spatial.Twist, applied time.Duration) float64 {
	return w.Limits.StoppingDistance(planarSpeed(t), applied) + w.Footprint.OuterRadius()*w.Limits.StoppingAngle(t.Angular.Z, applied)
}

// planarSpeed in m/s; what overflows is not finite, as all that is made of it.
func planarSpeed(t spatial.Twist) float64 {
	return math.Sqrt(t.Linear.X*t.Linear.X + t.Linear.Y*t.Linear.Y)
}

// farFromAll reports whether no zone and no blocked cell can be met on a way of that length, wherever it leads. It is quick, and says no when in
// doubt.
func (w *World) farFromAll(st start, travel float64) bool {
	if w.Map != nil {
		if w.Map.Frame() != w.Frame {
			return false
		}
		if !(w.Map.Reach(w.Footprint, st.pose, w.MapMargin) > travel) {
			return false
		}
	}
	for _, zones := range [...][]*zone.Zone{w.Workspace, w.Zones} {
		for _, z := range zones {
			if z.Frame() != w.Frame || !z.Beyond(w.Footprint, st.pose, travel) && !(z.Room(w.Footprint, st.pose) > travel) {
				return false
			}
		}
	}
	return true
}

// maxDuration of one twist. Nobody can tell where a robot is after more.
const maxDuration = time.Hour

// brakeSteps cuts the braking into arcs: the two speeds do not reach zero together, and the curve changes meanwhile.
const brakeSteps = 3

// predict is the way of a twist applied for a time and then braked to rest.
func (w *World) predict(legs *[1 + brakeSteps]leg, from spatial.Pose2, t spatial.Twist, applied time.Duration) []leg {
	vx, vy, wz := t.Linear.X, t.Linear.Y, t.Angular.Z
	m := spatial.Arc(from, vx, vy, wz, applied.Seconds())
	legs[0] = leg{motion: m, index: -1}
	tv, tw := planarSpeed(t)/w.Limits.Decel, math.Abs(wz)/w.Limits.AngularDecel
	steps := brakeSteps
	if tv == 0 || tw == 0 {
		steps = 1 // one speed alone does not change the curve
	}
	dt := max(tv, tw) / float64(steps)
	for i := range steps {
		a, b := float64(i)*dt, float64(i+1)*dt
		fv, fw := braked(a, b, tv), braked(a, b, tw)
		m = spatial.Arc(m.End(), vx*fv, vy*fv, wz*fw, 1)
		legs[1+i] = leg{motion: m, index: -1}
	}
	return legs[:1+steps]
}

// braked is the integral from a to b of a unit speed that falls to zero evenly until stop.
func braked(a, b, stop float64) float64 {
	if stop == 0 {
		return 0
	}
	a, b = min(a, stop), min(b, stop)
	return (b - a) - (b*b-a*a)/(2*stop)
}

// speedZones appends a finding for each speed zone that the first leg enters faster than it allows. factor and slack widen the
// zone's speeds: a measured speed has noise, a commanded one has none.
func (w *World) speedZones(st start, t spatial.Twist, c *course, factor, slack float64, into []geometry.Finding) []geometry.Finding {
	speed, turning := planarSpeed(t), math.Abs(t.Angular.Z)
	for _, z := range w.Zones {
		if z.Kind() != zone.Speed {
			continue
		}
		maxLinear, maxAngular := z.Config().MaxLinear, z.Config().MaxAngular
		fast := maxLinear > 0 && !(speed <= maxLinear*factor+slack)
		spins := maxAngular > 0 && !(turning <= maxAngular*factor+slack)
		if !fast && !spins {
			continue
		}
		rel, applies, more := w.place(z, st.height, into)
		into = more
		if !applies || z.Sweep(w.Footprint, c.legs[0].motion.In(rel), 0).OK {
			continue
		}
		if fast {
			into = append(into, geometry.Over(geometry.RuleSpeedZone, z.Name(), -1, speed, maxLinear, "m/s"))
		}
		if spins {
			into = append(into, geometry.Over(geometry.RuleSpeedZone, z.Name(), -1, turning, maxAngular, "rad/s"))
		}
	}
	return into
}

// nearestTwist offers the twist within the limits, on the same curve, slowed down as far as zones and map ask for, and not stamped.
func nearestTwist(t Twist, w *World) Command {
	if w.Check() != nil || t.Frame != "" && t.Frame != w.base() {
		return nil
	}
	best, ok := w.Limits.Clamp(t.Twist)
	if !ok {
		return nil
	}
	valid := func(f float64) bool {
		return len(CheckTwist(Twist{Twist: best.Scaled(f), Duration: t.Duration}, w, nil)) == 0
	}
	const least = 0.05 // of the speed: less is no motion worth a proposal
	f := 1.0
	if !valid(1) {
		if !valid(least) {
			return nil
		}
		lo, hi := least, 1.0
		for range 6 {
			if mid := (lo + hi) / 2; valid(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		f = lo
	}
	return Twist{Twist: best.Scaled(f), Frame: t.Frame, Duration: t.Duration}
}

// Measured speeds may be over a limit by this share and by this much (m/s or rad/s) before a motion is stopped for it.
const (
	measuredShare = 0.1
	measuredSlack = 0.02
)

// InFlight judges the measured state while a motion is under way: measured speed against limits and speed zones, the measured
// pose and the way that the base needs to stop against zones (and against the map, where World.MapInFlight says so). A breach by
// less than World.StartTolerance is borne with: measurements have noise. w.State is not looked at.
func InFlight(s State, w *World) []geometry.Finding {
	into := w.motionNeeds(nil)
	if len(into) > 0 {
		return into
	}
	st, into := w.locate(&s, into)
	if len(into) > 0 {
		return into
	}
	v, wz := s.Twist.Linear, s.Twist.Angular.Z
	forward := w.Limits.Forward
	if v.X < 0 {
		forward = w.Limits.Backward
	}
	for _, m := range [...]struct {
		rule, subject string
		value, limit  float64
		unit          string
	}{
		{geometry.RuleLinearVelocity, "state.twist.linear.x", v.X, forward, "m/s"},
		{geometry.RuleLinearVelocity, "state.twist.linear.y", v.Y, w.Limits.Lateral, "m/s"},
		{geometry.RuleAngularVelocity, "state.twist.angular.z", wz, w.Limits.Angular, "rad/s"},
	} {
		// A base drifts sideways and rolls back a little while it brakes, whatever it is made for.
		slack := measuredSlack
		if m.limit == 0 {
			slack = 5 * measuredSlack
		}
		if !(math.Abs(m.value) <= m.limit*(1+measuredShare)+slack) {
			into = append(into, geometry.Over(m.rule, m.subject, -1, m.value, m.limit, m.unit))
		}
	}
	var legs [1 + brakeSteps]leg
	c := course{legs: w.predict(&legs, st.pose, s.Twist, st.age), grace: math.Inf(1), flight: true, noMap: !w.MapInFlight}
	into, _ = w.judge(st, &c, into)
	return w.speedZones(st, s.Twist, &c, 1+measuredShare, measuredSlack, into)
}
