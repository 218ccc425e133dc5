package spatial

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r2"
)

// Footprint is the filled outline of a ground robot in its base frame: a circle around the origin or a simple polygon.
// The zero value is no footprint: see IsZero. It is immutable and may be shared.
type Footprint struct {
	radius float64  // of the circle, when poly is nil
	poly   *Polygon // in the base frame
	outer  float64  // farthest point from the origin
}

// CircleFootprint is a disc around the base frame's origin.
func CircleFootprint(radius float64) (Footprint, error) {
	if !(radius > 0 && radius <= MaxExtent) {
		return Footprint{}, fmt.Errorf("spatial: footprint: radius is %g m, must be over 0 and at most %g m", radius, float64(MaxExtent))
	}
	return Footprint{radius: radius, outer: radius}, nil
}

// PolygonFootprint is a simple polygon in the base frame, its corners in either order, convex or not; the origin need
// not be inside.
func PolygonFootprint(corners []r2.Vec) (Footprint, error) {
	p, err := NewPolygon(corners)
	if err != nil {
		return Footprint{}, fmt.Errorf("spatial: footprint: %w", err)
	}
	f := Footprint{poly: p}
	for _, c := range p.corners {
		f.outer = math.Max(f.outer, r2.Norm(c))
	}
	return f, nil
}

// IsZero reports whether there is no footprint.
func (f Footprint) IsZero() bool { return f.outer == 0 }

// Circle gives the radius when the footprint is a circle.
func (f Footprint) Circle() (radius float64, ok bool) { return f.radius, f.poly == nil && f.radius > 0 }

// Polygon in the base frame, nil when the footprint is a circle.
func (f Footprint) Polygon() *Polygon { return f.poly }

// OuterRadius is the distance of the farthest point from the base frame's origin.
func (f Footprint) OuterRadius() float64 { return f.outer }
