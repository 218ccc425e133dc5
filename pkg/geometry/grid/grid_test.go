package grid_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func v(x, y float64) r2.Vec { return r2.Vec{X: x, Y: y} }

// sketch makes a grid of 1 m cells from rows drawn top down: '#' occupied, '?' unknown, '.' free, 'o' half occupied.
func sketch(origin spatial.Pose2, rules grid.Rules, rows ...string) *grid.Grid {
	w, h := len(rows[0]), len(rows)
	data := make([]int8, w*h)
	for i, row := range rows {
		for x, c := range row {
			data[(h-1-i)*w+x] = map[rune]int8{'#': 100, '?': grid.Unknown, '.': 0, 'o': 50}[c]
		}
	}
	return must(grid.New(grid.Config{Frame: "map", Width: w, Height: h, Resolution: 1, Origin: origin, Data: data, Rules: rules}))
}

var (
	disc = must(spatial.CircleFootprint(0.4))
	bar  = must(spatial.PolygonFootprint([]r2.Vec{v(2, 0.2), v(-2, 0.2), v(-2, -0.2), v(2, -0.2)}))
)

func TestBadMapsAreRefused(t *testing.T) {
	good := grid.Config{Frame: "map", Width: 2, Height: 2, Resolution: 0.05, Data: make([]int8, 4)}
	for _, tc := range []struct {
		name   string
		change func(*grid.Config)
		says   string
	}{
		{"no frame", func(c *grid.Config) { c.Frame = "" }, "frame"},
		{"slash", func(c *grid.Config) { c.Frame = "/map" }, "frame"},
		{"empty", func(c *grid.Config) { c.Width, c.Height, c.Data = 0, 0, nil }, "0 by 0"},
		{"negative", func(c *grid.Config) { c.Width, c.Height = -2, -2 }, "-2 by -2"},
		{"too few values", func(c *grid.Config) { c.Data = c.Data[:3] }, "3 values"},
		{"too many", func(c *grid.Config) { c.Width, c.Height = 1<<20, 1<<20 }, "limit"},
		{"product overflows", func(c *grid.Config) { c.Width, c.Height = 1<<62, 4; c.Data = nil }, "limit"},
		{"no resolution", func(c *grid.Config) { c.Resolution = 0 }, "resolution"},
		{"NaN resolution", func(c *grid.Config) { c.Resolution = math.NaN() }, "resolution"},
		{"infinite resolution", func(c *grid.Config) { c.Resolution = math.Inf(1) }, "resolution"},
		{"negative resolution", func(c *grid.Config) { c.Resolution = -1 }, "resolution"},
		{"NaN origin", func(c *grid.Config) { c.Origin.Yaw = math.NaN() }, "origin"},
		{"origin far away", func(c *grid.Config) { c.Origin.X = 1e12 }, "origin"},
		{"cell of 101", func(c *grid.Config) { c.Data = []int8{0, 0, 101, 0} }, "cell (0, 1) is 101"},
		{"cell of -2", func(c *grid.Config) { c.Data = []int8{0, -2, 0, 0} }, "cell (1, 0) is -2"},
		{"threshold", func(c *grid.Config) { c.Rules.OccupiedAt = -1 }, "occupied"},
	} {
		c := good
		tc.change(&c)
		if _, err := grid.New(c); !errors.Is(err, grid.ErrGrid) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestPlanarOrigin(t *testing.T) {
	p := spatial.Pose2{X: 1, Y: 2, Yaw: 3}
	if got, err := grid.PlanarOrigin(p.Pose()); err != nil || math.Abs(got.X-p.X)+math.Abs(got.Y-p.Y)+math.Abs(got.Yaw-p.Yaw) > 1e-12 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := grid.PlanarOrigin(spatial.Pose{}); !errors.Is(err, grid.ErrGrid) || !errors.Is(err, spatial.ErrZeroNorm) {
		t.Errorf("zero quaternion: %v", err)
	}
	tilted := p.Pose()
	tilted.Orientation = quat.Number{Real: math.Cos(0.1), Imag: math.Sin(0.1)}
	if _, err := grid.PlanarOrigin(tilted); !errors.Is(err, grid.ErrGrid) {
		t.Errorf("tilted: %v", err)
	}
}

func TestFree(t *testing.T) {
	rows := []string{
		"........",
		"........",
		"...#....",
		"......?o",
		"........",
	}
	yaw90 := spatial.Pose2{X: 100, Y: 50, Yaw: math.Pi / 2} // the grid's x points up, its y left
	p := func(x, y, yaw float64) spatial.Pose2 { return spatial.Pose2{X: x, Y: y, Yaw: yaw} }
	for _, tc := range []struct {
		name   string
		origin spatial.Pose2
		rules  grid.Rules
		fp     spatial.Footprint
		at     spatial.Pose2
		margin float64
		want   bool
	}{
		{"in the open", spatial.Pose2{}, grid.Rules{}, disc, p(1.5, 1.5, 0), 0, true},
		{"on an obstacle", spatial.Pose2{}, grid.Rules{}, disc, p(3.5, 2.5, 0), 0, false},
		{"beside it", spatial.Pose2{}, grid.Rules{}, disc, p(2.5, 2.5, 0), 0, true},
		{"touching it is not hitting it", spatial.Pose2{}, grid.Rules{}, disc, p(2.6, 2.5, 0), 0, true},
		{"a hair into it", spatial.Pose2{}, grid.Rules{}, disc, p(2.6001, 2.5, 0), 0, false},
		{"off its corner", spatial.Pose2{}, grid.Rules{}, disc, p(2.7, 1.7, 0), 0, true},
		{"margin", spatial.Pose2{}, grid.Rules{}, disc, p(2.5, 2.5, 0), 0.2, false},
		{"reaching in as far as allowed", spatial.Pose2{}, grid.Rules{}, disc, p(2.7, 2.5, 0), -0.2, true},
		{"reaching in farther", spatial.Pose2{}, grid.Rules{}, disc, p(2.9, 2.5, 0), -0.2, false},
		{"an obstacle inside the outline, which is free all around", spatial.Pose2{}, grid.Rules{}, must(spatial.CircleFootprint(1.4)), p(3.5, 2.5, 0), 0, false},
		{"the same with a polygon", spatial.Pose2{}, grid.Rules{}, bar, p(3.5, 2.5, 0), 0, false},
		{"bar beside it", spatial.Pose2{}, grid.Rules{}, bar, p(3.5, 1.7, 0), 0, true},
		{"bar turned into it", spatial.Pose2{}, grid.Rules{}, bar, p(3.5, 1.7, 0.5), 0, false},
		{"unknown is not free", spatial.Pose2{}, grid.Rules{}, disc, p(6.5, 1.5, 0), 0, false},
		{"unless said so", spatial.Pose2{}, grid.Rules{UnknownIsFree: true}, disc, p(6.5, 1.5, 0), 0, true},
		{"half occupied is free by default", spatial.Pose2{}, grid.Rules{}, disc, p(7.5, 1.5, 0), 0, true},
		{"and not below another threshold", spatial.Pose2{}, grid.Rules{OccupiedAt: 50}, disc, p(7.5, 1.5, 0), 0, false},
		{"off the map", spatial.Pose2{}, grid.Rules{UnknownIsFree: true}, disc, p(-5, 1.5, 0), 0, false},
		{"far off it", spatial.Pose2{}, grid.Rules{UnknownIsFree: true}, disc, p(1e6, 1e6, 0), 0, false},
		{"partly off it", spatial.Pose2{}, grid.Rules{UnknownIsFree: true}, disc, p(0.3, 1.5, 0), 0, false},
		{"up to its edge", spatial.Pose2{}, grid.Rules{}, disc, p(0.4, 0.4, 0), 0, true},
		{"over the upper edge", spatial.Pose2{}, grid.Rules{}, disc, p(0.4, 4.7, 0), 0, false},
		{"larger than the map", spatial.Pose2{}, grid.Rules{}, must(spatial.CircleFootprint(1e6)), p(4, 2, 0), 0, false},
		{"rotated map, in the open", yaw90, grid.Rules{}, disc, p(98.5, 51.5, 0), 0, true},
		{"rotated map, obstacle", yaw90, grid.Rules{}, disc, p(100-2.5, 50+3.5, 0), 0, false},
		{"rotated map, bar beside it", yaw90, grid.Rules{}, bar, p(100-1.7, 50+3.5, math.Pi/2), 0, true},
		{"rotated map, bar turned into it", yaw90, grid.Rules{}, bar, p(100-1.7, 50+3.5, 0), 0, false},
		{"rotated map, off it", yaw90, grid.Rules{}, disc, p(101, 51, 0), 0, false},
		{"NaN", spatial.Pose2{}, grid.Rules{}, disc, p(math.NaN(), 1.5, 0), 0, false},
		{"NaN yaw of a disc", spatial.Pose2{}, grid.Rules{}, disc, p(1.5, 1.5, math.NaN()), 0, false},
		{"infinite", spatial.Pose2{}, grid.Rules{}, disc, p(math.Inf(1), 1.5, 0), 0, false},
		{"1e308", spatial.Pose2{}, grid.Rules{}, bar, p(1e308, -1e308, 0), 0, false},
		{"NaN margin", spatial.Pose2{}, grid.Rules{}, disc, p(1.5, 1.5, 0), math.NaN(), false},
		{"huge margin", spatial.Pose2{}, grid.Rules{}, disc, p(1.5, 1.5, 0), 1e6, false},
		{"no footprint", spatial.Pose2{}, grid.Rules{}, spatial.Footprint{}, p(1.5, 1.5, 0), 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := sketch(tc.origin, tc.rules, rows...)
			for _, prepared := range []bool{false, true} {
				if prepared {
					g.Prepare()
				}
				if got := g.Free(tc.fp, tc.at, tc.margin); got != tc.want {
					t.Errorf("prepared %v: %v", prepared, got)
				}
				if hit := g.Explain(tc.fp, tc.at, tc.margin); (hit.Cause == grid.CauseNone) != tc.want {
					t.Errorf("explained as %v", hit.Cause)
				}
			}
		})
	}
}

func TestExplainNamesTheCauseAndTheCell(t *testing.T) {
	g := sketch(spatial.Pose2{X: 10}, grid.Rules{}, "....", "..?#", "....")
	for _, tc := range []struct {
		at    spatial.Pose2
		cause grid.Cause
		cell  r2.Vec
	}{
		{spatial.Pose2{X: 13.4, Y: 1.5}, grid.CauseOccupied, v(13.5, 1.5)},
		{spatial.Pose2{X: 12.4, Y: 1.5}, grid.CauseUnknown, v(12.5, 1.5)},
		{spatial.Pose2{X: 10.2, Y: 0.5}, grid.CauseOffMap, v(9.5, 0.5)},
		{spatial.Pose2{X: 500}, grid.CauseOffMap, v(0, 0)},
		{spatial.Pose2{X: math.Inf(1)}, grid.CauseNoPose, v(0, 0)},
	} {
		if hit := g.Explain(disc, tc.at, 0); hit.Cause != tc.cause || r2.Norm(r2.Sub(hit.At, tc.cell)) > 1e-9 {
			t.Errorf("%v: %+v", tc.at, hit)
		}
	}
}

// drawGrid is small, with odd sizes, any origin, a rotation, and now and then full or empty.
func drawGrid(t *rapid.T) *grid.Grid {
	w, h := rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
	density := rapid.SampledFrom([]int{0, 1, 5, 30, 100}).Draw(t, "density")
	seed := rapid.Uint64().Draw(t, "seed")
	data := make([]int8, w*h)
	for i := range data {
		seed = seed*6364136223846793005 + 1442695040888963407
		if int(seed>>33)%100 < density {
			data[i] = []int8{100, grid.Unknown}[seed>>40&1]
		}
	}
	c := rapid.Float64Range(-20, 20)
	return must(grid.New(grid.Config{
		Frame: "map", Width: w, Height: h, Resolution: rapid.SampledFrom([]float64{0.05, 0.1, 0.25}).Draw(t, "resolution"), Data: data,
		Origin: spatial.Pose2{X: c.Draw(t, "ox"), Y: c.Draw(t, "oy"), Yaw: rapid.Float64Range(-3.2, 3.2).Draw(t, "oyaw")},
		Rules:  grid.Rules{UnknownIsFree: rapid.Bool().Draw(t, "unknown is free")},
	}))
}

// somewhere on or near the grid.
func drawPose(t *rapid.T, g *grid.Grid, name string) spatial.Pose2 {
	w, h := g.Size()
	p := g.Origin().Apply(v(rapid.Float64Range(-0.2, 1.2).Draw(t, name+".x")*float64(w)*g.Resolution(), rapid.Float64Range(-0.2, 1.2).Draw(t, name+".y")*float64(h)*g.Resolution()))
	return spatial.Pose2{X: p.X, Y: p.Y, Yaw: rapid.Float64Range(-3.2, 3.2).Draw(t, name+".yaw")}
}

func drawFootprint(t *rapid.T) spatial.Footprint {
	size := rapid.Float64Range(0.05, 1).Draw(t, "size")
	if rapid.Bool().Draw(t, "disc") {
		return must(spatial.CircleFootprint(size))
	}
	n := rapid.IntRange(4, 9).Draw(t, "corners")
	c := make([]r2.Vec, n)
	for i := range c {
		s, k := math.Sincos(2 * math.Pi * (float64(i) + rapid.Float64Range(0, 0.8).Draw(t, "a")) / float64(n))
		r := size * rapid.Float64Range(0.3, 1).Draw(t, "r")
		c[i] = v(r*k, r*s)
	}
	return must(spatial.PolygonFootprint(c))
}

// brute is Free by looking at every cell and a ring of cells around the grid, with another test for each: the signed distance
// of the footprint from the cell's square. depth is how deep the footprint is in a blocked one (negative: how far away from the nearest).
func brute(g *grid.Grid, fp spatial.Footprint, p spatial.Pose2) (depth float64) {
	w, h := g.Size()
	depth = math.Inf(-1)
	onGrid := g.Origin().Inverse().Compose(p)
	ring := int(math.Ceil(fp.OuterRadius()/g.Resolution())) + 2
	for y := -ring; y < h+ring; y++ {
		for x := -ring; x < w+ring; x++ {
			if !g.CellBlocked(x, y) {
				continue
			}
			r := g.Resolution()
			cell := []r2.Vec{v(float64(x)*r, float64(y)*r), v(float64(x+1)*r, float64(y)*r), v(float64(x+1)*r, float64(y+1)*r), v(float64(x)*r, float64(y+1)*r)}
			if radius, ok := fp.Circle(); ok {
				depth = math.Max(depth, radius-must(spatial.NewPolygon(cell)).SignedDistance(onGrid.Vec()))
				continue
			}
			for _, part := range fp.Polygon().Parts() {
				moved := make([]r2.Vec, len(part))
				for i, c := range part {
					moved[i] = onGrid.Apply(c)
				}
				depth = math.Max(depth, -spatial.ConvexSignedDistance(moved, cell))
			}
		}
	}
	return depth
}

func TestFreeAgreesWithEveryCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, fp := drawGrid(t), drawFootprint(t)
		p := drawPose(t, g, "p")
		w, h := g.Size()
		if c := g.Origin().Inverse().Apply(p.Vec()); c.X < 0 || c.Y < 0 || c.X > float64(w)*g.Resolution() || c.Y > float64(h)*g.Resolution() {
			if g.Free(fp, p, 0) {
				t.Fatal("off the map is free")
			}
			return
		}
		if rapid.Bool().Draw(t, "prepared") {
			g.Prepare()
		}
		depth := brute(g, fp, p)
		if got := g.Free(fp, p, 0); got != (depth < 0) && math.Abs(depth) > 1e-7 {
			t.Fatalf("free %v, depth %g", got, depth)
		}
		if got := g.Explain(fp, p, 0).Cause == grid.CauseNone; got != g.Free(fp, p, 0) {
			t.Fatal("the explanation differs")
		}
		if depth < 0 {
			room := g.Room(fp, p)
			if math.Abs(room+depth) > 1e-9 {
				t.Fatalf("room %g, brute force %g", room, -depth)
			}
			// A margin along the axes is at least one in every direction, and at most sqrt 2 of it.
			m := rapid.Float64Range(0, 1).Draw(t, "margin")
			if g.Free(fp, p, m) && m > -depth+1e-7 {
				t.Fatalf("keeps %g m with a room of %g m", m, -depth)
			}
			if !g.Free(fp, p, m) && m*math.Sqrt2 < -depth-1e-7 {
				t.Fatalf("does not keep %g m with a room of %g m", m, -depth)
			}
		}
	})
}

func TestClearanceAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		p := drawPose(t, g, "p").Vec()
		w, h := g.Size()
		r := g.Resolution()
		q := g.Origin().Inverse().Apply(p)
		want := math.Min(math.Min(q.X, q.Y), math.Min(float64(w)*r-q.X, float64(h)*r-q.Y))
		for y := range h {
			for x := range w {
				if g.CellBlocked(x, y) {
					dx := math.Max(math.Max(float64(x)*r-q.X, q.X-float64(x+1)*r), 0)
					dy := math.Max(math.Max(float64(y)*r-q.Y, q.Y-float64(y+1)*r), 0)
					want = math.Min(want, math.Hypot(dx, dy))
				}
			}
		}
		if got := g.Clearance(p); math.Abs(got-math.Max(want, 0)) > 1e-9 {
			t.Fatalf("%g, want %g", got, want)
		}
	})
}

func TestDistanceTransformAgreesWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		w, h := g.Size()
		got := g.Distances()
		for y := range h {
			for x := range w {
				want := math.Min(math.Min(float64(x+1), float64(y+1)), math.Min(float64(w-x), float64(h-y)))
				for j := range h {
					for i := range w {
						if g.CellBlocked(i, j) {
							want = math.Min(want, math.Hypot(float64(i-x), float64(j-y)))
						}
					}
				}
				if math.Abs(float64(got[y*w+x])-want) > 1e-5 {
					t.Fatalf("cell (%d, %d): %g, want %g", x, y, got[y*w+x], want)
				}
			}
		}
	})
}

