package spatial

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Pose is a position and an orientation in some frame.
type Pose struct {
	Position    r3.Vec      // m
	Orientation quat.Number // unit; the zero value is not a pose
}

// Twist is a velocity in some frame.
type Twist struct {
	Linear  r3.Vec // m/s
	Angular r3.Vec // rad/s
}

// IsZero reports whether every component is zero: the command to stop.
func (t Twist) IsZero() bool { return t == Twist{} }

// Scaled is the twist times f: the same curve at another speed.
func (t Twist) Scaled(f float64) Twist {
	return Twist{Linear: r3.Scale(f, t.Linear), Angular: r3.Scale(f, t.Angular)}
}

// Transform maps coordinates of a source frame into a target frame: p_target = Rotation p_source + Translation.
// It is also the pose of the source frame in the target frame.
type Transform struct {
	Translation r3.Vec
	Rotation    quat.Number // unit
}

// Identity leaves everything where it is.
func Identity() Transform { return Transform{Rotation: quat.Number{Real: 1}} }

// Transform of the frame that sits at the pose, into the pose's frame.
func (p Pose) Transform() Transform {
	return Transform{Translation: p.Position, Rotation: p.Orientation}
}

// Pose of the source frame in the target frame.
func (t Transform) Pose() Pose {
	return Pose{Position: t.Translation, Orientation: t.Rotation}
}

// Rotate turns v by the unit quaternion q.
func Rotate(q quat.Number, v r3.Vec) r3.Vec {
	// v + 2 w (u x v) + 2 u x (u x v): half the multiplications of q v q*.
	u := r3.Vec{X: q.Imag, Y: q.Jmag, Z: q.Kmag}
	c := r3.Scale(2, r3.Cross(u, v))
	return r3.Add(v, r3.Add(r3.Scale(q.Real, c), r3.Cross(u, c)))
}

// Apply maps a point of the source frame into the target frame.
func (t Transform) Apply(p r3.Vec) r3.Vec {
	return r3.Add(Rotate(t.Rotation, p), t.Translation)
}

// ApplyPose maps a pose of the source frame into the target frame.
func (t Transform) ApplyPose(p Pose) Pose {
	return Pose{Position: t.Apply(p.Position), Orientation: unit(quat.Mul(t.Rotation, p.Orientation))}
}

// Compose is first u, then t: (t.Compose(u)).Apply(p) == t.Apply(u.Apply(p)).
func (t Transform) Compose(u Transform) Transform {
	return Transform{Translation: t.Apply(u.Translation), Rotation: unit(quat.Mul(t.Rotation, u.Rotation))}
}

// Inverse maps back.
func (t Transform) Inverse() Transform {
	r := quat.Conj(t.Rotation)
	return Transform{Translation: r3.Scale(-1, Rotate(r, t.Translation)), Rotation: r}
}

// Interpolate between two transforms: translation linearly, rotation by the shorter way; u in [0, 1].
func Interpolate(a, b Transform, u float64) Transform {
	return Transform{
		Translation: r3.Add(r3.Scale(1-u, a.Translation), r3.Scale(u, b.Translation)),
		Rotation:    Slerp(a.Rotation, b.Rotation, u),
	}
}

// Finite reports whether all components are finite.
func (p Pose) Finite() bool { return finite3(p.Position) && finiteQuat(p.Orientation) }

// Finite reports whether all components are finite.
func (t Twist) Finite() bool { return finite3(t.Linear) && finite3(t.Angular) }

// Finite reports whether all components are finite.
func (t Transform) Finite() bool { return finite3(t.Translation) && finiteQuat(t.Rotation) }

// Finite reports whether x is a number and not infinite.
func Finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

func finite3(v r3.Vec) bool { return Finite(v.X) && Finite(v.Y) && Finite(v.Z) }

func finiteQuat(q quat.Number) bool {
	return Finite(q.Real) && Finite(q.Imag) && Finite(q.Jmag) && Finite(q.Kmag)
}
