package kinematics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// offMiddle is the sum of squares of how far joints are from the middle of their limits.
func offMiddle(c *kinematics.Chain, q []float64) (sum float64) {
	for i, j := range c.Joints() {
		if half := (j.Upper - j.Lower) / 2; !j.Continuous && half > 0 {
			sum += (q[i] - (j.Lower+j.Upper)/2) / half * ((q[i] - (j.Lower+j.Upper)/2) / half)
		}
	}
	return sum
}

func TestDexterity(t *testing.T) {
	for _, a := range arms {
		name, c := a.file, chain(t, a.file, a.base, a.tip)
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			q := anywhere(r, c.Joints())
			d := must(c.Dexterity(q))
			jac := mat.NewDense(6, len(q), nil)
			if err := c.Jacobian(jac, q); err != nil {
				t.Fatal(err)
			}
			if len(q) >= 6 {
				var jj mat.Dense
				jj.Mul(jac, jac.T())
				if want := math.Sqrt(math.Max(mat.Det(&jj), 0)); math.Abs(d.Manipulability-want) > 1e-9+1e-6*want {
					t.Fatalf("%s: manipulability %g, by the determinant %g", name, d.Manipulability, want)
				}
			}
			if !(d.Limit >= 0 && d.Limit <= 1) || !(d.Condition >= 1) || !(d.Least >= 0) {
				t.Fatalf("%s: %+v", name, d)
			}
			// No direction of motion of the tip is slower than the least.
			for range 20 {
				v := make([]float64, 6)
				for i := range v {
					v[i] = r.NormFloat64()
				}
				norm, back := 0.0, 0.0
				for k := range q {
					sum := 0.0
					for i := range 6 {
						w := 1.0
						if i >= 3 {
							w = c.Reach() / 2
						}
						sum += v[i] * w * jac.At(i, k)
					}
					back += sum * sum
				}
				for _, x := range v {
					norm += x * x
				}
				if len(q) >= 6 && math.Sqrt(back/norm) < d.Least-1e-9 {
					t.Fatalf("%s: a direction of %g, least %g", name, math.Sqrt(back/norm), d.Least)
				}
			}
		}
	}
	if _, err := chain(t, "seven", "carriage", "tool").Dexterity(nil); err == nil {
		t.Error("of no configuration")
	}
}

// TestRelaxLeavesTheTip: redundant arms come nearer to the middle of their limits, and the tip stays; what is not accepted is not taken.
func TestRelaxLeavesTheTip(t *testing.T) {
	for _, a := range arms {
		name, c := a.file, chain(t, a.file, a.base, a.tip)
		r := rand.New(rand.NewPCG(3, 4))
		better := 0
		for range 12 {
			q := anywhere(r, c.Joints())
			before := must(c.FK(q))
			got := must(c.Relax(q, kinematics.Options{}, nil))
			after := must(c.FK(got))
			if d := r3.Norm(r3.Sub(before.Translation, after.Translation)); d > 2e-6 || spatial.Angle(before.Rotation, after.Rotation) > 2e-6 {
				t.Fatalf("%s: the tip moved by %g m, %g rad", name, d, spatial.Angle(before.Rotation, after.Rotation))
			}
			if was, is := offMiddle(c, q), offMiddle(c, got); is > was {
				t.Fatalf("%s: farther from the middle: %g, was %g", name, is, was)
			} else if is < was-1e-3 {
				better++
			}
			stay := must(c.Relax(q, kinematics.Options{}, func([]float64) bool { return false }))
			for i := range q {
				if stay[i] != q[i] {
					t.Fatalf("%s: moved, though nothing was accepted", name)
				}
			}
		}
		if redundant := c.Redundancy(kinematics.Whole) > 0; redundant != (better > 4) {
			t.Errorf("%s: redundancy %d, %d of 12 relaxed", name, c.Redundancy(kinematics.Whole), better)
		}
	}
}
