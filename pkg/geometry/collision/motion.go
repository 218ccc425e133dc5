package collision

import (
	"fmt"
	"math"
	"slices"

	"agent_node/pkg/geometry/kinematics"
)

// Motion is a curve through joint space, by a parameter from 0 to 1.
type Motion interface {
	// At writes the configuration.
	At(u float64, q []float64)
	// Rates writes, per joint, a bound of |dq/du| over the whole curve.
	Rates(dq []float64)
}

// Hit is the first contact along a motion.
type Hit struct {
	Contact
	Segment int     // of the path or of the motions, from 0
	At      float64 // where on the segment, 0 to 1
	Q       []float64
}

// MaxRate is how far a joint may go in one motion, rad or m.
const MaxRate = 20

// maxSteps along one motion, after which it is refused: it grazes something all along a long way.
const maxSteps = 100_000

// line is the straight motion.
type line struct{ from, to []float64 }

// Line is the straight motion through joint space.
func Line(from, to []float64) Motion { return line{from, to} }

func (l line) At(u float64, q []float64) {
	for i := range q {
		q[i] = (1-u)*l.from[i] + u*l.to[i]
	}
}

func (l line) Rates(dq []float64) {
	for i := range dq {
		dq[i] = math.Abs(l.to[i] - l.from[i])
	}
}

// CheckPath follows straight lines in joint space from each configuration to the next and gives the first contact, nil where there is none. A path of one
// configuration is that alone. The error is a *kinematics.PositionsError, or wraps ErrWorld for a joint that goes farther than MaxRate in one segment.
func (s *Scene) CheckPath(path ...[]float64) (*Hit, error) {
	for _, q := range path {
		if err := kinematics.CheckPositions(s.joints, q); err != nil {
			return nil, err
		}
	}
	r := s.room()
	defer s.leave(r)
	s.forget(r)
	if len(path) == 1 {
		path = [][]float64{path[0], path[0]}
	}
	for i := 1; i < len(path); i++ {
		if hit, err := s.follow(r, line{path[i-1], path[i]}, i-1); hit != nil || err != nil {
			return hit, err
		}
	}
	return nil, nil
}

// CheckMotion does the same for curves, one after the other; each begins where the one before ends.
func (s *Scene) CheckMotion(motions ...Motion) (*Hit, error) {
	r := s.room()
	defer s.leave(r)
	s.forget(r)
	for i, m := range motions {
		if hit, err := s.follow(r, m, i); hit != nil || err != nil {
			return hit, err
		}
	}
	return nil, nil
}

// worse is by how much a pair that begins within its margin may come closer, m.
const worse = 0.002

// forget marks a motion's beginning: which pairs are borne with is not known yet, nor how far apart any are.
func (s *Scene) forget(r *room) {
	for i := range s.pairs {
		r.bar[i] = math.NaN()
		r.clear[i] = 0
	}
}

// follow is conservative advancement, each pair by itself: where its distance exceeds what it must have (its bar) by d, and no points of the two approach each
// other faster than v per unit of the parameter, it is clear for another d/v. It is looked at again when that is used up.
func (s *Scene) follow(r *room, m Motion, segment int) (*Hit, error) {
	m.Rates(r.dq)
	for i, rate := range r.dq {
		if !(rate >= 0 && rate <= MaxRate) {
			return nil, fmt.Errorf("%w: segment %d: joint %s goes %g, at most %g in one motion", ErrWorld, segment, s.joints[i].Name, rate, float64(MaxRate))
		}
	}
	m.At(0, r.q)
	if err := kinematics.CheckPositions(s.joints, r.q); err != nil {
		return nil, err
	}
	s.speeds(r)
	for i := range r.due {
		r.due[i] = r.clear[i] / r.speed[i] // what is left of the segment before
		if !(r.clear[i] > 0) {
			r.due[i] = 0
		}
	}
	// Pairs that are due soon are looked at together: a pose costs more than a pair.
	const together = 1.0 / 64
	steps := 0
	for at := 0.0; ; {
		m.At(at, r.q)
		s.place(r, r.q)
		next := math.Inf(1)
		for i := range s.pairs {
			if r.due[i] > at+together {
				next = min(next, r.due[i])
				continue
			}
			p := &s.pairs[i]
			room := s.clearance(r, i, 1-at)
			if !(room > Resolution) || steps > maxSteps && r.due[i] <= at {
				return &Hit{Contact: s.contact(r, p), Segment: segment, At: at, Q: slices.Clone(r.q)}, nil
			}
			r.due[i] = at + room/r.speed[i] // +Inf for a pair that does not move
			r.clear[i] = room + at*r.speed[i]
			next = min(next, r.due[i])
		}
		if at == 1 || next > 1 { // clear to the end
			for i, v := range r.speed {
				r.clear[i] -= v + 1e-12
			}
			return nil, nil
		}
		at = next
		steps++
	}
}

