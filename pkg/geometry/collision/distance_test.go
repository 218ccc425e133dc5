package collision

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// project is the core's point next to p: an independent way to the distance.
func project(s *solid, p r3.Vec) r3.Vec {
	d := r3.Sub(p, s.c)
	switch s.kind {
	case Box:
		return r3.Add(s.c, r3.Add(r3.Scale(clamp(r3.Dot(d, s.x), s.half.X), s.x),
			r3.Add(r3.Scale(clamp(r3.Dot(d, s.y), s.half.Y), s.y), r3.Scale(clamp(r3.Dot(d, s.z), s.half.Z), s.z))))
	case Capsule:
		return r3.Add(s.c, r3.Scale(clamp(r3.Dot(d, s.z), s.half.Z), s.z))
	case Cylinder:
		along := r3.Dot(d, s.z)
		across := r3.Sub(d, r3.Scale(along, s.z))
		if n := r3.Norm(across); n > s.radius {
			across = r3.Scale(s.radius/n, across)
		}
		return r3.Add(s.c, r3.Add(r3.Scale(clamp(along, s.half.Z), s.z), across))
	default:
		return s.c
	}
}

// alternate projects to and fro between the cores until nothing changes: slow, and right from above.
func alternate(a, b *solid) float64 {
	p := a.c
	d := math.Inf(1)
	for range 200_000 {
		q := project(b, p)
		p = project(a, q)
		n := r3.Norm(r3.Sub(p, q))
		if d-n < 1e-15 {
			break
		}
		d = n
	}
	return d
}

var kinds = []Kind{Sphere, Capsule, Cylinder, Box}

func randomSolid(r *rand.Rand, kind Kind, spread float64) (Shape, spatial.Transform) {
	u := func() float64 { return 2*r.Float64() - 1 }
	s := Shape{
		Kind: kind, Radius: 0.02 + 0.3*r.Float64(), Length: 0.02 + 0.6*r.Float64(),
		Size: r3.Vec{X: 0.02 + 0.5*r.Float64(), Y: 0.02 + 0.5*r.Float64(), Z: 0.02 + 0.5*r.Float64()},
	}
	q := quat.Number{Real: u(), Imag: u(), Jmag: u(), Kmag: u()}
	if r.IntN(4) == 0 { // faces and edges that are parallel
		q = spatial.FromRPY(float64(r.IntN(4))*math.Pi/2, float64(r.IntN(4))*math.Pi/2, 0)
	}
	return s, spatial.Transform{Translation: r3.Vec{X: spread * u(), Y: spread * u(), Z: spread * u()}, Rotation: quat.Scale(1/quat.Abs(q), q)}
}

func TestDistancesAgreeWithProjections(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, ka := range kinds {
		for _, kb := range kinds {
			for range 250 {
				sa, ta := randomSolid(r, ka, 0.7)
				sb, tb := randomSolid(r, kb, 0.7)
				a, b := newSolid(sa, ta), newSolid(sb, tb)
				got := Distance(sa, ta, sb, tb)
				if back := Distance(sb, tb, sa, ta); math.Abs(back-got) > 1e-8 && got > 0 {
					t.Fatalf("%v, %v: %g one way, %g the other", sa, sb, got, back)
				}
				core := alternate(&a, &b)
				want := core - a.grow - b.grow
				switch {
				case core > 1e-6 && math.Abs(got-want) > 1e-7:
					t.Fatalf("%v at %v, %v at %v: %g, by projections %g", sa, ta, sb, tb, got, want)
				case core > 1e-6 && got > want+1e-9:
					t.Fatalf("%v at %v, %v at %v: %g, more than %g", sa, ta, sb, tb, got, want)
				case core <= 1e-6 && got > 1e-6-a.grow-b.grow:
					t.Fatalf("%v at %v, %v at %v: cores overlap, distance %g", sa, ta, sb, tb, got)
				}
				if far := apart(&a, &b, 0.1); math.Abs(got-0.1) > 1e-7 && far != (got > 0.1) {
					t.Fatalf("%v, %v: apart by 0.1: %v, distance %g", sa, sb, far, got)
				}
				if rough := measure(&a, &b, roughly); rough > got+1e-9+exactly*max(core, 0) || core > 1e-6 && rough < got-0.06*core {
					t.Fatalf("%v, %v: roughly %g, exactly %g", sa, sb, rough, got)
				}
			}
		}
	}
}

// TestDepthSeparates: what overlaps by d is apart after the right motion by d, and a ball's depth is the least such.
func TestDepthSeparates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, ka := range kinds {
		for _, kb := range kinds {
			for range 6 {
				sa, ta := randomSolid(r, ka, 0.1)
				sb, tb := randomSolid(r, kb, 0.1)
				d := Distance(sa, ta, sb, tb)
				if d >= 0 {
					continue
				}
				best := math.Inf(-1)
				for range 300 {
					n := r3.Unit(r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()})
					moved := tb
					moved.Translation = r3.Add(tb.Translation, r3.Scale(-d*1.0001, n))
					best = max(best, Distance(sa, ta, sb, moved))
				}
				// Some direction nearly separates them; none of them was that of the depth itself.
				if best < 0.1*d-2e-3 {
					t.Fatalf("%v at %v, %v at %v: depth %g, moved by that: %g at best", sa, ta, sb, tb, d, best)
				}
			}
		}
	}
}

