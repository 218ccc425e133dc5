package spatial

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Exp is where a frame gets by moving with a constant body twist (given in the moving frame) for a second: a screw.
func Exp(t Twist) Transform {
	angle := r3.Norm(t.Angular)
	a, b := screw(angle)
	// The translation is V v, with V = 1 + a [w] + b [w]².
	wv := r3.Cross(t.Angular, t.Linear)
	p := r3.Add(t.Linear, r3.Add(r3.Scale(a, wv), r3.Scale(b, r3.Cross(t.Angular, wv))))
	return Transform{Translation: p, Rotation: ExpRotation(t.Angular)}
}

// Log is the constant body twist that leads from the identity to t in a second, turning by at most pi: Exp(Log(t)) is t.
func Log(t Transform) Twist {
	w := RotationVector(t.Rotation)
	angle := r3.Norm(w)
	// The inverse of V is 1 - [w]/2 + c [w]².
	c := 1.0 / 12
	if angle > 1e-3 {
		half := angle / 2
		c = (1 - half/math.Tan(half)) / (angle * angle)
	} else {
		c += angle * angle / 720
	}
	wv := r3.Cross(w, t.Translation)
	v := r3.Add(t.Translation, r3.Add(r3.Scale(-0.5, wv), r3.Scale(c, r3.Cross(w, wv))))
	return Twist{Linear: v, Angular: w}
}

// screw has (1 - cos x) / x² and (x - sin x) / x³.
func screw(x float64) (a, b float64) {
	if x < 1e-2 {
		x2 := x * x
		return 0.5 - x2/24 + x2*x2/720, 1.0/6 - x2/120 + x2*x2/5040
	}
	s, c := math.Sincos(x)
	return (1 - c) / (x * x), (x - s) / (x * x * x)
}

// ExpRotation is the rotation about a vector by its length, rad: the inverse of RotationVector up to half a turn.
func ExpRotation(w r3.Vec) quat.Number {
	angle := r3.Norm(w)
	k := 0.5 - angle*angle/48 // sin(angle/2) / angle
	if angle > 1e-4 {
		k = math.Sin(angle/2) / angle
	}
	return quat.Number{Real: math.Cos(angle / 2), Imag: k * w.X, Jmag: k * w.Y, Kmag: k * w.Z}
}

// InterpolateScrew moves from a to b along the screw that joins them, at constant body twist; u in [0, 1].
func InterpolateScrew(a, b Transform, u float64) Transform {
	return a.Compose(Exp(Log(a.Inverse().Compose(b)).Scaled(u)))
}
