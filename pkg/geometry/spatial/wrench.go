package spatial

import (
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Wrench is a force and a torque about the origin of some frame, along its axes.
type Wrench struct {
	Force  r3.Vec // N
	Torque r3.Vec // Nm
}

// Finite reports whether all components are finite.
func (w Wrench) Finite() bool { return finite3(w.Force) && finite3(w.Torque) }

// Add is the sum of two wrenches in one frame.
func (w Wrench) Add(u Wrench) Wrench {
	return Wrench{Force: r3.Add(w.Force, u.Force), Torque: r3.Add(w.Torque, u.Torque)}
}

// Power is what a wrench does on a body that moves, W; both in one frame, the velocity that of the body's point at the frame's origin.
func (w Wrench) Power(t Twist) float64 {
	return r3.Dot(w.Force, t.Linear) + r3.Dot(w.Torque, t.Angular)
}

// Add is the sum of two twists in one frame.
func (t Twist) Add(u Twist) Twist {
	return Twist{Linear: r3.Add(t.Linear, u.Linear), Angular: r3.Add(t.Angular, u.Angular)}
}

// ApplyTwist is a body's velocity seen from the target frame: Linear is the velocity of the body's point that is at the frame's origin, there as here.
// The two frames do not move against each other.
func (t Transform) ApplyTwist(v Twist) Twist {
	w := Rotate(t.Rotation, v.Angular)
	return Twist{Linear: r3.Add(Rotate(t.Rotation, v.Linear), r3.Cross(t.Translation, w)), Angular: w}
}

// ApplyWrench is a wrench seen from the target frame: the torque is about its origin.
func (t Transform) ApplyWrench(w Wrench) Wrench {
	f := Rotate(t.Rotation, w.Force)
	return Wrench{Force: f, Torque: r3.Add(Rotate(t.Rotation, w.Torque), r3.Cross(t.Translation, f))}
}

// At is a body's velocity with another point of it as the reference: p, in the same frame.
func (t Twist) At(p r3.Vec) Twist {
	return Twist{Linear: r3.Add(t.Linear, r3.Cross(t.Angular, p)), Angular: t.Angular}
}

// Rotated is the twist along other axes: q turns the axes that it is given along into the target frame. The reference point stays.
func (t Twist) Rotated(q quat.Number) Twist {
	return Twist{Linear: Rotate(q, t.Linear), Angular: Rotate(q, t.Angular)}
}