func drawMotion(t *rapid.T, g *grid.Grid) spatial.Motion {
	a := drawPose(t, g, "a")
	c := rapid.Float64Range(-2, 2)
	switch rapid.IntRange(0, 2).Draw(t, "motion") {
	case 0:
		return spatial.Line(a, drawPose(t, g, "b"))
	case 1:
		return spatial.Rotation(a, rapid.Float64Range(-8, 8).Draw(t, "turn"))
	}
	return spatial.Arc(a, c.Draw(t, "vx"), c.Draw(t, "vy"), c.Draw(t, "w"), 1)
}

// TestSweepAgreesWithDenseSampling: what sampling shows to collide is refused; what is refused comes within the step of colliding.
func TestSweepAgreesWithDenseSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, fp := drawGrid(t), drawFootprint(t)
		m := drawMotion(t, g)
		if rapid.Bool().Draw(t, "prepared") {
			g.Prepare()
		}
		free, u := g.Sweep(fp, m, 0)
		const n = 500
		for i := range n + 1 {
			if at := float64(i) / n; free && !g.Free(fp, m.At(at), 0) {
				t.Fatalf("passed, but collides at u=%g", at)
			} else if !free && at < u && !g.Free(fp, m.At(at), 0) {
				t.Fatalf("refused at u=%g, but collides at %g already", u, at)
			}
		}
		if !free && g.Free(fp, m.At(u), 2*grid.Step) {
			t.Fatalf("refused at u=%g, where twice the step is free all around", u)
		}
	})
}

