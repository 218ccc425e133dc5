package trajectory

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"agent_node/pkg/geometry/limits"
)

// ErrPath is wrapped by errors about a path that no trajectory can be made of.
var ErrPath = errors.New("trajectory: bad path")

// FromPath makes a trajectory along a path of joint configurations: straight in joint space between them, at rest at each of them, as
// fast as the limits (velocity and acceleration, both needed) times speed allow; speed is in (0, 1], 0 means 1. It begins with the path's first
// configuration at time zero. Configurations that repeat the one before are passed over; a path that goes nowhere is a trajectory of one point.
//
// Between two configurations all joints speed up evenly, cruise, and slow down together. The points have velocities and no accelerations: the
// cubic that a controller lays through them is then just this motion. Where the jerk of a joint is limited, the acceleration rises and falls evenly as
// well, and the points have accelerations: a quintic through them is that motion.
func FromPath(path [][]float64, joints []limits.Joint, speed float64) (Trajectory, error) {
	if speed == 0 {
		speed = 1
	}
	if !(speed > 0 && speed <= 1) {
		return Trajectory{}, fmt.Errorf("%w: speed is %g, must be over 0 and at most 1", ErrPath, speed)
	}
	if len(path) == 0 || len(joints) == 0 {
		return Trajectory{}, fmt.Errorf("%w: %d configurations of %d joints", ErrPath, len(path), len(joints))
	}
	var t Trajectory
	for _, j := range joints {
		if err := j.Check(); err != nil {
			return Trajectory{}, fmt.Errorf("%w: %w", ErrPath, err)
		}
		if j.Velocity == 0 || j.Acceleration == 0 {
			return Trajectory{}, fmt.Errorf("%w: joint %q: velocity limit %g, acceleration limit %g: both are needed", ErrPath, j.Name, j.Velocity, j.Acceleration)
		}
		t.Joints = append(t.Joints, j.Name)
	}
	for i, q := range path {
		if len(q) != len(joints) || !allFinite(q) {
			return Trajectory{}, fmt.Errorf("%w: configuration %d is %v, must be %d finite numbers", ErrPath, i, q, len(joints))
		}
	}
	t.add(path[0], 0, make([]float64, len(joints)), nil)
	if jerky(joints) {
		t.Points[0].Accelerations = make([]float64, len(joints))
	}
	for _, q := range path[1:] {
		if err := t.move(q, joints, speed); err != nil {
			return Trajectory{}, err
		}
	}
	return t, nil
}

func (t *Trajectory) add(q []float64, at time.Duration, v, a []float64) {
	t.Points = append(t.Points, Point{Positions: append([]float64(nil), q...), Velocities: v, Accelerations: a, Time: at})
}

func jerky(joints []limits.Joint) bool {
	return slices.ContainsFunc(joints, func(j limits.Joint) bool { return j.Jerk > 0 })
}

// still is how far a joint may go without it being a motion, rad or m.
const still = 1e-9

// move appends the motion from the last point to q.
func (t *Trajectory) move(q []float64, joints []limits.Joint, speed float64) error {
	n := len(q)
	last := t.Points[len(t.Points)-1]
	way := make([]float64, n)
	far := 0.0
	top, push, jolt := math.Inf(1), math.Inf(1), math.Inf(1) // the largest rate along the way, its largest change, and the change's, in ways per second
	for k, j := range joints {
		way[k] = q[k] - last.Positions[k]
		d := math.Abs(way[k])
		far = max(far, d)
		top, push = min(top, speed*j.Velocity/d), min(push, speed*j.Acceleration/d)
		if j.Jerk > 0 {
			jolt = min(jolt, speed*j.Jerk/d)
		}
	}
	if far <= still {
		return nil
	}
	if jerky(joints) {
		return t.glide(q, way, top, push, jolt)
	}
	// Speeding up for a time, cruising for another; rounded up, so that no limit is passed. A cruise of less than a millisecond is left out: over so short a
	// time, a controller's cubic makes accelerations of the positions' rounding.
	up := math.Min(top/push, 1/math.Sqrt(push))
	cruise := max(0, 1/min(top, push*up)-up)
	if cruise < 1e-3 {
		up, cruise = up+cruise, 0
	}
	upTime, cruiseTime := ceil(up), ceil(cruise)
	if !((2*up + cruise) < maxSeconds) {
		return fmt.Errorf("%w: moving by %g takes %g s, at most %g s", ErrPath, far, 2*up+cruise, float64(maxSeconds))
	}
	rate := 1 / (upTime.Seconds() + cruiseTime.Seconds())
	v := make([]float64, n)
	for k := range v {
		v[k] = rate * way[k]
	}
	share := rate * upTime.Seconds() / 2
	mid := func(s float64) []float64 {
		out := make([]float64, n)
		for k := range out {
			out[k] = last.Positions[k] + s*way[k]
		}
		return out
	}
	at := last.Time + upTime
	t.add(mid(share), at, v, nil)
	if cruiseTime > 0 {
		at += cruiseTime
		t.add(mid(1-share), at, append([]float64(nil), v...), nil)
	}
	t.add(q, at+upTime, make([]float64, n), nil)
	return nil
}

// maxSeconds of one motion.
const maxSeconds = 3600

// ceil rounds up to whole nanoseconds.
func ceil(seconds float64) time.Duration {
	return time.Duration(math.Ceil(math.Min(seconds, 10*maxSeconds) * 1e9))
}

// Slowed is the trajectory stretched in time by a factor of 1 or more: the same curve at a lower speed. Another factor, or one
// by which it would take over an hour, leaves it as it is.
func (t Trajectory) Slowed(factor float64) Trajectory {
	if !(factor >= 1 && t.Duration().Seconds()*factor <= maxSeconds) {
		return t
	}
	out := Trajectory{Joints: t.Joints, Points: make([]Point, len(t.Points))}
	scaled := func(list []float64, by float64) []float64 {
		if len(list) == 0 {
			return nil
		}
		s := make([]float64, len(list))
		for i := range s {
			s[i] = list[i] * by
		}
		return s
	}
	for i, p := range t.Points {
		out.Points[i] = Point{
			Positions: scaled(p.Positions, 1), Velocities: scaled(p.Velocities, 1/factor), Accelerations: scaled(p.Accelerations, 1/(factor*factor)),
			Effort: scaled(p.Effort, 1), Time: ceil(p.Time.Seconds() * factor),
		}
	}
	return out
}
