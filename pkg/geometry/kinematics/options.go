package kinematics

import "gonum.org/v1/gonum/spatial/r3"

// Freedom says how much of a target's orientation counts.
type Freedom int

// Freedoms of inverse kinematics.
const (
	// Whole pose: position and orientation.
	Whole Freedom = iota
	// Pointing: position, and Options.Axis of the tip along the same axis of the target; any rotation about it (a tool that points
	// down, with any yaw).
	Pointing
	// PositionOnly: any orientation.
	PositionOnly
)

// Options of inverse kinematics; the zero value asks for the whole pose with the defaults.
type Options struct {
	Freedom Freedom
	Axis    r3.Vec // of the tip, for Pointing; zero: z
	// Accept says whether a solution is wanted, such as one free of collisions; nil: every one is. q is not to be kept.
	Accept func(q []float64) bool
	// Margin kept from the joints' limits (rad, m).
	Margin float64
	// Position and Angle are how exact a solution is: m and rad (1e-6, 1e-6).
	Position, Angle float64
	// Restarts from random positions after the seed has failed (128). They are the same for the same Seed.
	Restarts int
	Seed     uint64
}
