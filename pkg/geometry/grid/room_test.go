package grid_test

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

// wide is a map of many cells a row with some of them blocked.
func wide(t *rapid.T) *grid.Grid {
	const w, h = 200, 60
	data := make([]int8, w*h)
	for range rapid.IntRange(0, 12).Draw(t, "blocked") {
		data[rapid.IntRange(0, w*h-1).Draw(t, "cell")] = 100
	}
	origin := spatial.Pose2{X: -3, Y: 2, Yaw: rapid.Float64Range(-3, 3).Draw(t, "yaw")}
	return must(grid.New(grid.Config{Frame: "map", Stamp: 7, Width: w, Height: h, Resolution: 0.1, Origin: origin, Data: data}))
}

// somewhere on the map.
func somewhere(t *rapid.T, g *grid.Grid) spatial.Pose2 {
	at := g.Origin().Apply(r2.Vec{X: rapid.Float64Range(0, 20).Draw(t, "x"), Y: rapid.Float64Range(0, 6).Draw(t, "y")})
	return spatial.Pose2{X: at.X, Y: at.Y, Yaw: rapid.Float64Range(-3, 3).Draw(t, "heading")}
}

// The room of a polygon is the least clearance of the points of its edge, which are taken here one by one; nothing of a map can be inside of
// one that is free.
func TestRoomOfAPolygon(t *testing.T) {
	corners := []r2.Vec{{X: 1.5, Y: 0.2}, {X: -1.5, Y: 0.2}, {X: -1.5, Y: -0.2}, {X: 1.5, Y: -0.2}}
	fp := must(spatial.PolygonFootprint(corners))
	const step = 0.02
	rapid.Check(t, func(t *rapid.T) {
		g := wide(t)
		p := somewhere(t, g)
		room := g.Room(fp, p)
		least := math.Inf(1)
		for i, a := range corners {
			b := corners[(i+1)%len(corners)]
			for u := 0.0; u <= 1; u += step / r2.Norm(r2.Sub(b, a)) {
				least = min(least, g.Clearance(p.Apply(r2.Add(r2.Scale(1-u, a), r2.Scale(u, b)))))
			}
		}
		if g.Free(fp, p, 0) {
			if room > least+1e-9 || room < least-step {
				t.Fatalf("room %g, the edge's least clearance is %g", room, least)
			}
		} else if room != 0 {
			t.Fatalf("room %g where it is not free", room)
		}
	})
}

// Whatever way a footprint moves by its reach, it is still free; before the distances are there nothing is promised.
func TestNothingIsWithinReach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := wide(t)
		p := somewhere(t, g)
		fp := disc
		if rapid.Bool().Draw(t, "bar") {
			fp = bar
		}
		if g.Prepared() || g.Reach(fp, p, 0) != 0 {
			t.Fatal("it reaches before it is prepared")
		}
		g.Prepare()
		reach := g.Reach(fp, p, 0)
		if !g.Prepared() || g.Frame() != "map" || g.Stamp() != 7 {
			t.Fatal("it is another map now")
		}
		if reach == 0 {
			return
		}
		a, u := rapid.Float64Range(0, 2*math.Pi).Draw(t, "direction"), rapid.Float64Range(0, 0.999).Draw(t, "part")
		p.X, p.Y = p.X+u*reach*math.Cos(a), p.Y+u*reach*math.Sin(a)
		p.Yaw += rapid.Float64Range(-3, 3).Draw(t, "turn")
		if !g.Free(fp, p, 0) {
			t.Fatalf("it is not free within its reach of %g m", reach)
		}
	})
	if must(grid.New(grid.Config{Frame: "map", Width: 40, Height: 40, Resolution: 1, Data: make([]int8, 1600)})).Reach(disc, spatial.Pose2{X: math.NaN()}, 0) != 0 {
		t.Error("it reaches from nowhere")
	}
}
