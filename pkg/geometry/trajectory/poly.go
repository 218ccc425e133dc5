package trajectory

import "math"

// poly is a polynomial of the fifth degree in a segment's share of time, from 0 to 1: c[0] + c[1] s + ...
type poly [6]float64

func (c *poly) at(s float64) float64 {
	return c[0] + s*(c[1]+s*(c[2]+s*(c[3]+s*(c[4]+s*c[5]))))
}

// derived by s.
func (c *poly) derived() poly {
	return poly{c[1], 2 * c[2], 3 * c[3], 4 * c[4], 5 * c[5]}
}

// linear from a to b.
func linear(a, b float64) poly { return poly{a, b - a} }

// cubic with the given ends; velocities are per segment.
func cubic(a, va, b, vb float64) poly {
	d := b - a
	return poly{a, va, 3*d - 2*va - vb, -2*d + va + vb}
}

// quintic with the given ends; velocities and accelerations are per segment.
func quintic(a, va, aa, b, vb, ab float64) poly {
	d := b - a
	return poly{
		a, va, aa / 2,
		10*d - 6*va - 4*vb - 1.5*aa + 0.5*ab,
		-15*d + 8*va + 7*vb + 1.5*aa - ab,
		6*d - 3*va - 3*vb - 0.5*aa + 0.5*ab,
	}
}

// degree of what is not zero.
func (c *poly) degree() int {
	for k := 5; k > 0; k-- {
		if c[k] != 0 {
			return k
		}
	}
	return 0
}

// roots writes those between 0 and 1 at which the sign changes, in order, and gives their number. It goes down the derivatives: between two neighbouring
// extremes a polynomial has one root at most, which halving finds.
func (c *poly) roots(out *[5]float64) int {
	d := c.degree()
	if d == 0 {
		return 0
	}
	if d == 1 {
		if s := -c[0] / c[1]; s > 0 && s < 1 {
			out[0] = s
			return 1
		}
		return 0
	}
	der := c.derived()
	var turns [5]float64
	n := der.roots(&turns)
	count := 0
	from := 0.0
	for i := range n + 1 {
		to := 1.0
		if i < n {
			to = turns[i]
		}
		if s, ok := c.between(from, to); ok {
			out[count] = s
			count++
		}
		from = to
	}
	return count
}

// between finds the root in an interval in which the polynomial only rises or only falls.
func (c *poly) between(lo, hi float64) (float64, bool) {
	a, b := c.at(lo), c.at(hi)
	if (a < 0) == (b < 0) || a == 0 && b == 0 {
		return 0, false
	}
	for range 60 {
		mid := (lo + hi) / 2
		if (c.at(mid) < 0) == (a < 0) {
			lo = mid
		} else {
			hi = mid
		}
		if mid == lo && mid == hi {
			break
		}
	}
	return (lo + hi) / 2, true
}

// span is the least and the greatest value, and where they are.
type span struct {
	least, greatest     float64
	leastAt, greatestAt float64
}

// span of the values between 0 and 1: at the ends, or where the derivative changes its sign.
func (c *poly) span() span {
	out := span{least: math.Inf(1), greatest: math.Inf(-1)}
	look := func(s float64) {
		v := c.at(s)
		if v < out.least {
			out.least, out.leastAt = v, s
		}
		if v > out.greatest {
			out.greatest, out.greatestAt = v, s
		}
	}
	look(0)
	look(1)
	if c.degree() > 1 {
		der := c.derived()
		var turns [5]float64
		for _, s := range turns[:der.roots(&turns)] {
			look(s)
		}
	}
	return out
}

// largest absolute value, with its sign, and where it is.
func (s span) largest() (value, at float64) {
	if -s.least > s.greatest {
		return s.least, s.leastAt
	}
	return s.greatest, s.greatestAt
}
