package robottools

import (
	"fmt"
	"math"
	"slices"
)

// checkPlaces finds sizes that are none and ranges that are empty: nothing could be near them, or everything.
func (p *Profile) checkPlaces(add addFunc) {
	for i, b := range p.World.Bodies {
		for k, size := range b.Size {
			if size <= 0 {
				add(fmt.Sprintf("world/bodies/%d/size/%d", i, k), "the size of %q is %g m, must be over 0", b.Name, size)
			}
		}
	}
	for name, place := range p.Places {
		if s := place.Surface; s != nil && (s.Min[0] >= s.Max[0] || s.Min[1] >= s.Max[1]) {
			add(join(join("places", name), "surface"), "min %v is not below max %v, m", s.Min, s.Max)
		}
	}
	if f := p.World.Footprint.Polygon; len(f) > 0 && area(f) < leastArea {
		add("world/footprint/polygon", "it has an area of %g m2, limit %g m2", area(f), leastArea)
	}
	for what, zones := range map[string][]Zone{"workspace": p.World.Workspace, "keep_out": p.World.KeepOut, "speed_zones": p.World.SpeedZones} {
		for i, z := range zones {
			at := fmt.Sprintf("world/%s/%d", what, i)
			if len(z.Polygon) > 0 && area(z.Polygon) < leastArea {
				add(at+"/polygon", "%q has an area of %g m2, limit %g m2", z.Name, area(z.Polygon), leastArea)
			}
			if z.Circle != nil && z.Circle.Radius <= 0 {
				add(at+"/circle/radius", "the radius of %q is %g m, must be over 0", z.Name, z.Circle.Radius)
			}
			if h := z.Heights; h != nil && h[0] >= h[1] {
				add(at+"/heights", "%g m is not below %g m", h[0], h[1])
			}
		}
	}
	drives := slices.ContainsFunc(slices.Collect(valuesOf(p.Actuators)), func(a Actuator) bool { return a.Kind == kindBase })
	if f := p.Frames; drives && (f.Base == f.Odom || f.Base == f.Map) {
		add("frames/base", "%q is the frame of the odometry or the map, too: the robot would never move in it (REP-105)", f.Base)
	}
}

func valuesOf[K comparable, V any](m map[K]V) func(func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// leastArea of a polygon, m2: the square of a centimetre.
const leastArea = 1e-4

// area of a simple polygon.
func area(points [][2]float64) float64 {
	sum := 0.0
	for i, a := range points {
		b := points[(i+1)%len(points)]
		sum += a[0]*b[1] - b[0]*a[1]
	}
	return math.Abs(sum) / 2
}

// Magnitudes that a profile's numbers have, whatever their unit: what is smaller is 0 or a slip of the pen, and what is computed with
// such numbers is none any more.
const (
	leastNumber = 1e-9
	mostNumber  = 1e12
)

// magnitude says what is wrong with a number.
func magnitude(v any) error {
	var f float64
	switch n := v.(type) {
	case float64:
		f = n
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case uint64:
		f = float64(n)
	default:
		return nil
	}
	if a := math.Abs(f); a != 0 && (a < leastNumber || a > mostNumber) {
		return fmt.Errorf("%g is no number of a robot's: 0, or from %g to %g", f, leastNumber, mostNumber)
	}
	return nil
}
