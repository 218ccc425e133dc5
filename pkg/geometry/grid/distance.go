package grid

import (
	"math"
	"math/bits"
	"runtime"
	"sync"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// block is the side of the squares of cells for which nearness is kept.
const block = 8

// nearness keeps, for each block of cells, the least distance transform in it, in whole cells and at most 255: a few hundred kilobytes for a
// large map, which stay in the processor's cache.
type nearness struct {
	width int // in blocks
	least []uint8
}

// Prepare computes the distance transform, once. Questions are answered without it too; with it, those far from obstacles
// take constant time. On 4000 by 4000 cells it takes some tenths of a second and 64 MB for that time: call it where a map
// arrives, not in a control loop.
func (g *Grid) Prepare() {
	g.once.Do(func() {
		d := g.distances()
		n := &nearness{width: (g.width + block - 1) / block}
		n.least = make([]uint8, n.width*((g.height+block-1)/block))
		for i := range n.least {
			n.least[i] = math.MaxUint8
		}
		for y := range g.height {
			for x, v := range d[y*g.width : (y+1)*g.width] {
				b := &n.least[y/block*n.width+x/block]
				*b = min(*b, uint8(min(v, math.MaxUint8)))
			}
		}
		g.near.Store(n)
	})
}

// Prepared reports whether the distance transform is there.
func (g *Grid) Prepared() bool { return g.near.Load() != nil }

// distances gives, for each cell, the distance in cells from its centre to the nearest blocked cell's centre (0 in a blocked
// cell); everything off the grid is blocked. The squared distances are exact (Felzenszwalb and Huttenlocher's lower envelope of parabolas,
// one dimension after the other).
func (g *Grid) distances() []float32 {
	d := make([]float32, g.width*g.height)
	share(g.height, func(from, to int) {
		for y := from; y < to; y++ {
			g.alongRow(y, d[y*g.width:(y+1)*g.width])
		}
	})
	// Columns in bunches, so that each line of memory is fetched once.
	const bunch = 16
	share((g.width+bunch-1)/bunch, func(from, to int) {
		e := newEnvelope(g.height)
		block := make([]float32, bunch*g.height)
		for x0 := from * bunch; x0 < min(to*bunch, g.width); x0 += bunch {
			n := min(bunch, g.width-x0)
			for y := range g.height {
				for i, v := range d[y*g.width+x0 : y*g.width+x0+n] {
					block[i*g.height+y] = v
				}
			}
			for i := range n {
				e.transform(block[i*g.height : (i+1)*g.height])
			}
			for y := range g.height {
				for i := range n {
					d[y*g.width+x0+i] = block[i*g.height+y]
				}
			}
		}
	})
	return d
}

// share splits n pieces of work over the processors and waits.
func share(n int, work func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() { work(n*i/workers, n*(i+1)/workers) })
	}
	wg.Wait()
}

// alongRow gives the distance to the nearest blocked cell in the same row, the cells beyond both ends being blocked.
func (g *Grid) alongRow(y int, d []float32) {
	run := float32(0)
	for x := range d {
		if g.blocked[y*g.words+x/64]>>(x%64)&1 == 1 {
			run = 0
		} else {
			run++
		}
		d[x] = run
	}
	run = 0
	for x := len(d) - 1; x >= 0; x-- {
		run = min(d[x], run+1)
		d[x] = run
	}
}

// envelope is the lower envelope of the parabolas (y-v)² + f(v), and room to work in.
type envelope struct {
	f []float64 // squared distances along the row, with a blocked row at each end: index y+1
	v []int     // the parabolas of the envelope
	z []float64 // where each begins
}

func newEnvelope(height int) *envelope {
	n := height + 2
	return &envelope{f: make([]float64, n), v: make([]int, n), z: make([]float64, n+1)}
}

// transform turns distances along the rows into distances in the plane.
func (e *envelope) transform(d []float32) {
	n := len(d) + 2
	f := e.f[:n]
	f[0], f[n-1] = 0, 0
	for i, x := range d {
		f[i+1] = float64(x) * float64(x)
	}
	k := 0
	e.v[0], e.z[0], e.z[1] = 0, math.Inf(-1), math.Inf(1)
	for q := 1; q < n; q++ {
		s := meet(f, q, e.v[k])
		for s <= e.z[k] {
			k--
			s = meet(f, q, e.v[k])
		}
		k++
		e.v[k], e.z[k], e.z[k+1] = q, s, math.Inf(1)
	}
	k = 0
	for q := 1; q < n-1; q++ {
		for e.z[k+1] < float64(q) {
			k++
		}
		dy := float64(q - e.v[k])
		d[q-1] = float32(math.Sqrt(dy*dy + f[e.v[k]]))
	}
}

// meet is where the parabolas of q and v cross.
func meet(f []float64, q, v int) float64 {
	return ((f[q] + float64(q*q)) - (f[v] + float64(v*v))) / float64(2*(q-v))
}

// lowerBound of the distance, in metres, from a point (in cells) to any blocked cell's area; negative near one.
func (g *Grid) lowerBound(n *nearness, cx, cy float64) float64 {
	x, y := int(math.Floor(cx)), int(math.Floor(cy))
	if !g.onGrid(x, y) {
		return 0
	}
	// Less half a cell's diagonal from the point to its cell's centre, and as much from the blocked cell's centre to its corner.
	return (float64(n.least[y/block*n.width+x/block]) - math.Sqrt2) * g.resolution
}

