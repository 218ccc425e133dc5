package grid

import (
	"math"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// touch is how far areas must overlap, in cells, to count: a robot that only touches a cell's edge does not collide with it.
const touch = 1e-9

// MaxInset is the deepest (negative) margin, as a share of a cell: a cell shrinks to a point at half.
const MaxInset = 0.45

// Free reports whether the footprint at a pose (in the grid's frame), filled, keeps margin metres from every blocked cell.
// The margin is kept in the directions of the grid's axes, which is never less than in any other. A negative margin, down to
// -MaxInset cells, lets the footprint reach that far into cells. A pose that is not finite or absurdly far away is not free.
func (g *Grid) Free(fp spatial.Footprint, p spatial.Pose2, margin float64) bool {
	if !g.sane(fp, p, margin) {
		return false
	}
	cx, cy := g.cells(p.X, p.Y)
	if n := g.near.Load(); n != nil && g.lowerBound(n, cx, cy)-math.Sqrt2*max(margin, 0) > fp.OuterRadius() {
		return true
	}
	return g.free(fp, p, cx, cy, margin)
}

func (g *Grid) sane(fp spatial.Footprint, p spatial.Pose2, margin float64) bool {
	return !fp.IsZero() && math.Abs(p.X) <= 2*spatial.MaxExtent && math.Abs(p.Y) <= 2*spatial.MaxExtent && spatial.Finite(p.Yaw) &&
		margin >= -MaxInset*g.resolution && margin <= spatial.MaxExtent
}

// free looks at every row of cells that the footprint covers.
func (g *Grid) free(fp spatial.Footprint, p spatial.Pose2, cx, cy, margin float64) bool {
	if fp.OuterRadius()/g.resolution > float64(2*(g.width+g.height)) {
		return false // larger than the map in every respect, and so off it
	}
	e := margin / g.resolution
	if r, isCircle := fp.Circle(); isCircle {
		return g.discFree(cx, cy, r/g.resolution, e)
	}
	s, c := math.Sincos(p.Yaw + g.inverse.Yaw)
	s, c = s/g.resolution, c/g.resolution
	var buf [spatial.MaxPartCorners]r2.Vec
	for _, part := range fp.Polygon().Parts() {
		for i, v := range part {
			buf[i] = r2.Vec{X: cx + c*v.X - s*v.Y, Y: cy + s*v.X + c*v.Y}
		}
		if !g.convexFree(buf[:len(part)], e) {
			return false
		}
	}
	return true
}

// discFree: everything in cells; e is added to each side of every cell.
func (g *Grid) discFree(cx, cy, r, e float64) bool {
	y0, y1 := cellRange(cy-r-e, cy+r+e)
	wide0, wide1 := cellRange(cx-r-e, cx+r+e)
	for y := y0; y <= y1; y++ {
		if !g.blockedBetween(y, wide0, wide1) {
			continue // nothing to be exact about
		}
		dy := max(float64(y)-e-cy, cy-float64(y+1)-e, 0)
		if dy >= r {
			continue
		}
		w := math.Sqrt(r*r-dy*dy) + e
		if x0, x1 := cellRange(cx-w, cx+w); g.blockedBetween(y, x0, x1) {
			return false
		}
	}
	return true
}

// convexFree: within the strip of one row, the cells that a convex area meets are those under its shadow on the x axis.
func (g *Grid) convexFree(c []r2.Vec, e float64) bool {
	lo, hi, wideLo, wideHi := c[0].Y, c[0].Y, c[0].X, c[0].X
	for _, v := range c[1:] {
		lo, hi = min(lo, v.Y), max(hi, v.Y)
		wideLo, wideHi = min(wideLo, v.X), max(wideHi, v.X)
	}
	y0, y1 := cellRange(lo-e, hi+e)
	wide0, wide1 := cellRange(wideLo-e, wideHi+e)
	for y := y0; y <= y1; y++ {
		if !g.blockedBetween(y, wide0, wide1) {
			continue // nothing to be exact about
		}
		bottom, top := float64(y)-e, float64(y+1)+e
		left, right := math.Inf(1), math.Inf(-1)
		for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
			a, b := c[j], c[i]
			if a.Y > b.Y {
				a, b = b, a
			}
			if b.Y < bottom || a.Y > top {
				continue
			}
			ax, bx := a.X, b.X
			if h := b.Y - a.Y; h > 0 {
				k := (b.X - a.X) / h
				if a.Y < bottom {
					ax = a.X + (bottom-a.Y)*k
				}
				if b.Y > top {
					bx = a.X + (top-a.Y)*k
				}
			}
			left, right = min(left, ax, bx), max(right, ax, bx)
		}
		if !(left <= right) {
			continue
		}
		if x0, x1 := cellRange(left-e, right+e); g.blockedBetween(y, x0, x1) {
			return false
		}
	}
	return true
}

