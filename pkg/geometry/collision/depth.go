package collision

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Accuracy of depths, m and relative to the depth; and how many points are added for it.
const (
	depthGap    = 1e-9
	depthRounds = 400
)

// penetration is how far two overlapping cores must move, at the least, to come apart: the distance of the origin from the surface of their
// Minkowski difference. A polytope within the difference grows towards the surface where it is nearest to the origin (the expanding polytope
// algorithm). What is given is the lowest support plane that was met: moving along its normal surely separates.
func penetration(a, b *solid) float64 {
	difference := func(d r3.Vec) r3.Vec { return r3.Sub(a.support(d), b.support(r3.Scale(-1, d))) }
	var h hullBuilder
	size := 0.0
	for x := -1.0; x <= 1; x++ {
		for y := -1.0; y <= 1; y++ {
			for z := -1.0; z <= 1; z++ {
				if x != 0 || y != 0 || z != 0 {
					p := difference(r3.Vec{X: x, Y: y, Z: z})
					h.points = append(h.points, p)
					size = max(size, norm(p))
				}
			}
		}
	}
	h.slack = 1e-14 * size
	least := math.Inf(1)
	if !h.build() {
		return least
	}
	for round := range depthRounds {
		near := -1
		for i := range h.faces {
			if f := &h.faces[i]; !f.dead && f.normal != (r3.Vec{}) && (near < 0 || f.offset < h.faces[near].offset) {
				near = i
			}
		}
		if near < 0 {
			break
		}
		f := &h.faces[near]
		w := difference(f.normal)
		above := r3.Dot(f.normal, w)
		least = min(least, max(above, 0))
		if least-f.offset <= depthGap*(1+least) || !(f.above(w) > h.slack) {
			break
		}
		h.points = append(h.points, w)
		f.outside = append(f.outside[:0], len(h.points)-1)
		if h.grow(near, -1-round); h.torn {
			break
		}
		h.queue = h.queue[:0]
	}
	return least
}
