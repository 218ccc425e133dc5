package zone_test

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func v(x, y float64) r2.Vec { return r2.Vec{X: x, Y: y} }

func TestBadConfigurationIsRefused(t *testing.T) {
	box := must(zone.Box(v(0, 0), v(1, 1), 0))
	good := zone.Config{Name: "z", Kind: zone.KeepOut, Frame: "map", Shape: box}
	for _, tc := range []struct {
		name   string
		change func(*zone.Config)
		says   string
	}{
		{"no name", func(c *zone.Config) { c.Name = "" }, "name"},
		{"no kind", func(c *zone.Config) { c.Kind = 0 }, "kind"},
		{"unknown kind", func(c *zone.Config) { c.Kind = 9 }, "kind 9"},
		{"no frame", func(c *zone.Config) { c.Frame = "" }, "frame"},
		{"slash", func(c *zone.Config) { c.Frame = "/map" }, "/map"},
		{"no shape", func(c *zone.Config) { c.Shape = zone.Shape{} }, "shape"},
		{"negative margin", func(c *zone.Config) { c.Margin = -0.1 }, "margin"},
		{"NaN margin", func(c *zone.Config) { c.Margin = math.NaN() }, "margin"},
		{"speed of a keep-out zone", func(c *zone.Config) { c.MaxLinear = 1 }, "MaxLinear"},
		{"speed zone without a speed", func(c *zone.Config) { c.Kind = zone.Speed }, "MaxLinear"},
		{"NaN speed", func(c *zone.Config) { c.Kind = zone.Speed; c.MaxLinear = math.NaN() }, "MaxLinear"},
	} {
		c := good
		tc.change(&c)
		if _, err := zone.New(c); !errors.Is(err, zone.ErrZone) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for name, err := range map[string]error{
		"flat box":        second(zone.Box(v(0, 0), v(1, 0), 0)),
		"NaN box":         second(zone.Box(v(math.NaN(), 0), v(1, 1), 0)),
		"NaN yaw":         second(zone.Box(v(0, 0), v(1, 1), math.NaN())),
		"huge box":        second(zone.Box(v(0, 0), v(1e300, 1), 0)),
		"line":            second(zone.Polygon([]r2.Vec{v(0, 0), v(1, 0), v(2, 0)})),
		"no radius":       second(zone.Circle(v(0, 0), 0)),
		"NaN radius":      second(zone.Circle(v(0, 0), math.NaN())),
		"infinite centre": second(zone.Circle(v(math.Inf(1), 0), 1)),
		"heights fall":    second(box.WithHeights(1, 0)),
		"NaN height":      second(box.WithHeights(math.NaN(), 1)),
	} {
		if !errors.Is(err, zone.ErrZone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestRoom(t *testing.T) {
	disc := must(spatial.CircleFootprint(0.25))
	bar := must(spatial.PolygonFootprint([]r2.Vec{v(0.5, 0.1), v(-0.5, 0.1), v(-0.5, -0.1), v(0.5, -0.1)}))
	box := must(zone.Box(v(2, 1), v(1, 1), 0))
	ell := must(zone.Polygon([]r2.Vec{v(0, 0), v(4, 0), v(4, 1), v(1, 1), v(1, 4), v(0, 4)}))
	round := must(zone.Circle(v(0, 0), 2))
	p := func(x, y, yaw float64) spatial.Pose2 { return spatial.Pose2{X: x, Y: y, Yaw: yaw} }
	for _, tc := range []struct {
		name   string
		kind   zone.Kind
		shape  zone.Shape
		margin float64
		fp     spatial.Footprint
		at     spatial.Pose2
		want   float64
	}{
		{"disc beside a box", zone.KeepOut, box, 0, disc, p(1, 1, 0), 0.25},
		{"its centre outside, its rim inside", zone.KeepOut, box, 0, disc, p(1.375, 1, 0), -0.125},
		{"disc off a corner", zone.KeepOut, box, 0, disc, p(1.5-0.3, 0.5-0.4, 0), 0.25},
		{"margin", zone.KeepOut, box, 0.1, disc, p(1, 1, 0), 0.15},
		{"in the middle", zone.KeepOut, box, 0, disc, p(2, 1, 0), -0.75},
		{"bar pointing at it", zone.KeepOut, box, 0, bar, p(0.8, 1, 0), 0.2},
		{"bar beside it", zone.KeepOut, box, 0, bar, p(0.8, 1, math.Pi/2), 0.6},
		{"bar through a disc: no corner of either in the other", zone.KeepOut, must(zone.Circle(v(0, 0), 0.15)), 0, bar, p(0, 0.02, 0), -0.23},
		{"box inside the footprint", zone.KeepOut, must(zone.Box(v(0.1, 0), v(0.02, 0.02), 0)), 0, bar, p(0, 0, 0), -0.11},
		{"in the crook of an L", zone.KeepOut, ell, 0, disc, p(2, 2, 0), 0.75},
		{"bar across the crook", zone.KeepOut, ell, 0, bar, p(1.5, 1.5, 0.75*math.Pi), 0.5 - 0.6/math.Sqrt2},
		{"disc kept in", zone.KeepIn, box, 0, disc, p(2, 1, 0), 0.25},
		{"disc half out", zone.KeepIn, box, 0, disc, p(2.5, 1, 0), -0.25},
		{"disc kept in a disc", zone.KeepIn, round, 0, disc, p(1, 0, 0), 0.75},
		{"bar kept in a disc", zone.KeepIn, round, 0.1, bar, p(0, 0, 1), 1.9 - math.Hypot(0.5, 0.1)},
		{"bar kept in a box", zone.KeepIn, must(zone.Box(v(0, 0), v(2, 1), math.Pi/2)), 0, bar, p(0, 0.3, math.Pi/2), 0.2},
		{"bar sticking out", zone.KeepIn, must(zone.Box(v(0, 0), v(2, 1), 0)), 0, bar, p(0.7, 0, 0), -0.2},
		{"bar kept in an L", zone.KeepIn, ell, 0, bar, p(2, 0.5, 0), 0.4},
	} {
		z := must(zone.New(zone.Config{Name: "z", Kind: tc.kind, Frame: "map", Shape: tc.shape, Margin: tc.margin}))
		if got := z.Room(tc.fp, tc.at); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %.15g, want %.15g", tc.name, got, tc.want)
		}
	}
	// Across the crook of an L every corner is inside, and the middle is not.
	z := must(zone.New(zone.Config{Name: "z", Kind: zone.KeepIn, Frame: "map", Shape: ell}))
	long := must(spatial.PolygonFootprint([]r2.Vec{v(1.2, 0.05), v(-1.2, 0.05), v(-1.2, -0.05), v(1.2, -0.05)}))
	if got := z.Room(long, p(1.3, 1.3, 0.75*math.Pi)); got >= 0 {
		t.Errorf("a footprint that cuts the corner has room %g", got)
	}
}

func TestRoomOfNaNIsNoRoom(t *testing.T) {
	fps := []spatial.Footprint{must(spatial.CircleFootprint(0.25)), must(spatial.PolygonFootprint([]r2.Vec{v(0.5, 0.1), v(-0.5, 0.1), v(0, -0.1)}))}
	shapes := []zone.Shape{must(zone.Box(v(2, 1), v(1, 1), 0)), must(zone.Circle(v(0, 0), 1)), must(zone.Polygon([]r2.Vec{v(0, 0), v(4, 0), v(4, 1), v(1, 1), v(1, 4), v(0, 4)}))}
	nan := math.NaN()
	for _, kind := range []zone.Kind{zone.KeepIn, zone.KeepOut} {
		for _, s := range shapes {
			z := must(zone.New(zone.Config{Name: "z", Kind: kind, Frame: "map", Shape: s}))
			for _, fp := range fps {
				for _, from := range []spatial.Pose2{{X: nan, Y: 9}, {X: 9, Y: nan}, {X: 9, Y: 9, Yaw: nan}, {X: math.Inf(1)}} {
					if got := z.Sweep(fp, spatial.Motion{From: from}, 0); got.OK {
						t.Errorf("%v zone, %v: %+v", kind, from, got)
					}
				}
				if got := z.Sweep(fp, spatial.Motion{From: spatial.Pose2{X: 9, Y: 9}, Shift: v(nan, 0)}, 0); got.OK {
					t.Errorf("%v zone, NaN way: %+v", kind, got)
				}
			}
		}
	}
}

func TestHeights(t *testing.T) {
	s := must(must(zone.Circle(v(0, 0), 1)).WithHeights(1, 2))
	z := must(zone.New(zone.Config{Name: "shelf", Kind: zone.KeepOut, Frame: "map", Shape: s}))
	for _, tc := range []struct {
		bottom, height float64
		want           bool
	}{{0, 0.5, false}, {0, 1.2, true}, {0, 0, true}, {3, 1, false}, {1.5, 0.1, true}} {
		if got := z.AppliesAt(tc.bottom, tc.height); got != tc.want {
			t.Errorf("from %g up %g: %v", tc.bottom, tc.height, got)
		}
	}
}

func drawShape(t *rapid.T) zone.Shape {
	c := rapid.Float64Range(-2, 2)
	switch rapid.IntRange(0, 2).Draw(t, "shape") {
	case 0:
		return must(zone.Box(v(c.Draw(t, "cx"), c.Draw(t, "cy")), v(rapid.Float64Range(0.3, 4).Draw(t, "sx"), rapid.Float64Range(0.3, 4).Draw(t, "sy")), c.Draw(t, "yaw")))
	case 1:
		return must(zone.Circle(v(c.Draw(t, "cx"), c.Draw(t, "cy")), rapid.Float64Range(0.2, 3).Draw(t, "r")))
	}
	return must(zone.Polygon(star(t, rapid.IntRange(4, 9).Draw(t, "n"), 2.5)))
}

// star is a polygon around the origin, mostly not convex.
func star(t *rapid.T, n int, size float64) []r2.Vec {
	c := make([]r2.Vec, n)
	for i := range c {
		s, k := math.Sincos(2 * math.Pi * (float64(i) + rapid.Float64Range(0, 0.8).Draw(t, "a")) / float64(n))
		r := size * rapid.Float64Range(0.3, 1).Draw(t, "r")
		c[i] = v(r*k, r*s)
	}
	return c
}

func drawFootprint(t *rapid.T) spatial.Footprint {
	if rapid.Bool().Draw(t, "disc") {
		return must(spatial.CircleFootprint(rapid.Float64Range(0.1, 0.5).Draw(t, "radius")))
	}
	return must(spatial.PolygonFootprint(star(t, rapid.IntRange(4, 7).Draw(t, "fn"), 0.5)))
}

func drawMotion(t *rapid.T) spatial.Motion {
	c := rapid.Float64Range(-4, 4)
	pose := func(n string) spatial.Pose2 {
		return spatial.Pose2{X: c.Draw(t, n+"x"), Y: c.Draw(t, n+"y"), Yaw: rapid.Float64Range(-3, 3).Draw(t, n+"yaw")}
	}
	switch rapid.IntRange(0, 2).Draw(t, "motion") {
	case 0:
		return spatial.Line(pose("a"), pose("b"))
	case 1:
		return spatial.Rotation(pose("a"), rapid.Float64Range(-7, 7).Draw(t, "turn"))
	}
	return spatial.Arc(pose("a"), c.Draw(t, "vx"), 0, c.Draw(t, "w"), 1)
}

// points of a footprint, filled, on a fine lattice, in the base frame.
func points(fp spatial.Footprint) (pts []r2.Vec) {
	const n = 14
	r := fp.OuterRadius()
	for i := -n; i <= n; i++ {
		for j := -n; j <= n; j++ {
			q := v(r*float64(i)/n, r*float64(j)/n)
			if radius, ok := fp.Circle(); ok && r2.Norm(q) <= radius || !ok && fp.Polygon().Contains(q) {
				pts = append(pts, q)
			}
		}
	}
	if p := fp.Polygon(); p != nil {
		pts = append(pts, p.Corners()...)
	} else {
		for i := range 64 {
			s, c := math.Sincos(2 * math.Pi * float64(i) / 64)
			pts = append(pts, v(r*c, r*s))
		}
	}
	return pts
}

func in(s zone.Shape, q r2.Vec) bool {
	corners, center, radius := s.Outline()
	if corners == nil {
		return r2.Norm(r2.Sub(q, center)) < radius
	}
	return must(spatial.NewPolygon(corners)).Contains(q)
}

// TestSweepAgreesWithDenseSampling: what dense sampling shows to break the zone is refused; what is refused comes, in exact terms, within the
// step of breaking it.
func TestSweepAgreesWithDenseSampling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]zone.Kind{zone.KeepIn, zone.KeepOut}).Draw(t, "kind")
		z := must(zone.New(zone.Config{Name: "z", Kind: kind, Frame: "map", Shape: drawShape(t)}))
		fp, m := drawFootprint(t), drawMotion(t)
		got := z.Sweep(fp, m, 0)
		pts := points(fp)
		const n = 120
		least := math.Inf(1)
		for i := range n + 1 {
			p := m.At(float64(i) / n)
			least = math.Min(least, z.Room(fp, p))
			if !got.OK {
				continue
			}
			for _, q := range pts {
				if w := p.Apply(q); in(z.Config().Shape, w) != (kind == zone.KeepIn) && edge(z.Config().Shape, w) > 1e-9 {
					t.Fatalf("passed, but at u=%g the point %v breaks it", float64(i)/n, q)
				}
			}
		}
		if least < -1e-9 && got.OK {
			t.Fatalf("passed, but the room is %g somewhere", least)
		}
		if !got.OK && z.Room(fp, m.At(got.U)) > 2*zone.Step {
			t.Fatalf("refused at u=%g, where the room is %g", got.U, z.Room(fp, m.At(got.U)))
		}
	})
}

