package spatial

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// NormTolerance is how far a quaternion's norm may be from one: hand-written and rounded values such as
// (0.383, 0.924) and (0.7071, 0.7071) are inside, (0.7, 0.7) is not.
const NormTolerance = 1e-2

// normNoise is the deviation below which a norm is one up to rounding, and normalising is no news.
const normNoise = 1e-9

// Reasons why a quaternion is no rotation.
var (
	ErrNotFinite = errors.New("not a finite number")
	ErrZeroNorm  = errors.New("zero quaternion")
	ErrNotUnit   = errors.New("norm is not one")
)

// QuaternionError says why a quaternion is refused. It wraps one of ErrNotFinite, ErrZeroNorm, ErrNotUnit.
type QuaternionError struct {
	Quaternion quat.Number
	Norm       float64
	Reason     error
}

// Error names the norm and the tolerance.
func (e *QuaternionError) Error() string {
	q := e.Quaternion
	return fmt.Sprintf("spatial: quaternion (x %g, y %g, z %g, w %g): %v: norm %g, must be within %g of 1",
		q.Imag, q.Jmag, q.Kmag, q.Real, e.Reason, e.Norm, NormTolerance)
}

// Unwrap gives the reason.
func (e *QuaternionError) Unwrap() error { return e.Reason }

// CheckQuaternion accepts a quaternion whose norm is within NormTolerance of one and gives it normalised;
// changed says whether that altered it by more than rounding, which the caller must report. Everything else is
// a *QuaternionError: zero, non-finite, and any other norm.
func CheckQuaternion(q quat.Number) (normalised quat.Number, changed bool, err error) {
	if !finiteQuat(q) {
		return quat.Number{}, false, &QuaternionError{Quaternion: q, Norm: math.NaN(), Reason: ErrNotFinite}
	}
	n := Norm(q)
	if n == 0 {
		return quat.Number{}, false, &QuaternionError{Quaternion: q, Norm: 0, Reason: ErrZeroNorm}
	}
	// Written so that a NaN fails.
	if !(math.Abs(n-1) <= NormTolerance) {
		return quat.Number{}, false, &QuaternionError{Quaternion: q, Norm: n, Reason: ErrNotUnit}
	}
	return quat.Scale(1/n, q), math.Abs(n-1) > normNoise, nil
}

// Norm of q, without overflow or underflow on the way; +Inf only when the norm itself is beyond float64.
func Norm(q quat.Number) float64 {
	if n2 := q.Real*q.Real + q.Imag*q.Imag + q.Jmag*q.Jmag + q.Kmag*q.Kmag; n2 > 1e-280 && n2 < 1e280 {
		return math.Sqrt(n2) // what has underflowed does not count
	}
	return math.Hypot(math.Hypot(q.Imag, q.Jmag), math.Hypot(q.Kmag, q.Real))
}

// unit removes the rounding that products gather. q is close to a unit quaternion.
func unit(q quat.Number) quat.Number {
	n2 := q.Real*q.Real + q.Imag*q.Imag + q.Jmag*q.Jmag + q.Kmag*q.Kmag
	return quat.Scale(1/math.Sqrt(n2), q)
}

// FromYaw is the rotation about z by yaw.
func FromYaw(yaw float64) quat.Number {
	s, c := math.Sincos(yaw / 2)
	return quat.Number{Real: c, Kmag: s}
}

// Yaw of the rotated x axis, projected onto the ground, in (-pi, pi]. With no tilt it inverts FromYaw.
func Yaw(q quat.Number) float64 {
	return math.Atan2(2*(q.Real*q.Kmag+q.Imag*q.Jmag), 1-2*(q.Jmag*q.Jmag+q.Kmag*q.Kmag))
}

// Tilt is the angle between the rotated z axis and z: 0 for a pure yaw, pi upside down. q is unit.
func Tilt(q quat.Number) float64 {
	// The axis's xy part has length 2 sqrt((x²+y²)(z²+w²)); asin/acos of the z part alone would lose small angles.
	a := math.Hypot(q.Imag, q.Jmag)
	b := math.Hypot(q.Kmag, q.Real)
	return 2 * math.Atan2(a, b)
}

// WrapAngle brings an angle into (-pi, pi]. Non-finite input gives NaN.
func WrapAngle(a float64) float64 {
	r := math.Remainder(a, 2*math.Pi)
	if r <= -math.Pi {
		r += 2 * math.Pi
	}
	return r
}

// Angle between two rotations, in [0, pi].
func Angle(a, b quat.Number) float64 {
	d := quat.Mul(quat.Conj(a), b)
	return 2 * math.Atan2(math.Hypot(math.Hypot(d.Imag, d.Jmag), d.Kmag), math.Abs(d.Real))
}

// Slerp goes from a to b by the shorter way at constant rate; u in [0, 1].
func Slerp(a, b quat.Number, u float64) quat.Number {
	dot := a.Real*b.Real + a.Imag*b.Imag + a.Jmag*b.Jmag + a.Kmag*b.Kmag
	if dot < 0 {
		b, dot = quat.Scale(-1, b), -dot
	}
	if dot > 1-1e-12 {
		// Too close for the sine's quotient; the chord is the arc here.
		return unit(quat.Add(quat.Scale(1-u, a), quat.Scale(u, b)))
	}
	theta := math.Acos(dot)
	s := math.Sin(theta)
	return unit(quat.Add(quat.Scale(math.Sin((1-u)*theta)/s, a), quat.Scale(math.Sin(u*theta)/s, b)))
}

// FromRPY is the rotation by roll about x, then pitch about y, then yaw about z, all of them fixed axes (URDF's rpy).
func FromRPY(roll, pitch, yaw float64) quat.Number {
	sr, cr := math.Sincos(roll / 2)
	sp, cp := math.Sincos(pitch / 2)
	sy, cy := math.Sincos(yaw / 2)
	return quat.Number{
		Real: cr*cp*cy + sr*sp*sy,
		Imag: sr*cp*cy - cr*sp*sy,
		Jmag: cr*sp*cy + sr*cp*sy,
		Kmag: cr*cp*sy - sr*sp*cy,
	}
}

// FromAxis is the rotation by an angle about a unit axis.
func FromAxis(axis r3.Vec, angle float64) quat.Number {
	s, c := math.Sincos(angle / 2)
	return quat.Number{Real: c, Imag: s * axis.X, Jmag: s * axis.Y, Kmag: s * axis.Z}
}

// RotationVector of q: its axis times its angle in [0, pi].
func RotationVector(q quat.Number) r3.Vec {
	if q.Real < 0 {
		q = quat.Scale(-1, q)
	}
	v := r3.Vec{X: q.Imag, Y: q.Jmag, Z: q.Kmag}
	s := r3.Norm(v)
	if s < 1e-12 {
		return r3.Scale(2, v) // the sine is the angle here
	}
	return r3.Scale(2*math.Atan2(s, q.Real)/s, v)
}
