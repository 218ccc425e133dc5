package spatial

import (
	"math"

	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

// Pose2 is a pose in the plane z = 0 of some frame.
type Pose2 struct {
	X, Y float64 // m
	Yaw  float64 // rad
}

// Planar drops height, roll and pitch. Whether they may be dropped is the caller's check (see Tilt).
func (p Pose) Planar() Pose2 {
	return Pose2{X: p.Position.X, Y: p.Position.Y, Yaw: Yaw(p.Orientation)}
}

// Planar drops height, roll and pitch.
func (t Transform) Planar() Pose2 { return t.Pose().Planar() }

// Pose in space, at height 0.
func (p Pose2) Pose() Pose {
	return Pose{Position: r3.Vec{X: p.X, Y: p.Y}, Orientation: FromYaw(p.Yaw)}
}

// Vec is the position.
func (p Pose2) Vec() r2.Vec { return r2.Vec{X: p.X, Y: p.Y} }

// Finite reports whether all components are finite.
func (p Pose2) Finite() bool { return Finite(p.X) && Finite(p.Y) && Finite(p.Yaw) }

// Compose is q, given in the frame at p, in p's frame. The yaw is wrapped.
func (p Pose2) Compose(q Pose2) Pose2 {
	s, c := math.Sincos(p.Yaw)
	return Pose2{X: p.X + c*q.X - s*q.Y, Y: p.Y + s*q.X + c*q.Y, Yaw: WrapAngle(p.Yaw + q.Yaw)}
}

// Inverse is the pose of p's frame in the frame at p.
func (p Pose2) Inverse() Pose2 {
	s, c := math.Sincos(p.Yaw)
	return Pose2{X: -c*p.X - s*p.Y, Y: s*p.X - c*p.Y, Yaw: WrapAngle(-p.Yaw)}
}

// Apply maps a point of the frame at p into p's frame.
func (p Pose2) Apply(v r2.Vec) r2.Vec {
	s, c := math.Sincos(p.Yaw)
	return r2.Vec{X: p.X + c*v.X - s*v.Y, Y: p.Y + s*v.X + c*v.Y}
}

// Motion is a rigid motion in the plane from u = 0 to u = 1: along a straight line while turning evenly, or along the
// arc of a constant body twist.
type Motion struct {
	From Pose2
	// Shift is the displacement: in the fixed frame for a line; for an arc the body twist (x, y) times its duration.
	Shift r2.Vec
	Turn  float64 // rad, may exceed pi
	IsArc bool
}

// Line goes straight from a to b and turns by the shorter way.
func Line(a, b Pose2) Motion {
	return Motion{From: a, Shift: r2.Vec{X: b.X - a.X, Y: b.Y - a.Y}, Turn: WrapAngle(b.Yaw - a.Yaw)}
}

// Rotation turns in place by angle, which may exceed pi.
func Rotation(a Pose2, angle float64) Motion { return Motion{From: a, Turn: angle} }

// Arc applies a constant body twist (vx, vy in m/s, w in rad/s) for dt seconds.
func Arc(a Pose2, vx, vy, w, dt float64) Motion {
	return Motion{From: a, Shift: r2.Vec{X: vx * dt, Y: vy * dt}, Turn: w * dt, IsArc: true}
}

// At is the pose at u in [0, 1]; its yaw is not wrapped.
func (m Motion) At(u float64) Pose2 {
	yaw := m.From.Yaw + u*m.Turn
	if !m.IsArc {
		return Pose2{X: m.From.X + u*m.Shift.X, Y: m.From.Y + u*m.Shift.Y, Yaw: yaw}
	}
	// The chord of an arc of angle a is its length times sin(a/2)/(a/2), turned by a/2.
	half := u * m.Turn / 2
	k := u * sinc(half)
	s, c := math.Sincos(m.From.Yaw + half)
	return Pose2{X: m.From.X + k*(c*m.Shift.X-s*m.Shift.Y), Y: m.From.Y + k*(s*m.Shift.X+c*m.Shift.Y), Yaw: yaw}
}

// In is the motion seen from another frame; rel is the pose of the motion's frame in it.
func (m Motion) In(rel Pose2) Motion {
	if rel == (Pose2{}) {
		return m
	}
	m.From = rel.Compose(m.From)
	if !m.IsArc {
		s, c := math.Sincos(rel.Yaw)
		m.Shift = r2.Vec{X: c*m.Shift.X - s*m.Shift.Y, Y: s*m.Shift.X + c*m.Shift.Y}
	}
	return m
}

// End is At(1).
func (m Motion) End() Pose2 { return m.At(1) }

// Travel bounds the way that any point within radius of the moving origin makes during the whole motion. Between u and
// u+du no such point moves farther than du times it.
func (m Motion) Travel(radius float64) float64 {
	return hypot(m.Shift.X, m.Shift.Y) + math.Abs(m.Turn)*radius
}

// Bulge bounds how far the footprint is off the straight way from where the motion begins to where it ends, in metres: each of its points from the
// straight way of that point, or, of a disc about the origin, the disc from the straight way of the origin.
func (m Motion) Bulge(fp Footprint) float64 {
	// A curve is off its chord by no more than an eighth of its greatest second derivative.
	turn, bend := math.Abs(m.Turn), 0.0
	if _, isCircle := fp.Circle(); !isCircle {
		bend = fp.outer * turn
	}
	if m.IsArc {
		bend += hypot(m.Shift.X, m.Shift.Y)
	}
	return bend * turn / 8
}

// Once is the motion without what it repeats: a rotation in place and an arc pass all of their poses in the first full turn.
// share is the part of m that is left, in (0, 1].
func (m Motion) Once() (once Motion, share float64) {
	if !(math.Abs(m.Turn) > 2*math.Pi) || !m.IsArc && m.Shift != (r2.Vec{}) {
		return m, 1
	}
	share = 2 * math.Pi / math.Abs(m.Turn)
	m.Turn *= share
	m.Shift = r2.Scale(share, m.Shift)
	return m, share
}

// Part is the beginning of the motion up to u in [0, 1].
func (m Motion) Part(u float64) Motion {
	m.Turn *= u
	m.Shift = r2.Scale(u, m.Shift)
	return m
}

func sinc(x float64) float64 {
	if math.Abs(x) < 0.05 { // exact to rounding
		y := x * x
		return 1 - y/6*(1-y/20*(1-y/42))
	}
	return math.Sin(x) / x
}
