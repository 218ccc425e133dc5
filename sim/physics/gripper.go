package physics

import (
	"math"

	"agent_node/sim/world"
)

// Figures of the gripper.
const (
	fingerAcceleration = 1.0  // m/s^2, of the opening
	fingerSigma        = 1e-5 // m
	fingerSpeedSigma   = 1e-4 // m/s
	fingerRelease      = 5e-4 // m wider than the object, and it is let go
)

// GripperReading is what the gripper tells: its opening, how fast it changes, and the effort it presses with.
type GripperReading struct {
	Width    float64 // m
	Velocity float64 // m/s
	Effort   float64 // N, 0 where nothing is in its way
}

// gripper is the fingers' drive.
type gripper struct {
	noise
	figures  world.Gripper
	width    float64
	velocity float64
	target   float64
	effort   float64 // what it may press with
	blocked  bool    // something is between the fingers, or they are at their stops
	said     GripperReading
}

func newGripper(seed uint64, g world.Gripper) gripper {
	out := gripper{noise: newNoise(seed, streamFinger), figures: g, width: g.Open, target: g.Open, effort: g.Effort}
	out.measure()
	return out
}

// command asks for an opening.
func (g *gripper) command(position, effort float64) {
	if math.IsNaN(position) || math.IsNaN(effort) {
		return
	}
	g.target, g.effort = position, min(max(effort, 0), g.figures.Effort)
}

// step moves the fingers. Between is the size of what is between them, 0 for nothing: they close no further.
func (g *gripper) step(stopped bool, between float64) {
	e := g.target - g.width
	change := fingerAcceleration * dt
	want := math.Copysign(min(g.figures.Velocity, math.Sqrt(fingerAcceleration*math.Abs(e)), math.Abs(e)/dt), e)
	if stopped {
		want = 0
	}
	g.velocity += min(max(want-g.velocity, -change), change)
	next := g.width + g.velocity*dt
	least, most := between, g.figures.Open
	g.blocked = next <= least && g.target < least || next >= most && g.target > most
	if next <= least || next >= most {
		next = min(max(next, least), most)
		g.velocity = 0
	}
	g.width = next
}

func (g *gripper) measure() {
	g.said = GripperReading{
		Width:    min(max(g.width+g.normal(fingerSigma), 0), g.figures.Open),
		Velocity: g.velocity + g.normal(fingerSpeedSigma),
	}
	if g.blocked {
		g.said.Effort = g.effort
	}
}
