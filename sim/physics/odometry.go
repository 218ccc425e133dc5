package physics

import (
	"math"

	"agent_node/sim/world"
)

// Figures of the odometry. The constant errors are drawn once per simulation.
const (
	odometryLag         = 0.06   // s, time constant of the velocity filter
	odometryScale       = 0.002  // sigma of the constant scale errors
	odometryPull        = 0.001  // rad/m, sigma of the constant pull to one side
	odometrySlip        = 0.02   // sigma of the noise in proportion to the speed
	odometryRestLinear  = 0.0006 // m/s, sigma of the noise that is always there
	odometryRestAngular = 0.001  // rad/s
)

// Odometry is a reading of the wheel odometry: a pose in the frame odom, and the
// twist in the base's frame. Lag, noise and drift are in both.
type Odometry struct {
	Pose  world.Pose
	Twist world.Twist
	// Variances of position (m^2), heading (rad^2), speed and turning rate.
	PositionVariance, HeadingVariance, LinearVariance, AngularVariance float64
}

type odometry struct {
	noise
	linearScale, angularScale, pull float64

	filtered world.Twist // the true twist behind the lag
	said     world.Twist // that, with errors
	pose     world.Pose  // integral of what is said
	// exact is the integral with the same errors and without the lag: what a
	// localisation that minds time stamps compares with.
	exact  world.Pose
	driven float64 // m
	turned float64 // rad
}

func newOdometry(seed uint64) odometry {
	n := newNoise(seed, streamOdometry)
	return odometry{
		noise:        n,
		linearScale:  1 + n.normal(odometryScale),
		angularScale: 1 + n.normal(odometryScale),
		pull:         n.normal(odometryPull),
	}
}

func (o *odometry) step(truth world.Twist) {
	k := dt / (odometryLag + dt)
	o.filtered.Linear += k * (truth.Linear - o.filtered.Linear)
	o.filtered.Angular += k * (truth.Angular - o.filtered.Angular)
	slip := world.Twist{
		Linear:  o.normal(odometrySlip)*truth.Linear + o.normal(odometryRestLinear),
		Angular: o.normal(odometrySlip)*truth.Angular + o.normal(odometryRestAngular),
	}
	o.said = o.errors(o.filtered, slip)
	o.pose = o.pose.Advance(o.said, dt)
	o.exact = o.exact.Advance(o.errors(truth, slip), dt)
	o.driven += math.Abs(o.said.Linear) * dt
	o.turned += math.Abs(o.said.Angular) * dt
}

func (o *odometry) errors(t, slip world.Twist) world.Twist {
	return world.Twist{
		Linear:  t.Linear*o.linearScale + slip.Linear,
		Angular: t.Angular*o.angularScale + t.Linear*o.pull + slip.Angular,
	}
}

func (o *odometry) reading() Odometry {
	square := func(v float64) float64 { return v * v }
	heading := square(0.002) + square(odometryScale*o.turned+odometryPull*o.driven)
	return Odometry{
		Pose: o.pose, Twist: o.said,
		PositionVariance: square(0.002) + square(0.01*o.driven),
		HeadingVariance:  heading,
		LinearVariance:   square(odometryRestLinear) + square(odometrySlip*o.said.Linear),
		AngularVariance:  square(odometryRestAngular) + square(odometrySlip*o.said.Angular),
	}
}
