package trajectory

import (
	"fmt"
	"math"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
)

// slack is what rounding may add to a limit: 1e-9 of it, and of a position as much in rad or m.
const slack = 1e-9

// Excess is by how much a curve is too fast: the greatest quotients of what it asks for and what is allowed; at most 1 where it keeps the limits.
type Excess struct {
	Velocity     float64
	Acceleration float64
	Step         float64 // of speed at once
	Jerk         float64
	JerkStep     float64 // of acceleration at once
	Tip          float64 // speed of the arm's tip, where it is limited
}

// Slowing is the factor by which the trajectory must be stretched in time to keep the limits, 1 or more.
func (e Excess) Slowing() float64 {
	return max(1, e.Velocity, e.Tip, math.Sqrt(e.Acceleration), e.Step, math.Cbrt(e.Jerk), math.Sqrt(e.JerkStep))
}

// CheckLimits appends a finding for each joint and limit that the curve breaks at any time: position, velocity, acceleration, steps of the speed; and
// where the joint's jerk is limited, jerk and steps of the acceleration.
// joints are in the curve's order. stepLag is how far a joint may lag behind where its speed is to change at once: between stretches without
// velocities, a joint that must change its speed by v takes v²/(2a) longer. A start beyond a limit is borne with as long as the joint does not go farther out.
func (c *Curve) CheckLimits(joints []limits.Joint, stepLag float64, into []geometry.Finding) ([]geometry.Finding, Excess) {
	var e Excess
	if len(joints) != c.joints {
		return append(into, geometry.New(geometry.RuleLimits, "joints", -1, float64(len(joints)), float64(c.joints), "",
			fmt.Sprintf("has limits for %d joints, the trajectory %d", len(joints), c.joints))), e
	}
	for k, j := range joints {
		if err := j.Check(); err != nil {
			into = append(into, geometry.New(geometry.RuleLimits, "joints", k, 0, 0, "", err.Error()))
			continue
		}
		for _, f := range [...]struct {
			name  string
			value float64
		}{{"velocity", j.Velocity}, {"acceleration", j.Acceleration}} {
			if !(f.value > 0) {
				into = append(into, geometry.New(geometry.RuleLimits, j.Name, -1, f.value, 0, "", "has no limit of "+f.name+": no motion can be judged"))
			}
		}
		if j.Velocity > 0 && j.Acceleration > 0 {
			into = c.checkPosition(k, j, into)
			into = c.checkVelocity(k, j, &e, into)
			into = c.checkAcceleration(k, j, &e, into)
			into = c.checkSteps(k, j, stepLag, &e, into)
			if j.Jerk > 0 {
				into = c.checkJerk(k, j, &e, into)
				into = c.checkJolts(k, j, &e, into)
			}
		}
	}
	return into, e
}

// worst is the greatest excess of a joint, and where it is.
type worst struct {
	excess, value float64
	segment       int
	at            float64
}

func (w *worst) look(excess, value float64, segment int, at float64) {
	if !(excess <= w.excess) {
		*w = worst{excess, value, segment, at}
	}
}

// where says when, and between which points.
func (c *Curve) where(w worst) string {
	s := &c.segments[w.segment]
	at := s.from + time.Duration(w.at*float64(s.to-s.from))
	from := "the measured state"
	if s.point > 0 {
		from = fmt.Sprintf("point %d", s.point-1)
	}
	return fmt.Sprintf(", at %.3f s, between %s and point %d", at.Seconds(), from, s.point)
}

func (c *Curve) checkPosition(k int, j limits.Joint, into []geometry.Finding) []geometry.Finding {
	if j.Continuous {
		return into
	}
	// Where it begins it may be a little out; farther out it may not go.
	first := c.segments[0].polys[k][0]
	lower, upper := min(j.Lower, first), max(j.Upper, first)
	w := worst{excess: slack}
	for i := range c.segments {
		s := c.segments[i].polys[k].span()
		w.look(lower-s.least, s.least, i, s.leastAt)
		w.look(s.greatest-upper, s.greatest, i, s.greatestAt)
	}
	if w.excess == slack {
		return into
	}
	return append(into, beyond(j, c.segments[w.segment].point, w.value, c.where(w)))
}

func (c *Curve) checkVelocity(k int, j limits.Joint, e *Excess, into []geometry.Finding) []geometry.Finding {
	w := worst{excess: 1 + slack}
	for i := range c.segments {
		T := c.segments[i].seconds()
		if T == 0 {
			continue
		}
		d := c.segments[i].polys[k].derived()
		v, at := d.span().largest()
		e.Velocity = max(e.Velocity, math.Abs(v/T)/j.Velocity)
		w.look(math.Abs(v/T)/j.Velocity, v/T, i, at)
	}
	return c.over(w, geometry.RuleVelocity, j, j.Velocity, j.Unit()+"/s", into)
}