func TestSweepThroughAThinWall(t *testing.T) {
	g := sketch(spatial.Pose2{}, grid.Rules{}, "....#....", "....#....", "....#....")
	for _, fp := range []spatial.Footprint{disc, must(spatial.PolygonFootprint([]r2.Vec{v(0.3, 0.3), v(-0.3, 0.3), v(-0.3, -0.3), v(0.3, -0.3)}))} {
		m := spatial.Line(spatial.Pose2{X: 1.5, Y: 1.5}, spatial.Pose2{X: 7.5, Y: 1.5})
		if free, u := g.Sweep(fp, m, 0); free || math.Abs(m.At(u).X-(4-fp.OuterRadius())) > 0.15 {
			t.Errorf("free %v, stops at %v", free, m.At(u))
		}
		if !g.Free(fp, m.From, 0) || !g.Free(fp, m.End(), 0) {
			t.Error("the ends are free")
		}
	}
}

func TestSweepsOfNonsenseEnd(t *testing.T) {
	g := sketch(spatial.Pose2{}, grid.Rules{}, ".....", ".....", ".....")
	at := spatial.Pose2{X: 2.5, Y: 1.5}
	for name, m := range map[string]spatial.Motion{
		"to infinity": {From: at, Shift: v(math.Inf(1), 0)}, "NaN": {From: at, Shift: v(0, math.NaN())},
		"NaN turn": {From: at, Turn: math.NaN()}, "1e308": {From: at, Shift: v(1e308, 1e308)}, "out of the world": {From: at, Shift: v(1e9, 0)},
		"from nowhere": {From: spatial.Pose2{X: math.NaN()}},
	} {
		if free, _ := g.Sweep(disc, m, 0); free {
			t.Errorf("%s is free", name)
		}
	}
	if free, _ := g.Sweep(must(spatial.PolygonFootprint([]r2.Vec{v(0.5, 0), v(-0.5, 0.5), v(-0.5, -0.5)})), spatial.Rotation(at, 1e12), 0); !free {
		t.Error("turning in place for ever is free")
	}
}

