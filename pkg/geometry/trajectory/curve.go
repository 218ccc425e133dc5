package trajectory

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/geometry/spatial"
)

// ErrForm is wrapped by errors about a trajectory that no curve can be made of.
var ErrForm = errors.New("trajectory: bad form")

// Start is the state from which a controller goes to the first point.
type Start struct {
	Positions  []float64     // in the order of Trajectory.Joints
	Velocities []float64     // empty: at rest
	Time       time.Duration // at which the joints are there, on the trajectory's clock
}

// Curve is what a controller makes of a trajectory: a polynomial per joint and segment.
type Curve struct {
	joints   int
	start    Start
	segments []segment
	jump     bool // the first point is at the start's time: the curve begins there
}

// segment between two points.
type segment struct {
	from, to time.Duration
	point    int  // index of the point at its end
	straight bool // linear, for want of velocities
	polys    []poly
}

// NewCurve joins start and points, as the joint trajectory controller does: quintic between points that both have velocities and accelerations,
// cubic between those that both have velocities, else linear. The start has a velocity and no acceleration. Where the first point is at
// the start's time, the curve begins with it.
//
// Errors wrap ErrForm: no points, lists of other lengths than there are joints, numbers that are not finite, times that do not rise.
func NewCurve(start Start, t Trajectory) (*Curve, error) {
	n := len(t.Joints)
	if n == 0 || len(t.Points) == 0 {
		return nil, fmt.Errorf("%w: %d joints, %d points", ErrForm, n, len(t.Points))
	}
	if len(start.Positions) != n || len(start.Velocities) != 0 && len(start.Velocities) != n || !allFinite(start.Positions) || !allFinite(start.Velocities) {
		return nil, fmt.Errorf("%w: start: positions %v and velocities %v for %d joints", ErrForm, start.Positions, start.Velocities, n)
	}
	c := &Curve{joints: n, start: start}
	// The start is a point that has a velocity, be it measured or taken for zero.
	before := Point{Positions: start.Positions, Velocities: start.Velocities, Time: start.Time}
	if len(before.Velocities) == 0 {
		before.Velocities = make([]float64, n)
	}
	all := make([]poly, n*len(t.Points))
	for i, p := range t.Points {
		if err := p.check(n); err != nil {
			return nil, fmt.Errorf("%w: point %d: %w", ErrForm, i, err)
		}
		switch {
		case i == 0 && p.Time == start.Time:
			c.jump = true
		case p.Time <= before.Time:
			return nil, fmt.Errorf("%w: point %d is at %v, after %v", ErrForm, i, p.Time, before.Time)
		default:
			s := segment{from: before.Time, to: p.Time, point: i, polys: all[:n:n]}
			all = all[n:]
			s.interpolate(before, p)
			c.segments = append(c.segments, s)
		}
		before = p
	}
	if len(c.segments) == 0 { // one point, at once: it stays there
		s := segment{from: before.Time, to: before.Time, polys: all[:n:n]}
		for k := range n {
			s.polys[k] = poly{before.Positions[k]}
		}
		c.segments = append(c.segments, s)
	}
	return c, nil
}

func (p *Point) check(n int) error {
	for _, f := range [...]struct {
		name string
		list []float64
		need bool
	}{{"positions", p.Positions, true}, {"velocities", p.Velocities, false}, {"accelerations", p.Accelerations, false}} {
		if len(f.list) != n && (f.need || len(f.list) != 0) {
			return fmt.Errorf("%d %s for %d joints", len(f.list), f.name, n)
		}
		if !allFinite(f.list) {
			return fmt.Errorf("%s %v are not all finite", f.name, f.list)
		}
	}
	return nil
}

func allFinite(v []float64) bool {
	for _, x := range v {
		if !spatial.Finite(x) {
			return false
		}
	}
	return true
}

func (s *segment) interpolate(a, b Point) {
	t := s.seconds()
	s.straight = len(a.Velocities) == 0 || len(b.Velocities) == 0
	for k := range s.polys {
		switch {
		case s.straight:
			s.polys[k] = linear(a.Positions[k], b.Positions[k])
		case len(a.Accelerations) == 0 || len(b.Accelerations) == 0:
			s.polys[k] = cubic(a.Positions[k], t*a.Velocities[k], b.Positions[k], t*b.Velocities[k])
		default:
			s.polys[k] = quintic(a.Positions[k], t*a.Velocities[k], t*t*a.Accelerations[k], b.Positions[k], t*b.Velocities[k], t*t*b.Accelerations[k])
		}
	}
}

func (s *segment) seconds() float64 { return (s.to - s.from).Seconds() }

// Duration of the curve, from its start to its end.
func (c *Curve) Duration() time.Duration { return c.End() - c.start.Time }

// End of the curve, on the trajectory's clock.
func (c *Curve) End() time.Duration { return c.segments[len(c.segments)-1].to }

// At writes positions, velocities and accelerations at a time on the trajectory's clock; any of them may be nil. Before the curve and after it the joints rest
// at its ends.
func (c *Curve) At(t time.Duration, q, v, a []float64) {
	s := &c.segments[0]
	for i := range c.segments {
		s = &c.segments[i]
		if t <= s.to {
			break
		}
	}
	T := s.seconds()
	u := 0.0
	if T > 0 {
		u = min(max((t-s.from).Seconds()/T, 0), 1)
	}
	rests := T == 0 || t < s.from || t > s.to
	for k := range c.joints {
		p := &s.polys[k]
		if q != nil {
			q[k] = p.at(u)
		}
		if v == nil && a == nil {
			continue
		}
		if rests {
			set(v, k, 0)
			set(a, k, 0)
			continue
		}
		d := p.derived()
		set(v, k, d.at(u)/T)
		d = d.derived()
		set(a, k, d.at(u)/(T*T))
	}
}

func set(list []float64, k int, value float64) {
	if list != nil {
		list[k] = value
	}
}

// Segments is how many pieces the curve has.
func (c *Curve) Segments() int { return len(c.segments) }

// Segment is a piece of the curve.
func (c *Curve) Segment(i int) Segment { return Segment{&c.segments[i]} }

// Segment is a piece of a curve, as a motion by its share of time from 0 to 1 (collision.Motion).
type Segment struct{ s *segment }

// Point at its end: the index in the trajectory.
func (s Segment) Point() int { return s.s.point }

// Times of its ends, on the trajectory's clock.
func (s Segment) Times() (from, to time.Duration) { return s.s.from, s.s.to }

// At writes the positions.
func (s Segment) At(u float64, q []float64) {
	for k := range q {
		q[k] = s.s.polys[k].at(u)
	}
}

// Rates writes the largest speeds of the joints, per share of time.
func (s Segment) Rates(dq []float64) {
	for k := range dq {
		d := s.s.polys[k].derived()
		v, _ := d.span().largest()
		dq[k] = max(v, -v)
	}
}

// Velocities writes the speeds of the joints, rad/s or m/s.
func (s Segment) Velocities(u float64, v []float64) {
	T := s.s.seconds()
	for k := range v {
		d := s.s.polys[k].derived()
		v[k] = d.at(u) / T
	}
}

// Bends writes the largest changes of the joints' rates, per share of time squared.
func (s Segment) Bends(ddq []float64) {
	for k := range ddq {
		d := s.s.polys[k].derived()
		d = d.derived()
		v, _ := d.span().largest()
		ddq[k] = max(v, -v)
	}
}
