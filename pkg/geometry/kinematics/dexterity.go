package kinematics

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Dexterity is how freely the tip can move at a configuration.
type Dexterity struct {
	// Manipulability is Yoshikawa's measure, the root of det(J Jᵀ): the volume of the velocities that joint speeds of a sphere make. 0 at a singularity.
	Manipulability float64
	// Least is the smallest singular value of the Jacobian with angles weighed by half of the reach (as inverse kinematics does), m per rad: how slowly the tip moves in
	// the direction in which it moves the least. 0 at a singularity.
	Least float64
	// Condition is the largest such singular value over the smallest one; +Inf at a singularity.
	Condition float64
	// Limit is how near the joints are to their limits: 1 in the middle of all of them, 0 where one is at its limit. Joints without limits do not count.
	Limit float64
}

// Dexterity at q. The error is a *PositionsError.
func (c *Chain) Dexterity(q []float64) (Dexterity, error) {
	n := len(c.joints)
	jac := mat.NewDense(6, n, nil)
	if err := c.Jacobian(jac, q); err != nil {
		return Dexterity{}, err
	}
	d := Dexterity{Limit: 1}
	for i, j := range c.joints {
		if half := (j.Upper - j.Lower) / 2; !math.IsInf(half, 0) && half > 0 {
			off := math.Abs(q[i]-(j.Lower+j.Upper)/2) / half
			d.Limit = min(d.Limit, max(1-off, 0))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(jac, mat.SVDNone) {
		return d, nil
	}
	d.Manipulability = 1
	values := svd.Values(nil)
	for _, s := range values {
		d.Manipulability *= s
	}
	if n < 6 { // fewer joints than directions: their own volume
		d.Manipulability = 1
		for _, s := range values[:n] {
			d.Manipulability *= s
		}
	}
	for r := 3; r < 6; r++ {
		for k := range n {
			jac.Set(r, k, c.scale*jac.At(r, k))
		}
	}
	if !svd.Factorize(jac, mat.SVDNone) {
		return d, nil
	}
	values = svd.Values(values)
	last := values[min(n, 6)-1]
	d.Least = last
	d.Condition = math.Inf(1)
	if last > 0 {
		d.Condition = values[0] / last
	}
	return d, nil
}

// Redundancy is how many joints more than directions there are: motions of the joints that leave the tip where it is.
func (c *Chain) Redundancy(f Freedom) int {
	directions := 6
	switch f {
	case Pointing:
		directions = 5
	case PositionOnly:
		directions = 3
	default:
	}
	return max(len(c.joints)-directions, 0)
}

// Relax moves a solution along the motions that leave the tip where it is (redundant arms have some) towards the middle of the joints' limits, and gives the result; q
// stays. accept (may be nil) decides about each step on the way: where it says no, the last one that it said yes to counts. The tip stays within
// the tolerances of o. Without redundancy q is given back.
func (c *Chain) Relax(q []float64, o Options, accept func([]float64) bool) ([]float64, error) {
	target, err := c.FK(q)
	if err != nil {
		return nil, err
	}
	out := append([]float64(nil), q...)
	if c.Redundancy(o.Freedom) == 0 {
		return out, nil
	}
	p, err := c.problem(target, q, o)
	if err != nil {
		return nil, err
	}
	cost := c.offMiddle(out)
	step := 0.2
	for range 100 {
		pull := c.pull(out)
		next := c.slide(p, out, pull, step)
		// Back onto the pose: the linear motion has left it a little.
		copy(p.q, next)
		p.clamp()
		if !p.solve() || accept != nil && !accept(p.q) || c.offMiddle(p.q) >= cost {
			if step /= 2; step < 1e-3 {
				break
			}
			continue
		}
		cost = c.offMiddle(p.q)
		out = append(out[:0], p.q...)
	}
	return out, nil
}

// offMiddle is the sum of squares of how far joints are from the middle of their limits, relative to these.
func (c *Chain) offMiddle(q []float64) float64 {
	sum := 0.0
	for i, j := range c.joints {
		if half := (j.Upper - j.Lower) / 2; !math.IsInf(half, 0) && half > 0 {
			d := (q[i] - (j.Lower+j.Upper)/2) / half
			sum += d * d
		}
	}
	return sum
}

// pull is the direction to the middle, downhill of offMiddle.
func (c *Chain) pull(q []float64) []float64 {
	out := make([]float64, len(q))
	for i, j := range c.joints {
		if half := (j.Upper - j.Lower) / 2; !math.IsInf(half, 0) && half > 0 {
			out[i] = -(q[i] - (j.Lower+j.Upper)/2) / (half * half)
		}
	}
	return out
}

// slide adds a step along the pull's part that does not move the tip: (1 - J⁺J) pull.
func (c *Chain) slide(p *problem, q, pull []float64, step float64) []float64 {
	n := len(q)
	copy(p.q, q)
	tip, _ := p.place(p.q)
	p.linearise(tip)
	jac := mat.NewDense(p.rows, n, nil)
	for r := range p.rows {
		for k := range n {
			jac.Set(r, k, p.jac[r*n+k])
		}
	}
	var svd mat.SVD
	out := append([]float64(nil), q...)
	if !svd.Factorize(jac, mat.SVDFull) {
		return out
	}
	var v mat.Dense
	svd.VTo(&v)
	values := svd.Values(nil)
	rank := 0
	for _, s := range values {
		if s > 1e-6*values[0] {
			rank++
		}
	}
	move := make([]float64, n)
	most := 0.0
	for k := rank; k < n; k++ {
		dot := 0.0
		for i := range n {
			dot += v.At(i, k) * pull[i]
		}
		for i := range n {
			move[i] += dot * v.At(i, k)
		}
	}
	for _, m := range move {
		most = max(most, abs(m))
	}
	if most == 0 {
		return out
	}
	for i := range out {
		out[i] += step * move[i] / max(most, 1)
	}
	return out
}
