package collision

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Accuracy of distances: relative to the distance, exact and quick; and absolute in m, below which cores count as touching.
const (
	exactly  = 1e-7
	roughly  = 0.05
	touching = 1e-10
)

// coreDistance is the distance of two cores, 0 where they touch or overlap, after Gilbert, Johnson and Keerthi: the point of their Minkowski
// difference that is nearest to the origin, on a simplex that grows towards it. What is given is the lower bound that the last support
// plane proves, so that it is never too large by more than rounding; it may be too small by gap, relative to the distance. It ends early where
// the distance is proven to be over enough.
func coreDistance(a, b *solid, gap, enough float64) float64 {
	var s simplex
	if a.kind != Cylinder && b.kind != Cylinder || a.kind == Polyhedron || b.kind == Polyhedron {
		return s.approach(a, b, gap, enough)
	}
	// A simplex closes in on round parts slowly: it only gets what projecting to and fro leaves undone.
	gap /= 10
	d, v := toAndFro(a, b, gap, enough)
	if v == (r3.Vec{}) {
		return d
	}
	return s.from(v, a, b, gap, enough)
}

// projections to and fro, at most.
const projections = 12

// toAndFro goes to and fro between the cores' points that are next to each other; every third time it goes on as far as the last two steps let expect. It gives a
// distance as coreDistance does, or, where it does not get there, the difference of the last two points.
func toAndFro(a, b *solid, gap, enough float64) (d float64, left r3.Vec) {
	p := a.project(b.c)
	var v, step r3.Vec
	for i := range projections {
		q := b.project(p)
		next := a.project(q)
		lastV, lastStep := v, step
		v, step = r3.Sub(next, q), r3.Sub(next, p)
		p = next
		n2 := r3.Norm2(v)
		if n2 <= touching*touching {
			return 0, r3.Vec{}
		}
		// The gap is about the square of what still moves, as a share of the distance.
		if r3.Norm2(r3.Sub(v, lastV)) <= gap*n2 {
			n := math.Sqrt(n2)
			if proven := r3.Dot(v, farthest(a, b, v)) / n; proven > enough || n-proven <= gap*n+1e-13 {
				return max(proven, 0), r3.Vec{}
			}
		}
		if i%3 == 2 {
			if along, l := r3.Dot(lastStep, step), r3.Norm2(lastStep); along > 0 {
				share := min(along/l, 0.97)
				p = r3.Add(p, r3.Scale(share/(1-share), step))
			}
		}
	}
	return 0, v
}

// farthest point of the Minkowski difference against v.
func farthest(a, b *solid, v r3.Vec) r3.Vec {
	return r3.Sub(a.support(r3.Scale(-1, v)), b.support(v))
}

// approach leaves the simplex that the nearest point is on.
func (s *simplex) approach(a, b *solid, gap, enough float64) float64 {
	return s.from(r3.Sub(a.c, b.c), a, b, gap, enough)
}

// from is approach, beginning along v.
func (s *simplex) from(v r3.Vec, a, b *solid, gap, enough float64) float64 {
	if r3.Norm2(v) == 0 {
		v = r3.Vec{X: 1}
	}
	proven := 0.0
	for range 128 {
		w := farthest(a, b, v)
		n2 := r3.Norm2(v)
		n := math.Sqrt(n2)
		// Every point of the difference is beyond the plane through w across v.
		if beyond := r3.Dot(v, w) / n; beyond > proven {
			proven, s.across = beyond, v
		}
		if proven > enough || s.n > 0 && (n-proven <= gap*n+1e-13 || s.has(w)) {
			return proven
		}
		s.add(w, v)
		next, inside := s.nearest()
		if inside {
			return 0
		}
		m2 := r3.Norm2(next)
		if m2 <= touching*touching {
			return 0
		}
		if s.n > 1 && !(m2 < n2) && proven > 0 && s.grown {
			return proven // rounding: it comes no nearer
		}
		s.grown = true
		v = next
	}
	return proven
}

// simplex of up to four points of the Minkowski difference.
type simplex struct {
	p     [4]r3.Vec
	d     [4]r3.Vec // against which each was found the farthest
	n     int
	grown bool // v is a point of the difference, not the first guess
	// across the plane that proves the distance; as long as it happens to be
	across r3.Vec
}

func (s *simplex) has(w r3.Vec) bool {
	for i := range s.n {
		if s.p[i] == w {
			return true
		}
	}
	return false
}

func (s *simplex) add(w, v r3.Vec) {
	s.p[s.n], s.d[s.n] = w, v
	s.n++
}

