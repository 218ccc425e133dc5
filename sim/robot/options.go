package robot

import (
	"io"

	"agent_node/pkg/ros/param"
	"agent_node/sim/world"
)

// Options of a robot. The zero value is the default world in real time, with seed 0
// and the robot at the dock. Parameters that were given a value from outside (a command
// line, a parameter file) win over Seed, Start, RandomStart, RandomObjects, Rate and Clock.
type Options struct {
	World *world.World // nil: world.Default()
	Seed  uint64
	Start *world.Pose // nil: the dock
	// RandomStart lets the robot start where the seed says, with room around it; a Start wins over it.
	RandomStart bool
	// RandomObjects lays every object on a spot that the seed says, within reach from a place.
	RandomObjects bool
	// Rate is how many simulated seconds pass in a real one; 0 means 1.
	Rate float64
	// Clock publishes the simulated time on /clock and stamps everything with it.
	// A Rate other than 1 implies it. Otherwise stamps are the node's clock's.
	Clock bool
	// Hold, if there is one, is called before each step, and may hold it up until those who listen have heard of the last: time then never runs
	// ahead of them on a busy machine, and Rate is the most that it passes at.
	Hold func()
	// Params is the node's parameter server, nil to have the robot make one of its own.
	Params *param.Server
	// Record receives the truth ten times a simulated second, as JSON lines that
	// package plot reads. It is written to by one goroutine.
	Record io.Writer
}
