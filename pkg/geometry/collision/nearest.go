package collision

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// NearestPoints of two shapes that are apart: one of each, as far from each other as Distance says, and the unit direction from the first to the
// second, across a plane that separates them by as much. ok is false where the shapes overlap or touch, and for half spaces.
func NearestPoints(a Shape, at spatial.Transform, b Shape, bt spatial.Transform) (pa, pb, direction r3.Vec, ok bool) {
	if a.Kind == HalfSpace || b.Kind == HalfSpace {
		return pa, pb, direction, false
	}
	sa, sb := newSolid(a, at), newSolid(b, bt)
	var s simplex
	d := s.approach(&sa, &sb, exactly, math.Inf(1))
	if !(d > sa.grow+sb.grow) {
		return pa, pb, direction, false
	}
	for i, w := range s.weights() {
		pa = r3.Add(pa, r3.Scale(w, sa.support(r3.Scale(-1, s.d[i]))))
		pb = r3.Add(pb, r3.Scale(w, sb.support(s.d[i])))
	}
	between := r3.Sub(pb, pa)
	between = r3.Scale(1/norm(between), between)
	// Of round parts the way between the points is less exact than the normal of the plane that the distance is proven by.
	direction = r3.Scale(-1/norm(s.across), s.across)
	return r3.Add(pa, r3.Scale(sa.grow, between)), r3.Sub(pb, r3.Scale(sb.grow, between)), direction, true
}

// weights of the simplex's corners in its point next to the origin, which is inside of it.
func (s *simplex) weights() []float64 {
	switch s.n {
	case 1:
		return []float64{1}
	case 2:
		ab := r3.Sub(s.p[1], s.p[0])
		t := 0.0
		if l := r3.Norm2(ab); l > 0 {
			t = min(max(-r3.Dot(s.p[0], ab)/l, 0), 1)
		}
		return []float64{1 - t, t}
	}
	// Of a triangle: the areas opposite to the corners, seen along its normal.
	a, b, c := s.p[0], s.p[1], s.p[2]
	n := r3.Cross(r3.Sub(b, a), r3.Sub(c, a))
	n2 := r3.Norm2(n)
	if n2 == 0 {
		return []float64{1}
	}
	foot := r3.Scale(r3.Dot(n, a)/n2, n)
	u := max(r3.Dot(n, r3.Cross(r3.Sub(b, foot), r3.Sub(c, foot))), 0)
	v := max(r3.Dot(n, r3.Cross(r3.Sub(c, foot), r3.Sub(a, foot))), 0)
	w := max(r3.Dot(n, r3.Cross(r3.Sub(a, foot), r3.Sub(b, foot))), 0)
	sum := u + v + w
	return []float64{u / sum, v / sum, w / sum}
}
