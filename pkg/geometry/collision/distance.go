package collision

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// Distance between two shapes, in m; negative where they overlap. Apart, it is exact to rounding for pairs with a formula, else too small by at most
// 1e-7 of the distance of the cores (of round shapes, without their radius), and never too large. Overlapping, it is minus the shortest way that separates them, never less than that, and more by at most 1e-7 m for round parts.
// A half space has no distance to another one: that is minus infinity.
func Distance(a Shape, at spatial.Transform, b Shape, bt spatial.Transform) float64 {
	sa, sb := newSolid(a, at), newSolid(b, bt)
	return distance(&sa, &sb)
}

func distance(a, b *solid) float64 { return measure(a, b, exactly) }

// measure is distance, too small by gap at most, relative to the distance of the cores. With a rough gap, the way that separates cores that overlap may be a longer
// one.
func measure(a, b *solid, gap float64) float64 {
	if a.kind > b.kind {
		a, b = b, a
	}
	if d, ok := closed(a, b); ok {
		return d
	}
	grow := a.grow + b.grow
	d := coreDistance(a, b, gap, math.Inf(1))
	if d > 0 {
		return d - grow
	}
	depth := coreDepth(a, b)
	if gap == exactly && !exactDepth(a, b) {
		depth = min(depth, penetration(a, b))
	}
	return -depth - grow
}

// closed is the distance of pairs for which there is a formula; a.kind <= b.kind.
func closed(a, b *solid) (d float64, ok bool) {
	switch {
	case b.kind == HalfSpace:
		return overPlane(a, b), true
	case a.kind == Sphere && b.kind != Polyhedron:
		return pointDistance(a.c, b) - a.grow - b.grow, true
	case b.kind == Capsule: // so is a
		return segmentDistance(a, b) - a.grow - b.grow, true
	}
	return 0, false
}

// overPlane is how far a solid's lowest point is over a half space.
func overPlane(a, plane *solid) float64 {
	if a.kind == HalfSpace {
		return math.Inf(-1)
	}
	return r3.Dot(plane.z, r3.Sub(a.support(r3.Scale(-1, plane.z)), plane.c)) - a.grow
}

// exactDepth: coreDepth tries every direction there is for polytopes whose axes it knows.
func exactDepth(a, b *solid) bool {
	known := func(s *solid) bool { return s.kind == Box || s.kind == Capsule }
	return known(a) && known(b)
}

// apart reports whether two solids are farther apart than d, without measuring how deep they overlap.
func apart(a, b *solid, d float64) bool {
	if a.kind > b.kind {
		a, b = b, a
	}
	if e, ok := closed(a, b); ok {
		return e > d
	}
	core := coreDistance(a, b, exactly, d+a.grow+b.grow)
	return core > 0 && core-a.grow-b.grow > d
}

// pointDistance from a point to a core; negative inside.
func pointDistance(p r3.Vec, s *solid) float64 {
	d := r3.Sub(p, s.c)
	switch s.kind {
	case Capsule:
		along := r3.Dot(d, s.z)
		return norm(r3.Sub(d, r3.Scale(clamp(along, s.half.Z), s.z)))
	case Cylinder:
		along := r3.Dot(d, s.z)
		across := math.Sqrt(max(r3.Dot(d, d)-along*along, 0))
		if across < 1e-3*math.Abs(along) { // the difference of squares has lost its digits
			across = norm(r3.Sub(d, r3.Scale(along, s.z)))
		}
		return outside(math.Abs(along)-s.half.Z, across-s.radius)
	case Box:
		x := math.Abs(r3.Dot(d, s.x)) - s.half.X
		y := math.Abs(r3.Dot(d, s.y)) - s.half.Y
		z := math.Abs(r3.Dot(d, s.z)) - s.half.Z
		if in := max(x, y, z); in <= 0 {
			return in
		}
		x, y, z = max(x, 0), max(y, 0), max(z, 0)
		return math.Sqrt(x*x + y*y + z*z)
	case HalfSpace:
		return r3.Dot(d, s.z)
	default: // a ball's core is its centre
		return norm(d)
	}
}

// outside is the distance from a region of two bounds, each passed by so much.
func outside(u, v float64) float64 {
	if in := max(u, v); in <= 0 {
		return in
	}
	u, v = max(u, 0), max(v, 0)
	return math.Sqrt(u*u + v*v)
}

func clamp(v, bound float64) float64 { return min(max(v, -bound), bound) }

