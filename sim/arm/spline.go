package arm

// between is where joint j is at a time between two points, how fast and with which acceleration: on a quintic where both
// points have velocities and accelerations, on a cubic where both have velocities, else on a line.
func between(a, b Point, j int, time float64) (position, velocity, acceleration float64) {
	d, t := b.Time-a.Time, time-a.Time
	p, q := a.Positions[j], b.Positions[j]
	if !a.HasVelocities || !b.HasVelocities {
		v := (q - p) / d
		return p + v*t, v, 0
	}
	v, w := a.Velocities[j], b.Velocities[j]
	var c [6]float64
	if a.HasAccelerations && b.HasAccelerations {
		c = quintic(p, v, a.Accelerations[j], q, w, b.Accelerations[j], d)
	} else {
		c = cubic(p, v, q, w, d)
	}
	for i := 5; i >= 0; i-- {
		position = position*t + c[i]
	}
	for i := 5; i >= 1; i-- {
		velocity = velocity*t + float64(i)*c[i]
	}
	for i := 5; i >= 2; i-- {
		acceleration = acceleration*t + float64(i*(i-1))*c[i]
	}
	return position, velocity, acceleration
}

// cubic has the positions p and q and the velocities v and w at the ends of d seconds.
func cubic(p, v, q, w, d float64) [6]float64 {
	return [6]float64{p, v, (3*(q-p)/d - 2*v - w) / d, (2*(p-q)/d + v + w) / (d * d)}
}

// quintic has the accelerations a and b, too.
func quintic(p, v, a, q, w, b, d float64) [6]float64 {
	way := q - p - v*d - a*d*d/2 // what the cubic and higher terms have to make up for
	speed := w - v - a*d
	turn := b - a
	d2, d3 := d*d, d*d*d
	return [6]float64{
		p, v, a / 2,
		(10*way - 4*speed*d + turn*d2/2) / d3,
		(-15*way + 7*speed*d - turn*d2) / (d3 * d),
		(6*way - 3*speed*d + turn*d2/2) / (d3 * d2),
	}
}
