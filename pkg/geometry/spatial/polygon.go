package spatial

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r2"
)

// MaxExtent bounds every coordinate and size in the plane, in metres: beyond it lies a mistake, and float64 loses
// millimetres not much farther out.
const MaxExtent = 1e6

// MaxCorners bounds a polygon.
const MaxCorners = 256

// MaxPartCorners bounds the convex parts of a polygon, so that one fits into a buffer on the stack.
const MaxPartCorners = 16

// Reasons why corners make no polygon.
var (
	ErrFewCorners  = errors.New("fewer than three corners")
	ErrManyCorners = errors.New("too many corners")
	ErrOutOfRange  = errors.New("coordinate out of range")
	ErrDegenerate  = errors.New("no area")
	ErrNotSimple   = errors.New("edges touch or cross")
)

// Polygon is a filled simple polygon. It is immutable and may be shared.
type Polygon struct {
	corners []r2.Vec   // counter-clockwise
	parts   [][]r2.Vec // convex, counter-clockwise, at most MaxPartCorners each; together the polygon
	center  r2.Vec     // of a bounding circle
	radius  float64
	convex  bool
}

// Corners in counter-clockwise order; not to be written to.
func (p *Polygon) Corners() []r2.Vec { return p.corners }

// Parts are convex polygons that together make up p, counter-clockwise; not to be written to.
func (p *Polygon) Parts() [][]r2.Vec { return p.parts }

// Bounds is a circle that holds the polygon.
func (p *Polygon) Bounds() (center r2.Vec, radius float64) { return p.center, p.radius }

// Convex reports whether the polygon is convex.
func (p *Polygon) Convex() bool { return p.convex }

// NewPolygon checks the corners (either order) and cuts the polygon into convex parts. The error wraps one of the reasons above
// and names the corner.
func NewPolygon(corners []r2.Vec) (*Polygon, error) {
	if len(corners) < 3 {
		return nil, fmt.Errorf("polygon: %w: %d", ErrFewCorners, len(corners))
	}
	if len(corners) > MaxCorners {
		return nil, fmt.Errorf("polygon: %w: %d, limit %d", ErrManyCorners, len(corners), MaxCorners)
	}
	for i, c := range corners {
		if !(math.Abs(c.X) <= MaxExtent && math.Abs(c.Y) <= MaxExtent) {
			return nil, fmt.Errorf("polygon: corner %d (%g, %g): %w: limit %g m", i, c.X, c.Y, ErrOutOfRange, float64(MaxExtent))
		}
	}
	p := &Polygon{corners: append([]r2.Vec(nil), corners...)}
	area := signedArea(p.corners)
	if area < 0 {
		for i, j := 0, len(p.corners)-1; i < j; i, j = i+1, j-1 {
			p.corners[i], p.corners[j] = p.corners[j], p.corners[i]
		}
		area = -area
	}
	if !(area > 1e-9) {
		return nil, fmt.Errorf("polygon: %w: %g m²", ErrDegenerate, area)
	}
	if i, j, bad := firstTouch(p.corners); bad {
		return nil, fmt.Errorf("polygon: %w: edges %d and %d", ErrNotSimple, i, j)
	}
	p.corners = withoutFlat(p.corners)
	p.convex = isConvex(p.corners)
	if p.convex {
		p.parts = fan(p.corners)
	} else {
		parts, err := clipEars(p.corners)
		if err != nil {
			return nil, err
		}
		p.parts = parts
	}
	lo, hi := p.corners[0], p.corners[0]
	for _, c := range p.corners {
		lo = r2.Vec{X: math.Min(lo.X, c.X), Y: math.Min(lo.Y, c.Y)}
		hi = r2.Vec{X: math.Max(hi.X, c.X), Y: math.Max(hi.Y, c.Y)}
	}
	p.center = r2.Scale(0.5, r2.Add(lo, hi))
	for _, c := range p.corners {
		p.radius = math.Max(p.radius, r2.Norm(r2.Sub(c, p.center)))
	}
	return p, nil
}

