package spatial

import (
	"math"

	"gonum.org/v1/gonum/spatial/r2"
)

// hypot without the care for overflow that math.Hypot takes: coordinates are below MaxExtent, and what overflows is not finite here either.
func hypot(x, y float64) float64 { return math.Sqrt(x*x + y*y) }

// PointSegmentDistance from p to the segment a-b, in metres.
func PointSegmentDistance(p, a, b r2.Vec) float64 {
	d := r2.Sub(b, a)
	ap := r2.Sub(p, a)
	n := r2.Dot(d, d)
	if n == 0 {
		return hypot(ap.X, ap.Y)
	}
	t := min(max(r2.Dot(ap, d)/n, 0), 1)
	return hypot(ap.X-t*d.X, ap.Y-t*d.Y)
}

// SegmentDistance between the segments a-b and c-d; 0 when they touch or cross.
func SegmentDistance(a, b, c, d r2.Vec) float64 {
	if segmentsCross(a, b, c, d) {
		return 0
	}
	return min(
		min(PointSegmentDistance(a, c, d), PointSegmentDistance(b, c, d)),
		min(PointSegmentDistance(c, a, b), PointSegmentDistance(d, a, b)))
}

// segmentsCross finds proper crossings; touching is found by the point distances.
func segmentsCross(a, b, c, d r2.Vec) bool {
	ab, cd := r2.Sub(b, a), r2.Sub(d, c)
	s1, s2 := r2.Cross(ab, r2.Sub(c, a)), r2.Cross(ab, r2.Sub(d, a))
	s3, s4 := r2.Cross(cd, r2.Sub(a, c)), r2.Cross(cd, r2.Sub(b, c))
	return (s1 > 0) != (s2 > 0) && (s3 > 0) != (s4 > 0) && s1 != 0 && s2 != 0 && s3 != 0 && s4 != 0
}

// Contains reports whether q is in the filled polygon, its edges included up to rounding.
func (p *Polygon) Contains(q r2.Vec) bool {
	inside := false
	c := p.corners
	for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
		a, b := c[i], c[j]
		if (a.Y > q.Y) != (b.Y > q.Y) && q.X < a.X+(q.Y-a.Y)/(b.Y-a.Y)*(b.X-a.X) {
			inside = !inside
		}
	}
	return inside
}

// BoundaryDistance from q to the nearest edge.
func (p *Polygon) BoundaryDistance(q r2.Vec) float64 {
	d := math.Inf(1)
	c := p.corners
	for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
		d = min(d, PointSegmentDistance(q, c[j], c[i]))
	}
	return d
}

// SignedDistance from q to the filled polygon: negative inside, where it is the way out.
func (p *Polygon) SignedDistance(q r2.Vec) float64 {
	d := p.BoundaryDistance(q)
	if p.Contains(q) {
		return -d
	}
	return d
}

// ConvexSignedDistance between two convex counter-clockwise polygons: their distance, or, when they overlap, minus the
// shortest way that separates them. Moving one by s changes it by at most s.
func ConvexSignedDistance(a, b []r2.Vec) float64 {
	sep := max(widestGap(a, b), widestGap(b, a))
	if sep <= 0 {
		return sep
	}
	d := math.Inf(1)
	for i, j := 0, len(a)-1; i < len(a); j, i = i, i+1 {
		for k, l := 0, len(b)-1; k < len(b); l, k = k, k+1 {
			d = min(d, SegmentDistance(a[j], a[i], b[l], b[k]))
		}
	}
	return d
}

// widestGap is the largest distance, over a's edges, from the edge's line outwards to the nearest corner of b.
func widestGap(a, b []r2.Vec) float64 {
	best := math.Inf(-1)
	for i, j := 0, len(a)-1; i < len(a); j, i = i, i+1 {
		e := r2.Sub(a[i], a[j])
		l := hypot(e.X, e.Y)
		if l == 0 {
			continue
		}
		nx, ny := e.Y/l, -e.X/l // outwards, a being counter-clockwise
		gap := math.Inf(1)
		for _, q := range b {
			gap = min(gap, (q.X-a[j].X)*nx+(q.Y-a[j].Y)*ny)
		}
		best = max(best, gap)
	}
	return best
}
