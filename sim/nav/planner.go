package nav

import (
	"math"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"

	"agent_node/sim/world"
)

// Distances that the planner keeps between the robot's edge and obstacles or zones, in metres.
const (
	Margin   = 0.06 // never less, but for leaving a tight start
	Comfort  = 0.20 // where there is room
	escape   = 0.40 // how far from a tight start a path may be tight
	slack    = 0.05 // what the start may seem to overlap, by errors of localisation
	spacing  = 0.05 // between the poses of a path
	rounding = 0.35 // longest piece of an edge that goes into a rounded corner
)

// Path is a sequence of poses in map, at most 5 cm apart, from the start to the goal.
// Each pose looks along the path, the last one as the goal does.
type Path []world.Pose

// Length of the path in metres.
func (p Path) Length() float64 {
	length := 0.0
	for i := 1; i < len(p); i++ {
		length += p[i-1].DistanceTo(p[i])
	}
	return length
}

// Planner finds paths in one world. It is safe for concurrent use.
type Planner struct {
	world     *world.World
	grid      *world.Grid
	clearance []float64 // of each cell's centre
}

// NewPlanner prepares a planner: it inflates the grid.
func NewPlanner(w *world.World) *Planner {
	p := &Planner{world: w, grid: w.Grid()}
	p.clearance = make([]float64, len(p.grid.Occupied))
	for i := range p.clearance {
		x, y := p.grid.Center(i)
		p.clearance[i] = p.room(x, y)
	}
	return p
}

// room is the distance from the point to whatever must not be touched.
func (p *Planner) room(x, y float64) float64 {
	return min(p.world.Clearance(x, y), p.world.ZoneDistance(x, y))
}

// Plan finds a path from start to goal. The error is an [*Error].
func (p *Planner) Plan(start, goal world.Pose) (Path, error) {
	if !start.Finite() || !goal.Finite() {
		return nil, failure(PlannerUnknown, "start %v and goal %v must be finite", start, goal)
	}
	from, to := p.grid.Index(start.X, start.Y), p.grid.Index(goal.X, goal.Y)
	if from < 0 {
		return nil, failure(StartOutsideMap, "start (%.2f, %.2f) m is off the map", start.X, start.Y)
	}
	if to < 0 {
		return nil, failure(GoalOutsideMap, "goal (%.2f, %.2f) m is off the map", goal.X, goal.Y)
	}
	need := p.world.Robot.Radius + Margin
	if room := p.room(start.X, start.Y); room < p.world.Robot.Radius-slack {
		return nil, failure(StartOccupied, "the robot stands %.3f m from an obstacle or zone, its radius is %.3f m", room, p.world.Robot.Radius)
	}
	if room := p.room(goal.X, goal.Y); room < need {
		return nil, failure(GoalOccupied, "goal (%.2f, %.2f) m is %.3f m from an obstacle or zone, %.3f m are needed", goal.X, goal.Y, room, need)
	}
	cells, ok := p.search(start, from, to, need)
	if !ok {
		return nil, failure(NoValidPath, "no path from (%.2f, %.2f) to (%.2f, %.2f) m", start.X, start.Y, goal.X, goal.Y)
	}
	return p.smooth(start, goal, cells), nil
}

// search is A* over the free cells.
func (p *Planner) search(start world.Pose, from, to int, need float64) ([]int, bool) {
	g := &field{p: p, need: need, from: from, to: to, start: start}
	g.tight = min(need, p.clearance[from], p.room(start.X, start.Y)) - p.grid.Resolution
	shortest, _ := path.AStar(simple.Node(from), simple.Node(to), g, nil)
	nodes, cost := shortest.To(int64(to))
	if len(nodes) == 0 || math.IsInf(cost, 1) {
		return nil, false
	}
	cells := make([]int, len(nodes))
	for i, n := range nodes {
		cells[i] = int(n.ID())
	}
	return cells, true
}