// edge is the distance to the shape's outline.
func edge(s zone.Shape, q r2.Vec) float64 {
	corners, center, radius := s.Outline()
	if corners == nil {
		return math.Abs(r2.Norm(r2.Sub(q, center)) - radius)
	}
	d := math.Inf(1)
	for i, j := 0, len(corners)-1; i < len(corners); j, i = i, i+1 {
		d = math.Min(d, spatial.PointSegmentDistance(q, corners[j], corners[i]))
	}
	return d
}

// What is called beyond has that much room; and far enough away everything is, but for what a workspace holds.
func TestBeyondHasTheRoom(t *testing.T) {
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]zone.Kind{zone.KeepIn, zone.KeepOut, zone.Speed}).Draw(t, "kind")
		cfg := zone.Config{Name: "z", Kind: kind, Frame: "map", Shape: drawShape(t), Margin: rapid.Float64Range(0, 0.5).Draw(t, "margin")}
		if kind == zone.Speed {
			cfg.MaxLinear = 1
		}
		z, fp := must(zone.New(cfg)), drawFootprint(t)
		c := rapid.Float64Range(-8, 8)
		p := spatial.Pose2{X: c.Draw(t, "x"), Y: c.Draw(t, "y"), Yaw: rapid.Float64Range(-3, 3).Draw(t, "yaw")}
		d := rapid.Float64Range(-1, 3).Draw(t, "d")
		if z.Beyond(fp, p, d) {
			yes++
			if room := z.Room(fp, p); !(room > d) {
				t.Fatalf("beyond %g m, and there is room for %g m", d, room)
			}
		}
		if p.X += 1e3; z.Beyond(fp, p, max(d, 0)) == (kind == zone.KeepIn) {
			t.Fatalf("a %v zone a kilometre away: beyond %v", kind, kind == zone.KeepIn)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			if z.Beyond(fp, spatial.Pose2{X: math.NaN()}, d) || z.Beyond(fp, p, bad) {
				t.Fatal("beyond what is no number")
			}
		}
	})
	if yes == 0 {
		t.Error("nothing was ever beyond")
	}
}

