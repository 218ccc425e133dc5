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
	return s.approach(a, b, gap, enough)
}

// approach leaves the simplex that the nearest point is on.
func (s *simplex) approach(a, b *solid, gap, enough float64) float64 {
	v := r3.Sub(a.c, b.c)
	if r3.Norm2(v) == 0 {
		v = r3.Vec{X: 1}
	}
	proven := 0.0
	for range 128 {
		w := r3.Sub(a.support(r3.Scale(-1, v)), b.support(v))
		n2 := r3.Norm2(v)
		n := math.Sqrt(n2)
		// Every point of the difference is beyond the plane through w across v.
		proven = max(proven, r3.Dot(v, w)/n)
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

// nearest gives the simplex's point next to the origin and keeps only the corners that it needs; inside: the origin is within the tetrahedron.
func (s *simplex) nearest() (v r3.Vec, inside bool) {
	switch s.n {
	case 1:
		return s.p[0], false
	case 2:
		var keep [2]bool
		v, keep = nearestOnEdge(s.p[0], s.p[1])
		s.keep(keep[0], keep[1], false, false)
		return v, false
	case 3:
		var keep [3]bool
		v, keep = nearestOnTriangle(s.p[0], s.p[1], s.p[2])
		s.keep(keep[0], keep[1], keep[2], false)
		return v, false
	}
	return s.nearestOnTetrahedron()
}

func (s *simplex) keep(k ...bool) {
	n := 0
	for i := range s.n {
		if k[i] {
			s.p[n], s.d[n] = s.p[i], s.d[i]
			n++
		}
	}
	s.n = n
}

func nearestOnEdge(a, b r3.Vec) (r3.Vec, [2]bool) {
	ab := r3.Sub(b, a)
	t := -r3.Dot(a, ab)
	if t <= 0 {
		return a, [2]bool{true, false}
	}
	l := r3.Norm2(ab)
	if t >= l {
		return b, [2]bool{false, true}
	}
	return r3.Add(a, r3.Scale(t/l, ab)), [2]bool{true, true}
}

// nearestOnTriangle looks at the regions of corners, edges and face in turn.
func nearestOnTriangle(a, b, c r3.Vec) (r3.Vec, [3]bool) {
	ab, ac := r3.Sub(b, a), r3.Sub(c, a)
	d1, d2 := -r3.Dot(ab, a), -r3.Dot(ac, a)
	if d1 <= 0 && d2 <= 0 {
		return a, [3]bool{true, false, false}
	}
	d3, d4 := -r3.Dot(ab, b), -r3.Dot(ac, b)
	if d3 >= 0 && d4 <= d3 {
		return b, [3]bool{false, true, false}
	}
	d5, d6 := -r3.Dot(ab, c), -r3.Dot(ac, c)
	if d6 >= 0 && d5 <= d6 {
		return c, [3]bool{false, false, true}
	}
	n := r3.Cross(ab, ac)
	n2 := r3.Norm2(n)
	va, vb, vc := d3*d6-d5*d4, d5*d2-d1*d6, d1*d4-d3*d2
	if va > 0 && vb > 0 && vc > 0 && n2 > 1e-20*r3.Norm2(ab)*r3.Norm2(ac) {
		// On the face. Its distance along the normal has more digits than the sum of the corners has.
		return r3.Scale(r3.Dot(n, a)/n2, n), [3]bool{true, true, true}
	}
	// On an edge; of a flat triangle, on any of the three.
	best := math.Inf(1)
	var v r3.Vec
	var keep [3]bool
	for i, e := range [3][2]r3.Vec{{a, b}, {b, c}, {c, a}} {
		p, k := nearestOnEdge(e[0], e[1])
		if d := r3.Norm2(p); d < best {
			best, v = d, p
			keep = [3]bool{}
			keep[i], keep[(i+1)%3] = k[0], k[1]
		}
	}
	return v, keep
}

func (s *simplex) nearestOnTetrahedron() (r3.Vec, bool) {
	p := s.p
	best := math.Inf(1)
	var v r3.Vec
	var kept [4]bool
	inside := true
	for _, f := range [4][4]int{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}} {
		a, b, c, d := p[f[0]], p[f[1]], p[f[2]], p[f[3]]
		n := r3.Cross(r3.Sub(b, a), r3.Sub(c, a))
		origin, other := -r3.Dot(n, a), r3.Dot(n, r3.Sub(d, a))
		// Flat: neither side is the inner one.
		flat := other*other <= 1e-24*r3.Norm2(n)*r3.Norm2(r3.Sub(d, a))
		if !flat && origin*other > 0 {
			continue
		}
		inside = inside && !flat && origin == 0 // on the face itself
		q, k := nearestOnTriangle(a, b, c)
		if dist := r3.Norm2(q); dist < best {
			best, v = dist, q
			kept = [4]bool{}
			for i := range 3 {
				kept[f[i]] = k[i]
			}
		}
	}
	if inside {
		return r3.Vec{}, true
	}
	s.keep(kept[0], kept[1], kept[2], kept[3])
	return v, false
}

// norm without the care for overflow that r3.Norm takes: all lengths here are below 1e7 m.
func norm(v r3.Vec) float64 { return math.Sqrt(r3.Norm2(v)) }
