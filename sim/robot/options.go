package robot

import (
	"io"

	"agent_node/sim/world"
)

// Options of a robot. The zero value is the default world in real time, with seed 0
// and the robot at the dock. Where the node has parameters given on its command line,
// those win (see docs/sim.md).
type Options struct {
	World *world.World // nil: world.Default()
	Seed  uint64
	Start *world.Pose // nil: the dock
	// Rate is how many simulated seconds pass in a real one; 0 means 1.
	Rate float64
	// Clock publishes the simulated time on /clock and stamps everything with it.
	// A Rate other than 1 implies it. Otherwise stamps are the node's clock's.
	Clock bool
	// Overrides are parameters' first values, as from --ros-args -p.
	Overrides map[string]any
	// Record receives the truth ten times a simulated second, as JSON lines that
	// package picture reads.
	Record io.Writer
}

// What belongs to the robot (signatures fixed for its callers):
//
//	func New(node ros.Node, o Options) (*Robot, error)   every interface is there when it returns; time does not run yet
//	func (r *Robot) Run(ctx context.Context) error       runs until ctx ends; nil then; the base is stopped and goals are ended
//	func (r *Robot) Truth() physics.Truth
//	func (r *Robot) Counters() map[string]uint64         by resolved name: goals and nonzero commands received
//	func (r *Robot) World() *world.World
