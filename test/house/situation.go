package house

import (
	"math"

	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// Situation is what the truth says at one moment.
type Situation struct {
	physics.Truth
	Objects map[string]physics.ObjectState
}

// Now is the truth as it is.
func (h *House) Now() Situation {
	s := Situation{Truth: h.Bot.Truth(), Objects: map[string]physics.ObjectState{}}
	for _, o := range h.Bot.Objects() {
		s.Objects[o.Name] = o
	}
	return s
}

// Still reports whether the base stands where it stood, within 5 cm and 0.1 rad.
func (s Situation) Still(u Situation) bool {
	return math.Hypot(s.Pose.X-u.Pose.X, s.Pose.Y-u.Pose.Y) < 0.05 && math.Abs(Wrap(s.Pose.Yaw-u.Pose.Yaw)) < 0.1
}

// AtRest reports whether nothing moves.
func (s Situation) AtRest() bool {
	for _, v := range s.ArmVelocity {
		if math.Abs(v) > 1e-3 {
			return false
		}
	}
	return math.Abs(s.Twist.Linear) < 1e-3 && math.Abs(s.Twist.Angular) < 1e-3 && math.Abs(s.WidthSpeed) < 1e-3
}

// Wrap brings an angle between -pi and pi.
func Wrap(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

// PlaceOf is the place whose furniture an object lies on; "" for none, and for one that is held, falls or is gone.
func (s Situation) PlaceOf(object string) string {
	o, ok := s.Objects[object]
	if !ok || o.Held || o.Falling || o.Gone {
		return ""
	}
	for _, p := range world.Default().Places {
		if p.Surface.Box.Contains(o.X, o.Y) && o.Z > p.Surface.Height {
			return p.Name
		}
	}
	return ""
}

// At reports whether a pose is at a place.
func At(p world.Pose, place string, tolerance float64) bool {
	for _, x := range world.Default().Places {
		if x.Name == place {
			return math.Hypot(p.X-x.Pose.X, p.Y-x.Pose.Y) <= tolerance
		}
	}
	return false
}
