package collision

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/mesh"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// clouds are points of all kinds: round, with many in one plane, twice the same, in one plane, on a line.
func clouds(r *rand.Rand) map[string][]r3.Vec {
	out := map[string][]r3.Vec{}
	ball := func(n int, squeeze r3.Vec) (points []r3.Vec) {
		for range n {
			p := r3.Unit(r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()})
			points = append(points, r3.Vec{X: p.X*squeeze.X + 3, Y: p.Y * squeeze.Y, Z: p.Z*squeeze.Z - 2})
		}
		return points
	}
	out["ball"], out["few"] = ball(800, r3.Vec{X: 1, Y: 1, Z: 1}), ball(5, r3.Vec{X: 1, Y: 1, Z: 1})
	out["flake"] = ball(400, r3.Vec{X: 1, Y: 1, Z: 1e-7})
	out["needle"] = ball(400, r3.Vec{X: 1e-6, Y: 1e-6, Z: 1})
	out["disc"], out["line"] = ball(300, r3.Vec{X: 1, Y: 2}), ball(300, r3.Vec{Y: 1})
	for i := range 9 * 9 * 9 {
		p := r3.Vec{X: float64(i % 9), Y: float64(i / 9 % 9), Z: float64(i / 81)}
		out["grid"] = append(out["grid"], p, p)
		if x, y := p.X/8, p.Y/8; p.Z == 0 {
			out["dome"] = append(out["dome"], r3.Vec{X: x, Y: y, Z: 1 - (x-0.5)*(x-0.5) - (y-0.5)*(y-0.5)})
		}
	}
	turn := spatial.FromRPY(0.3, 0.4, 0.5)
	for _, p := range out["grid"] {
		out["turned grid"] = append(out["turned grid"], spatial.Rotate(turn, r3.Scale(0.1, p)))
	}
	for range 300 { // on a cylinder, its rims exactly in planes
		s, c := math.Sincos(2 * math.Pi * r.Float64())
		out["can"] = append(out["can"], r3.Vec{X: c, Y: s, Z: float64(r.IntN(2))})
	}
	return out
}

func TestHullHoldsItsPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, points := range clouds(r) {
		h, err := NewHull(points)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		thin := name == "disc" || name == "line"
		if (len(h.Faces()) == 0) != thin {
			t.Errorf("%s: %d faces of %d corners", name, len(h.Faces()), len(h.corners))
		}
		if !thin && len(h.corners)-len(h.Faces())/2 != 2 {
			t.Errorf("%s: %d corners, %d faces: no closed surface", name, len(h.corners), len(h.Faces()))
		}
		if name == "grid" && len(h.corners) > 8*9*9 {
			t.Errorf("grid: %d corners", len(h.corners))
		}
		given := map[r3.Vec]bool{}
		for _, p := range points {
			given[r3.Sub(p, h.center)] = true
			if d := norm(r3.Sub(p, h.center)); d > h.radius*(1+1e-12) {
				t.Fatalf("%s: a point is %g from the centre, bound %g", name, d, h.radius)
			}
		}
		for _, c := range h.corners {
			if !given[c] {
				t.Fatalf("%s: corner %v is none of the points", name, c)
			}
		}
		for range 500 {
			d := r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()}
			if r.IntN(3) == 0 {
				d = r3.Vec{X: float64(r.IntN(3) - 1), Y: float64(r.IntN(3) - 1), Z: float64(r.IntN(3) - 1)}
			}
			most := math.Inf(-1)
			for _, p := range points {
				most = max(most, r3.Dot(r3.Sub(p, h.center), d))
			}
			if got := r3.Dot(h.farthest(d), d); math.Abs(got-most) > 1e-10*r3.Norm(d) {
				t.Fatalf("%s: along %v the hull reaches to %g, its points to %g", name, d, got, most)
			}
		}
	}
}

