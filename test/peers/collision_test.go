//go:build !race

package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r3"
)

// band is what two libraries may differ by, m.
const band = 1e-6

var kinds = []collision.Kind{collision.Sphere, collision.Capsule, collision.Cylinder, collision.Box, collision.Polyhedron}

// depthBand is the same for how deep shapes overlap: algorithms that grow a polytope end early on round parts.
const depthBand = 1e-5

// cases of pairs of shapes.
type shapePair struct {
	a, b   collision.Shape
	at, bt spatial.Transform
}

// hullSet are hulls that pairs choose from: round, flat, long, few corners and many.
func hullSet(t *testing.T, rng *rand.Rand) []*collision.Hull {
	t.Helper()
	var out []*collision.Hull
	for i := range 24 {
		squeeze := r3.Vec{X: 0.05 + 0.3*rng.Float64(), Y: 0.05 + 0.3*rng.Float64(), Z: 0.05 + 0.3*rng.Float64()}
		var points []r3.Vec
		for range 4 + 6*i {
			p := r3.Unit(r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})
			points = append(points, r3.Vec{X: squeeze.X*p.X + 0.02, Y: squeeze.Y * p.Y, Z: squeeze.Z * p.Z})
		}
		h, err := collision.NewHull(points)
		fatal(t, err)
		out = append(out, h)
	}
	return out
}

// randomShape has sizes from a millimetre to a metre.
func randomShape(rng *rand.Rand, kind collision.Kind, hulls []*collision.Hull) (s collision.Shape, params [3]float64) {
	size := func() float64 { return math.Pow(10, -2.3+2*rng.Float64()) }
	s.Kind = kind
	switch kind {
	case collision.Sphere:
		s.Radius = size()
		params[0] = s.Radius
	case collision.Capsule, collision.Cylinder:
		s.Radius, s.Length = size(), size()
		params[0], params[1] = s.Radius, s.Length
	case collision.Box:
		s.Size = r3.Vec{X: size(), Y: size(), Z: size()}
		params = [3]float64{s.Size.X, s.Size.Y, s.Size.Z}
	case collision.Polyhedron:
		i := rng.IntN(len(hulls))
		s.Hull = hulls[i]
		params[0] = float64(i)
	case collision.HalfSpace: // no peer draws one at random
	}
	return s, params
}

func randomPlace(rng *rand.Rand, spread float64) spatial.Transform {
	u := func() float64 { return spread * (2*rng.Float64() - 1) }
	t := spatial.Transform{Translation: r3.Vec{X: u(), Y: u(), Z: u()}, Rotation: turned(rng)}
	if rng.IntN(5) == 0 { // faces and edges that are parallel: where algorithms stumble
		t.Rotation = spatial.FromRPY(float64(rng.IntN(4))*math.Pi/2, float64(rng.IntN(4))*math.Pi/2, float64(rng.IntN(4))*math.Pi/2)
	}
	return t
}

func appendPose(flat []float64, t spatial.Transform) []float64 {
	q, p := t.Rotation, t.Translation
	return append(flat, q.Imag, q.Jmag, q.Kmag, q.Real, p.X, p.Y, p.Z)
}

// TestDistancesOf100000PairsOfEachKind holds verdicts and distances of random pairs against Coal's and FCL's. Where one of them differs by more than
// the band, ours must be proven: a plane that separates by just that much, or two points of the shapes that are no farther apart.
func TestDistancesOf100000PairsOfEachKind(t *testing.T) {
	p := open(t)
	n := size(200, 100_000)
	hulls := hullSet(t, random(77))
	p.ask("hulls", question{"hulls": hullData(hulls)}, nil, nil)
	for i, ka := range kinds {
		for j, kb := range kinds[i:] {
			t.Run(fmt.Sprintf("%s-%s", ka, kb), func(t *testing.T) {
				rng := random(uint64(100 + 10*i + j))
				list, flat := make([]shapePair, n), make([]float64, 0, 20*n)
				for k := range list {
					c := &list[k]
					var pa, pb [3]float64
					c.a, pa = randomShape(rng, ka, hulls)
					c.b, pb = randomShape(rng, kb, hulls)
					reach := 0.6 * (extent(c.a) + extent(c.b))
					c.at, c.bt = randomPlace(rng, reach), randomPlace(rng, reach)
					flat = appendPose(append(flat, pa[:]...), c.at)
					flat = appendPose(append(flat, pb[:]...), c.bt)
				}
				apart := 0
				ours := make([]float64, n)
				for k, c := range list {
					if ours[k] = collision.Distance(c.a, c.at, c.b, c.bt); ours[k] > 0 {
						apart++
					}
				}
				told := fmt.Sprintf("%s-%s: %d pairs, %d apart", ka, kb, n, apart)
				for _, lib := range []string{"coal", "fcl"} {
					var head struct{ Each float64 }
					theirs := p.ask("pairs", question{"lib": lib, "a": ka.String(), "b": kb.String()}, flat, &head)
					told += fmt.Sprintf("; %s %v, %.1f us each", lib, compare(t, list, ours, theirs), 1e6*head.Each)
				}
				t.Log(told)
			})
		}
	}
}

// tally of a comparison.
type tally struct {
	worst  float64 // difference of those that agree
	theirs int     // they differ, and ours is proven
	depths int     // both overlap, the depths differ, and ours is proven
}

func (c tally) String() string {
	return fmt.Sprintf("agrees but for %d (most %.0e), depths but for %d", c.theirs, c.worst, c.depths)
}

func compare(t *testing.T, list []shapePair, ours, theirs []float64) tally {
	t.Helper()
	var c tally
	for k, d := range ours {
		e := theirs[k]
		switch {
		case d <= 0 && e <= 0:
			if math.Abs(d-e) > depthBand {
				c.depths++
				if err := proveDepth(list[k], -d); err != nil {
					t.Errorf("%+v: depth %.9g, theirs %.9g: %v", list[k], -d, -e, err)
				}
			}
		case math.Abs(d-e) <= band:
			c.worst = math.Max(c.worst, math.Abs(d-e))
		default:
			if err := prove(list[k], d); err != nil {
				t.Errorf("%+v: %.9g, theirs %.9g: %v", list[k], d, e, err)
			}
			c.theirs++
		}
	}
	return c
}

func extent(s collision.Shape) float64 {
	switch s.Kind {
	case collision.Box:
		return r3.Norm(s.Size) / 2
	case collision.Polyhedron:
		return 0.3
	default:
		return s.Radius + s.Length/2
	}
}

func hullData(hulls []*collision.Hull) []any {
	var out []any
	for _, h := range hulls {
		var points [][3]float64
		for _, c := range h.Corners() {
			points = append(points, [3]float64{c.X, c.Y, c.Z})
		}
		out = append(out, map[string]any{"points": points, "faces": h.Faces()})
	}
	return out
}
