package grid

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"agent_node/pkg/geometry/spatial"
)

// Unknown is the cell value of a place that nobody has seen.
const Unknown int8 = -1

// Bounds of what is taken for a map.
const (
	MaxCells      = 1 << 28
	MinResolution = 1e-3 // m
)

// ErrGrid is wrapped by every error about a map.
var ErrGrid = errors.New("grid: bad map")

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
	sin, cos   float64  // of inverse's yaw
	words      int      // per row of bits
	blocked    []uint64 // a bit per cell
	unknown    []uint64 // a bit per cell, to tell why a cell blocks

	once sync.Once
	near atomic.Pointer[nearness]
}

// PlanarOrigin reads a map's origin from a message: the quaternion must be a rotation and, within 1e-3 rad, about z alone.
func PlanarOrigin(p spatial.Pose) (spatial.Pose2, error) {
	q, _, err := spatial.CheckQuaternion(p.Orientation)
	if err != nil {
		return spatial.Pose2{}, fmt.Errorf("%w: origin: %w", ErrGrid, err)
	}
	if tilt := spatial.Tilt(q); !(tilt <= 1e-3) {
		return spatial.Pose2{}, fmt.Errorf("%w: origin is tilted by %g rad, limit 0.001 rad", ErrGrid, tilt)
	}
	p.Orientation = q
	return p.Planar(), nil
}

// New checks a map and makes a grid of it. Errors wrap ErrGrid and name field, value and limit.
func New(cfg Config) (*Grid, error) {
	bad := func(format string, a ...any) (*Grid, error) {
		return nil, fmt.Errorf("%w: %s", ErrGrid, fmt.Sprintf(format, a...))
	}
	switch {
	case cfg.Frame == "" || cfg.Frame[0] == '/':
		return bad("frame %q is no frame's name", cfg.Frame)
	case cfg.Width <= 0 || cfg.Height <= 0:
		return bad("%d by %d cells: both must be over 0", cfg.Width, cfg.Height)
	case cfg.Width > MaxCells/cfg.Height:
		return bad("%d by %d cells, limit %d in all", cfg.Width, cfg.Height, MaxCells)
	case len(cfg.Data) != cfg.Width*cfg.Height:
		return bad("%d values for %d by %d cells", len(cfg.Data), cfg.Width, cfg.Height)
	case !(cfg.Resolution >= MinResolution && cfg.Resolution*float64(max(cfg.Width, cfg.Height)) <= spatial.MaxExtent):
		return bad("resolution is %g m: must be at least %g m, and the map at most %g m wide", cfg.Resolution, float64(MinResolution), float64(spatial.MaxExtent))
	case !(math.Abs(cfg.Origin.X) <= spatial.MaxExtent && math.Abs(cfg.Origin.Y) <= spatial.MaxExtent && spatial.Finite(cfg.Origin.Yaw)):
		return bad("origin (%g, %g, %g): must be finite and within %g m", cfg.Origin.X, cfg.Origin.Y, cfg.Origin.Yaw, float64(spatial.MaxExtent))
	case cfg.Rules.OccupiedAt < 0 || cfg.Rules.OccupiedAt > 100:
		return bad("occupied from %d: must be 1 to 100", cfg.Rules.OccupiedAt)
	}
	occupied := cfg.Rules.OccupiedAt
	if occupied == 0 {
		occupied = 65
	}
	g := &Grid{
		frame: cfg.Frame, stamp: cfg.Stamp, width: cfg.Width, height: cfg.Height, resolution: cfg.Resolution,
		origin: cfg.Origin, inverse: cfg.Origin.Inverse(), words: (cfg.Width + 63) / 64,
	}
	g.sin, g.cos = math.Sincos(g.inverse.Yaw)
	g.blocked = make([]uint64, g.words*g.height)
	g.unknown = make([]uint64, g.words*g.height)
	for y := range g.height {
		row := cfg.Data[y*g.width : (y+1)*g.width]
		for x, v := range row {
			word, bit := y*g.words+x/64, uint64(1)<<(x%64)
			switch {
			case v == Unknown:
				g.unknown[word] |= bit
				if !cfg.Rules.UnknownIsFree {
					g.blocked[word] |= bit
				}
			case v < 0 || v > 100:
				return bad("cell (%d, %d) is %d: must be -1 or 0 to 100", x, y, v)
			case v >= occupied:
				g.blocked[word] |= bit
			}
		}
	}
	return g, nil
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

// CellBlocked reports whether a cell blocks; cells off the grid do.
func (g *Grid) CellBlocked(x, y int) bool {
	return !g.onGrid(x, y) || g.blocked[y*g.words+x/64]>>(x%64)&1 == 1
}

// CellUnknown reports whether nobody has seen a cell of the grid.
func (g *Grid) CellUnknown(x, y int) bool {
	return g.onGrid(x, y) && g.unknown[y*g.words+x/64]>>(x%64)&1 == 1
}

func (g *Grid) onGrid(x, y int) bool { return x >= 0 && y >= 0 && x < g.width && y < g.height }

// cells gives a point's coordinates on the grid, in cells.
func (g *Grid) cells(x, y float64) (cx, cy float64) {
	return (g.inverse.X + g.cos*x - g.sin*y) / g.resolution, (g.inverse.Y + g.sin*x + g.cos*y) / g.resolution
}

// blockedBetween reports whether any cell from x0 to x1 (inclusive) in row y is blocked; off the grid is.
func (g *Grid) blockedBetween(y, x0, x1 int) bool {
	if x0 > x1 {
		return false
	}
	if y < 0 || y >= g.height || x0 < 0 || x1 >= g.width {
		return true
	}
	row := g.blocked[y*g.words : (y+1)*g.words]
	first, last := x0/64, x1/64
	head, tail := ^uint64(0)<<(x0%64), ^uint64(0)>>(63-x1%64)
	if first == last {
		return row[first]&head&tail != 0
	}
	if row[first]&head != 0 || row[last]&tail != 0 {
		return true
	}
	for _, w := range row[first+1 : last] {
		if w != 0 {
			return true
		}
	}
	return false
}