func TestGridIsSafeForConcurrentUse(t *testing.T) {
	g := sketch(spatial.Pose2{}, grid.Rules{}, "....#....", "....#....", ".........")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if c := g.Clearance(v(1.5, 1.5)); c != 1.5 {
					t.Errorf("clearance %g", c)
				}
				g.Free(disc, spatial.Pose2{X: 1.5, Y: 1.5}, 0)
			}
		})
	}
	wg.Wait()
}

func FuzzGrid(f *testing.F) {
	f.Add([]byte{0, 100, 255, 50, 0, 0}, 3, 2, 0.05, 1.0, -2.0, 0.5, 0.05, 0.05, 0.3)
	f.Fuzz(func(t *testing.T, data []byte, w, h int, res, ox, oy, oyaw, x, y, yaw float64) {
		cells := make([]int8, len(data))
		for i, b := range data {
			cells[i] = int8(b)
		}
		g, err := grid.New(grid.Config{Frame: "map", Width: w, Height: h, Resolution: res, Origin: spatial.Pose2{X: ox, Y: oy, Yaw: oyaw}, Data: cells})
		if err != nil {
			if !errors.Is(err, grid.ErrGrid) {
				t.Fatal(err)
			}
			return
		}
		p := spatial.Pose2{X: x, Y: y, Yaw: yaw}
		for _, fp := range []spatial.Footprint{disc, bar} {
			free := g.Free(fp, p, 0)
			g.Prepare()
			if free != g.Free(fp, p, 0) {
				t.Fatal("the distance transform changes the answer")
			}
			if swept, _ := g.Sweep(fp, spatial.Rotation(p, 1), 0); swept && !free {
				t.Fatal("a motion is free whose start is not")
			}
			g.Explain(fp, p, 0)
			if room := g.Room(fp, p); free && !(room >= 0) {
				t.Fatalf("free with room %g", room)
			}
		}
	})
}
