package nav

import (
	"math"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"

	"agent_node/sim/world"
)

// field is the graph of one search: the cells that the robot's middle may be in, each
// joined with its eight neighbours. It is made up as the search asks, so that
// nothing is built for cells that are never looked at.
type field struct {
	p        *Planner
	need     float64 // clearance of a free cell
	tight    float64 // clearance that is enough near a tight start
	from, to int
	start    world.Pose
}

func (f *field) free(cell int) bool {
	c := f.p.clearance[cell]
	if c >= f.need || cell == f.to || cell == f.from {
		return true
	}
	x, y := f.p.grid.Center(cell)
	return c >= f.tight && f.start.DistanceTo(world.Pose{X: x, Y: y}) <= escape
}

// From lists the free neighbours of a cell.
func (f *field) From(id int64) graph.Nodes {
	g := f.p.grid
	row, column := int(id)/g.Width, int(id)%g.Width
	nodes := make([]graph.Node, 0, 8)
	for r := max(row-1, 0); r <= min(row+1, g.Height-1); r++ {
		for c := max(column-1, 0); c <= min(column+1, g.Width-1); c++ {
			if cell := r*g.Width + c; cell != int(id) && f.free(cell) {
				nodes = append(nodes, simple.Node(cell))
			}
		}
	}
	return iterator.NewOrderedNodes(nodes)
}

// Edge joins two neighbours.
func (f *field) Edge(u, v int64) graph.Edge { return simple.Edge{F: simple.Node(u), T: simple.Node(v)} }

// Weight of the way from one neighbour to the other: its length, more where it is tight.
func (f *field) Weight(u, v int64) (float64, bool) {
	tightness := (Comfort - Margin - (f.p.clearance[v] - f.need)) / (Comfort - Margin)
	return f.distance(u, v) * (1 + 4*max(tightness, 0)), true
}

// HeuristicCost is the straight distance.
func (f *field) HeuristicCost(u, v graph.Node) float64 { return f.distance(u.ID(), v.ID()) }

func (f *field) distance(u, v int64) float64 {
	w := int64(f.p.grid.Width)
	return f.p.grid.Resolution * math.Hypot(float64(u/w-v/w), float64(u%w-v%w))
}
