package physics

import (
	"math"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

// Figures of the arm's drives.
const (
	jointGain     = 15.0 // 1/s, of the position's error
	jointLag      = 2    // steps by which the drives follow what they are told
	jointBraking  = 0.8  // of the acceleration is planned with, to come to rest at a position and not beyond it
	jointRest     = 1e-6 // rad/s, below which a joint that should stand does
	encoderSigma  = 2e-5 // rad
	velocitySigma = 5e-4 // rad/s
)

// JointReading is what the arm's encoders tell: each joint's position and velocity.
type JointReading struct{ Positions, Velocities arm.Values }

// joints are the arm's drives: they follow a setpoint, late and within their limits.
type joints struct {
	noise
	limits     [world.Joints]world.JointLimits
	position   arm.Values
	velocity   arm.Values
	told       [jointLag + 1]arm.Setpoint // the oldest first
	holding    bool
	positionOf arm.Values // as measured
	velocityOf arm.Values
}

func newJoints(seed uint64, a world.Arm) joints {
	j := joints{noise: newNoise(seed, streamJoints), limits: a.Limits, position: a.Carry, holding: true}
	j.measure()
	return j
}

// command hands over a setpoint; it holds until the next one. Numbers that are not finite brake.
func (j *joints) command(s arm.Setpoint) {
	for i := range world.Joints {
		if bad := s.Positions[i] + s.Velocities[i]; math.IsNaN(bad) || math.IsInf(bad, 0) {
			j.hold()
			return
		}
	}
	if j.holding {
		// What was told before it held is forgotten.
		for i := range j.told {
			j.told[i] = arm.Setpoint{Positions: j.position, Velocities: j.velocity}
		}
	}
	j.holding = false
	j.told[jointLag] = s
}

// hold brakes every joint and keeps it where it comes to rest.
func (j *joints) hold() { j.holding = true }

func (j *joints) step() {
	follow := j.told[0]
	if j.holding {
		follow = arm.Setpoint{}
	}
	for i, l := range j.limits {
		want := 0.0
		if !j.holding {
			e := follow.Positions[i] - j.position[i]
			correct := min(jointGain*math.Abs(e), math.Sqrt(2*jointBraking*l.Acceleration*math.Abs(e)))
			want = follow.Velocities[i] + math.Copysign(correct, e)
		}
		if follow.Velocities[i] == 0 && math.Abs(want) < jointRest && math.Abs(j.velocity[i]) < jointRest && !j.holding {
			j.position[i], j.velocity[i] = follow.Positions[i], 0
			continue
		}
		want = min(max(want, -l.Velocity), l.Velocity)
		change := l.Acceleration * dt
		v := j.velocity[i] + min(max(want-j.velocity[i], -change), change)
		q := j.position[i] + v*dt
		if q < l.Lower || q > l.Upper {
			// The stop at the end of its way holds it.
			q, v = min(max(q, l.Lower), l.Upper), 0
		}
		j.position[i], j.velocity[i] = q, v
	}
	if !j.holding {
		// A setpoint that nobody renews asks to stand where it points.
		copy(j.told[:], j.told[1:])
		j.told[jointLag].Velocities = arm.Values{}
	}
}

// measure reads the encoders.
func (j *joints) measure() {
	for i := range world.Joints {
		j.positionOf[i] = j.position[i] + j.normal(encoderSigma)
		j.velocityOf[i] = j.velocity[i] + j.normal(velocitySigma)
	}
}