// Reach is a distance, in metres, by which every point of the footprint may surely move from a pose without meeting a blocked cell or
// the grid's edge; 0 where nothing is sure, or the grid is not prepared. It takes constant time.
func (g *Grid) Reach(fp spatial.Footprint, p spatial.Pose2, margin float64) float64 {
	n := g.near.Load()
	if n == nil || !g.sane(fp, p, margin) {
		return 0
	}
	cx, cy := g.cells(p.X, p.Y)
	return max(g.lowerBound(n, cx, cy)-fp.OuterRadius()-math.Sqrt2*max(margin, 0), 0)
}

// Clearance is the exact distance in metres from a point (in the grid's frame) to the nearest blocked cell's area or the grid's edge; 0
// inside a blocked cell and off the grid.
func (g *Grid) Clearance(p r2.Vec) float64 {
	if !(math.Abs(p.X) <= 2*spatial.MaxExtent && math.Abs(p.Y) <= 2*spatial.MaxExtent) {
		return 0
	}
	cx, cy := g.cells(p.X, p.Y)
	if g.CellBlocked(int(math.Floor(cx)), int(math.Floor(cy))) {
		return 0
	}
	edge := min(cx, cy, float64(g.width)-cx, float64(g.height)-cy)
	// In windows of twice the size, until nothing outside of one can be nearer.
	for reach := 8.0; ; reach *= 2 {
		if best := g.nearest(cx, cy, min(reach, edge)); best < reach || reach >= edge {
			return max(min(best, edge), 0) * g.resolution
		}
	}
}

// nearest is the distance in cells to the nearest blocked cell within reach of a point, else reach.
func (g *Grid) nearest(cx, cy, reach float64) float64 {
	best := reach
	x0, x1 := max(int(math.Floor(cx-reach)), 0), min(int(math.Floor(cx+reach)), g.width-1)
	y0, y1 := max(int(math.Floor(cy-reach)), 0), min(int(math.Floor(cy+reach)), g.height-1)
	for row := y0; row <= y1; row++ {
		dy := max(float64(row)-cy, cy-float64(row+1), 0)
		if dy >= best {
			continue
		}
		for w := x0 / 64; w <= x1/64; w++ {
			for word := g.blocked[row*g.words+w]; word != 0; word &= word - 1 {
				col := float64(w*64 + bits.TrailingZeros64(word))
				best = min(best, math.Hypot(max(col-cx, cx-col-1, 0), dy))
			}
		}
	}
	return best
}

// Room is the clearance of a footprint at a pose. For a circle it is exact and negative when it overlaps (by how much the centre is too close);
// for a polygon it is the distance of the filled area, 0 when it overlaps.
func (g *Grid) Room(fp spatial.Footprint, p spatial.Pose2) float64 {
	if !g.sane(fp, p, 0) {
		return 0
	}
	if r, isCircle := fp.Circle(); isCircle {
		return g.Clearance(p.Vec()) - r
	}
	if !g.Free(fp, p, 0) {
		return 0
	}
	return g.polygonRoom(fp, p)
}

// polygonRoom is the distance of a footprint that is free. No corner is nearer than it, which bounds where to look.
func (g *Grid) polygonRoom(fp spatial.Footprint, p spatial.Pose2) float64 {
	cx, cy := g.cells(p.X, p.Y)
	s, c := math.Sincos(p.Yaw + g.inverse.Yaw)
	s, c = s/g.resolution, c/g.resolution
	best := math.Inf(1)
	for _, v := range fp.Polygon().Corners() {
		best = min(best, g.Clearance(p.Apply(v))/g.resolution)
	}
	reach := fp.OuterRadius()/g.resolution + best + 1
	var buf [spatial.MaxPartCorners]r2.Vec
	y0, y1 := max(int(math.Floor(cy-reach)), 0), min(int(math.Ceil(cy+reach)), g.height-1)
	x0, x1 := max(int(math.Floor(cx-reach)), 0), min(int(math.Ceil(cx+reach)), g.width-1)
	for _, part := range fp.Polygon().Parts() {
		for i, v := range part {
			buf[i] = r2.Vec{X: cx + c*v.X - s*v.Y, Y: cy + s*v.X + c*v.Y}
		}
		for row := y0; row <= y1; row++ {
			for w := x0 / 64; w <= x1/64; w++ {
				for word := g.blocked[row*g.words+w]; word != 0; word &= word - 1 {
					x := float64(w*64 + bits.TrailingZeros64(word))
					y := float64(row)
					if math.Hypot(x+0.5-cx, y+0.5-cy) > reach {
						continue
					}
					cell := [4]r2.Vec{{X: x, Y: y}, {X: x + 1, Y: y}, {X: x + 1, Y: y + 1}, {X: x, Y: y + 1}}
					best = min(best, max(spatial.ConvexSignedDistance(buf[:len(part)], cell[:]), 0))
				}
			}
		}
	}
	return best * g.resolution
}
