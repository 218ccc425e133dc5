package spatial_test

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

func drawTransform(t *rapid.T, name string) spatial.Transform {
	return spatial.Transform{Translation: drawVec(t, name+".t"), Rotation: drawRotation(t, name+".r")}
}

func nearly(a, b spatial.Transform) bool {
	return r3.Norm(r3.Sub(a.Translation, b.Translation)) < 1e-11 && spatial.Angle(a.Rotation, b.Rotation) < 1e-7
}

func TestTransformsAreAGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c, id := drawTransform(t, "a"), drawTransform(t, "b"), drawTransform(t, "c"), spatial.Identity()
		if l, r := a.Compose(b).Compose(c), a.Compose(b.Compose(c)); !nearly(l, r) {
			t.Fatalf("not associative: %v, %v", l, r)
		}
		if !nearly(a.Compose(id), a) || !nearly(id.Compose(a), a) {
			t.Fatal("identity is not neutral")
		}
		if !nearly(a.Compose(a.Inverse()), id) || !nearly(a.Inverse().Compose(a), id) {
			t.Fatal("the inverse does not undo")
		}
		if l, r := a.Compose(b).Inverse(), b.Inverse().Compose(a.Inverse()); !nearly(l, r) {
			t.Fatal("inverse of a product")
		}
	})
}

func TestTransformsActOnPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, p, q := drawTransform(t, "a"), drawTransform(t, "b"), drawVec(t, "p"), drawVec(t, "q")
		if d := r3.Norm(r3.Sub(a.Compose(b).Apply(p), a.Apply(b.Apply(p)))); d > 1e-11 {
			t.Fatalf("composition is not application in turn: %g", d)
		}
		if d := r3.Norm(r3.Sub(a.Apply(p), a.Apply(q))) - r3.Norm(r3.Sub(p, q)); math.Abs(d) > 1e-11 {
			t.Fatalf("not rigid: %g", d)
		}
		// gonum's own rotation is the independent answer.
		if d := r3.Norm(r3.Sub(spatial.Rotate(a.Rotation, p), r3.Rotation(a.Rotation).Rotate(p))); d > 1e-11 {
			t.Fatalf("rotates otherwise than gonum: %g", d)
		}
		pose := spatial.Pose{Position: p, Orientation: b.Rotation}
		if got := a.ApplyPose(pose).Transform(); !nearly(got, a.Compose(pose.Transform())) {
			t.Fatal("a pose is not moved as its frame is")
		}
	})
}

func TestInterpolateHitsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTransform(t, "a"), drawTransform(t, "b")
		if !nearly(spatial.Interpolate(a, b, 0), a) || !nearly(spatial.Interpolate(a, b, 1), b) {
			t.Fatal("misses an end")
		}
	})
}

func TestFinite(t *testing.T) {
	ok := spatial.Pose2{}.Pose()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := ok
		p.Position.Y = bad
		q := ok
		q.Orientation.Jmag = bad
		if p.Finite() || q.Finite() || (spatial.Twist{Angular: r3.Vec{Z: bad}}).Finite() || p.Transform().Finite() || (spatial.Pose2{Yaw: bad}).Finite() {
			t.Errorf("%g passes for finite", bad)
		}
	}
	if !ok.Finite() || !(spatial.Twist{Linear: r3.Vec{X: math.MaxFloat64}}).Finite() {
		t.Error("finite values do not")
	}
}

func TestPlanarAgreesWithSpace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPose2(t, "a"), drawPose2(t, "b")
		got := a.Compose(b)
		want := a.Pose().Transform().ApplyPose(b.Pose()).Planar()
		if math.Hypot(got.X-want.X, got.Y-want.Y) > 1e-11 || math.Abs(spatial.WrapAngle(got.Yaw-want.Yaw)) > 1e-12 {
			t.Fatalf("%v, want %v", got, want)
		}
		id := a.Compose(a.Inverse())
		if math.Hypot(id.X, id.Y) > 1e-11 || math.Abs(id.Yaw) > 1e-12 {
			t.Fatalf("the inverse leaves %v", id)
		}
		p := b.Vec()
		q := a.Apply(p)
		if c := a.Compose(spatial.Pose2{X: p.X, Y: p.Y}); math.Hypot(q.X-c.X, q.Y-c.Y) > 1e-12 {
			t.Fatal("points and poses move differently")
		}
	})
}

func drawPose2(t *rapid.T, name string) spatial.Pose2 {
	c := rapid.Float64Range(-50, 50)
	return spatial.Pose2{X: c.Draw(t, name+".x"), Y: c.Draw(t, name+".y"), Yaw: rapid.Float64Range(-math.Pi, math.Pi).Draw(t, name+".yaw")}
}
