package physics

import (
	"math"

	"agent_node/sim/world"
)

// Wheels are the states of the two wheels, in radians and radians per second.
type Wheels struct {
	Left, Right                 float64
	LeftVelocity, RightVelocity float64
}

// base is the drive train: it follows the commanded velocity within its limits.
type base struct {
	robot   world.Robot
	pose    world.Pose
	twist   world.Twist // as it moves, drift included
	driven  float64
	contact bool
	wheels  Wheels

	motor  world.Twist // what the motors do, without drift
	target world.Twist
	silent float64 // s since the last command
}

func (b *base) command(t world.Twist) {
	if !t.Finite() {
		t = world.Twist{}
	}
	l := b.robot.Limits
	b.target = world.Twist{
		Linear:  min(max(t.Linear, -l.Linear), l.Linear),
		Angular: min(max(t.Angular, -l.Angular), l.Angular),
	}
	b.silent = 0
}

// step moves the base. Bumps reports whether the arm would bump into something, more than it does, with the base at a pose.
func (b *base) step(w *world.World, f Faults, bumps func(world.Pose) bool) {
	b.silent += dt
	if b.silent > b.robot.SilenceLimit {
		b.target = world.Twist{}
	}
	target := b.target
	if f.ProtectiveStop || f.EmergencyStop {
		target = world.Twist{}
	}
	l := b.robot.Limits
	b.motor.Linear = approach(b.motor.Linear, target.Linear, l.LinearAcceleration*dt, l.LinearDeceleration*dt)
	b.motor.Angular = approach(b.motor.Angular, target.Angular, l.AngularAcceleration*dt, l.AngularAcceleration*dt)

	moving := world.Twist{Linear: b.motor.Linear + f.Drift, Angular: b.motor.Angular}
	next := b.pose.Advance(moving, dt)
	bare := moving.Linear != 0 && w.Collides(next) && w.Clearance(next.X, next.Y) < w.Clearance(b.pose.X, b.pose.Y)
	reach := moving != world.Twist{} && bumps(next)
	b.contact = bare || reach
	if b.contact {
		// An obstacle holds the base where it is; being round, it can still turn.
		b.motor.Linear, moving.Linear = 0, 0
		next = b.pose.Advance(moving, dt)
	}
	if reach && bumps(next) {
		b.motor.Angular, moving.Angular = 0, 0
		next = b.pose
	}
	b.driven += math.Abs(moving.Linear) * dt
	b.pose, b.twist = next, moving
	b.turnWheels()
}

func (b *base) turnWheels() {
	half := b.twist.Angular * b.robot.WheelTrack / 2
	b.wheels.LeftVelocity = (b.twist.Linear - half) / b.robot.WheelRadius
	b.wheels.RightVelocity = (b.twist.Linear + half) / b.robot.WheelRadius
	b.wheels.Left += b.wheels.LeftVelocity * dt
	b.wheels.Right += b.wheels.RightVelocity * dt
}

// approach moves v towards the target: by at most up where its amount grows, by at
// most down where it shrinks. It passes zero no faster than it slows down.
func approach(v, target, up, down float64) float64 {
	if v*target < 0 || (target == 0 && v != 0) {
		// Slowing down to zero comes first, also on the way to the other direction.
		if math.Abs(v) <= down {
			return 0
		}
		return v - math.Copysign(down, v)
	}
	if math.Abs(target) >= math.Abs(v) {
		return v + min(max(target-v, -up), up)
	}
	return v + min(max(target-v, -down), down)
}