func TestNewHullRefuses(t *testing.T) {
	for name, points := range map[string][]r3.Vec{
		"nothing": nil, "NaN": {{X: math.NaN()}}, "infinite": {{}, {Y: math.Inf(1)}}, "far": {{Z: 1e300}}, "too many": make([]r3.Vec, MaxHullPoints+1),
	} {
		if _, err := NewHull(points); !errors.Is(err, ErrHull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// boxHull is a box made of its corners, off its frame's origin.
func boxHull(size, off r3.Vec) Shape {
	var points []r3.Vec
	for k := range 8 {
		s := func(bit int, v float64) float64 {
			if k&bit == 0 {
				return -v / 2
			}
			return v / 2
		}
		points = append(points, r3.Add(off, r3.Vec{X: s(1, size.X), Y: s(2, size.Y), Z: s(4, size.Z)}))
	}
	h, err := NewHull(points)
	if err != nil {
		panic(err)
	}
	return Shape{Kind: Polyhedron, Hull: h}
}

// TestAHullOfABoxIsThatBox: the same distances to everything, apart and together.
func TestAHullOfABoxIsThatBox(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, kind := range kinds {
		for range 400 {
			other, at := randomSolid(r, kind, 0.5)
			box, bt := randomSolid(r, Box, 0.2)
			off := r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()}
			hull := boxHull(box.Size, off)
			ht := bt.Compose(spatial.Transform{Translation: r3.Scale(-1, off), Rotation: quat.Number{Real: 1}})
			want, got := Distance(other, at, box, bt), Distance(other, at, hull, ht)
			if math.Abs(want-got) > 1e-7 {
				t.Fatalf("%v at %v: box %v: %g, as a hull %g", other, at, box.Size, want, got)
			}
		}
	}
}

// TestDepthIsTheLeast: no direction separates by a shorter way than the depth, and one does by just that.
func TestDepthIsTheLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, ka := range []Kind{Box, Cylinder, Polyhedron} {
		for _, kb := range []Kind{Capsule, Cylinder, Box, Polyhedron} {
			for range 40 {
				sa, ta := randomSolid(r, ka, 0.1)
				sb, tb := randomSolid(r, kb, 0.1)
				for _, s := range []*Shape{&sa, &sb} {
					if s.Kind == Polyhedron {
						*s = boxHull(s.Size, r3.Vec{})
					}
				}
				a, b := newSolid(sa, ta), newSolid(sb, tb)
				d := -distance(&a, &b)
				if d <= a.grow+b.grow {
					continue
				}
				way := func(n r3.Vec) float64 {
					return r3.Dot(n, r3.Sub(a.support(n), b.support(r3.Scale(-1, n)))) + a.grow + b.grow
				}
				// Downhill over directions from many starts.
				best := math.Inf(1)
				for range 60 {
					n := r3.Unit(r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()})
					at := way(n)
					for step := 0.5; step > 1e-7; {
						m := r3.Unit(r3.Add(n, r3.Scale(step, r3.Vec{X: r.NormFloat64(), Y: r.NormFloat64(), Z: r.NormFloat64()})))
						if w := way(m); w < at {
							n, at = m, w
						} else {
							step *= 0.9
						}
					}
					best = min(best, at)
				}
				if best < d-1e-6 || best > d+1e-3 {
					t.Fatalf("%v at %v, %v at %v: depth %g, found by search %g", sa, ta, sb, tb, d, best)
				}
			}
		}
	}
}

func TestHalfSpace(t *testing.T) {
	floor := Shape{Kind: HalfSpace}
	up := spatial.Transform{Translation: r3.Vec{X: 5, Y: -3, Z: 1}, Rotation: quat.Number{Real: 1}}
	at := func(z float64) spatial.Transform {
		return spatial.Transform{Translation: r3.Vec{X: 100, Z: z}, Rotation: spatial.FromRPY(0, math.Pi/2, 0)}
	}
	for _, tc := range []struct {
		name  string
		shape Shape
		z     float64
		want  float64
	}{
		{"ball", Shape{Kind: Sphere, Radius: 0.25}, 2, 0.75},
		{"pill on its side", Shape{Kind: Capsule, Radius: 0.25, Length: 4}, 2, 0.75},
		{"can on its side", Shape{Kind: Cylinder, Radius: 0.25, Length: 4}, 2, 0.75},
		{"box", Shape{Kind: Box, Size: r3.Vec{X: 0.5, Y: 9, Z: 9}}, 2, 0.75}, // its x, turned up, is what stands
		{"hull", boxHull(r3.Vec{X: 0.5, Y: 9, Z: 9}, r3.Vec{X: -0.5}), 2, 1.25},
		{"ball below", Shape{Kind: Sphere, Radius: 0.25}, 0.5, -0.75},
	} {
		if got := Distance(tc.shape, at(tc.z), floor, up); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
		if got := Distance(floor, up, tc.shape, at(tc.z)); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s, the other way: %g, want %g", tc.name, got, tc.want)
		}
	}
	if d := Distance(floor, up, floor, up); !math.IsInf(d, -1) {
		t.Errorf("two half spaces: %g", d)
	}
}

