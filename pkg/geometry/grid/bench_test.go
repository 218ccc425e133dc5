package grid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// warehouse is 200 m by 200 m in cells of 5 cm: walls every 10 m with doors, and clutter.
func warehouse() *grid.Grid {
	const n = 4000
	data := make([]int8, n*n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < n; i += 200 {
		for j := range n {
			if j%200 > 40 {
				data[i*n+j], data[j*n+i] = 100, 100
			}
		}
	}
	for range 20000 {
		x, y := rng.IntN(n-4), rng.IntN(n-4)
		for k := range 16 {
			data[(y+k/4)*n+x+k%4] = 100
		}
	}
	return must(grid.New(grid.Config{Frame: "map", Width: n, Height: n, Resolution: 0.05, Origin: spatial.Pose2{X: -100, Y: -100, Yaw: 0.1}, Data: data}))
}

func BenchmarkFootprintPoses(b *testing.B) {
	g := warehouse()
	rng := rand.New(rand.NewPCG(3, 4))
	poses := make([]spatial.Pose2, 1<<16)
	for i := range poses {
		p := g.Origin().Apply(r2.Vec{X: 200 * rng.Float64(), Y: 200 * rng.Float64()})
		poses[i] = spatial.Pose2{X: p.X, Y: p.Y, Yaw: 2 * math.Pi * rng.Float64()}
	}
	box := must(spatial.PolygonFootprint([]r2.Vec{{X: 0.4, Y: 0.3}, {X: -0.4, Y: 0.3}, {X: -0.4, Y: -0.3}, {X: 0.4, Y: -0.3}}))
	run := func(name string, fp spatial.Footprint) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i, free := 0, 0
			for b.Loop() {
				if g.Free(fp, poses[i&(len(poses)-1)], 0) {
					free++
				}
				i++
			}
			b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "poses/s")
			b.ReportMetric(100*float64(free)/float64(i), "%free")
		})
	}
	run("bits/disc", must(spatial.CircleFootprint(0.35)))
	run("bits/box", box)
	g.Prepare()
	run("prepared/disc", must(spatial.CircleFootprint(0.35)))
	run("prepared/box", box)
}

func BenchmarkSweep10m(b *testing.B) {
	g := warehouse()
	box := must(spatial.PolygonFootprint([]r2.Vec{{X: 0.4, Y: 0.3}, {X: -0.4, Y: 0.3}, {X: -0.4, Y: -0.3}, {X: 0.4, Y: -0.3}}))
	// The longest free way of many.
	rng := rand.New(rand.NewPCG(5, 6))
	var m spatial.Motion
	for {
		p := g.Origin().Apply(r2.Vec{X: 200 * rng.Float64(), Y: 200 * rng.Float64()})
		a := 2 * math.Pi * rng.Float64()
		m = spatial.Line(spatial.Pose2{X: p.X, Y: p.Y, Yaw: a}, spatial.Pose2{X: p.X + 10*math.Cos(a), Y: p.Y + 10*math.Sin(a), Yaw: a})
		if free, _ := g.Sweep(box, m, 0); free {
			break
		}
	}
	for _, prepared := range []string{"bits", "prepared"} {
		if prepared == "prepared" {
			g.Prepare()
		}
		b.Run(prepared, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if free, _ := g.Sweep(box, m, 0); !free {
					b.Fatal("not free")
				}
			}
		})
	}
}

func BenchmarkDistanceTransform(b *testing.B) {
	g := warehouse()
	for b.Loop() {
		g.Distances()
	}
}