func signedArea(c []r2.Vec) float64 {
	// Relative to the first corner, so that a small polygon far out keeps its digits.
	sum := 0.0
	for i := 1; i+1 < len(c); i++ {
		sum += r2.Cross(r2.Sub(c[i], c[0]), r2.Sub(c[i+1], c[0]))
	}
	return sum / 2
}

// firstTouch finds two edges that share more than the corner between neighbours.
func firstTouch(c []r2.Vec) (i, j int, bad bool) {
	n := len(c)
	for i := range n {
		a, b := c[i], c[(i+1)%n]
		if a == b {
			return i, i, true
		}
		next := c[(i+2)%n]
		// A spike: the next edge folds back onto this one.
		if r2.Cross(r2.Sub(b, a), r2.Sub(next, b)) == 0 && r2.Dot(r2.Sub(b, a), r2.Sub(next, b)) < 0 {
			return i, (i + 1) % n, true
		}
		for j := i + 2; j < n; j++ {
			if i == 0 && j == n-1 {
				continue // neighbours around the end
			}
			if SegmentDistance(a, b, c[j], c[(j+1)%n]) == 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// withoutFlat drops the corners that lie on a straight edge.
func withoutFlat(c []r2.Vec) []r2.Vec {
	n := len(c)
	kept := make([]r2.Vec, 0, n)
	for i := range n {
		if cross3(c[(i+n-1)%n], c[i], c[(i+1)%n]) != 0 {
			kept = append(kept, c[i])
		}
	}
	return kept
}

func isConvex(c []r2.Vec) bool {
	n := len(c)
	for i := range n {
		if cross3(c[i], c[(i+1)%n], c[(i+2)%n]) < 0 {
			return false
		}
	}
	return true
}

// cross3 is positive when a, b, c turn left.
func cross3(a, b, c r2.Vec) float64 { return r2.Cross(r2.Sub(b, a), r2.Sub(c, b)) }

// fan cuts a convex polygon into convex parts of at most MaxPartCorners.
func fan(c []r2.Vec) [][]r2.Vec {
	var parts [][]r2.Vec
	for from := 1; from+1 < len(c); {
		to := min(from+MaxPartCorners-2, len(c)-1)
		part := append([]r2.Vec{c[0]}, c[from:to+1]...)
		parts = append(parts, part)
		from = to
	}
	return parts
}

// clipEars cuts a simple counter-clockwise polygon into triangles.
func clipEars(corners []r2.Vec) ([][]r2.Vec, error) {
	rest := append([]r2.Vec(nil), corners...)
	var parts [][]r2.Vec
	for len(rest) > 3 {
		cut := -1
		for i := range rest {
			if isEar(rest, i) {
				cut = i
				break
			}
		}
		if cut < 0 {
			return nil, fmt.Errorf("polygon: %w: too thin to be cut into triangles", ErrDegenerate)
		}
		n := len(rest)
		a, b, c := rest[(cut+n-1)%n], rest[cut], rest[(cut+1)%n]
		if cross3(a, b, c) > 0 {
			parts = append(parts, []r2.Vec{a, b, c})
		}
		rest = append(rest[:cut], rest[cut+1:]...)
	}
	if cross3(rest[0], rest[1], rest[2]) > 0 {
		parts = append(parts, rest)
	}
	return parts, nil
}

// isEar reports whether the triangle at corner i can be cut off: it turns left (or is flat, and then is nothing) and no other
// corner lies in it.
func isEar(c []r2.Vec, i int) bool {
	n := len(c)
	a, b, d := c[(i+n-1)%n], c[i], c[(i+1)%n]
	turn := cross3(a, b, d)
	if turn < 0 {
		return false
	}
	if turn == 0 {
		return true
	}
	for k, q := range c {
		if k == i || k == (i+n-1)%n || k == (i+1)%n || q == a || q == b || q == d {
			continue
		}
		if cross3(a, b, q) >= 0 && cross3(b, d, q) >= 0 && cross3(d, a, q) >= 0 {
			return false
		}
	}
	return true
}