// cellRange is the cells whose inside the interval meets, in cells.
func cellRange(lo, hi float64) (first, last int) {
	return int(math.Floor(lo + touch)), int(math.Ceil(hi-touch)) - 1
}

// Cause of a collision.
type Cause uint8

// Causes.
const (
	CauseNone     Cause = 0
	CauseOccupied Cause = 1
	CauseUnknown  Cause = 2
	CauseOffMap   Cause = 3
	CauseNoPose   Cause = 4 // not finite, or too far away to speak of
)

// String completes "the footprint is on …".
func (c Cause) String() string {
	switch c {
	case CauseOccupied:
		return "an occupied cell"
	case CauseUnknown:
		return "an unknown cell"
	case CauseOffMap:
		return "ground off the map"
	case CauseNoPose:
		return "no finite pose"
	default:
		return "free cells"
	}
}

// Hit is a blocked cell under a footprint.
type Hit struct {
	Cause Cause
	At    r2.Vec // the cell's centre in the grid's frame
	X, Y  int    // the cell; off the grid for CauseOffMap
}

// Explain finds the blocked cell under a footprint that is nearest to its origin. It is for reports, and slower than Free; where Free says
// true it gives CauseNone.
func (g *Grid) Explain(fp spatial.Footprint, p spatial.Pose2, margin float64) Hit {
	if !g.sane(fp, p, margin) {
		return Hit{Cause: CauseNoPose}
	}
	cx, cy := g.cells(p.X, p.Y)
	if g.free(fp, p, cx, cy, margin) {
		return Hit{}
	}
	e := margin / g.resolution
	reach := fp.OuterRadius()/g.resolution + max(e, 0) + 1
	yaw := p.Yaw + g.inverse.Yaw
	best, hit := math.Inf(1), Hit{Cause: CauseOffMap}
	try := func(x, y int) {
		dx, dy := float64(x)+0.5-cx, float64(y)+0.5-cy
		if d := math.Hypot(dx, dy); d < best && g.CellBlocked(x, y) && g.covers(fp, cx, cy, yaw, x, y, e) {
			best = d
			hit = Hit{Cause: g.cause(x, y), At: g.center(x, y), X: x, Y: y}
		}
	}
	// One ring of cells around the grid stands for everything off it.
	x0, x1 := max(int(math.Floor(cx-reach)), -1), min(int(math.Ceil(cx+reach)), g.width)
	y0, y1 := max(int(math.Floor(cy-reach)), -1), min(int(math.Ceil(cy+reach)), g.height)
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			try(x, y)
		}
	}
	return hit
}

// covers reports whether the footprint meets one cell, e added to each of its sides.
func (g *Grid) covers(fp spatial.Footprint, cx, cy, yaw float64, x, y int, e float64) bool {
	l, r, b, t := float64(x)-e, float64(x+1)+e, float64(y)-e, float64(y+1)+e
	if radius, isCircle := fp.Circle(); isCircle {
		return math.Hypot(max(l-cx, cx-r, 0), max(b-cy, cy-t, 0)) < radius/g.resolution
	}
	cell := [4]r2.Vec{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}}
	s, c := math.Sincos(yaw)
	s, c = s/g.resolution, c/g.resolution
	var buf [spatial.MaxPartCorners]r2.Vec
	for _, part := range fp.Polygon().Parts() {
		for i, v := range part {
			buf[i] = r2.Vec{X: cx + c*v.X - s*v.Y, Y: cy + s*v.X + c*v.Y}
		}
		if spatial.ConvexSignedDistance(buf[:len(part)], cell[:]) < 0 {
			return true
		}
	}
	return false
}

func (g *Grid) cause(x, y int) Cause {
	switch {
	case !g.onGrid(x, y):
		return CauseOffMap
	case g.CellUnknown(x, y):
		return CauseUnknown
	}
	return CauseOccupied
}

func (g *Grid) center(x, y int) r2.Vec {
	return g.origin.Apply(r2.Vec{X: (float64(x) + 0.5) * g.resolution, Y: (float64(y) + 0.5) * g.resolution})
}
