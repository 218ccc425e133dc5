//go:build !race

package peers

import (
	"fmt"
	"math"
	"math/rand/v2"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r3"
)

// prove holds a distance against the shapes' definitions, with nothing of the library's code: two points that are in the shapes are no farther apart, and
// a plane across the way between them separates the shapes by no less. Of shapes that are said to overlap: no such plane is found.
func prove(c shapePair, d float64) error {
	if d <= 0 {
		return proveContact(c)
	}
	a, b, n, ok := collision.NearestPoints(c.a, c.at, c.b, c.bt)
	if !ok {
		return fmt.Errorf("a distance of %g and no nearest points", d)
	}
	const slack = 1e-9
	if out := math.Max(outside(c.a, c.at, a), outside(c.b, c.bt, b)); !(out <= slack) {
		return fmt.Errorf("a nearest point is %g outside of its shape", out)
	}
	if far := r3.Norm(r3.Sub(a, b)); !(far <= d+band/2) {
		return fmt.Errorf("the nearest points are %.9g apart, the distance is said to be %.9g", far, d)
	}
	// The way between two points is as exact as their difference: of a flat side it misses the perpendicular by some 1e-5 rad, and the plane by
	// micrometres (in 3 of 100,000 pairs of a capsule and a cylinder). A plane that is found from there proves just as much.
	gap := c.gap(n)
	if gap < d-band/2 {
		gap = c.climb(n, 1e-3, random(2))
	}
	if !(gap >= d-band/2) {
		return fmt.Errorf("a plane separates by %.9g, the distance is said to be %.9g", gap, d)
	}
	return nil
}

// proveContact looks for a plane that separates, going uphill from many directions.
func proveContact(c shapePair) error {
	if gap := widest(c); gap > band {
		return fmt.Errorf("said to overlap, and a plane separates them by %g", gap)
	}
	return nil
}

// proveDepth looks for the shortest way out: the direction in which the least plane separates.
func proveDepth(c shapePair, depth float64) error {
	if found := -widest(c); !(math.Abs(found-depth) <= depthBand) {
		return fmt.Errorf("a search finds a way out of %.9g", found)
	}
	return nil
}

// widest is the width of the widest gap between two planes across one direction that have the shapes on their two sides; negative where they overlap.
// The gap has a kink in the direction of an axis and across it, on which a random walk comes to rest too early (0.9 mm short, in 100,000 pairs of a
// sphere and a cylinder): it begins there as well.
func widest(c shapePair) float64 {
	rng := random(1)
	best := math.Inf(-1)
	begins := kinks(c)
	for range 40 {
		begins = append(begins, r3.Unit(r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}))
	}
	for _, n := range begins {
		best = math.Max(best, c.climb(n, 0.5, rng))
	}
	return best
}

// gap between two planes across a unit direction that have the shapes on their two sides; negative where they overlap.
func (c shapePair) gap(n r3.Vec) float64 {
	return -reach(c.a, c.at, n) - reach(c.b, c.bt, r3.Scale(-1, n))
}

// climb from a direction to one with a wider gap, in steps that grow smaller.
func (c shapePair) climb(n r3.Vec, step float64, rng *rand.Rand) float64 {
	at := c.gap(n)
	for step > 1e-9 {
		m := r3.Unit(r3.Add(n, r3.Scale(step, r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})))
		if g := c.gap(m); g > at {
			n, at = m, g
		} else {
			step *= 0.9
		}
	}
	return at
}

// kinks are the directions of both shapes' axes, and those across each toward the other shape.
func kinks(c shapePair) (out []r3.Vec) {
	between := r3.Sub(c.bt.Translation, c.at.Translation)
	for _, t := range []spatial.Transform{c.at, c.bt} {
		for _, axis := range []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}} {
			n := spatial.Rotate(t.Rotation, axis)
			across := r3.Sub(between, r3.Scale(r3.Dot(between, n), n))
			for _, v := range []r3.Vec{n, across} {
				if long := r3.Norm(v); long > 1e-9 {
					out = append(out, r3.Scale(1/long, v), r3.Scale(-1/long, v))
				}
			}
		}
	}
	return out
}

// reach is how far a shape reaches along a unit direction.
func reach(s collision.Shape, t spatial.Transform, n r3.Vec) float64 {
	d := spatial.Rotate(t.Inverse().Rotation, n)
	from := r3.Dot(n, t.Translation)
	across := math.Hypot(d.X, d.Y)
	switch s.Kind {
	case collision.Sphere:
		return from + s.Radius
	case collision.Capsule:
		return from + s.Radius + math.Abs(d.Z)*s.Length/2
	case collision.Cylinder:
		return from + s.Radius*across + math.Abs(d.Z)*s.Length/2
	case collision.Box:
		return from + (math.Abs(d.X)*s.Size.X+math.Abs(d.Y)*s.Size.Y+math.Abs(d.Z)*s.Size.Z)/2
	case collision.Polyhedron, collision.HalfSpace:
	}
	most := math.Inf(-1)
	for _, c := range s.Hull.Corners() {
		most = math.Max(most, r3.Dot(c, d))
	}
	return from + most
}

// outside is how far a point is outside of a shape, 0 within.
func outside(s collision.Shape, t spatial.Transform, p r3.Vec) float64 {
	q := t.Inverse().Apply(p)
	across := math.Hypot(q.X, q.Y)
	switch s.Kind {
	case collision.Sphere:
		return r3.Norm(q) - s.Radius
	case collision.Capsule:
		q.Z -= math.Min(math.Max(q.Z, -s.Length/2), s.Length/2)
		return r3.Norm(q) - s.Radius
	case collision.Cylinder:
		return math.Max(across-s.Radius, math.Abs(q.Z)-s.Length/2)
	case collision.Box:
		return math.Max(math.Max(math.Abs(q.X)-s.Size.X/2, math.Abs(q.Y)-s.Size.Y/2), math.Abs(q.Z)-s.Size.Z/2)
	case collision.Polyhedron, collision.HalfSpace:
	}
	corners, most := s.Hull.Corners(), math.Inf(-1)
	for _, f := range s.Hull.Faces() {
		a, b, c := corners[f[0]], corners[f[1]], corners[f[2]]
		n := r3.Unit(r3.Cross(r3.Sub(b, a), r3.Sub(c, a)))
		most = math.Max(most, r3.Dot(n, r3.Sub(q, a)))
	}
	return most
}
