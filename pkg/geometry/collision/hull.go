package collision

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// ErrHull is wrapped by errors about points that no hull can be made of.
var ErrHull = errors.New("collision: no hull")

// MaxHullPoints is how many points a hull may be made of.
const MaxHullPoints = 1 << 20

// Hull is the convex hull of points, filled. It is immutable and may be shared.
//
// Points that lie in one plane (or on one line) make a hull without thickness, which is as good as any other.
type Hull struct {
	corners []r3.Vec // about the centre
	center  r3.Vec
	radius  float64 // of a ball about the centre
	faces   [][3]int
	// next has, for each corner, the ones that an edge leads to. Going uphill along edges ends at the farthest corner in any direction. Empty
	// for few corners and for hulls without thickness: all of them are looked at.
	next [][]int32
	// start is a corner to begin at, by the signs of the direction.
	start [8]int32
}

// fewCorners are looked at one by one: that is quicker than going along edges.
const fewCorners = 24

// NewHull makes the hull of points, in m. Errors wrap ErrHull.
func NewHull(points []r3.Vec) (*Hull, error) {
	switch {
	case len(points) == 0:
		return nil, fmt.Errorf("%w: there are no points", ErrHull)
	case len(points) > MaxHullPoints:
		return nil, fmt.Errorf("%w: %d points, limit %d", ErrHull, len(points), MaxHullPoints)
	}
	lo, hi := points[0], points[0]
	for i, p := range points {
		if !(math.Abs(p.X) <= spatial.MaxExtent && math.Abs(p.Y) <= spatial.MaxExtent && math.Abs(p.Z) <= spatial.MaxExtent) {
			return nil, fmt.Errorf("%w: point %d is (%g, %g, %g): must be finite and at most %g m", ErrHull, i, p.X, p.Y, p.Z, float64(spatial.MaxExtent))
		}
		lo = r3.Vec{X: min(lo.X, p.X), Y: min(lo.Y, p.Y), Z: min(lo.Z, p.Z)}
		hi = r3.Vec{X: max(hi.X, p.X), Y: max(hi.Y, p.Y), Z: max(hi.Z, p.Z)}
	}
	h := &Hull{center: r3.Scale(0.5, r3.Add(lo, hi))}
	seen := make(map[r3.Vec]bool, len(points))
	var list []r3.Vec
	for _, p := range points {
		if p = r3.Sub(p, h.center); !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	size := norm(r3.Sub(hi, lo))
	b := hullBuilder{points: list, slack: 1e-13 * size}
	switch {
	case b.build():
		h.corners, h.faces = b.compact()
		if !h.convex(1e-9 * size) { // rounding has got the better of it: all points will do, if slowly
			h.corners, h.faces = list, nil
		}
	case b.flat && len(list) > fewCorners && size > 0:
		h.corners = flatHull(list, size)
	default:
		h.corners = list
	}
	for _, c := range h.corners {
		h.radius = max(h.radius, norm(c))
	}
	h.link()
	return h, nil
}

// Corners of the hull, in the frame of the points that it was made of.
func (h *Hull) Corners() []r3.Vec {
	out := make([]r3.Vec, len(h.corners))
	for i, c := range h.corners {
		out[i] = r3.Add(c, h.center)
	}
	return out
}

// Faces are triangles of corners, counter-clockwise from outside; none where the hull has no thickness. The slice is not to be changed.
func (h *Hull) Faces() [][3]int { return h.faces }

// link finds the edges.
func (h *Hull) link() {
	if len(h.faces) > 0 && len(h.corners) > fewCorners {
		h.next = make([][]int32, len(h.corners))
		for _, f := range h.faces {
			for i := range 3 {
				h.next[f[i]] = append(h.next[f[i]], int32(f[(i+1)%3])) // each edge is in two faces, once each way
			}
		}
	}
	for k := range h.start {
		d := r3.Vec{X: 1, Y: 1, Z: 1}
		if k&1 != 0 {
			d.X = -1
		}
		if k&2 != 0 {
			d.Y = -1
		}
		if k&4 != 0 {
			d.Z = -1
		}
		h.start[k] = int32(h.best(d))
	}
}

// best looks at all corners.
func (h *Hull) best(d r3.Vec) int {
	at, most := 0, math.Inf(-1)
	for i := range h.corners {
		if v := r3.Dot(h.corners[i], d); v > most {
			at, most = i, v
		}
	}
	return at
}

// farthest corner along d, which is in the hull's frame.
func (h *Hull) farthest(d r3.Vec) r3.Vec {
	if h.next == nil {
		return h.corners[h.best(d)]
	}
	k := 0
	if d.X < 0 {
		k |= 1
	}
	if d.Y < 0 {
		k |= 2
	}
	if d.Z < 0 {
		k |= 4
	}
	at := h.start[k]
	most := r3.Dot(h.corners[at], d)
	for {
		up := at
		for _, n := range h.next[at] {
			if v := r3.Dot(h.corners[n], d); v > most {
				up, most = n, v
			}
		}
		if up == at {
			return h.corners[at]
		}
		at = up
	}
}

// convex reports whether the faces are closed, and no face's neighbour rises over it: then the whole is convex.
func (h *Hull) convex(slack float64) bool {
	opposite := make(map[[2]int]int, 3*len(h.faces)) // the third corner, by edge
	for _, f := range h.faces {
		for i := range 3 {
			e := [2]int{f[i], f[(i+1)%3]}
			if _, twice := opposite[e]; twice {
				return false
			}
			opposite[e] = f[(i+2)%3]
		}
	}
	for _, f := range h.faces {
		a, b, c := h.corners[f[0]], h.corners[f[1]], h.corners[f[2]]
		n := r3.Cross(r3.Sub(b, a), r3.Sub(c, a))
		l := norm(n)
		for i := range 3 {
			k, ok := opposite[[2]int{f[(i+1)%3], f[i]}]
			if !ok || l > 0 && r3.Dot(n, r3.Sub(h.corners[k], a)) > slack*l {
				return false
			}
		}
	}
	return true
}