// clearance is by how much, at least, a pair is over its bar; left is how much of the motion is to come.
func (s *Scene) clearance(r *room, i int, left float64) float64 {
	p := &s.pairs[i]
	quick := s.near(r, p)
	bar := r.bar[i]
	if math.IsNaN(bar) {
		bar = s.setBar(r, i, quick)
	} else if bar < p.margin {
		// Borne with so far. Once it is clear of its margin, the margin counts.
		if d := distance(&r.solids[p.a], &r.solids[p.b]); d > p.margin+2*Resolution {
			r.bar[i], bar = p.margin, p.margin
		} else {
			return d - bar
		}
	}
	// Far apart, the quick bound is good enough for the whole rest, or for a long step.
	if room := quick - bar; room > 2*Resolution && (room > r.speed[i]*left || room > 0.15) {
		return room
	}
	// A distance that is a little too small makes a step a little shorter, and is found much faster.
	if room := measure(&r.solids[p.a], &r.solids[p.b], roughly) - bar; room > 2*Resolution {
		return room
	}
	return distance(&r.solids[p.a], &r.solids[p.b]) - bar
}

// setBar decides, where a motion begins, whether a pair that is within its margin is borne with.
func (s *Scene) setBar(r *room, i int, quick float64) float64 {
	p := &s.pairs[i]
	r.bar[i] = p.margin
	if s.grace > 0 && quick <= p.margin+Resolution {
		if d := distance(&r.solids[p.a], &r.solids[p.b]); d <= p.margin+Resolution && d >= p.margin-s.grace {
			r.bar[i] = d - worse
		}
	}
	return r.bar[i]
}

// speeds bounds how fast the points of each pair approach each other, in m per unit of the parameter. Only joints between the two parts count.
func (s *Scene) speeds(r *room) {
	n := len(s.frames)
	for k := 1; k < n; k++ {
		f := &s.frames[k]
		r.rate[k], r.beyond[k] = math.Abs(f.Factor)*r.dq[f.Joint], 0
		if f.Slides {
			// A joint that slides beyond its limits on the way takes what it carries farther than was reckoned with.
			j := s.joints[f.Joint]
			most := max(abs(f.Factor*j.Lower+f.Offset), abs(f.Factor*j.Upper+f.Offset))
			r.beyond[k] = max(0, abs(f.Factor*r.q[f.Joint]+f.Offset)+r.rate[k]-most)
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		// Relative to the frame that carries its own, that one's, and so on down to the root's.
		sum, beyond := 0.0, 0.0
		for k := p.frame; k > 0; k = s.frames[k].Parent {
			reach := p.reach[k]
			if !s.frames[k].Slides {
				reach += beyond
			}
			sum += r.rate[k] * reach
			r.against[i*n+s.frames[k].Parent] = sum
			beyond += r.beyond[k]
		}
		r.against[i*n+p.frame] = 0
	}
	for i := range s.pairs {
		p := &s.pairs[i]
		r.speed[i] = r.against[p.a*n+p.meet] + r.against[p.b*n+p.meet]
	}
}
