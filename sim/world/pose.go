package world

import "math"

// Pose is a position and heading in the plane.
type Pose struct {
	X, Y float64 // m
	Yaw  float64 // rad
}

// Twist is a differential base's velocity in its own frame.
type Twist struct {
	Linear  float64 // m/s, forward
	Angular float64 // rad/s, counter-clockwise
}

// Compose is the pose q, given in p's frame, in the frame p is given in.
func (p Pose) Compose(q Pose) Pose {
	s, c := math.Sincos(p.Yaw)
	return Pose{p.X + c*q.X - s*q.Y, p.Y + s*q.X + c*q.Y, WrapAngle(p.Yaw + q.Yaw)}
}

// Inverse is the pose that composes with p to the identity.
func (p Pose) Inverse() Pose {
	s, c := math.Sincos(p.Yaw)
	return Pose{-c*p.X - s*p.Y, s*p.X - c*p.Y, WrapAngle(-p.Yaw)}
}

// DistanceTo is the distance between the two positions, in metres.
func (p Pose) DistanceTo(q Pose) float64 { return math.Hypot(q.X-p.X, q.Y-p.Y) }

// BearingTo is the direction from p's position to q's, in the frame both are given in.
func (p Pose) BearingTo(q Pose) float64 { return math.Atan2(q.Y-p.Y, q.X-p.X) }

// Finite reports whether all three numbers are finite.
func (p Pose) Finite() bool { return finite(p.X) && finite(p.Y) && finite(p.Yaw) }

// Finite reports whether both numbers are finite.
func (t Twist) Finite() bool { return finite(t.Linear) && finite(t.Angular) }

// Advance is where a base at p is after driving with the constant twist for dt
// seconds: an arc, or a straight line where it does not turn.
func (p Pose) Advance(t Twist, dt float64) Pose {
	d, a := t.Linear*dt, t.Angular*dt
	if math.Abs(a) < 1e-9 {
		s, c := math.Sincos(p.Yaw + a/2)
		return Pose{p.X + d*c, p.Y + d*s, WrapAngle(p.Yaw + a)}
	}
	r := d / a
	s0, c0 := math.Sincos(p.Yaw)
	s1, c1 := math.Sincos(p.Yaw + a)
	return Pose{p.X + r*(s1-s0), p.Y - r*(c1-c0), WrapAngle(p.Yaw + a)}
}

// WrapAngle brings an angle into (-pi, pi].
func WrapAngle(a float64) float64 {
	a = math.Mod(a, 2*math.Pi)
	switch {
	case a > math.Pi:
		a -= 2 * math.Pi
	case a <= -math.Pi:
		a += 2 * math.Pi
	}
	return a
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
