package spatial_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

func TestNewPolygonRefuses(t *testing.T) {
	v := func(xy ...float64) (c []r2.Vec) {
		for i := 0; i < len(xy); i += 2 {
			c = append(c, r2.Vec{X: xy[i], Y: xy[i+1]})
		}
		return c
	}
	many := make([]r2.Vec, spatial.MaxCorners+1)
	for i := range many {
		s, c := math.Sincos(2 * math.Pi * float64(i) / float64(len(many)))
		many[i] = r2.Vec{X: c, Y: s}
	}
	for _, tc := range []struct {
		name string
		c    []r2.Vec
		err  error
	}{
		{"nothing", nil, spatial.ErrFewCorners},
		{"two corners", v(0, 0, 1, 0), spatial.ErrFewCorners},
		{"too many", many, spatial.ErrManyCorners},
		{"a line", v(0, 0, 1, 1, 2, 2), spatial.ErrDegenerate},
		{"a point", v(1, 1, 1, 1, 1, 1), spatial.ErrDegenerate},
		{"NaN", v(0, 0, 1, 0, math.NaN(), 1), spatial.ErrOutOfRange},
		{"infinite", v(0, 0, math.Inf(1), 0, 0, 1), spatial.ErrOutOfRange},
		{"huge", v(0, 0, 1e300, 0, 0, 1), spatial.ErrOutOfRange},
		{"bow tie", v(0, 0, 2, 2, 2, 0, 0, 3), spatial.ErrNotSimple},
		{"corner twice", v(0, 0, 1, 0, 1, 0, 1, 1), spatial.ErrNotSimple},
		{"spike", v(0, 0, 4, 0, 2, 0, 2, 2), spatial.ErrNotSimple},
		{"touches itself", v(0, 0, 4, 0, 4, 4, 2, 0, 0, 4), spatial.ErrNotSimple},
	} {
		if _, err := spatial.NewPolygon(tc.c); !errors.Is(err, tc.err) {
			t.Errorf("%s: err %v, want %v", tc.name, err, tc.err)
		}
	}
}

// drawPolygon is star-shaped around a point, hence simple; mostly not convex.
func drawPolygon(t *rapid.T, name string, size float64) *spatial.Polygon {
	for {
		n := rapid.IntRange(3, 20).Draw(t, name+".n")
		cx, cy := rapid.Float64Range(-3, 3).Draw(t, name+".cx"), rapid.Float64Range(-3, 3).Draw(t, name+".cy")
		c := make([]r2.Vec, n)
		for i := range c {
			a := 2 * math.Pi * (float64(i) + rapid.Float64Range(0, 0.9).Draw(t, name+".a")) / float64(n)
			r := rapid.Float64Range(0.2, 1).Draw(t, name+".r") * size
			c[i] = r2.Vec{X: cx + r*math.Cos(a), Y: cy + r*math.Sin(a)}
		}
		if rapid.Bool().Draw(t, name+".cw") {
			for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
				c[i], c[j] = c[j], c[i]
			}
		}
		// Three corners more than half a turn apart do not surround the centre, but are still a triangle.
		if p, err := spatial.NewPolygon(c); err == nil {
			return p
		}
	}
}

func area(c []r2.Vec) (a float64) {
	for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
		a += r2.Cross(c[j], c[i]) / 2
	}
	return a
}

func TestPartsAreConvexAndMakeUpThePolygon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolygon(t, "p", 2)
		sum := 0.0
		for _, part := range p.Parts() {
			if len(part) < 3 || len(part) > spatial.MaxPartCorners {
				t.Fatalf("part of %d corners", len(part))
			}
			for i := range part {
				a, b, c := part[i], part[(i+1)%len(part)], part[(i+2)%len(part)]
				if r2.Cross(r2.Sub(b, a), r2.Sub(c, b)) < -1e-12 {
					t.Fatal("part is not convex and counter-clockwise")
				}
			}
			sum += area(part)
		}
		if want := area(p.Corners()); math.Abs(sum-want) > 1e-9*want {
			t.Fatalf("parts cover %g m² of %g m²", sum, want)
		}
		// With the area right, points inside any part being inside the polygon means that the parts do not overlap.
		q := r2.Vec{X: rapid.Float64Range(-5, 5).Draw(t, "x"), Y: rapid.Float64Range(-5, 5).Draw(t, "y")}
		if p.BoundaryDistance(q) < 1e-9 {
			return
		}
		in := false
		for _, part := range p.Parts() {
			if inConvex(part, q) {
				in = true
			}
		}
		if in != p.Contains(q) {
			t.Fatalf("%v: in a part %v, in the polygon %v", q, in, p.Contains(q))
		}
		if c, r := p.Bounds(); p.Contains(q) && r2.Norm(r2.Sub(q, c)) > r {
			t.Fatal("a point inside is outside the bounds")
		}
	})
}

func inConvex(c []r2.Vec, q r2.Vec) bool {
	for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
		if r2.Cross(r2.Sub(c[i], c[j]), r2.Sub(q, c[j])) < 0 {
			return false
		}
	}
	return true
}

func TestBigConvexPolygonIsCutIntoFans(t *testing.T) {
	const n = 100
	c := make([]r2.Vec, n)
	for i := range c {
		s, k := math.Sincos(2 * math.Pi * float64(i) / n)
		c[i] = r2.Vec{X: k, Y: s}
	}
	p, err := spatial.NewPolygon(c)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, part := range p.Parts() {
		sum += area(part)
	}
	if !p.Convex() || math.Abs(sum-area(c)) > 1e-12 {
		t.Errorf("convex %v, area %g of %g", p.Convex(), sum, area(c))
	}
}

