package zone

import (
	"math"

	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r2"
)

// Step is the least step of a sweep in metres: a motion that comes closer than this to breaking a zone without breaking
// it may be refused (never the other way round).
const Step = 1e-3

// StepShare bounds the number of steps of very long motions: their least step is at least this share of the way.
const StepShare = 1e-5

// Sweep is what a zone says of a motion.
type Sweep struct {
	OK   bool
	U    float64 // where along the motion it is broken first, in [0, 1]; 1 when it is not
	Room float64 // there, or the least room seen; see Zone.Room
}

// Sweep checks the footprint along a whole motion, given in the zone's frame. need is the room wanted, usually 0; a robot that
// stands in a zone already may be asked for no less room than it has.
//
// A circular footprint on a straight line is judged exactly. Otherwise each step is as long as the room proves safe.
func (z *Zone) Sweep(fp spatial.Footprint, m spatial.Motion, need float64) Sweep {
	m, whole := m.Once()
	travel := m.Travel(fp.OuterRadius())
	if !spatial.Finite(travel) || !m.From.Finite() {
		return Sweep{Room: math.NaN()}
	}
	if r, isCircle := fp.Circle(); isCircle && !m.IsArc {
		if room, exact := z.capsuleRoom(r, m); exact && room >= need {
			return Sweep{OK: true, U: 1, Room: room}
		}
	}
	step := max(Step, travel*StepShare)
	least := math.Inf(1)
	for u := 0.0; ; {
		room := z.Room(fp, m.At(u))
		least = min(least, room)
		if !(room >= need) || room-need < step && travel > 0 && u < 1 {
			return Sweep{U: u * whole, Room: room}
		}
		if u >= 1 {
			return Sweep{OK: true, U: 1, Room: least}
		}
		if travel == 0 {
			u = 1
			continue
		}
		u = min(1, u+(room-need)/travel)
	}
}

// capsuleRoom is the least room of a disc along a line. It is exact unless the line itself meets the edge of the shape.
func (z *Zone) capsuleRoom(r float64, m spatial.Motion) (room float64, exact bool) {
	s := &z.cfg.Shape
	a, b := m.From.Vec(), m.End().Vec()
	var edge float64
	if s.polygon == nil {
		near := spatial.PointSegmentDistance(s.center, a, b)
		far := math.Max(r2.Norm(r2.Sub(a, s.center)), r2.Norm(r2.Sub(b, s.center)))
		if z.cfg.Kind == KeepIn {
			return s.radius - far - r - z.cfg.Margin, true
		}
		return near - s.radius - r - z.cfg.Margin, near > s.radius
	}
	edge = math.Inf(1)
	c := s.polygon.Corners()
	for i, j := 0, len(c)-1; i < len(c); j, i = i, i+1 {
		edge = min(edge, spatial.SegmentDistance(a, b, c[j], c[i]))
	}
	if edge == 0 || s.polygon.Contains(a) != (z.cfg.Kind == KeepIn) {
		return 0, false
	}
	return edge - r - z.cfg.Margin, true
}