// nearest gives the simplex's point next to the origin and keeps only the corners that it needs, of which the newest is one: it is nearer than what was
// nearest before. inside: the origin is within the tetrahedron.
func (s *simplex) nearest() (v r3.Vec, inside bool) {
	switch s.n {
	case 1:
		return s.p[0], false
	case 2:
		v, keep := nearestOnEdge(s.p[1], r3.Sub(s.p[0], s.p[1]))
		s.keep(keep | 2)
		return v, false
	case 3:
		c := s.p[2]
		ca, cb := r3.Sub(s.p[0], c), r3.Sub(s.p[1], c)
		v, keep := nearestOnTriangle(c, ca, cb, r3.Cross(ca, cb))
		s.keep(keep | 4)
		return v, false
	}
	return s.nearestOnTetrahedron()
}

// keep the corners whose bits are set.
func (s *simplex) keep(bits uint8) {
	n := 0
	for i := range s.n {
		if bits>>i&1 == 1 {
			if n != i {
				s.p[n], s.d[n] = s.p[i], s.d[i]
			}
			n++
		}
	}
	s.n = n
}

// nearestOnEdge from a corner along a side, on which bit 0 stands for its other end.
func nearestOnEdge(c, ca r3.Vec) (v r3.Vec, keep uint8) {
	t := -r3.Dot(c, ca)
	if t <= 0 {
		return c, 0
	}
	l := r3.Norm2(ca)
	if t >= l {
		return r3.Add(c, ca), 1
	}
	return r3.Add(c, r3.Scale(t/l, ca)), 1
}

// nearestOnTriangle looks at a corner, at the sides from there to the two others, which bits 0 and 1 stand for, and at the face between them,
// whose normal is n.
func nearestOnTriangle(c, ca, cb, n r3.Vec) (v r3.Vec, keep uint8) {
	d1, d2 := -r3.Dot(ca, c), -r3.Dot(cb, c)
	if d1 <= 0 && d2 <= 0 {
		return c, 0
	}
	a, b := r3.Add(c, ca), r3.Add(c, cb)
	d3, d4, d5, d6 := -r3.Dot(ca, a), -r3.Dot(cb, a), -r3.Dot(ca, b), -r3.Dot(cb, b)
	vc, vb, va := d3*d6-d5*d4, d1*d4-d3*d2, d5*d2-d1*d6
	n2 := r3.Norm2(n)
	if va > 0 && vb > 0 && vc > 0 && n2 > 1e-20*r3.Norm2(ca)*r3.Norm2(cb) {
		// On the face. Its distance along the normal has more digits than the sum of the corners has.
		return r3.Scale(r3.Dot(n, c)/n2, n), 3
	}
	v, keep = nearestOnEdge(c, ca)
	if w, k := nearestOnEdge(c, cb); r3.Norm2(w) < r3.Norm2(v) {
		v, keep = w, k<<1
	}
	return v, keep
}

// nearestOnTetrahedron looks at the three faces that have the newest corner. The origin is not beyond the fourth, on which was what was nearest
// before.
func (s *simplex) nearestOnTetrahedron() (v r3.Vec, inside bool) {
	c := s.p[3]
	e0, e1, e2 := r3.Sub(s.p[0], c), r3.Sub(s.p[1], c), r3.Sub(s.p[2], c)
	n01, n12, n20 := r3.Cross(e0, e1), r3.Cross(e1, e2), r3.Cross(e2, e0)
	det := r3.Dot(n01, e2)
	best := math.Inf(1)
	var kept uint8
	inside = true
	if seen, within := sees(c, n01, e2, det); seen {
		v, kept = nearestOnTriangle(c, e0, e1, n01)
		best, inside = r3.Norm2(v), within
	}
	if seen, within := sees(c, n12, e0, det); seen {
		inside = inside && within
		if w, k := nearestOnTriangle(c, e1, e2, n12); r3.Norm2(w) < best {
			v, kept, best = w, k<<1, r3.Norm2(w)
		}
	}
	if seen, within := sees(c, n20, e1, det); seen {
		inside = inside && within
		if w, k := nearestOnTriangle(c, e2, e0, n20); r3.Norm2(w) < best {
			v, kept = w, k&1<<2|k>>1
		}
	}
	if inside {
		return r3.Vec{}, true
	}
	s.keep(kept | 8)
	return v, false
}

// sees reports whether the origin may be beyond a face through c with a normal n, on whose inner side is c+e, det being n·e; within: it is on
// the face itself.
func sees(c, n, e r3.Vec, det float64) (seen, within bool) {
	origin := -r3.Dot(n, c)
	// Flat: neither side is the inner one.
	flat := det*det <= 1e-24*r3.Norm2(n)*r3.Norm2(e)
	return flat || origin*det <= 0, !flat && origin == 0
}

// norm without the care for overflow that r3.Norm takes: all lengths here are below 1e7 m.
func norm(v r3.Vec) float64 { return math.Sqrt(r3.Norm2(v)) }
