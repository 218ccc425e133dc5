package spatial_test

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

func drawMotion(t *rapid.T) spatial.Motion {
	from := drawPose2(t, "from")
	v := rapid.Float64Range(-2, 2)
	if rapid.Bool().Draw(t, "arc") {
		return spatial.Arc(from, v.Draw(t, "vx"), v.Draw(t, "vy"), v.Draw(t, "w"), rapid.Float64Range(0, 5).Draw(t, "dt"))
	}
	return spatial.Line(from, drawPose2(t, "to"))
}

func TestArcIsTheIntegralOfItsTwist(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(-2, 2)
		vx, vy, w, dt := v.Draw(t, "vx"), v.Draw(t, "vy"), v.Draw(t, "w"), rapid.Float64Range(0, 3).Draw(t, "dt")
		from := drawPose2(t, "from")
		got := spatial.Arc(from, vx, vy, w, dt).End()
		// The midpoint rule in small steps.
		const n = 2000
		p := from
		for range n {
			s, c := math.Sincos(p.Yaw + w*dt/n/2)
			p.X += (c*vx - s*vy) * dt / n
			p.Y += (s*vx + c*vy) * dt / n
			p.Yaw += w * dt / n
		}
		if math.Hypot(got.X-p.X, got.Y-p.Y) > 1e-5 || math.Abs(got.Yaw-p.Yaw) > 1e-9 {
			t.Fatalf("%v, want %v", got, p)
		}
	})
}

func TestTravelBoundsEveryPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMotion(t)
		radius := rapid.Float64Range(0, 2).Draw(t, "radius")
		a := rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "angle")
		q := r2.Vec{X: radius * math.Cos(a), Y: radius * math.Sin(a)}
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		du := rapid.Float64Range(0, 1-u).Draw(t, "du")
		moved := r2.Norm(r2.Sub(m.At(u+du).Apply(q), m.At(u).Apply(q)))
		if moved > du*m.Travel(radius)+1e-9 {
			t.Fatalf("moved %g, bound %g", moved, du*m.Travel(radius))
		}
	})
}

// A disc about the origin goes where its centre does; of any other footprint, each point is held against its own chord.
func TestBulgeBoundsTheWayOffTheChord(t *testing.T) {
	square := func(r float64) spatial.Footprint {
		fp, err := spatial.PolygonFootprint([]r2.Vec{{X: r, Y: r}, {X: -r, Y: r}, {X: -r, Y: -r}, {X: r, Y: -r}})
		if err != nil {
			t.Fatal(err)
		}
		return fp
	}
	tight := 0.0
	rapid.Check(t, func(t *rapid.T) {
		m, r := drawMotion(t), rapid.Float64Range(0.01, 2).Draw(t, "radius")
		disc, err := spatial.CircleFootprint(r)
		if err != nil {
			t.Fatal(err)
		}
		box := square(r / math.Sqrt2)
		a := rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "angle")
		q := r2.Vec{X: r * math.Cos(a), Y: r * math.Sin(a)}
		for i := range 101 {
			p := m.At(float64(i) / 100)
			off := spatial.PointSegmentDistance(p.Vec(), m.From.Vec(), m.End().Vec())
			if off > m.Bulge(disc)+1e-9 {
				t.Fatalf("the disc is %g off, bound %g", off, m.Bulge(disc))
			}
			off = spatial.PointSegmentDistance(p.Apply(q), m.From.Apply(q), m.End().Apply(q))
			if off > m.Bulge(box)+1e-9 {
				t.Fatalf("a point is %g off, bound %g", off, m.Bulge(box))
			}
			if b := m.Bulge(box); b > 0 {
				tight = max(tight, off/b)
			}
		}
	})
	if tight < 0.5 {
		t.Errorf("the bound is never closer than %g of it", tight)
	}
}

func TestMotionInAnotherFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, rel, u := drawMotion(t), drawPose2(t, "rel"), rapid.Float64Range(0, 1).Draw(t, "u")
		got, want := m.In(rel).At(u), rel.Compose(m.At(u))
		if math.Hypot(got.X-want.X, got.Y-want.Y) > 1e-9 || math.Abs(spatial.WrapAngle(got.Yaw-want.Yaw)) > 1e-9 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestPartIsTheBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, u := drawMotion(t), rapid.Float64Range(0, 1).Draw(t, "u")
		got, want := m.Part(u).End(), m.At(u)
		if math.Hypot(got.X-want.X, got.Y-want.Y) > 1e-9 || math.Abs(got.Yaw-want.Yaw) > 1e-9 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestOnceLeavesOutRepetitions(t *testing.T) {
	for _, tc := range []struct {
		name  string
		m     spatial.Motion
		share float64
	}{
		{"two and a half turns", spatial.Rotation(spatial.Pose2{}, 5*math.Pi), 0.4},
		{"the other way", spatial.Rotation(spatial.Pose2{}, -5*math.Pi), 0.4},
		{"less than one", spatial.Rotation(spatial.Pose2{}, 3), 1},
		{"circles", spatial.Arc(spatial.Pose2{}, 1, 0, 1, 8*math.Pi), 0.25},
		{"a spinning line never repeats", spatial.Motion{Shift: r2.Vec{X: 1}, Turn: 20}, 1},
	} {
		m, share := tc.m.Once()
		if math.Abs(share-tc.share) > 1e-12 || math.Abs(m.Turn-share*tc.m.Turn) > 1e-12 {
			t.Errorf("%s: share %g, turn %g", tc.name, share, m.Turn)
		}
	}
}

// The pose along an arc changes evenly where the formula for small angles begins.
func TestArcsOfSmallAnglesHaveTheSameChord(t *testing.T) {
	for _, turn := range []float64{1e-12, 1e-5, 1e-3, 0.02, 0.0999999, 0.1000001, 0.3} {
		end := spatial.Arc(spatial.Pose2{}, 1, 0, turn, 1).End()
		if x, y := math.Sin(turn)/turn, 2*math.Pow(math.Sin(turn/2), 2)/turn; math.Abs(end.X-x) > 3e-16 || math.Abs(end.Y-y) > 1e-16 {
			t.Errorf("turn %g: (%.17g, %.17g), want (%.17g, %.17g)", turn, end.X, end.Y, x, y)
		}
	}
}
