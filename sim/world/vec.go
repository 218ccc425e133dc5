package world

import "math"

// Vec is a point or a direction in space, in metres.
type Vec struct{ X, Y, Z float64 }

// Add is v + u.
func (v Vec) Add(u Vec) Vec { return Vec{v.X + u.X, v.Y + u.Y, v.Z + u.Z} }

// Sub is v - u.
func (v Vec) Sub(u Vec) Vec { return Vec{v.X - u.X, v.Y - u.Y, v.Z - u.Z} }

// Scale is v, f times as long.
func (v Vec) Scale(f float64) Vec { return Vec{f * v.X, f * v.Y, f * v.Z} }

// Dot is the scalar product.
func (v Vec) Dot(u Vec) float64 { return v.X*u.X + v.Y*u.Y + v.Z*u.Z }

// Cross is the vector product.
func (v Vec) Cross(u Vec) Vec {
	return Vec{v.Y*u.Z - v.Z*u.Y, v.Z*u.X - v.X*u.Z, v.X*u.Y - v.Y*u.X}
}

// Norm is the length.
func (v Vec) Norm() float64 { return math.Sqrt(v.Dot(v)) }

// Transform takes points from one frame to another: turn, then move.
type Transform struct {
	R Rotation
	P Vec // m
}

// Rotation is a rotation matrix, row after row.
type Rotation [3][3]float64

// Identity leaves everything where it is.
func Identity() Transform { return Transform{R: Rotation{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}} }

// RPY is the rotation by roll, pitch and yaw about the fixed axes x, y and z, in this order, as URDF has it.
func RPY(roll, pitch, yaw float64) Rotation {
	sr, cr := math.Sincos(roll)
	sp, cp := math.Sincos(pitch)
	sy, cy := math.Sincos(yaw)
	return Rotation{
		{cy * cp, cy*sp*sr - sy*cr, cy*sp*cr + sy*sr},
		{sy * cp, sy*sp*sr + cy*cr, sy*sp*cr - cy*sr},
		{-sp, cp * sr, cp * cr},
	}
}

// About is the rotation by an angle about a unit vector.
func About(axis Vec, angle float64) Rotation {
	s, c := math.Sincos(angle)
	x, y, z, t := axis.X, axis.Y, axis.Z, 1-c
	return Rotation{
		{t*x*x + c, t*x*y - s*z, t*x*z + s*y},
		{t*x*y + s*z, t*y*y + c, t*y*z - s*x},
		{t*x*z - s*y, t*y*z + s*x, t*z*z + c},
	}
}

// Apply turns a vector.
func (r Rotation) Apply(v Vec) Vec {
	return Vec{
		r[0][0]*v.X + r[0][1]*v.Y + r[0][2]*v.Z,
		r[1][0]*v.X + r[1][1]*v.Y + r[1][2]*v.Z,
		r[2][0]*v.X + r[2][1]*v.Y + r[2][2]*v.Z,
	}
}

// Mul is r after s.
func (r Rotation) Mul(s Rotation) (m Rotation) {
	for i := range 3 {
		for j := range 3 {
			m[i][j] = r[i][0]*s[0][j] + r[i][1]*s[1][j] + r[i][2]*s[2][j]
		}
	}
	return m
}

// Transpose is the rotation back.
func (r Rotation) Transpose() (m Rotation) {
	for i := range 3 {
		for j := range 3 {
			m[i][j] = r[j][i]
		}
	}
	return m
}

// Column is where the axis with the index points.
func (r Rotation) Column(i int) Vec { return Vec{r[0][i], r[1][i], r[2][i]} }

// Quaternion is the rotation as x, y, z, w, with w not negative.
func (r Rotation) Quaternion() (x, y, z, w float64) {
	// Each component's square is known; the largest one is taken as the root, so that nothing is lost.
	q := [4]float64{1 + r[0][0] - r[1][1] - r[2][2], 1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2], 1 + r[0][0] + r[1][1] + r[2][2]}
	big := 0
	for i := range q {
		if q[i] > q[big] {
			big = i
		}
	}
	root := math.Sqrt(max(q[big], 0))
	f := 0.5 / root
	switch big {
	case 0:
		x, y, z, w = root/2, f*(r[0][1]+r[1][0]), f*(r[0][2]+r[2][0]), f*(r[2][1]-r[1][2])
	case 1:
		x, y, z, w = f*(r[0][1]+r[1][0]), root/2, f*(r[1][2]+r[2][1]), f*(r[0][2]-r[2][0])
	case 2:
		x, y, z, w = f*(r[0][2]+r[2][0]), f*(r[1][2]+r[2][1]), root/2, f*(r[1][0]-r[0][1])
	default:
		x, y, z, w = f*(r[2][1]-r[1][2]), f*(r[0][2]-r[2][0]), f*(r[1][0]-r[0][1]), root/2
	}
	if w < 0 {
		x, y, z, w = -x, -y, -z, -w
	}
	return x, y, z, w
}

// Yaw is the heading of the rotated x axis, seen from above.
func (r Rotation) Yaw() float64 { return math.Atan2(r[1][0], r[0][0]) }

// Apply takes a point along.
func (t Transform) Apply(p Vec) Vec { return t.R.Apply(p).Add(t.P) }

// Mul is the transform u, given in t's frame, in the frame t is given in.
func (t Transform) Mul(u Transform) Transform { return Transform{t.R.Mul(u.R), t.Apply(u.P)} }

// Inverse is the transform back.
func (t Transform) Inverse() Transform {
	back := t.R.Transpose()
	return Transform{back, back.Apply(t.P).Scale(-1)}
}

// Transform is the pose in space, at a height.
func (p Pose) Transform(height float64) Transform {
	return Transform{About(Vec{Z: 1}, p.Yaw), Vec{p.X, p.Y, height}}
}
