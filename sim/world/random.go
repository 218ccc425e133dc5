package world

import (
	"math"
	"math/rand/v2"
)

// Figures of random worlds.
const (
	elbowRoom = 0.15 // m around a robot that is put down somewhere, so that it can leave again
	spread    = 0.12 // m between the middles of two objects, so that the fingers get around each
)

// RandomPose draws a pose where the robot has room, outside the keep-out zones.
func (w *World) RandomPose(r *rand.Rand) Pose {
	sx, sy := w.Bounds.Size()
	for {
		p := Pose{w.Bounds.MinX + sx*r.Float64(), w.Bounds.MinY + sy*r.Float64(), WrapAngle(2 * math.Pi * r.Float64())}
		if min(w.Clearance(p.X, p.Y), w.ZoneDistance(p.X, p.Y)) >= w.Robot.Radius+elbowRoom {
			return p
		}
	}
}

// Scatter is the same world with its objects on other spots, each within reach from a place, turned at random.
func (w *World) Scatter(r *rand.Rand) *World {
	out := *w
	out.Objects = append([]Object(nil), w.Objects...)
	for i := range out.Objects {
		for out.spot(&out.Objects[i], r); out.crowded(i); {
			out.spot(&out.Objects[i], r)
		}
	}
	return &out
}

// spot lays an object somewhere.
func (w *World) spot(o *Object, r *rand.Rand) {
	s := w.Places[r.IntN(len(w.Places))].Surface
	sx, sy := s.Reach.Size()
	o.X, o.Y, o.Z = s.Reach.MinX+sx*r.Float64(), s.Reach.MinY+sy*r.Float64(), s.Height+o.Size/2
	o.Yaw = math.Pi / 2 * (r.Float64() - 0.5)
}

// crowded reports whether an object is too close to one before it.
func (w *World) crowded(i int) bool {
	for _, other := range w.Objects[:i] {
		if math.Hypot(w.Objects[i].X-other.X, w.Objects[i].Y-other.Y) < spread {
			return true
		}
	}
	return false
}
