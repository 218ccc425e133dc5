package grid_test

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

// scattered is a map with single cells blocked, mostly around its middle.
func scattered(t *rapid.T) *grid.Grid {
	w, h := rapid.IntRange(40, 140).Draw(t, "w"), rapid.IntRange(40, 90).Draw(t, "h")
	data := make([]int8, w*h)
	for range rapid.IntRange(0, 25).Draw(t, "blocked") {
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		if rapid.Bool().Draw(t, "middle") {
			x, y = w/4+x/2, h/4+y/2
		}
		data[y*w+x] = 100
	}
	c := rapid.Float64Range(-20, 20)
	return must(grid.New(grid.Config{
		Frame: "map", Width: w, Height: h, Resolution: rapid.SampledFrom([]float64{0.03, 0.05, 0.1}).Draw(t, "resolution"), Data: data,
		Origin: spatial.Pose2{X: c.Draw(t, "ox"), Y: c.Draw(t, "oy"), Yaw: rapid.Float64Range(-3.2, 3.2).Draw(t, "oyaw")},
	}))
}

// drawCourse has up to four motions, each of which begins where the one before ends.
func drawCourse(t *rapid.T, g *grid.Grid) (course []spatial.Motion) {
	w, h := g.Size()
	at := g.Origin().Apply(v(rapid.Float64Range(0.2, 0.8).Draw(t, "fx")*float64(w)*g.Resolution(), rapid.Float64Range(0.2, 0.8).Draw(t, "fy")*float64(h)*g.Resolution()))
	from := spatial.Pose2{X: at.X, Y: at.Y, Yaw: rapid.Float64Range(-3.2, 3.2).Draw(t, "yaw")}
	along, turn := rapid.Float64Range(-0.6, 0.6), rapid.Float64Range(-1.5, 1.5)
	for range rapid.IntRange(1, grid.MaxAlong-1).Draw(t, "motions") {
		m := spatial.Arc(from, along.Draw(t, "vx"), along.Draw(t, "vy"), turn.Draw(t, "w"), 1)
		m.IsArc = rapid.Bool().Draw(t, "arc")
		course, from = append(course, m), m.End()
	}
	return course
}

// filled are points of a footprint: its corners, many of its edge, and a lattice inside.
func filled(fp spatial.Footprint) (pts []r2.Vec) {
	radius, isCircle := fp.Circle()
	const n = 8
	for i := -n; i <= n; i++ {
		for j := -n; j <= n; j++ {
			q := v(fp.OuterRadius()*float64(i)/n, fp.OuterRadius()*float64(j)/n)
			if isCircle && r2.Norm(q) <= radius || !isCircle && fp.Polygon().Contains(q) {
				pts = append(pts, q)
			}
		}
	}
	if isCircle {
		for i := range 90 {
			s, c := math.Sincos(2 * math.Pi * float64(i) / 90)
			pts = append(pts, v(radius*c, radius*s))
		}
		return pts
	}
	corners := fp.Polygon().Corners()
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		for u := 0.0; u < 1; u += 0.05 {
			pts = append(pts, r2.Add(r2.Scale(1-u, a), r2.Scale(u, b)))
		}
	}
	return pts
}

// deepest is how deep, in cells, a point (in the grid's frame, in cells) is within any blocked cell that e was added to on each side; negative outside.
func deepest(g *grid.Grid, p r2.Vec, e float64) float64 {
	deep := math.Inf(-1)
	for x := int(math.Floor(p.X-e)) - 1; float64(x) <= p.X+e+1; x++ {
		for y := int(math.Floor(p.Y-e)) - 1; float64(y) <= p.Y+e+1; y++ {
			if g.CellBlocked(x, y) {
				deep = max(deep, min(p.X-float64(x)+e, float64(x+1)+e-p.X, p.Y-float64(y)+e, float64(y+1)+e-p.Y))
			}
		}
	}
	return deep
}

// What is called free along its whole way keeps the margin at every instant, by all points of the footprint one by one.
func TestFreeAlongKeepsTheMarginEverywhere(t *testing.T) {
	tried, passed, bent, boxed := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		g, fp := scattered(t), drawFootprint(t)
		course := drawCourse(t, g)
		margin := rapid.Float64Range(-grid.MaxInset*g.Resolution(), 0.15).Draw(t, "margin")
		poses, bulge := []spatial.Pose2{course[0].From}, 0.0
		for _, m := range course {
			poses, bulge = append(poses, m.End()), max(bulge, m.Bulge(fp))
		}
		tried++
		if !g.FreeAlong(fp, poses, bulge, margin) {
			return
		}
		passed++
		if len(course) > 1 {
			bent++
		}
		if fp.Polygon() != nil {
			boxed++
		}
		toGrid, points := g.Origin().Inverse(), filled(fp)
		for k, m := range course {
			const n = 40
			for i := range n + 1 {
				p := m.At(float64(i) / n)
				if !g.Free(fp, p, margin) {
					t.Fatalf("called free, and is not at %d/%d of motion %d", i, n, k)
				}
				for _, q := range points {
					on := r2.Scale(1/g.Resolution(), toGrid.Apply(p.Apply(q)))
					if d := deepest(g, on, margin/g.Resolution()); d > 1e-7 {
						t.Fatalf("called free, and the point %v is %g cells within the margin at %d/%d of motion %d", q, d, i, n, k)
					}
				}
			}
			if free, u := g.Sweep(fp, m, margin-1e-9); !free && margin > -grid.MaxInset*g.Resolution()+1e-9 {
				t.Fatalf("the course is free, and not its motion %d at %g", k, u)
			}
		}
	})
	if passed < tried/20 || bent < tried/50 || boxed < tried/50 {
		t.Errorf("of %d courses only %d were free, %d of several motions, %d of polygons", tried, passed, bent, boxed)
	}
}

