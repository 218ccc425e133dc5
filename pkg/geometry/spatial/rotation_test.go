package spatial_test

import (
	"errors"
	"math"
	"testing"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

func TestCheckQuaternion(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		name    string
		q       quat.Number
		err     error
		changed bool
	}{
		{"identity", quat.Number{Real: 1}, nil, false},
		{"minus identity is the same rotation", quat.Number{Real: -1}, nil, false},
		{"45 degrees in three digits", quat.Number{Real: 0.924, Kmag: 0.383}, nil, true},
		{"90 degrees in four digits", quat.Number{Real: 0.7071, Kmag: 0.7071}, nil, true},
		{"90 degrees in one digit", quat.Number{Real: 0.7, Kmag: 0.7}, spatial.ErrNotUnit, false},
		{"norm at the tolerance", quat.Number{Real: 1.0099}, nil, true},
		{"norm beyond it", quat.Number{Real: 1.0101}, spatial.ErrNotUnit, false},
		{"float32 rounding is news too", quat.Number{Real: float64(float32(math.Sqrt(0.5))), Kmag: float64(float32(math.Sqrt(0.5)))}, nil, true},
		{"zero is not the identity", quat.Number{}, spatial.ErrZeroNorm, false},
		{"all but zero", quat.Number{Real: 5e-324}, spatial.ErrNotUnit, false},
		{"norm overflows", quat.Number{Real: 1e200}, spatial.ErrNotUnit, false},
		{"norm is beyond float64", quat.Number{Real: math.MaxFloat64, Imag: math.MaxFloat64}, spatial.ErrNotUnit, false},
		{"NaN", quat.Number{Real: 1, Imag: nan}, spatial.ErrNotFinite, false},
		{"infinity", quat.Number{Real: inf}, spatial.ErrNotFinite, false},
		{"NaN and infinity", quat.Number{Real: inf, Jmag: nan}, spatial.ErrNotFinite, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q, changed, err := spatial.CheckQuaternion(tc.q)
			if !errors.Is(err, tc.err) || tc.err == nil && err != nil {
				t.Fatalf("err %v, want %v", err, tc.err)
			}
			var typed *spatial.QuaternionError
			if err != nil && !errors.As(err, &typed) {
				t.Fatalf("%T is not typed", err)
			}
			if changed != tc.changed {
				t.Errorf("changed %v, want %v", changed, tc.changed)
			}
			if err == nil && math.Abs(spatial.Norm(q)-1) > 1e-15 {
				t.Errorf("norm %.17g after normalising", spatial.Norm(q))
			}
		})
	}
}

func TestYawInvertsFromYaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-20, 20).Draw(t, "a")
		if d := spatial.WrapAngle(spatial.Yaw(spatial.FromYaw(a)) - a); math.Abs(d) > 1e-12 {
			t.Fatalf("off by %g", d)
		}
	})
}

func TestWrapAngle(t *testing.T) {
	for _, tc := range []struct{ in, want float64 }{
		{0, 0}, {math.Pi, math.Pi}, {-math.Pi, math.Pi}, {3 * math.Pi / 2, -math.Pi / 2}, {-3 * math.Pi / 2, math.Pi / 2}, {7, 7 - 2*math.Pi},
	} {
		if got := spatial.WrapAngle(tc.in); math.Abs(got-tc.want) > 1e-15 {
			t.Errorf("WrapAngle(%g) = %g, want %g", tc.in, got, tc.want)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := spatial.WrapAngle(x); !math.IsNaN(got) {
			t.Errorf("WrapAngle(%g) = %g, want NaN", x, got)
		}
	}
}

func TestTilt(t *testing.T) {
	s, c := math.Sincos(math.Pi / 4)
	for _, tc := range []struct {
		q    quat.Number
		want float64
	}{
		{spatial.FromYaw(2), 0},
		{quat.Number{Real: c, Imag: s}, math.Pi / 2},
		{quat.Number{Jmag: 1}, math.Pi},
		{quat.Mul(spatial.FromYaw(1), quat.Number{Real: math.Cos(1e-8), Jmag: math.Sin(1e-8)}), 2e-8},
	} {
		if got := spatial.Tilt(tc.q); math.Abs(got-tc.want) > 1e-15 {
			t.Errorf("Tilt(%v) = %g, want %g", tc.q, got, tc.want)
		}
	}
}

func TestTiltIsTheAngleOfTheZAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawRotation(t, "q")
		z := spatial.Rotate(q, r3.Vec{Z: 1})
		if want := math.Atan2(math.Hypot(z.X, z.Y), z.Z); math.Abs(spatial.Tilt(q)-want) > 1e-7 {
			t.Fatalf("%g, want %g", spatial.Tilt(q), want)
		}
	})
}

