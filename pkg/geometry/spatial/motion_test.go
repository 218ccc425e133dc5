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
