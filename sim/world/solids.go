package world

import "math"

// Rod is a capsule: everything within a radius of a line from A to B.
type Rod struct {
	A, B   Vec
	Radius float64 // m
}

// Core is the largest rod, or nearly, that the solid holds within itself: a contact with it surely is one with the solid.
func (s Solid) Core() Rod {
	size := s.B.Sub(s.A)
	switch s.Kind {
	case Capsule:
		return Rod{s.A, s.B, s.Radius}
	case Cylinder:
		// The caps come off the ends; of one that is wider than long a ball is left.
		long := size.Norm()
		r := min(s.Radius, long/2)
		end := size.Scale(r / long)
		return Rod{s.A.Add(end), s.B.Sub(end), r}
	case Cuboid:
		r := min(size.X, size.Y, size.Z) / 2
		axis := Vec{X: 1}
		switch max(size.X, size.Y, size.Z) {
		case size.Y:
			axis = Vec{Y: 1}
		case size.Z:
			axis = Vec{Z: 1}
		}
		half := axis.Scale(max(size.X, size.Y, size.Z)/2 - r)
		return Rod{s.Center().Sub(half), s.Center().Add(half), r}
	case Sphere:
	}
	return Rod{s.A, s.A, s.Radius}
}

// Moved is the rod in the frame that t leads to.
func (r Rod) Moved(t Transform) Rod { return Rod{t.Apply(r.A), t.Apply(r.B), r.Radius} }

// Distance is how far two rods are apart, negative by as much as they overlap.
func (r Rod) Distance(s Rod) float64 {
	d1, d2, gap := r.B.Sub(r.A), s.B.Sub(s.A), r.A.Sub(s.A)
	a, e, f := d1.Dot(d1), d2.Dot(d2), d2.Dot(gap)
	c, b := d1.Dot(gap), d1.Dot(d2)
	clamp := func(v float64) float64 { return min(max(v, 0), 1) }
	ratio := func(p, q float64) float64 {
		if q <= 0 {
			return 0
		}
		return clamp(p / q)
	}
	// The nearest points are at t along this rod's line and at u along the other's.
	t := ratio(b*f-c*e, a*e-b*b)
	u := 0.0
	if e > 0 {
		u = (b*t + f) / e
	}
	if u < 0 {
		u, t = 0, ratio(-c, a)
	} else if u > 1 {
		u, t = 1, ratio(b-c, a)
	}
	return gap.Add(d1.Scale(t)).Sub(d2.Scale(u)).Norm() - r.Radius - s.Radius
}

// Depth is how deep the rod is in the obstacle, 0 outside, its radius where its line touches or crosses it.
func (o Obstacle) Depth(r Rod) float64 {
	middle, half := r.A.Add(r.B).Scale(0.5), r.B.Sub(r.A).Norm()/2
	if o.distance(middle) >= half+r.Radius {
		return 0
	}
	return max(0, r.Radius-nearest(r, o.distance))
}

// distance is how far a point is from the obstacle, 0 inside.
func (o Obstacle) distance(p Vec) float64 {
	return math.Hypot(o.Box.Distance(p.X, p.Y), max(p.Z-o.Height, 0))
}

// nearest is the least value along a rod's line of a distance from something convex: along a line it falls, then rises.
// It is found within 1e-5 of the line's length.
func nearest(r Rod, distance func(Vec) float64) float64 {
	const thirds = 30
	from, to := 0.0, 1.0
	at := func(t float64) float64 { return distance(r.A.Add(r.B.Sub(r.A).Scale(t))) }
	for range thirds {
		a, b := from+(to-from)/3, to-(to-from)/3
		if at(a) <= at(b) {
			to = b
		} else {
			from = a
		}
	}
	return min(at(0), at((from+to)/2), at(1))
}

// DepthInCylinder is how deep a rod is in an upright cylinder around the origin, between two heights.
func DepthInCylinder(r Rod, radius, bottom, top float64) float64 {
	return max(0, r.Radius-nearest(r, func(p Vec) float64 {
		return math.Hypot(max(math.Hypot(p.X, p.Y)-radius, 0), max(bottom-p.Z, 0, p.Z-top))
	}))
}

// Hides reports whether the obstacle stands in the way of sight from a to b.
func (o Obstacle) Hides(a, b Vec) bool {
	d := b.Sub(a)
	near, far := 0.0, 1.0
	for _, axis := range [3]struct{ p, d, lo, hi float64 }{
		{a.X, d.X, o.Box.MinX, o.Box.MaxX}, {a.Y, d.Y, o.Box.MinY, o.Box.MaxY}, {a.Z, d.Z, 0, o.Height},
	} {
		if axis.d == 0 {
			if axis.p < axis.lo || axis.p > axis.hi {
				return false
			}
			continue
		}
		p, q := (axis.lo-axis.p)/axis.d, (axis.hi-axis.p)/axis.d
		near, far = max(near, min(p, q)), min(far, max(p, q))
	}
	return near <= far
}