func FuzzNewHull(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmn0123456789abcdefghijklmnABCDEFGHIJKLMNOPQRSTUVWX"), true)
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, false)
	f.Fuzz(func(t *testing.T, data []byte, raw bool) {
		var points []r3.Vec
		for ; raw && len(data) >= 24; data = data[24:] {
			v := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:])) }
			points = append(points, r3.Vec{X: v(0), Y: v(1), Z: v(2)})
		}
		for ; !raw && len(data) >= 3; data = data[3:] { // a grid of whole numbers: many in one plane
			points = append(points, r3.Vec{X: float64(int8(data[0])), Y: float64(int8(data[1])), Z: float64(int8(data[2]))})
		}
		h, err := NewHull(points)
		if err != nil {
			return
		}
		for _, p := range points {
			d := r3.Sub(p, h.center)
			if over := r3.Dot(d, d) - r3.Dot(h.farthest(d), d); over > 1e-9*h.radius*norm(d) {
				t.Fatalf("point %v is outside by %g", p, over)
			}
		}
	})
}

// TestARobotOfMeshesIsThatOfItsBoxes: the same description with its boxes as meshes, shifted and scaled, touches the same things.
func TestARobotOfMeshesIsThatOfItsBoxes(t *testing.T) {
	text := string(must(os.ReadFile("../testdata/sim_robot.urdf")))
	boxes := regexp.MustCompile(`<box size="([^"]*)"\s*/>`)
	count := 0
	text = boxes.ReplaceAllStringFunc(text, func(s string) string {
		count++
		size := strings.Fields(boxes.FindStringSubmatch(s)[1])
		return `<mesh filename="package://r/unit.stl" scale="` + strings.Join(size, " ") + `"/>`
	})
	if count == 0 {
		t.Fatal("there are no boxes")
	}
	unit := &mesh.Mesh{Vertices: boxHull(r3.Vec{X: 1, Y: 1, Z: 1}, r3.Vec{}).Hull.Corners()}
	unit.Triangles = append(unit.Triangles, boxHull(r3.Vec{X: 1, Y: 1, Z: 1}, r3.Vec{}).Hull.Faces()...)
	loaded := 0
	meshes := must(NewRobot(must(urdf.Parse([]byte(text))), Config{Joints: simJoints, Mesh: func(name string) (*mesh.Mesh, error) {
		if name != "package://r/unit.stl" {
			t.Errorf("asked for %q", name)
		}
		loaded++
		return unit, nil
	}}))
	if loaded == 0 {
		t.Fatal("no mesh was asked for")
	}
	a, b := must(robots()["sim"].Scene(furnished())), must(meshes.Scene(furnished()))
	r := rand.New(rand.NewPCG(11, 12))
	touching := 0
	for range 150 {
		q := anywhere(r, a)
		x, y := must(a.Check(q)), must(b.Check(q))
		if len(x) != len(y) || names(x) != names(y) && math.Abs(x[0].Distance-y[0].Distance) > 1e-6 {
			t.Fatalf("%v: boxes %v, meshes %v", q, x, y)
		}
		if len(x) > 0 {
			touching++
		}
		if a.Free(q) != b.Free(q) {
			t.Fatalf("%v: free %v as boxes", q, a.Free(q))
		}
	}
	t.Logf("%d of 150 touch something", touching)
	for _, to := range [][]float64{above, aside} {
		x, y := must(a.CheckPath(carry, to)), must(b.CheckPath(carry, to))
		if (x == nil) != (y == nil) || x != nil && math.Abs(x.At-y.At) > 1e-3 {
			t.Errorf("on the way to %v: boxes %+v, meshes %+v", to, x, y)
		}
	}
	for name, load := range map[string]func(string) (*mesh.Mesh, error){
		"none":      nil,
		"not found": func(string) (*mesh.Mesh, error) { return nil, mesh.ErrFile },
		"no points": func(string) (*mesh.Mesh, error) { return &mesh.Mesh{}, nil },
	} {
		if _, err := NewRobot(must(urdf.Parse([]byte(text))), Config{Joints: simJoints, Mesh: load}); !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
