package grid

import (
	"sync"

	"agent_node/pkg/geometry/spatial"
)

// Unknown is the cell value of a place that nobody has seen.
const Unknown int8 = -1

// Rules for what blocks.
type Rules struct {
	// OccupiedAt is the lowest cell value (1..100) that blocks; 0: 65, as maps are saved.
	OccupiedAt int8
	// UnknownIsFree lets the robot drive where nobody has looked. Off the grid stays blocked.
	UnknownIsFree bool
}

// Config is a nav_msgs/OccupancyGrid.
type Config struct {
	Frame      string
	Stamp      int64 // ns, for reports only
	Width      int   // cells along the grid's x
	Height     int   // cells along the grid's y
	Resolution float64
	// Origin is the pose of the grid's corner (0, 0) in Frame.
	Origin spatial.Pose2
	// Data is row-major, Data[y*Width+x], -1 or 0..100. It is read while the grid is made, and not kept.
	Data  []int8
	Rules Rules
}

// Grid answers questions about one map. It is immutable and safe for concurrent use.
type Grid struct {
	frame      string
	stamp      int64
	width      int
	height     int
	resolution float64
	origin     spatial.Pose2
	inverse    spatial.Pose2
	words      int      // per row of bits
	blocked    []uint64 // a bit per cell
	unknown    []uint64 // a bit per cell, to tell why a cell blocks

	once     sync.Once
	distance []float32 // m from a cell's centre to the nearest blocked cell's centre, off-grid ones included
}

// Frame of the grid.
func (g *Grid) Frame() string { return g.frame }

// Stamp of the map, ns.
func (g *Grid) Stamp() int64 { return g.stamp }

// Size in cells.
func (g *Grid) Size() (width, height int) { return g.width, g.height }

// Resolution is the side of a cell in metres.
func (g *Grid) Resolution() float64 { return g.resolution }

// Origin is the pose of the grid's corner (0, 0) in its frame.
func (g *Grid) Origin() spatial.Pose2 { return g.origin }
