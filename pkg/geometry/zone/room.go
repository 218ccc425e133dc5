package zone

import (
	"math"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// Room is how far the footprint at a pose (in the zone's frame) is from breaking the zone, margin included, in metres: 0 or more is
// allowed, negative is how deep it is in. A motion of the footprint that moves none of its points by more than s changes it
// by at most s. For a speed zone, negative means that its speeds hold.
//
// A polygon footprint that leaves a keep-in zone which is not convex gives a depth that is only indicative.
func (z *Zone) Room(fp spatial.Footprint, p spatial.Pose2) float64 {
	s := &z.cfg.Shape
	var room float64
	if r, isCircle := fp.Circle(); isCircle {
		room = s.signed(p.Vec())
		if z.cfg.Kind == KeepIn {
			room = -room
		}
		room -= r
	} else if z.cfg.Kind == KeepIn {
		room = s.inside(fp.Polygon(), p)
	} else {
		room = s.apart(fp.Polygon(), p)
	}
	return room - z.cfg.Margin
}

// Beyond reports whether the footprint surely has more room than d; it compares distances of balls, and false says nothing.
func (z *Zone) Beyond(fp spatial.Footprint, p spatial.Pose2, d float64) bool {
	if z.cfg.Kind == KeepIn {
		return false // nothing so simple is inside of it
	}
	c, r := z.cfg.Shape.center, z.cfg.Shape.radius
	if z.cfg.Shape.polygon != nil {
		c, r = z.cfg.Shape.polygon.Bounds()
	}
	far := r + fp.OuterRadius() + z.cfg.Margin + d
	x, y := p.X-c.X, p.Y-c.Y
	return far >= 0 && x*x+y*y > far*far*(1+1e-9)
}

// signed distance from a point to the filled shape, negative inside.
func (s *Shape) signed(q r2.Vec) float64 {
	if s.polygon == nil {
		return math.Hypot(q.X-s.center.X, q.Y-s.center.Y) - s.radius
	}
	return s.polygon.SignedDistance(q)
}

// apart is the distance between a footprint and the filled shape, or minus the depth of one in the other.
func (s *Shape) apart(fp *spatial.Polygon, p spatial.Pose2) float64 {
	if s.polygon == nil {
		return fp.SignedDistance(p.Inverse().Apply(s.center)) - s.radius
	}
	d := math.Inf(1)
	var buf [spatial.MaxPartCorners]r2.Vec
	for _, part := range fp.Parts() {
		moved := place(&buf, part, p)
		for _, mine := range s.polygon.Parts() {
			d = min(d, spatial.ConvexSignedDistance(moved, mine))
		}
	}
	return d
}

// inside is the distance of a footprint's filled area from the shape's boundary when it is wholly inside, else negative.
func (s *Shape) inside(fp *spatial.Polygon, p spatial.Pose2) float64 {
	d := math.Inf(1)
	if s.polygon == nil {
		for _, c := range fp.Corners() {
			d = min(d, -s.signed(p.Apply(c)))
		}
		return d
	}
	mine := s.polygon.Corners()
	if s.polygon.Convex() {
		// Inside all edges' lines: a convex function of the point, so the corners are the worst.
		for _, c := range fp.Corners() {
			q := p.Apply(c)
			for i, j := 0, len(mine)-1; i < len(mine); j, i = i, i+1 {
				e := r2.Sub(mine[i], mine[j])
				d = min(d, r2.Cross(e, r2.Sub(q, mine[j]))/math.Hypot(e.X, e.Y))
			}
		}
		return d
	}
	return s.insideConcave(fp, p)
}

// breached is returned, at least, when a polygon footprint is not wholly inside a concave shape.
const breached = -1e-6

func (s *Shape) insideConcave(fp *spatial.Polygon, p spatial.Pose2) float64 {
	mine, theirs := s.polygon.Corners(), fp.Corners()
	edges, out := math.Inf(1), 0.0
	last := p.Apply(theirs[len(theirs)-1])
	for _, c := range theirs {
		q := p.Apply(c)
		for i, j := 0, len(mine)-1; i < len(mine); j, i = i, i+1 {
			edges = min(edges, spatial.SegmentDistance(last, q, mine[j], mine[i]))
		}
		out = min(out, -s.polygon.SignedDistance(q))
		last = q
	}
	if out >= 0 && edges > 0 {
		return edges
	}
	back := p.Inverse()
	for _, c := range mine {
		out = min(out, fp.SignedDistance(back.Apply(c)))
	}
	return min(out, breached)
}

func place(buf *[spatial.MaxPartCorners]r2.Vec, part []r2.Vec, p spatial.Pose2) []r2.Vec {
	sin, cos := math.Sincos(p.Yaw)
	for i, c := range part {
		buf[i] = r2.Vec{X: p.X + cos*c.X - sin*c.Y, Y: p.Y + sin*c.X + cos*c.Y}
	}
	return buf[:len(part)]
}
