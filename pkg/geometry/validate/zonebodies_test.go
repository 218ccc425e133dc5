package validate_test

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"
)

// TestZoneBodiesAreTheZone: a ball touches them just where the zone's own measure says that a disc of its size breaks it, at heights where it holds.
func TestZoneBodiesAreTheZone(t *testing.T) {
	ell := must(zone.Polygon([]r2.Vec{v(0, 0), v(2, 0), v(2, 1), v(1, 1), v(1, 2), v(0, 2)}))
	box := must(zone.Box(v(0.5, -0.3), v(2, 1), 0.4))
	disc := must(zone.Circle(v(-0.5, 0.2), 0.8))
	low := func(s zone.Shape) zone.Shape { return must(s.WithHeights(0.2, 1)) }
	for name, c := range map[string]zone.Config{
		"ell": {Kind: zone.KeepOut, Shape: ell}, "low ell": {Kind: zone.KeepOut, Shape: low(ell), Margin: 0.1},
		"box": {Kind: zone.KeepOut, Shape: box, Margin: 0.05}, "disc": {Kind: zone.KeepOut, Shape: disc}, "low disc": {Kind: zone.KeepOut, Shape: low(disc), Margin: 0.1},
		"in box": {Kind: zone.KeepIn, Shape: box, Margin: 0.05}, "in low box": {Kind: zone.KeepIn, Shape: low(box)}, "in disc": {Kind: zone.KeepIn, Shape: disc, Margin: 0.1},
	} {
		c.Name, c.Frame = name, "map"
		z := must(zone.New(c))
		bodies := must(validate.ZoneBodies(z))
		rapid.Check(t, func(t *rapid.T) {
			r := rapid.Float64Range(0.01, 0.3).Draw(t, "r")
			p := r3.Vec{X: rapid.Float64Range(-3, 3).Draw(t, "x"), Y: rapid.Float64Range(-3, 3).Draw(t, "y"), Z: rapid.Float64Range(-1, 2).Draw(t, "z")}
			ball := collision.Shape{Kind: collision.Sphere, Radius: r}
			got := math.Inf(1)
			for _, b := range bodies {
				got = math.Min(got, collision.Distance(ball, spatial.Transform{Translation: p, Rotation: quat.Number{Real: 1}}, b.Shape, b.Pose))
			}
			lo, hi, limited := c.Shape.Heights()
			flat := z.Room(must(spatial.CircleFootprint(r)), spatial.Pose2{X: p.X, Y: p.Y})
			want := flat
			if limited {
				up, down := p.Z-r-hi, lo-p.Z-r // how far above and below
				if c.Kind == zone.KeepIn {
					want = math.Min(flat, math.Min(-up-2*r, -down-2*r)-c.Margin)
				} else {
					// Of the ball's centre, aside and above or below; beyond both, from the rim.
					aside, off := flat+r, math.Max(up, down)+r-c.Margin
					if want = math.Max(aside, off) - r; aside > 0 && off > 0 {
						want = math.Hypot(aside, off) - r
					}
				}
			}
			// Corners are rounded off with a polygon, circles are filled or left out by one: never less strict, and a little more.
			slack := 0.04*c.Margin + 0.003
			if want < -1e-9 && got > 1e-9 {
				t.Fatalf("%s: at %v, radius %g, the zone is broken by %g, its bodies are %g away", name, p, r, -want, got)
			}
			if want > slack && got <= 0 {
				t.Fatalf("%s: at %v, radius %g, there is room for %g, its bodies are %g away", name, p, r, want, got)
			}
		})
	}
	speed := must(zone.New(zone.Config{Name: "slow", Frame: "map", Kind: zone.Speed, Shape: box, MaxLinear: 0.1}))
	if b := must(validate.ZoneBodies(speed)); len(b) != 0 {
		t.Errorf("a speed zone has bodies: %v", b)
	}
	dent := must(zone.New(zone.Config{Name: "dent", Frame: "map", Kind: zone.KeepIn, Shape: ell}))
	if b := must(validate.ZoneBodies(dent)); len(b) != 5 {
		t.Errorf("an ell's hull has 5 sides, here are %d", len(b))
	}
}