// segmentDistance between the axes of two capsules.
func segmentDistance(a, b *solid) float64 {
	r := r3.Sub(b.c, a.c)
	c := r3.Dot(a.z, b.z)
	ra, rb := r3.Dot(r, a.z), r3.Dot(r, b.z)
	// The nearest points of the two lines, then kept on the segments one after the other.
	var s float64
	if det := 1 - c*c; det > 1e-12 {
		s = clamp((ra-c*rb)/det, a.half.Z)
	} else {
		s = clamp(ra, a.half.Z) // parallel: any common stretch will do
	}
	t := clamp(s*c-rb, b.half.Z)
	s = clamp(t*c+ra, a.half.Z)
	t = clamp(s*c-rb, b.half.Z)
	return norm(r3.Sub(r3.Add(r, r3.Scale(t, b.z)), r3.Scale(s, a.z)))
}

// project is the point of the core next to p.
func (s *solid) project(p r3.Vec) r3.Vec {
	d := r3.Sub(p, s.c)
	along := r3.Dot(d, s.z)
	at := r3.Add(s.c, r3.Scale(clamp(along, s.half.Z), s.z))
	switch s.kind {
	case Box:
		at = r3.Add(at, r3.Scale(clamp(r3.Dot(d, s.x), s.half.X), s.x))
		return r3.Add(at, r3.Scale(clamp(r3.Dot(d, s.y), s.half.Y), s.y))
	case Cylinder:
		across := r3.Sub(d, r3.Scale(along, s.z))
		if n2 := r3.Norm2(across); n2 > s.radius*s.radius {
			across = r3.Scale(s.radius/math.Sqrt(n2), across)
		}
		return r3.Add(at, across)
	case Capsule:
		return at
	default: // of a ball; of others it is not asked for
		return s.c
	}
}

// support is the point of the core that is farthest along d.
func (s *solid) support(d r3.Vec) r3.Vec {
	p := s.c
	switch s.kind {
	case Box:
		p = r3.Add(p, r3.Scale(math.Copysign(s.half.X, r3.Dot(d, s.x)), s.x))
		p = r3.Add(p, r3.Scale(math.Copysign(s.half.Y, r3.Dot(d, s.y)), s.y))
		p = r3.Add(p, r3.Scale(math.Copysign(s.half.Z, r3.Dot(d, s.z)), s.z))
	case Capsule:
		p = r3.Add(p, r3.Scale(math.Copysign(s.half.Z, r3.Dot(d, s.z)), s.z))
	case Polyhedron:
		f := s.hull.farthest(r3.Vec{X: r3.Dot(d, s.x), Y: r3.Dot(d, s.y), Z: r3.Dot(d, s.z)})
		p = r3.Add(p, r3.Add(r3.Scale(f.X, s.x), r3.Add(r3.Scale(f.Y, s.y), r3.Scale(f.Z, s.z))))
	case Cylinder:
		along := r3.Dot(d, s.z)
		p = r3.Add(p, r3.Scale(math.Copysign(s.half.Z, along), s.z))
		across := r3.Sub(d, r3.Scale(along, s.z))
		n2 := r3.Norm2(across)
		if n2 < 1e-6*along*along {
			// Once more: of a direction close to the axis, rounding has left a part along it that counts.
			across = r3.Sub(across, r3.Scale(r3.Dot(across, s.z), s.z))
			n2 = r3.Norm2(across)
		}
		if n2 > 1e-28*along*along {
			p = r3.Add(p, r3.Scale(s.radius/math.Sqrt(n2), across))
		}
	default: // a ball's core is its centre
	}
	return p
}

// coreDepth is how far two overlapping cores must move, at most, to come apart: the least over the directions in which polytopes
// come apart, and those across round parts.
func coreDepth(a, b *solid) float64 {
	depth := math.Inf(1)
	try := func(n r3.Vec) {
		l := norm(n)
		if !(l > 1e-9) {
			return
		}
		n = r3.Scale(1/l, n)
		// Moving b along n, and against it.
		up := r3.Dot(n, r3.Sub(a.support(n), b.support(r3.Scale(-1, n))))
		down := r3.Dot(n, r3.Sub(b.support(n), a.support(r3.Scale(-1, n))))
		depth = min(depth, up, down)
	}
	try(r3.Sub(b.c, a.c))
	for _, u := range a.axes() {
		try(u)
		for _, v := range b.axes() {
			try(r3.Cross(u, v))
		}
	}
	for _, v := range b.axes() {
		try(v)
	}
	for _, s := range [...]*solid{a, b} {
		if s.kind == Cylinder || s.kind == Capsule {
			d := r3.Sub(b.c, a.c)
			try(r3.Sub(d, r3.Scale(r3.Dot(d, s.z), s.z))) // across the axis
		}
	}
	return max(depth, 0)
}

// axes across which a core has faces or edges; what it has none of is zero.
func (s *solid) axes() [3]r3.Vec {
	if s.kind == Box || s.kind == Polyhedron { // of a hull, directions as good as others to begin with
		return [3]r3.Vec{s.x, s.y, s.z}
	}
	return [3]r3.Vec{s.z}
}