// A way that touches nothing is called free where it is nearly straight: in a corridor that is a millimetre wider than the robot, too.
func TestFreeAlongACorridor(t *testing.T) {
	const w, h = 200, 41
	data := make([]int8, w*h)
	for x := range w {
		data[x], data[(h-1)*w+x] = 100, 100
	}
	g := must(grid.New(grid.Config{Frame: "map", Width: w, Height: h, Resolution: 0.05, Data: data, Origin: spatial.Pose2{X: 3, Y: -4, Yaw: 0.7}}))
	middle := func(x, y, yaw float64) spatial.Pose2 { return g.Origin().Compose(spatial.Pose2{X: x, Y: y, Yaw: yaw}) }
	const half = 39 * 0.05 / 2
	fit := func(r float64) []spatial.Footprint {
		return []spatial.Footprint{must(spatial.CircleFootprint(r)), must(spatial.PolygonFootprint([]r2.Vec{v(r, r), v(-r, r), v(-r, -r), v(r, -r)}))}
	}
	along := []spatial.Pose2{middle(2, half+0.05, 0), middle(5, half+0.05, 0), middle(8, half+0.05, 0)}
	for _, fp := range fit(half - 1e-3) {
		if !g.FreeAlong(fp, along, 0, 0) || !g.FreeAlong(fp, along, 0, 0.9e-3) {
			t.Errorf("%v: a corridor with a millimetre to spare is not free", fp)
		}
		if g.FreeAlong(fp, along, 0, 1.1e-3) || g.FreeAlong(fp, along, 1.1e-3, 0) {
			t.Errorf("%v: a corridor with a millimetre to spare has more", fp)
		}
		if g.FreeAlong(fp, []spatial.Pose2{along[0], middle(5, half+0.055, 0), along[2]}, 0, 0) {
			t.Errorf("%v: a way that bends into the wall is free", fp)
		}
		if g.FreeAlong(fp, []spatial.Pose2{along[0], middle(10, half+0.05, 0)}, 0, 0) {
			t.Errorf("%v: a way off the map is free", fp)
		}
	}
	for _, fp := range fit(half + 1e-3) {
		if g.FreeAlong(fp, along, 0, 0) {
			t.Errorf("%v: it is too wide for the corridor", fp)
		}
	}
}

func TestFreeAlongOfNonsenseIsNo(t *testing.T) {
	g := sketch(spatial.Pose2{}, grid.Rules{}, "........", "........", "........")
	here := spatial.Pose2{X: 4, Y: 1.5}
	two := []spatial.Pose2{here, here}
	if !g.FreeAlong(disc, two, 0, 0) {
		t.Fatal("standing still is not free")
	}
	nan, inf := math.NaN(), math.Inf(1)
	for name, no := range map[string]bool{
		"no footprint":     g.FreeAlong(spatial.Footprint{}, two, 0, 0),
		"no pose":          g.FreeAlong(disc, nil, 0, 0),
		"one pose":         g.FreeAlong(disc, two[:1], 0, 0),
		"too many poses":   g.FreeAlong(disc, make([]spatial.Pose2, grid.MaxAlong+1), 0, 0),
		"NaN pose":         g.FreeAlong(disc, []spatial.Pose2{here, {X: nan}}, 0, 0),
		"NaN yaw":          g.FreeAlong(bar, []spatial.Pose2{here, {X: 4, Y: 1.5, Yaw: nan}}, 0, 0),
		"far away":         g.FreeAlong(disc, []spatial.Pose2{here, {X: 1e300}}, 0, 0),
		"NaN bulge":        g.FreeAlong(disc, two, nan, 0),
		"infinite bulge":   g.FreeAlong(disc, two, inf, 0),
		"negative bulge":   g.FreeAlong(disc, two, -1, 0),
		"NaN margin":       g.FreeAlong(disc, two, 0, nan),
		"too small margin": g.FreeAlong(disc, two, 0, -1),
	} {
		if no {
			t.Errorf("%s: free", name)
		}
	}
}

func TestFreeAlongAllocatesNothing(t *testing.T) {
	g := sketch(spatial.Pose2{}, grid.Rules{}, "........", "........", "........", "........", "#.......")
	poses := []spatial.Pose2{{X: 3, Y: 2}, {X: 3.5, Y: 2.1, Yaw: 0.3}, {X: 4, Y: 2.4, Yaw: 0.6}}
	for _, fp := range []spatial.Footprint{disc, bar} {
		if n := testing.AllocsPerRun(100, func() { g.FreeAlong(fp, poses, 0.01, 0.02) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	}
}