func TestSlerp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRotation(t, "a"), drawRotation(t, "b")
		u := rapid.Float64Range(0, 1).Draw(t, "u")
		q := spatial.Slerp(a, b, u)
		total := spatial.Angle(a, b)
		// Constant rate, by the shorter way, whichever sign the ends have.
		if d := spatial.Angle(a, q) - u*total; math.Abs(d) > 1e-7 {
			t.Fatalf("angle from a is off by %g", d)
		}
		if d := spatial.Angle(q, b) - (1-u)*total; math.Abs(d) > 1e-7 {
			t.Fatalf("angle to b is off by %g", d)
		}
		if n := spatial.Norm(q); math.Abs(n-1) > 1e-14 {
			t.Fatalf("norm %.17g", n)
		}
	})
	// Very close and equal rotations do not divide by a sine of zero.
	a := spatial.FromYaw(1)
	for _, eps := range []float64{0, 1e-300, 1e-12, 1e-8, 1e-6} {
		q := spatial.Slerp(a, spatial.FromYaw(1+eps), 0.5)
		if d := spatial.Yaw(q) - 1 - eps/2; math.Abs(d) > 1e-14 {
			t.Errorf("eps %g: off by %g", eps, d)
		}
	}
}

func drawRotation(t *rapid.T, name string) quat.Number {
	c := rapid.Float64Range(-1, 1)
	q := quat.Number{Real: c.Draw(t, name+".w"), Imag: c.Draw(t, name+".x"), Jmag: c.Draw(t, name+".y"), Kmag: c.Draw(t, name+".z")}
	n := spatial.Norm(q)
	if n < 1e-3 {
		return quat.Number{Real: 1}
	}
	return quat.Scale(1/n, q)
}

func drawVec(t *rapid.T, name string) r3.Vec {
	c := rapid.Float64Range(-100, 100)
	return r3.Vec{X: c.Draw(t, name+".x"), Y: c.Draw(t, name+".y"), Z: c.Draw(t, name+".z")}
}

func TestRollPitchYaw(t *testing.T) {
	x, y, z := r3.Vec{X: 1}, r3.Vec{Y: 1}, r3.Vec{Z: 1}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return rapid.Float64Range(-7, 7).Draw(t, name) }
		roll, pitch, yaw := draw("roll"), draw("pitch"), draw("yaw")
		// About fixed axes: the roll first, the yaw last.
		want := quat.Mul(spatial.FromAxis(z, yaw), quat.Mul(spatial.FromAxis(y, pitch), spatial.FromAxis(x, roll)))
		if got := spatial.FromRPY(roll, pitch, yaw); spatial.Angle(got, want) > 1e-7 || math.Abs(spatial.Norm(got)-1) > 1e-14 {
			t.Fatalf("%v, want %v", got, want)
		}
	})
	if got := spatial.Rotate(spatial.FromRPY(math.Pi/2, 0, math.Pi/2), y); r3.Norm(r3.Sub(got, z)) > 1e-15 {
		t.Errorf("y goes to %v, want z", got)
	}
}

func TestRotationVectorIsAxisTimesAngle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return rapid.Float64Range(-1, 1).Draw(t, name) }
		axis := r3.Vec{X: draw("x"), Y: draw("y"), Z: draw("z")}
		if r3.Norm(axis) < 1e-3 {
			t.Skip("no direction")
		}
		axis = r3.Unit(axis)
		angle := rapid.OneOf(rapid.Float64Range(0, 3.14), rapid.Float64Range(0, 1e-10)).Draw(t, "angle")
		q := spatial.FromAxis(axis, angle)
		for _, q := range []quat.Number{q, quat.Scale(-1, q)} { // the same rotation
			if got := spatial.RotationVector(q); r3.Norm(r3.Sub(got, r3.Scale(angle, axis))) > 1e-12*(1+1/(math.Pi-angle)) {
				t.Fatalf("%v, want %g about %v", got, angle, axis)
			}
		}
	})
}

func TestNormOfAnySize(t *testing.T) {
	for _, scale := range []float64{1, 1e-160, 1e-150, 1e-139, 1e139, 1e150, 1e300, 5e-324 / 2e-16} {
		q := quat.Number{Real: 1 * scale, Imag: -2 * scale, Jmag: 2 * scale, Kmag: -4 * scale}
		if n := spatial.Norm(q) / scale; math.Abs(n-5) > 1e-13 {
			t.Errorf("scale %g: norm %.17g, want 5", scale, n)
		}
	}
	if n := spatial.Norm(quat.Number{}); n != 0 {
		t.Errorf("zero has norm %g", n)
	}
	if n := spatial.Norm(quat.Number{Real: math.MaxFloat64, Imag: math.MaxFloat64}); !math.IsInf(n, 1) {
		t.Errorf("beyond all numbers: %g", n)
	}
	if n := spatial.Norm(quat.Number{Real: math.NaN()}); !math.IsNaN(n) {
		t.Errorf("NaN has norm %g", n)
	}
}
