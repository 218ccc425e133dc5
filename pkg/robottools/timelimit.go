package robottools

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
)

// TimeLimit of a call: fixed, or from what its motion is estimated to take, or none.
type TimeLimit struct {
	// Fixed limit, s; 0: there is none.
	Fixed float64
	// Factor times the estimate, and Plus seconds; Factor 0: not so.
	Factor, Plus float64
	// None, said as such: also where there would be a limit by default.
	None bool
}

// fixedLimit in seconds.
func fixedLimit(s float64) TimeLimit { return TimeLimit{Fixed: s} }

// UnmarshalJSON reads a number, "none", or {factor, plus}.
func (l *TimeLimit) UnmarshalJSON(data []byte) error {
	*l = TimeLimit{}
	if json.Unmarshal(data, &l.Fixed) == nil {
		return nil
	}
	var word string
	if json.Unmarshal(data, &word) == nil && word == "none" {
		l.None = true
		return nil
	}
	var by struct{ Factor, Plus float64 }
	if err := json.Unmarshal(data, &by); err != nil || !(by.Factor > 0) {
		return fmt.Errorf("robottools: a time limit is %s: seconds, none, or {factor, plus} are wanted", data)
	}
	l.Factor, l.Plus = by.Factor, by.Plus
	return nil
}

// motionLimit is the call's time limit, given what its motion is estimated to take, and whether that is known; 0: none.
func (b *bound) motionLimit(s scope, estimate func() (time.Duration, bool)) (time.Duration, error) {
	l := b.def.TimeLimit
	if l.Factor == 0 {
		return seconds(l.Fixed), nil
	}
	var takes time.Duration
	if b.estimate != nil {
		sec, err := b.estimate.number(s)
		if err != nil {
			return 0, fmt.Errorf("estimate: %w", err)
		}
		if !(sec >= 0 && sec <= maxWait) {
			return 0, fmt.Errorf("estimate: the motion takes %g s, limits 0 s and %d s", sec, maxWait)
		}
		takes = seconds(sec)
	} else {
		estimated, known := estimate()
		if !known {
			return 0, fmt.Errorf("time_limit: how long the motion takes is not known")
		}
		takes = estimated
	}
	limit := l.Factor*takes.Seconds() + l.Plus
	if !(limit < maxWait) {
		return 0, fmt.Errorf("time_limit: %.0f s for a motion of %.0f s, limit %d s", limit, takes.Seconds(), maxWait)
	}
	return max(seconds(limit), time.Millisecond), nil
}

// pathTime estimates how long a base takes along a path, stopping only at its end and turning as it goes: the turning is
// counted at full speed, as if it stood still for it.
func (a *baseActuator) pathTime(p validate.Path) (time.Duration, bool) {
	if len(p.Poses) == 0 {
		return 0, false
	}
	way, turned, last := 0.0, 0.0, math.NaN()
	for i := 1; i < len(p.Poses); i++ {
		d := p.Poses[i].Position
		e := p.Poses[i-1].Position
		step := math.Hypot(d.X-e.X, d.Y-e.Y)
		if step == 0 {
			continue
		}
		way += step
		heading := math.Atan2(d.Y-e.Y, d.X-e.X)
		if last == last {
			turned += math.Abs(AngleDiff(heading, last))
		}
		last = heading
	}
	if last == last {
		turned += math.Abs(AngleDiff(spatial.Yaw(p.Poses[len(p.Poses)-1].Orientation), last)) + math.Pi // it may begin by turning round
	}
	return a.limits.Duration(way, turned), true
}
