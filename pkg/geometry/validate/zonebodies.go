package validate

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/zone"
)

// anyHeight is how far below and above its frame a zone without heights reaches for an arm, m.
const anyHeight = 100

// Names of zones' bodies begin with these words; a contact with one is a finding of the zone's rule.
const (
	keepOutPrefix   = "keep-out zone "
	workspacePrefix = "workspace "
)

// ZoneBodies are bodies, in the zone's frame, that an arm keeps away from just where it would break the zone, margin included: what a keep-out zone fills, and what is
// outside of a keep-in zone. A keep-in zone that is not convex counts as its convex hull. A speed zone has none.
func ZoneBodies(z *zone.Zone) ([]collision.Body, error) {
	switch z.Kind() {
	case zone.KeepOut:
		return filled(z)
	case zone.KeepIn:
		return around(z), nil
	default:
		return nil, nil
	}
}

// filled makes prisms and cylinders, wider by the margin.
func filled(z *zone.Zone) ([]collision.Body, error) {
	shape, margin := z.Config().Shape, z.Margin()
	lo, hi := heights(shape)
	lo, hi = lo-margin, hi+margin
	parts := shape.Parts()
	if len(parts) == 0 {
		_, center, radius := shape.Outline()
		return []collision.Body{{
			Name: keepOutPrefix + z.Name(), Shape: collision.Shape{Kind: collision.Cylinder, Radius: radius + margin, Length: hi - lo},
			Pose: spatial.Transform{Translation: r3.Vec{X: center.X, Y: center.Y, Z: (lo + hi) / 2}, Rotation: quat.Number{Real: 1}},
		}}, nil
	}
	out := make([]collision.Body, 0, len(parts))
	for _, part := range parts {
		var points []r3.Vec
		for _, c := range part {
			for _, p := range grown(c, margin) {
				points = append(points, r3.Vec{X: p.X, Y: p.Y, Z: lo}, r3.Vec{X: p.X, Y: p.Y, Z: hi})
			}
		}
		h, err := collision.NewHull(points)
		if err != nil {
			return nil, err
		}
		out = append(out, collision.Body{Name: keepOutPrefix + z.Name(), Shape: collision.Shape{Kind: collision.Polyhedron, Hull: h}, Pose: spatial.Identity()})
	}
	return out, nil
}

// grown are corners of a polygon about a disc of that radius.
func grown(c r2.Vec, radius float64) []r2.Vec {
	if radius == 0 {
		return []r2.Vec{c}
	}
	const n = 12
	out := make([]r2.Vec, n)
	for i := range out {
		s, k := math.Sincos(2 * math.Pi * float64(i) / n)
		r := radius / math.Cos(math.Pi/n)
		out[i] = r2.Vec{X: c.X + r*k, Y: c.Y + r*s}
	}
	return out
}

func heights(s zone.Shape) (lo, hi float64) {
	if lo, hi, limited := s.Heights(); limited {
		return lo, hi
	}
	return -anyHeight, anyHeight
}

// around makes a half space for each side, moved inwards by the margin. Of a circle, tangents: a polygon that lies within it.
func around(z *zone.Zone) []collision.Body {
	shape, margin := z.Config().Shape, z.Margin()
	var out []collision.Body
	add := func(at, outwards r3.Vec) {
		// A half space is below its plane: its z axis points inwards.
		out = append(out, collision.Body{
			Name: workspacePrefix + z.Name(), Shape: collision.Shape{Kind: collision.HalfSpace},
			Pose: spatial.Transform{Translation: r3.Sub(at, r3.Scale(margin, outwards)), Rotation: upTo(r3.Scale(-1, outwards))},
		})
	}
	corners, center, radius := shape.Outline()
	if corners == nil {
		const n = 48
		for i := range n {
			s, c := math.Sincos(2 * math.Pi * float64(i) / n)
			r := radius * math.Cos(math.Pi/n)
			add(r3.Vec{X: center.X + r*c, Y: center.Y + r*s}, r3.Vec{X: c, Y: s})
		}
	}
	hull := convexOutline(corners)
	for i, b := range hull {
		a := hull[(i+len(hull)-1)%len(hull)]
		e := r2.Unit(r2.Sub(b, a))
		add(r3.Vec{X: a.X, Y: a.Y}, r3.Vec{X: e.Y, Y: -e.X})
	}
	if lo, hi, limited := shape.Heights(); limited {
		add(r3.Vec{Z: lo}, r3.Vec{Z: -1})
		add(r3.Vec{Z: hi}, r3.Vec{Z: 1})
	}
	return out
}

// upTo is a rotation that takes z to a unit direction.
func upTo(n r3.Vec) quat.Number {
	z := r3.Vec{Z: 1}
	if n.Z < -1+1e-12 {
		return quat.Number{Imag: 1}
	}
	axis := r3.Cross(z, n)
	q := quat.Number{Real: 1 + n.Z, Imag: axis.X, Jmag: axis.Y, Kmag: axis.Z}
	return quat.Scale(1/quat.Abs(q), q)
}

// convexOutline is the convex hull of corners, counter-clockwise, after Andrew: the lower chain from left to right, the upper one back.
func convexOutline(corners []r2.Vec) []r2.Vec {
	sorted := slices.SortedFunc(slices.Values(corners), func(a, b r2.Vec) int {
		return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	var out []r2.Vec
	for range 2 {
		from := len(out)
		for _, c := range sorted {
			for len(out) >= from+2 && r2.Cross(r2.Sub(out[len(out)-1], out[len(out)-2]), r2.Sub(c, out[len(out)-1])) <= 0 {
				out = out[:len(out)-1]
			}
			out = append(out, c)
		}
		out = out[:max(len(out)-1, 0)] // the other chain begins with it
		slices.Reverse(sorted)
	}
	return out
}