// TestSegmentsAreExactForDiscs: the room of a whole segment against sampling, and a verdict with no safety step at all.
func TestSegmentsAreExactForDiscs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]zone.Kind{zone.KeepIn, zone.KeepOut}).Draw(t, "kind")
		z := must(zone.New(zone.Config{Name: "z", Kind: kind, Frame: "map", Shape: drawShape(t)}))
		fp := must(spatial.CircleFootprint(0.25))
		c := rapid.Float64Range(-4, 4)
		m := spatial.Line(spatial.Pose2{X: c.Draw(t, "ax"), Y: c.Draw(t, "ay")}, spatial.Pose2{X: c.Draw(t, "bx"), Y: c.Draw(t, "by")})
		least := math.Inf(1)
		const n = 4000
		for i := range n + 1 {
			least = math.Min(least, z.Room(fp, m.At(float64(i)/n)))
		}
		slack := m.Travel(0) / n
		got := z.Sweep(fp, m, 0)
		if got.OK && (got.Room > least+1e-9 || got.Room < least-slack) {
			t.Fatalf("room %g, sampled %g", got.Room, least)
		}
		if got.OK != (least >= 0) && math.Abs(least) > slack {
			t.Fatalf("OK %v, but the least room sampled is %g", got.OK, least)
		}
	})
}

