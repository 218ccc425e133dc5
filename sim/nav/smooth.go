package nav

import (
	"math"

	"agent_node/sim/world"
)

// smooth turns the cells into a path: straight where nothing is in the way, with
// rounded corners.
func (p *Planner) smooth(start, goal world.Pose, cells []int) Path {
	points := make([]world.Pose, 0, len(cells)+1)
	points = append(points, start)
	for _, c := range cells[1:max(len(cells)-1, 1)] {
		x, y := p.grid.Center(c)
		points = append(points, world.Pose{X: x, Y: y})
	}
	points = append(points, goal)
	return densify(p.round(p.pull(points)), goal.Yaw)
}

// pull tightens the string: it leaves out points as long as the straight line is not
// closer to anything than the detour was, or than comfort asks.
func (p *Planner) pull(points []world.Pose) []world.Pose {
	out := points[:1:1]
	for i := 0; i < len(points)-1; {
		next := i + 1
		for j := len(points) - 1; j > i+1; j-- {
			if p.shortcut(points, i, j) {
				next = j
				break
			}
		}
		out = append(out, points[next])
		i = next
	}
	return out
}

func (p *Planner) shortcut(points []world.Pose, i, j int) bool {
	limit := p.world.Robot.Radius + Comfort
	for _, q := range points[i : j+1] {
		limit = min(limit, p.room(q.X, q.Y))
	}
	return p.clear(points[i], points[j], limit)
}

// clear reports whether every point of the line has the room.
func (p *Planner) clear(a, b world.Pose, room float64) bool {
	const step = 0.02
	n := math.Ceil(a.DistanceTo(b) / step)
	for k := 0.0; k <= n; k++ {
		f := k / max(n, 1)
		if p.room(a.X+f*(b.X-a.X), a.Y+f*(b.Y-a.Y)) < room-1e-9 {
			return false
		}
	}
	return true
}

// round replaces each corner by a parabola, as wide as there is room for.
func (p *Planner) round(points []world.Pose) []world.Pose {
	out := points[:1:1]
	for i := 1; i < len(points)-1; i++ {
		before, corner, after := points[i-1], points[i], points[i+1]
		reach := min(rounding, before.DistanceTo(corner)/2, corner.DistanceTo(after)/2)
		curve := []world.Pose{corner}
		for ; reach > spacing/2; reach /= 2 {
			c := parabola(toward(corner, before, reach), corner, toward(corner, after, reach))
			if p.allClear(c) {
				curve = c
				break
			}
		}
		out = append(out, curve...)
	}
	return append(out, points[len(points)-1])
}

func (p *Planner) allClear(points []world.Pose) bool {
	for _, q := range points {
		if p.room(q.X, q.Y) < p.world.Robot.Radius+Margin {
			return false
		}
	}
	return true
}

func toward(from, to world.Pose, distance float64) world.Pose {
	f := distance / from.DistanceTo(to)
	return world.Pose{X: from.X + f*(to.X-from.X), Y: from.Y + f*(to.Y-from.Y)}
}

func parabola(a, corner, b world.Pose) []world.Pose {
	const n = 12
	out := make([]world.Pose, n+1)
	for i := range out {
		t := float64(i) / n
		u, v, w := (1-t)*(1-t), 2*t*(1-t), t*t
		out[i] = world.Pose{X: u*a.X + v*corner.X + w*b.X, Y: u*a.Y + v*corner.Y + w*b.Y}
	}
	return out
}

// densify puts poses along the corner points, and headings into them.
func densify(points []world.Pose, yaw float64) Path {
	var out Path
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		n := math.Ceil(a.DistanceTo(b) / spacing)
		for k := 0.0; k < n; k++ {
			f := k / n
			out = append(out, world.Pose{X: a.X + f*(b.X-a.X), Y: a.Y + f*(b.Y-a.Y), Yaw: a.BearingTo(b)})
		}
	}
	last := points[len(points)-1]
	return append(out, world.Pose{X: last.X, Y: last.Y, Yaw: yaw})
}
