package grid

import (
	"math"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// MaxAlong is how many poses FreeAlong takes at once.
const MaxAlong = 5

// rounding is what an area is grown by, in cells, so that no rounding of its own construction counts.
const rounding = 1e-6

// FreeAlong reports whether the filled footprint surely keeps margin from every blocked cell on a way from pose to pose (in the grid's frame, two to
// MaxAlong of them), no point of it more than bulge metres off the straight way that it has from one pose to the next (see spatial.Motion's Bulge). It
// is quick and does not allocate. False says nothing: Sweep looks closely.
//
// It tests one convex area per convex part, which holds all that the part passes over: the hull of where it is at the poses, grown by bulge.
func (g *Grid) FreeAlong(fp spatial.Footprint, poses []spatial.Pose2, bulge, margin float64) bool {
	n := len(poses)
	if n < 2 || n > MaxAlong || !(bulge >= 0 && bulge <= spatial.MaxExtent) {
		return false
	}
	var at [MaxAlong]r2.Vec
	for i, p := range poses {
		if !g.sane(fp, p, margin) {
			return false
		}
		at[i].X, at[i].Y = g.cells(p.X, p.Y)
	}
	bulge = bulge/g.resolution + rounding
	e := margin / g.resolution
	if radius, isCircle := fp.Circle(); isCircle {
		a, b, off := at[0], at[n-1], 0.0
		for _, p := range at[1 : n-1] {
			off = max(off, spatial.PointSegmentDistance(p, a, b))
		}
		return g.capsuleFree(a, b, radius/g.resolution+off+bulge, e)
	}
	var turn [MaxAlong]r2.Vec
	for i, p := range poses {
		s, c := math.Sincos(p.Yaw + g.inverse.Yaw)
		turn[i] = r2.Vec{X: c / g.resolution, Y: s / g.resolution}
	}
	for _, part := range fp.Polygon().Parts() {
		var buf, room [MaxAlong*spatial.MaxPartCorners + 1]r2.Vec
		points := buf[:0]
		for i, t := range turn[:n] {
			for _, v := range part {
				points = append(points, r2.Vec{X: at[i].X + t.X*v.X - t.Y*v.Y, Y: at[i].Y + t.Y*v.X + t.X*v.Y})
			}
		}
		// A margin that is kept along both axes is kept in every direction.
		if !g.boxFree(points, e+bulge) && !g.convexFree(hullOf(points, room[:0]), e+bulge) {
			return false
		}
	}
	return true
}

// capsuleFree is discFree for all that a disc covers on the straight way from a to b; everything in cells.
func (g *Grid) capsuleFree(a, b r2.Vec, r, e float64) bool {
	if a.Y > b.Y {
		a, b = b, a
	}
	left, right := a, a // the centres that are farthest to either side
	if b.X > a.X {
		right = b
	} else {
		left = b
	}
	// The two straight sides, from disc to disc.
	across := r2.Vec{X: r}
	if l := norm(r2.Sub(b, a)); l > 0 {
		across = r2.Vec{X: r * (b.Y - a.Y) / l, Y: -r * (b.X - a.X) / l}
	}
	ra, rb, la, lb := r2.Add(a, across), r2.Add(b, across), r2.Sub(a, across), r2.Sub(b, across)
	y0, y1 := cellRange(a.Y-r-e, b.Y+r+e)
	wide0, wide1 := cellRange(left.X-r-e, right.X+r+e)
	for y := y0; y <= y1; y++ {
		if !g.blockedBetween(y, wide0, wide1) {
			continue // nothing to be exact about
		}
		bottom, top := max(float64(y)-e, a.Y-r), min(float64(y+1)+e, b.Y+r)
		if bottom >= top {
			continue
		}
		// Both sides bulge outwards: the widest place is as near to the outmost centre as the row lets it be.
		u, v := min(max(right.Y, bottom), top), min(max(left.Y, bottom), top)
		var x, w float64
		switch {
		case u <= ra.Y:
			x = a.X + half(r, u-a.Y)
		case u >= rb.Y:
			x = b.X + half(r, u-b.Y)
		default:
			x = ra.X + (u-ra.Y)*((rb.X-ra.X)/(rb.Y-ra.Y))
		}
		switch {
		case v <= la.Y:
			w = a.X - half(r, v-a.Y)
		case v >= lb.Y:
			w = b.X - half(r, v-b.Y)
		default:
			w = la.X + (v-la.Y)*((lb.X-la.X)/(lb.Y-la.Y))
		}
		if x0, x1 := cellRange(w-e, x+e); g.blockedBetween(y, x0, x1) {
			return false
		}
	}
	return true
}

// half of the chord of a circle at some distance from its centre.
func half(r, d float64) float64 { return math.Sqrt(max(r*r-d*d, 0)) }

// norm without the care for overflow that r2.Norm takes: no map is that large.
func norm(v r2.Vec) float64 { return math.Sqrt(v.X*v.X + v.Y*v.Y) }

// boxFree reports whether the rectangle of cells about the points, e added to each side of every cell, has nothing blocked.
func (g *Grid) boxFree(points []r2.Vec, e float64) bool {
	lo, hi := points[0], points[0]
	for _, p := range points[1:] {
		lo = r2.Vec{X: min(lo.X, p.X), Y: min(lo.Y, p.Y)}
		hi = r2.Vec{X: max(hi.X, p.X), Y: max(hi.Y, p.Y)}
	}
	x0, x1 := cellRange(lo.X-e, hi.X+e)
	y0, y1 := cellRange(lo.Y-e, hi.Y+e)
	for y := y0; y <= y1; y++ {
		if g.blockedBetween(y, x0, x1) {
			return false
		}
	}
	return true
}

// hullOf sorts the points and appends the corners of their convex hull to out, counter-clockwise; it needs room for one more than there are points.
func hullOf(points, out []r2.Vec) []r2.Vec {
	for i := 1; i < len(points); i++ { // they are few
		p, k := points[i], i
		for ; k > 0 && (points[k-1].X > p.X || points[k-1].X == p.X && points[k-1].Y > p.Y); k-- {
			points[k] = points[k-1]
		}
		points[k] = p
	}
	// The lower side from left to right, then the upper one back; of a corner that turns the wrong way nothing is kept.
	add := func(p r2.Vec, from int) {
		for n := len(out); n-from >= 2 && r2.Cross(r2.Sub(out[n-1], out[n-2]), r2.Sub(p, out[n-2])) <= 0; n = len(out) {
			out = out[:n-1]
		}
		out = append(out, p)
	}
	for _, p := range points {
		add(p, 0)
	}
	for i, from := len(points)-2, len(out)-1; i >= 0; i-- {
		add(points[i], from)
	}
	return out[:len(out)-1] // where it began
}