func TestGrazingAndWaypointsOnBothSides(t *testing.T) {
	disc := must(spatial.CircleFootprint(0.25))
	z := must(zone.New(zone.Config{Name: "z", Kind: zone.KeepOut, Frame: "map", Shape: must(zone.Box(v(0, 0), v(0.1, 4), 0))}))
	through := spatial.Line(spatial.Pose2{X: -1}, spatial.Pose2{X: 1})
	if got := z.Sweep(disc, through, 0); got.OK || math.Abs(got.U-0.35) > 0.001 {
		t.Errorf("free at both ends, through the zone: %+v", got)
	}
	for _, x := range []float64{0.3, 0.300001} {
		if got := z.Sweep(disc, spatial.Line(spatial.Pose2{X: x, Y: -3}, spatial.Pose2{X: x, Y: 3}), 0); !got.OK {
			t.Errorf("along the edge at %g m: %+v", x, got)
		}
	}
	if got := z.Sweep(disc, spatial.Line(spatial.Pose2{X: 0.299999, Y: -3}, spatial.Pose2{X: 0.299999, Y: 3}), 0); got.OK {
		t.Error("a micrometre inside passes")
	}
	if got := z.Sweep(disc, spatial.Rotation(spatial.Pose2{X: 0.3}, 1e9), 0); !got.OK {
		t.Errorf("a disc turning beside it: %+v", got)
	}
	if got := z.Sweep(disc, spatial.Line(spatial.Pose2{X: 1}, spatial.Pose2{X: 1e6, Y: 1e6}), 0); !got.OK {
		t.Errorf("far away from it: %+v", got)
	}
}

