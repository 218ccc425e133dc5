package spatial_test

import (
	"errors"
	"math"
	"testing"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

func drawTwist(t *rapid.T, name string, most float64) spatial.Twist {
	w := drawVec(t, name+".w")
	if n := r3.Norm(w); n > 0 {
		// Angles of all sizes, tiny ones too.
		w = r3.Scale(most*math.Pow(10, rapid.Float64Range(-9, 0).Draw(t, name+".size"))/n, w)
	}
	return spatial.Twist{Linear: drawVec(t, name+".v"), Angular: w}
}

func TestExpAndLogUndoEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTwist(t, "x", math.Pi-1e-3)
		back := spatial.Log(spatial.Exp(x))
		if d := r3.Norm(r3.Sub(back.Linear, x.Linear)) + r3.Norm(r3.Sub(back.Angular, x.Angular)); d > 1e-9*(1+r3.Norm(x.Linear)) {
			t.Fatalf("%+v comes back as %+v", x, back)
		}
		a := drawTransform(t, "a")
		if !nearly(spatial.Exp(spatial.Log(a)), a) {
			t.Fatalf("%+v comes back as %+v", a, spatial.Exp(spatial.Log(a)))
		}
	})
	if spatial.Log(spatial.Identity()) != (spatial.Twist{}) || spatial.Exp(spatial.Twist{}) != spatial.Identity() {
		t.Error("rest is no motion")
	}
	half := spatial.Transform{Translation: r3.Vec{X: 1, Y: 2, Z: 3}, Rotation: spatial.FromYaw(math.Pi)}
	if !nearly(spatial.Exp(spatial.Log(half)), half) {
		t.Error("half a turn is lost")
	}
}

// TestExpIsWhatSmallStepsAddUpTo: many small steps of the body twist, each a translation and a rotation.
func TestExpIsWhatSmallStepsAddUpTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTwist(t, "x", 6)
		const steps = 1 << 14
		step := spatial.Transform{Translation: r3.Scale(1.0/steps, x.Linear), Rotation: spatial.ExpRotation(r3.Scale(1.0/steps, x.Angular))}
		for range 14 { // squared 14 times
			step = step.Compose(step)
		}
		got := spatial.Exp(x)
		if d := r3.Norm(r3.Sub(got.Translation, step.Translation)); d > 1e-3*(1+r3.Norm(x.Linear)) || spatial.Angle(got.Rotation, step.Rotation) > 1e-6 {
			t.Fatalf("%+v: %+v, by steps %+v", x, got, step)
		}
		// One motion, in two halves: exactly.
		if !nearly(spatial.Exp(x.Scaled(0.3)).Compose(spatial.Exp(x.Scaled(0.7))), got) {
			t.Fatal("the parts of a screw do not add up")
		}
	})
}

func TestScrewsJoinTheirEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawTransform(t, "a"), drawTransform(t, "b"), drawTransform(t, "c")
		if angle := spatial.Angle(a.Rotation, b.Rotation); angle > math.Pi-1e-3 {
			t.Skip("either way round is as short")
		}
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		if !nearly(spatial.InterpolateScrew(a, b, 0), a) || !nearly(spatial.InterpolateScrew(a, b, 1), b) {
			t.Fatal("the ends are not met")
		}
		// The same seen from anywhere: an interpolation of the translation alone is not.
		if !nearly(c.Compose(spatial.InterpolateScrew(a, b, u)), spatial.InterpolateScrew(c.Compose(a), c.Compose(b), u)) {
			t.Fatal("depends on the frame")
		}
		if !nearly(spatial.InterpolateScrew(a, b, u), spatial.InterpolateScrew(b, a, 1-u)) {
			t.Fatal("not the same way back")
		}
	})
}

func drawWrench(t *rapid.T, name string) spatial.Wrench {
	return spatial.Wrench{Force: drawVec(t, name+".f"), Torque: drawVec(t, name+".t")}
}

func TestTwistsAndWrenchesChangeFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTransform(t, "a"), drawTransform(t, "b")
		v, w := spatial.Twist{Linear: drawVec(t, "v"), Angular: drawVec(t, "w")}, drawWrench(t, "f")
		near := func(x, y spatial.Twist) bool {
			return r3.Norm(r3.Sub(x.Linear, y.Linear))+r3.Norm(r3.Sub(x.Angular, y.Angular)) < 1e-9*(1+r3.Norm(x.Linear)+r3.Norm(x.Angular))*100
		}
		if !near(a.ApplyTwist(b.ApplyTwist(v)), a.Compose(b).ApplyTwist(v)) || !near(a.Inverse().ApplyTwist(a.ApplyTwist(v)), v) {
			t.Fatal("twists: no action of the group")
		}
		x, y := a.ApplyWrench(b.ApplyWrench(w)), a.Compose(b).ApplyWrench(w)
		if !near(spatial.Twist{Linear: x.Force, Angular: x.Torque}, spatial.Twist{Linear: y.Force, Angular: y.Torque}) {
			t.Fatal("wrenches: no action of the group")
		}
		// What a wrench does on a moving body is nobody's point of view.
		if p, q := w.Power(v), a.ApplyWrench(w).Power(a.ApplyTwist(v)); math.Abs(p-q) > 1e-7*(1+math.Abs(p)) {
			t.Fatalf("power is %g here and %g there", p, q)
		}
		// The velocity of a body's point, by the twist and by moving for an instant.
		p := drawVec(t, "p")
		const h = 1e-7
		moved := spatial.Exp(spatial.Twist{Linear: r3.Scale(h, v.Linear), Angular: r3.Scale(h, v.Angular)}).Apply(p)
		want := r3.Scale(1/h, r3.Sub(moved, p))
		if d := r3.Norm(r3.Sub(v.At(p).Linear, want)); d > 1e-4*(1+r3.Norm(v.Angular)*r3.Norm(v.Angular)*r3.Norm(p)+r3.Norm(v.Angular)*r3.Norm(v.Linear)+r3.Norm(p)) {
			t.Fatalf("velocity of a point: off by %g", d)
		}
		if !near(v.Rotated(a.Rotation), spatial.Transform{Rotation: a.Rotation}.ApplyTwist(v)) {
			t.Fatal("turning the axes moves the reference point")
		}
		sum := v.Add(v)
		if !near(sum, v.Scaled(2)) || !near(a.ApplyTwist(sum), a.ApplyTwist(v).Scaled(2)) {
			t.Fatal("not linear")
		}
		if u := w.Add(w); u.Force != r3.Scale(2, w.Force) || !u.Finite() || (spatial.Wrench{Force: r3.Vec{X: math.NaN()}}).Finite() {
			t.Fatal("sums of wrenches")
		}
	})
}

// drawCovariance is A Aᵀ.
func drawCovariance(t *rapid.T) (c spatial.Covariance, m *mat.Dense) {
	a := mat.NewDense(6, 6, nil)
	for i := range 36 {
		a.RawMatrix().Data[i] = rapid.Float64Range(-1, 1).Draw(t, "a")
	}
	m = mat.NewDense(6, 6, nil)
	m.Mul(a, a.T())
	copy(c[:], m.RawMatrix().Data)
	return c, m
}

func TestCovariancesTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, m := drawCovariance(t)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		q := drawRotation(t, "q")
		got := c.Rotated(q)
		// J C Jᵀ with gonum's matrices.
		j := mat.NewDense(6, 6, nil)
		for k, axis := range []r3.Vec{{X: 1}, {Y: 1}, {Z: 1}} {
			v := r3.Rotation(q).Rotate(axis)
			for i, x := range []float64{v.X, v.Y, v.Z} {
				j.Set(i, k, x)
				j.Set(3+i, 3+k, x)
			}
		}
		var want mat.Dense
		want.Product(j, m, j.T())
		for i := range 36 {
			if math.Abs(got[i]-want.RawMatrix().Data[i]) > 1e-12 {
				t.Fatalf("element %d: %g, want %g", i, got[i], want.RawMatrix().Data[i])
			}
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		back := got.Rotated(quat.Conj(q))
		for i := range 36 {
			if math.Abs(back[i]-c[i]) > 1e-12 {
				t.Fatal("not the same after turning back")
			}
		}
		// The worst direction is the largest eigenvalue's, whatever the axes.
		p, r := c.Uncertainty()
		for _, b := range []struct {
			at  int
			got float64
		}{{0, p}, {3, r}} {
			var e mat.EigenSym
			s := mat.NewSymDense(3, nil)
			for i := range 3 {
				for k := range i + 1 {
					s.SetSym(i, k, m.At(b.at+i, b.at+k))
				}
			}
			if !e.Factorize(s, false) {
				t.Fatal("no eigenvalues")
			}
			if most := math.Sqrt(e.Values(nil)[2]); math.Abs(most-b.got) > 1e-7 {
				t.Fatalf("uncertainty %g, want %g", b.got, most)
			}
		}
	})
}

func TestWhatIsNoCovarianceIsRefused(t *testing.T) {
	good := spatial.Covariance{0: 1, 7: 4, 14: 1, 21: 0, 28: 1, 35: 1, 1: 1.9, 6: 1.9}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	if p, r := (&spatial.Covariance{0: 4, 7: 4, 14: 4}).Uncertainty(); p != 2 || r != 0 {
		t.Errorf("a ball of 2 m: %g, %g", p, r)
	}
	for name, change := range map[string]func(*spatial.Covariance){
		"NaN": func(c *spatial.Covariance) { c[3] = math.NaN() }, "infinite": func(c *spatial.Covariance) { c[0] = math.Inf(1) },
		"negative": func(c *spatial.Covariance) { c[14] = -1 }, "none": func(c *spatial.Covariance) { c[0] = -1 },
		"not symmetric": func(c *spatial.Covariance) { c[1] = 1 }, "correlated with what is exact": func(c *spatial.Covariance) { c[3], c[18] = 1, 1 },
		"over one": func(c *spatial.Covariance) { c[1], c[6] = 2.1, 2.1 },
	} {
		c := good
		change(&c)
		if err := c.Check(); !errors.Is(err, spatial.ErrCovariance) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
