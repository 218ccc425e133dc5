package suite

import (
	"math"

	"agent_node/pkg/ros"
)

// floor is the map, looked at cell by cell: slow, and written anew, so that it does not share the node's mistakes.
type floor struct {
	width, height          int
	resolution             float64
	x0, y0                 float64
	blocked                []bool
	xmin, xmax, ymin, ymax float64
}

// newFloor reads a map whose cells lie along its frame's axes.
func newFloor(m *ros.Message, occupied int) *floor {
	f := &floor{
		width: int(m.Int("info.width")), height: int(m.Int("info.height")), resolution: m.Float("info.resolution"),
		x0: m.Float("info.origin.position.x"), y0: m.Float("info.origin.position.y"),
	}
	if occupied == 0 {
		occupied = 65
	}
	data, _ := m.Get("data")
	cells, _ := data.([]int8)
	f.blocked = make([]bool, len(cells))
	for i, c := range cells {
		f.blocked[i] = c < 0 || int(c) >= occupied
	}
	f.xmin, f.ymin = f.x0, f.y0
	f.xmax, f.ymax = f.x0+float64(f.width)*f.resolution, f.y0+float64(f.height)*f.resolution
	return f
}

func (f *floor) at(x, y float64) (i, k int) {
	return int(math.Floor((x - f.x0) / f.resolution)), int(math.Floor((y - f.y0) / f.resolution))
}

func (f *floor) isBlocked(i, k int) bool {
	return i < 0 || k < 0 || i >= f.width || k >= f.height || f.blocked[k*f.width+i]
}

// free reports whether no blocked cell is within r of a point.
func (f *floor) free(x, y, r float64) bool {
	i0, k0 := f.at(x-r, y-r)
	i1, k1 := f.at(x+r, y+r)
	for k := k0; k <= k1; k++ {
		for i := i0; i <= i1; i++ {
			cx, cy := f.x0+float64(i)*f.resolution, f.y0+float64(k)*f.resolution
			dx := math.Max(0, math.Max(cx-x, x-cx-f.resolution))
			dy := math.Max(0, math.Max(cy-y, y-cy-f.resolution))
			if math.Hypot(dx, dy) <= r && f.isBlocked(i, k) {
				return false
			}
		}
	}
	return true
}

// thinWall finds a wall that is at most 0.3 m thick with a place to stand on both sides, off from its faces: a point in it, the normal along x or y, and half its thickness.
func (f *floor) thinWall(off float64) (map[string]any, bool) {
	most := int(0.3 / f.resolution)
	try := func(i, k, di, dk int) (map[string]any, bool) {
		if f.isBlocked(i-di, k-dk) || !f.isBlocked(i, k) {
			return nil, false
		}
		n := 1
		for ; n <= most && f.isBlocked(i+n*di, k+n*dk); n++ {
		}
		if n > most {
			return nil, false
		}
		half := float64(n) * f.resolution / 2
		x := f.x0 + (float64(i)+0.5)*f.resolution + float64(di)*(half-f.resolution/2)
		y := f.y0 + (float64(k)+0.5)*f.resolution + float64(dk)*(half-f.resolution/2)
		d := half + off
		if !f.free(x-d*float64(di), y-d*float64(dk), off-0.1) || !f.free(x+d*float64(di), y+d*float64(dk), off-0.1) {
			return nil, false
		}
		return map[string]any{"x": x, "y": y, "nx": float64(di), "ny": float64(dk), "h": half, "yaw": math.Atan2(float64(dk), float64(di))}, true
	}
	for k := range f.height {
		for i := range f.width {
			if w, ok := try(i, k, 1, 0); ok {
				return w, true
			}
			if w, ok := try(i, k, 0, 1); ok {
				return w, true
			}
		}
	}
	return nil, false
}