func FuzzZone(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), uint8(2), 0.1)
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, margin float64) {
		var c []r2.Vec
		for ; len(data) >= 16; data = data[16:] {
			c = append(c, v(math.Float64frombits(binary.LittleEndian.Uint64(data)), math.Float64frombits(binary.LittleEndian.Uint64(data[8:]))))
		}
		var shapes []zone.Shape
		if s, err := zone.Polygon(c); err == nil {
			shapes = append(shapes, s)
		}
		if len(c) >= 2 {
			if s, err := zone.Box(c[0], c[1], margin); err == nil {
				shapes = append(shapes, s)
			}
			if s, err := zone.Circle(c[0], c[1].X); err == nil {
				shapes = append(shapes, s)
			}
		}
		for _, s := range shapes {
			z, err := zone.New(zone.Config{Name: "z", Kind: zone.Kind(kind), Frame: "map", Shape: s, Margin: margin, MaxLinear: float64(kind / 3)})
			if err != nil {
				continue
			}
			for _, fp := range []spatial.Footprint{must(spatial.CircleFootprint(0.25)), must(spatial.PolygonFootprint([]r2.Vec{v(0.5, 0), v(-0.5, 0.3), v(-0.5, -0.3)}))} {
				m := spatial.Line(spatial.Pose2{}, spatial.Pose2{X: 3, Yaw: 1})
				got := z.Sweep(fp, m, 0)
				if got.OK && !(z.Room(fp, m.At(0.5)) >= -1e-6) {
					t.Fatalf("passed %+v with no room half way: %g", got, z.Room(fp, m.At(0.5)))
				}
			}
		}
	})
}

func BenchmarkRoom(b *testing.B) {
	z := must(zone.New(zone.Config{Name: "z", Kind: zone.KeepOut, Frame: "map", Shape: must(zone.Box(v(0, 0), v(1, 2), 0.3))}))
	for name, fp := range map[string]spatial.Footprint{"disc": must(spatial.CircleFootprint(0.25)), "box": must(spatial.PolygonFootprint([]r2.Vec{v(0.4, 0.3), v(-0.4, 0.3), v(-0.4, -0.3), v(0.4, -0.3)}))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if z.Room(fp, spatial.Pose2{X: 2, Y: 1, Yaw: 1}) < 0 {
					b.Fatal("no room")
				}
			}
		})
	}
}
