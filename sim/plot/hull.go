package plot

import (
	"cmp"
	"math"
	"slices"

	"agent_node/sim/world"
)

// spot is a point of a picture, in pixels.
type spot struct{ x, y float64 }

// hull is the convex outline of points.
func hull(points []spot) []spot {
	slices.SortFunc(points, func(a, b spot) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	half := func(in []spot) (out []spot) {
		for _, p := range in {
			for len(out) > 1 && turn(out[len(out)-2], out[len(out)-1], p) <= 0 {
				out = out[:len(out)-1]
			}
			out = append(out, p)
		}
		return out[:len(out)-1]
	}
	if len(points) < 3 {
		return points
	}
	lower := half(points)
	slices.Reverse(points)
	return append(lower, half(points)...)
}

// turn is positive where the way from a over b to c turns left.
func turn(a, b, c spot) float64 { return (b.x-a.x)*(c.y-a.y) - (b.y-a.y)*(c.x-a.x) }

// surface are points on a solid whose convex outline is the solid's; for a capsule see [outline].
func surface(s world.Solid) (out []world.Vec) {
	if s.Kind == world.Cuboid {
		for i := range 8 {
			p := s.A
			if i&1 != 0 {
				p.X = s.B.X
			}
			if i&2 != 0 {
				p.Y = s.B.Y
			}
			if i&4 != 0 {
				p.Z = s.B.Z
			}
			out = append(out, p)
		}
		return out
	}
	const around = 48
	axis := s.B.Sub(s.A)
	axis = axis.Scale(1 / axis.Norm())
	side := axis.Cross(world.Vec{X: axis.Y, Y: axis.Z, Z: axis.X})
	side = side.Scale(s.Radius / side.Norm())
	for i := range around {
		rim := world.About(axis, 2*math.Pi*float64(i)/around).Apply(side)
		out = append(out, s.A.Add(rim), s.B.Add(rim))
	}
	return out
}
