package spatial

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Covariance of a pose or a twist, as messages have it (geometry_msgs/PoseWithCovariance): 6 by 6, row by row; x, y, z, then rotation about the fixed axes x, y, z.
type Covariance [36]float64

// ErrCovariance is wrapped by every error about a covariance.
var ErrCovariance = errors.New("spatial: bad covariance")

// Check refuses what is no covariance: numbers that are not finite, negative variances, a matrix that is not symmetric, and a correlation over one. The error names the
// element. An element [0] of -1 means, in sensor messages, that there is none; that is refused as well.
func (c *Covariance) Check() error {
	for i := range 6 {
		for k := range 6 {
			v := c[6*i+k]
			if !Finite(v) {
				return fmt.Errorf("%w: element (%d, %d) is %g, must be finite", ErrCovariance, i, k, v)
			}
			if i == k && !(v >= 0) {
				return fmt.Errorf("%w: variance %d is %g, must not be negative", ErrCovariance, i, v)
			}
		}
	}
	const slack = 1e-6
	for i := range 6 {
		for k := range i {
			v, w, most := c[6*i+k], c[6*k+i], math.Sqrt(c[7*i])*math.Sqrt(c[7*k])
			if !(math.Abs(v-w) <= slack*(most+math.Abs(v))) {
				return fmt.Errorf("%w: elements (%d, %d) and (%d, %d) are %g and %g, must be equal", ErrCovariance, i, k, k, i, v, w)
			}
			if !(math.Abs(v) <= most*(1+slack)) {
				return fmt.Errorf("%w: element (%d, %d) is %g, at most %g by the variances", ErrCovariance, i, k, v, most)
			}
		}
	}
	return nil
}

// Rotated is the covariance along other axes: q turns the axes that it is given along into the target frame. The reference point stays.
func (c *Covariance) Rotated(q quat.Number) (out Covariance) {
	// R C Rᵀ for each of the four blocks.
	r := [3]r3.Vec{Rotate(q, r3.Vec{X: 1}), Rotate(q, r3.Vec{Y: 1}), Rotate(q, r3.Vec{Z: 1})} // columns
	at := func(i, k int) float64 {
		switch v := r[k]; i {
		case 0:
			return v.X
		case 1:
			return v.Y
		default:
			return v.Z
		}
	}
	for bi := 0; bi < 6; bi += 3 {
		for bk := 0; bk < 6; bk += 3 {
			for i := range 3 {
				for k := range 3 {
					sum := 0.0
					for m := range 3 {
						for n := range 3 {
							sum += at(i, m) * c[6*(bi+m)+bk+n] * at(k, n)
						}
					}
					out[6*(bi+i)+bk+k] = sum
				}
			}
		}
	}
	return out
}

// Uncertainty is the standard deviation of the position in its worst direction, m, and of the rotation, rad.
func (c *Covariance) Uncertainty() (position, rotation float64) {
	return c.worst(0), c.worst(3)
}

// worst is the root of a block's largest eigenvalue.
func (c *Covariance) worst(at int) float64 {
	a, b, d := c[7*at], c[7*(at+1)], c[7*(at+2)]
	x, y, z := c[6*at+at+1], c[6*at+at+2], c[6*(at+1)+at+2]
	// Of a symmetric 3 by 3 matrix, by its trace and what deviates from it.
	mean := (a + b + d) / 3
	dev := (a-mean)*(a-mean) + (b-mean)*(b-mean) + (d-mean)*(d-mean) + 2*(x*x+y*y+z*z)
	if !(dev > 0) {
		return math.Sqrt(math.Max(mean, 0))
	}
	p := math.Sqrt(dev / 6)
	ba, bb, bd, bx, by, bz := (a-mean)/p, (b-mean)/p, (d-mean)/p, x/p, y/p, z/p
	det := ba*(bb*bd-bz*bz) - bx*(bx*bd-bz*by) + by*(bx*bz-bb*by)
	phi := math.Acos(math.Min(math.Max(det/2, -1), 1)) / 3
	return math.Sqrt(math.Max(mean+2*p*math.Cos(phi), 0))
}