// TestConvexSignedDistance compares with sampling: apart, the distance of edge samples; together, no shift shorter than the depth separates.
func TestConvexSignedDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPolygon(t, "a", 2).Parts()[0], drawPolygon(t, "b", 2).Parts()[0]
		d := spatial.ConvexSignedDistance(a, b)
		if e := spatial.ConvexSignedDistance(b, a); math.Abs(d-e) > 1e-12 {
			t.Fatalf("not symmetric: %g, %g", d, e)
		}
		if d > 0 {
			best := math.Inf(1)
			const n = 60
			for i := range a {
				for k := range n + 1 {
					p := r2.Add(r2.Scale(1-float64(k)/n, a[i]), r2.Scale(float64(k)/n, a[(i+1)%len(a)]))
					for j := range b {
						best = math.Min(best, spatial.PointSegmentDistance(p, b[j], b[(j+1)%len(b)]))
					}
				}
			}
			if best < d-1e-9 || best > d+4.0/n {
				t.Fatalf("distance %g, sampled %g", d, best)
			}
			return
		}
		for k := range 64 {
			s, c := math.Sincos(2 * math.Pi * float64(k) / 64)
			moved := make([]r2.Vec, len(b))
			for i := range b {
				moved[i] = r2.Add(b[i], r2.Scale(0.999*-d, r2.Vec{X: c, Y: s}))
			}
			if spatial.ConvexSignedDistance(a, moved) > 1e-9 {
				t.Fatalf("depth %g, yet a shorter shift separates", -d)
			}
		}
	})
}

func TestConvexSignedDistanceChangesNoFasterThanThePolygonMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPolygon(t, "a", 2).Parts()[0], drawPolygon(t, "b", 2).Parts()[0]
		p := spatial.Pose2{X: rapid.Float64Range(-0.5, 0.5).Draw(t, "dx"), Y: rapid.Float64Range(-0.5, 0.5).Draw(t, "dy"), Yaw: rapid.Float64Range(-1, 1).Draw(t, "turn")}
		moved, most := make([]r2.Vec, len(b)), 0.0
		for i := range b {
			moved[i] = p.Apply(b[i])
			most = math.Max(most, r2.Norm(r2.Sub(moved[i], b[i])))
		}
		if d := math.Abs(spatial.ConvexSignedDistance(a, moved) - spatial.ConvexSignedDistance(a, b)); d > most+1e-9 {
			t.Fatalf("changed by %g for a motion of %g", d, most)
		}
	})
}

func TestSegmentDistance(t *testing.T) {
	v := func(x, y float64) r2.Vec { return r2.Vec{X: x, Y: y} }
	for _, tc := range []struct {
		name       string
		a, b, c, d r2.Vec
		want       float64
	}{
		{"crossing", v(0, 0), v(2, 2), v(0, 2), v(2, 0), 0},
		{"touching at an end", v(0, 0), v(1, 0), v(1, 0), v(1, 1), 0},
		{"touching in the middle", v(0, 0), v(2, 0), v(1, 0), v(1, 1), 0},
		{"parallel", v(0, 0), v(2, 0), v(1, 1), v(3, 1), 1},
		{"overlapping on a line", v(0, 0), v(2, 0), v(1, 0), v(3, 0), 0},
		{"apart on a line", v(0, 0), v(1, 0), v(3, 0), v(4, 0), 2},
		{"points", v(0, 0), v(0, 0), v(3, 4), v(3, 4), 5},
	} {
		if got := spatial.SegmentDistance(tc.a, tc.b, tc.c, tc.d); math.Abs(got-tc.want) > 1e-15 {
			t.Errorf("%s: %g, want %g", tc.name, got, tc.want)
		}
	}
}

func TestFootprints(t *testing.T) {
	for _, r := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
		if _, err := spatial.CircleFootprint(r); err == nil {
			t.Errorf("radius %g is accepted", r)
		}
	}
	if _, err := spatial.PolygonFootprint(nil); !errors.Is(err, spatial.ErrFewCorners) {
		t.Errorf("empty polygon: %v", err)
	}
	f, err := spatial.PolygonFootprint([]r2.Vec{{X: 0.3, Y: 0.2}, {X: -0.5, Y: 0.2}, {X: -0.5, Y: -0.2}, {X: 0.3, Y: -0.2}})
	if err != nil || math.Abs(f.OuterRadius()-math.Hypot(0.5, 0.2)) > 1e-15 || f.IsZero() {
		t.Errorf("outer radius %g, %v", f.OuterRadius(), err)
	}
	if _, ok := f.Circle(); ok || !(spatial.Footprint{}).IsZero() {
		t.Error("kinds are mixed up")
	}
}

func FuzzNewPolygon(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"), false)
	f.Add([]byte{0, 0, 9, 0, 9, 9, 4, 4, 0, 9}, true)
	f.Fuzz(func(t *testing.T, data []byte, small bool) {
		var c []r2.Vec
		if small { // a grid of whole numbers: collinear, equal and touching corners
			for ; len(data) >= 2; data = data[2:] {
				c = append(c, r2.Vec{X: float64(int8(data[0])), Y: float64(int8(data[1]))})
			}
		}
		for ; len(data) >= 16; data = data[16:] {
			c = append(c, r2.Vec{X: math.Float64frombits(binary.LittleEndian.Uint64(data)), Y: math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))})
		}
		p, err := spatial.NewPolygon(c)
		if err != nil {
			return
		}
		sum, want := 0.0, area(p.Corners())
		for _, part := range p.Parts() {
			sum += area(part)
		}
		if !(math.Abs(sum-want) <= 1e-6*math.Max(want, 1)) {
			t.Fatalf("%v: parts cover %g of %g", c, sum, want)
		}
	})
}
