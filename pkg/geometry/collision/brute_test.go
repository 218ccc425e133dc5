package collision

import (
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
	}
	return s.c
}

// alternate projects to and fro between the cores until nothing changes: slow, and right.
func alternate(a, b *solid) float64 {
	p := a.c
	d := math.Inf(1)
	for range 200000 {
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

func randomSolid(r *rand.Rand, kind Kind, spread float64) (Shape, spatial.Transform) {
	u := func() float64 { return 2*r.Float64() - 1 }
	s := Shape{Kind: kind, Radius: 0.02 + 0.3*r.Float64(), Length: 0.02 + 0.6*r.Float64(), Size: r3.Vec{X: 0.02 + 0.5*r.Float64(), Y: 0.02 + 0.5*r.Float64(), Z: 0.02 + 0.5*r.Float64()}}
	q := quat.Number{Real: u(), Imag: u(), Jmag: u(), Kmag: u()}
	if r.IntN(4) == 0 { // the cases in which faces and edges are parallel
		q = spatial.FromRPY(float64(r.IntN(4))*math.Pi/2, float64(r.IntN(4))*math.Pi/2, 0)
	}
	return s, spatial.Transform{Translation: r3.Vec{X: spread * u(), Y: spread * u(), Z: spread * u()}, Rotation: quat.Scale(1/quat.Abs(q), q)}
}

func TestStat(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, ka := range []Kind{Sphere, Capsule, Cylinder, Box} {
		for _, kb := range []Kind{Sphere, Capsule, Cylinder, Box} {
			worst, bad, n, over := 0.0, 0, 0, 0
			for range 3000 {
				sa, ta := randomSolid(r, ka, 0.7)
				sb, tb := randomSolid(r, kb, 0.7)
				a, b := newSolid(sa, ta), newSolid(sb, tb)
				got := distance(&a, &b)
				core := alternate(&a, &b)
				want := core - a.grow - b.grow
				if core < 1e-7 {
					over++
					if got > -a.grow-b.grow+1e-7 {
						bad++
					}
					continue
				}
				n++
				worst = max(worst, math.Abs(got-want))
				if got > want+1e-9 {
					bad++
				}
			}
			t.Log(ka, kb, n, over, "worst", worst, "bad", bad)
		}
	}
}

func BenchmarkPair(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, ka := range []Kind{Sphere, Capsule, Cylinder, Box} {
		for _, kb := range []Kind{Capsule, Cylinder, Box} {
			var as, bs [64]solid
			for i := range as {
				for {
					as[i] = newSolid(randomSolid(r, ka, 0.7))
					bs[i] = newSolid(randomSolid(r, kb, 0.7))
					if distance(&as[i], &bs[i]) > 0.01 {
						break
					}
				}
			}
			b.Run(string('0'+rune(ka))+string('0'+rune(kb)), func(b *testing.B) {
				i := 0
				for b.Loop() {
					distance(&as[i&63], &bs[i&63])
					i++
				}
			})
		}
	}
}