func (c *Curve) checkAcceleration(k int, j limits.Joint, e *Excess, into []geometry.Finding) []geometry.Finding {
	w := worst{excess: 1 + slack}
	for i := range c.segments {
		T := c.segments[i].seconds()
		if T == 0 {
			continue
		}
		d := c.segments[i].polys[k].derived()
		d = d.derived()
		a, at := d.span().largest()
		e.Acceleration = max(e.Acceleration, math.Abs(a/(T*T))/j.Acceleration)
		w.look(math.Abs(a/(T*T))/j.Acceleration, a/(T*T), i, at)
	}
	return c.over(w, geometry.RuleAcceleration, j, j.Acceleration, j.Unit()+"/s²", into)
}

func (c *Curve) over(w worst, rule string, j limits.Joint, limit float64, unit string, into []geometry.Finding) []geometry.Finding {
	if w.excess == 1+slack {
		return into
	}
	f := geometry.Over(rule, j.Name, c.segments[w.segment].point, w.value, limit, unit)
	f.Message += c.where(w)
	return append(into, f)
}

// stepOf is the change of speed at once by which a joint falls behind by lag: it catches up v by speeding up evenly, v²/(2a), and where its jerk is
// limited by as much more as reaching that acceleration costs, va/(2j).
func stepOf(j limits.Joint, lag float64) float64 {
	if j.Jerk == 0 {
		return math.Sqrt(2 * j.Acceleration * lag)
	}
	b := j.Acceleration * j.Acceleration / (2 * j.Jerk)
	return math.Sqrt(b*b+2*j.Acceleration*lag) - b
}

// checkSteps looks at the joints of the curve, where the speed may change at once.
func (c *Curve) checkSteps(k int, j limits.Joint, lag float64, e *Excess, into []geometry.Finding) []geometry.Finding {
	allowed := stepOf(j, lag)
	w := worst{excess: 1 + slack}
	before := 0.0
	if len(c.start.Velocities) > 0 {
		before = c.start.Velocities[k]
	}
	for i := range c.segments {
		s := &c.segments[i]
		T := s.seconds()
		if T == 0 {
			continue
		}
		d := s.polys[k].derived()
		step := math.Abs(d.at(0)/T - before)
		before = d.at(1) / T
		if i == len(c.segments)-1 && s.straight {
			step = max(step, math.Abs(before)) // it must stop there
		}
		if step > allowed {
			e.Step = max(e.Step, step/allowed)
		}
		w.look(step/allowed, step, i, 0)
	}
	if w.excess == 1+slack {
		return into
	}
	f := geometry.New(geometry.RuleAcceleration, j.Name, c.segments[w.segment].point, w.value, allowed, j.Unit()+"/s",
		fmt.Sprintf("must change its speed by %s %s/s at once, limit %s %s/s", geometry.Digits(w.value, allowed), j.Unit(), geometry.Digits(allowed, w.value), j.Unit()))
	f.Message += c.where(w)
	return append(into, f)
}

func (c *Curve) checkJerk(k int, j limits.Joint, e *Excess, into []geometry.Finding) []geometry.Finding {
	w := worst{excess: 1 + jerkSlack}
	for i := range c.segments {
		T := c.segments[i].seconds()
		if T == 0 {
			continue
		}
		d := c.segments[i].polys[k].derived()
		d = d.derived()
		d = d.derived()
		v, at := d.span().largest()
		v /= T * T * T
		e.Jerk = max(e.Jerk, math.Abs(v)/j.Jerk)
		w.look(math.Abs(v)/j.Jerk, v, i, at)
	}
	if w.excess == 1+jerkSlack {
		return into
	}
	f := geometry.Over(geometry.RuleJerk, j.Name, c.segments[w.segment].point, w.value, j.Jerk, j.Unit()+"/s³")
	f.Message += c.where(w)
	return append(into, f)
}

// jerkSlack is what the rounding of times and positions may add to a jerk, relative: a third derivative has lost most digits.
const jerkSlack = 1e-3

// joltTime is the time over which a controller spreads a step of the acceleration, s: a cycle at 100 Hz.
const joltTime = 0.01

// checkJolts looks at the joints of the curve, where the acceleration may change at once. At its ends the joint rests.
func (c *Curve) checkJolts(k int, j limits.Joint, e *Excess, into []geometry.Finding) []geometry.Finding {
	allowed := j.Jerk * joltTime
	w := worst{excess: 1 + jerkSlack}
	before := 0.0
	for i := range c.segments {
		s := &c.segments[i]
		T := s.seconds()
		if T == 0 {
			continue
		}
		d := s.polys[k].derived()
		d = d.derived()
		jolt := math.Abs(d.at(0)/(T*T) - before)
		before = d.at(1) / (T * T)
		at := 0.0
		if i == len(c.segments)-1 && math.Abs(before) > jolt {
			jolt, at = math.Abs(before), 1
		}
		e.JerkStep = max(e.JerkStep, jolt/allowed)
		w.look(jolt/allowed, jolt, i, at)
	}
	if w.excess == 1+jerkSlack {
		return into
	}
	f := geometry.New(geometry.RuleJerk, j.Name, c.segments[w.segment].point, w.value, allowed, j.Unit()+"/s²",
		fmt.Sprintf("must change its acceleration by %s %s/s² at once, limit %s %s/s²", geometry.Digits(w.value, allowed), j.Unit(), geometry.Digits(allowed, w.value), j.Unit()))
	f.Message += c.where(w)
	return append(into, f)
}