func TestKnownDistances(t *testing.T) {
	at := func(x, y, z float64) spatial.Transform {
		return spatial.Transform{Translation: r3.Vec{X: x, Y: y, Z: z}, Rotation: quat.Number{Real: 1}}
	}
	tipped := func(x, y, z float64) spatial.Transform {
		p := at(x, y, z)
		p.Rotation = spatial.FromRPY(math.Pi/4, 0, 0)
		return p
	}
	ball, pill, can := Shape{Kind: Sphere, Radius: 0.1}, Shape{Kind: Capsule, Radius: 0.1, Length: 0.4}, Shape{Kind: Cylinder, Radius: 0.1, Length: 0.4}
	cube := Shape{Kind: Box, Size: r3.Vec{X: 0.2, Y: 0.2, Z: 0.2}}
	for _, tc := range []struct {
		name string
		a    Shape
		at   spatial.Transform
		b    Shape
		bt   spatial.Transform
		want float64
	}{
		{"balls", ball, at(0, 0, 0), ball, at(0.5, 0, 0), 0.3},
		{"balls in one place", ball, at(0, 0, 0), ball, at(0, 0, 0), -0.2},
		{"a ball over a pill", ball, at(0, 0, 0.5), pill, at(0, 0, 0), 0.1},
		{"a ball over a can", ball, at(0, 0, 0.5), can, at(0, 0, 0), 0.2},
		{"a ball beside a can", ball, at(0.3, 0, 0.1), can, at(0, 0, 0), 0.1},
		{"a ball over a can's rim", ball, at(0.1+0.3, 0, 0.2+0.4), can, at(0, 0, 0), 0.4},
		{"a ball within a can", ball, at(0, 0, 0.05), can, at(0, 0, 0), -0.2},
		{"a ball over a cube's corner", ball, at(0.2, 0.2, 0.2), cube, at(0, 0, 0), 0.1*math.Sqrt(3) - 0.1},
		{"a ball within a cube", ball, at(0.05, 0, 0), cube, at(0, 0, 0), -0.15},
		{"pills side by side", pill, at(0, 0, 0), pill, at(0.3, 0, 0.1), 0.1},
		{"pills end to end", pill, at(0, 0, 0), pill, at(0, 0, 0.7), 0.1},
		{"pills crossed", pill, at(0, 0, 0), pill, tipped(0.3, 0, 0), 0.1},
		{"cubes face to face", cube, at(0, 0, 0), cube, at(0.5, 0.05, 0.05), 0.3},
		{"cubes that touch", cube, at(0, 0, 0), cube, at(0.2, 0, 0), 0},
		{"cubes, one in the other", cube, at(0, 0, 0), cube, at(0.05, 0, 0), -0.15},
		{"a cube's edge over another one's face", cube, at(0, 0, 0), cube, tipped(0, 0, 0.5), 0.4 - 0.1*math.Sqrt2},
		{"a cube on a floor", cube, at(3, 4, 0.1), Shape{Kind: Box, Size: r3.Vec{X: 1000, Y: 1000, Z: 1}}, at(0, 0, -0.5), 0},
		{"cans side by side", can, at(0, 0, 0), can, at(0.5, 0, 0.1), 0.3},
		{"cans one on the other", can, at(0, 0, 0), can, at(0.05, 0, 0.5), 0.1},
		{"a pill far from a cube", pill, at(1000, 0, 0), cube, at(0, 0, 0), 999.8},
	} {
		if got := Distance(tc.a, tc.at, tc.b, tc.bt); math.Abs(got-tc.want) > 1e-8 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
	}
}

func FuzzDistance(f *testing.F) {
	f.Add(uint64(1), 0.5, 0.0, 0.0, 1.0)
	f.Add(uint64(2), 0.0, 0.0, 0.0, 1e-9)
	f.Add(uint64(3), 1e6, 1e-300, -1e6, 1e6)
	f.Fuzz(func(t *testing.T, seed uint64, x, y, z, scale float64) {
		if !(math.Abs(x) <= 1e6 && math.Abs(y) <= 1e6 && math.Abs(z) <= 1e6 && scale > 1e-6 && scale < 1e3) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		sa, ta := randomSolid(r, kinds[r.IntN(4)], scale)
		sb, tb := randomSolid(r, kinds[r.IntN(4)], scale)
		sa.Size, sa.Radius = r3.Scale(scale, sa.Size), sa.Radius*scale
		tb.Translation = r3.Add(tb.Translation, r3.Vec{X: x, Y: y, Z: z})
		a, b := newSolid(sa, ta), newSolid(sb, tb)
		d := distance(&a, &b)
		// Never more than the distance of the centres, never less than what the bounding balls leave.
		c := r3.Norm(r3.Sub(a.c, b.c))
		if slack := 1e-9 * (c + a.bound() + b.bound()); !(d <= c+slack && d >= c-a.bound()-b.bound()-slack-2*(a.bound()+b.bound())) {
			t.Fatalf("%v at %v, %v at %v: %g", sa, ta, sb, tb, d)
		}
	})
}

func BenchmarkPair(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	names := map[Kind]string{Sphere: "sphere", Capsule: "capsule", Cylinder: "cylinder", Box: "box"}
	for i, ka := range kinds {
		for _, kb := range kinds[i:] {
			for _, touching := range []bool{false, true} {
				var as, bs [64]solid
				for i := range as {
					for {
						spread := 0.7
						if touching {
							spread = 0.1
						}
						as[i], bs[i] = newSolid(randomSolid(r, ka, spread)), newSolid(randomSolid(r, kb, spread))
						if d := distance(&as[i], &bs[i]); touching == (d < 0) && (touching || d > 0.01) {
							break
						}
					}
				}
				how := "apart"
				if touching {
					how = "touching"
				}
				b.Run(fmt.Sprintf("%s-%s/%s", names[ka], names[kb], how), func(b *testing.B) {
					for i := 0; b.Loop(); i++ {
						distance(&as[i&63], &bs[i&63])
					}
				})
			}
		}
	}
}
