package physics

import (
	"math"

	"agent_node/sim/world"
)

// Where a contact begins to count: less than this is rounding, m.
const touching = 1e-6

// body is the robot's shape in a posture: what can bump into something.
type body struct {
	world *world.World
	tool  int
	rods  []bodyRod
	pairs [][2]int // rods of links that could bump into each other

	posture world.Posture
	frames  []world.Transform // of the links, in base_link
	placed  []world.Rod       // the rods, in base_link
	extent  float64           // m, how far the arm gets from the base's middle, seen from above
	self    float64           // m, how deep it is in itself
}

type bodyRod struct {
	world.Rod
	link   int
	moving bool // it is part of the arm
}

func newBody(w *world.World, p world.Posture) *body {
	b := &body{world: w, tool: w.Body.Index(world.LinkTool)}
	arm := w.Body.Index("shoulder_link")
	for i, l := range w.Body {
		if l.Parent == "" || l.Joint.Kind == world.Continuous {
			continue // the base itself is a cylinder and no rod; the wheels are within it
		}
		for _, s := range l.Solids {
			b.rods = append(b.rods, bodyRod{s.Core(), i, i >= arm})
		}
	}
	for i, r := range b.rods {
		for j, q := range b.rods[:i] {
			apart := r.link != q.link && w.Body[r.link].Parent != w.Body[q.link].Name && w.Body[q.link].Parent != w.Body[r.link].Name
			if apart && r.moving {
				b.pairs = append(b.pairs, [2]int{i, j})
			}
		}
	}
	b.placed = make([]world.Rod, len(b.rods))
	b.set(p)
	return b
}

// set takes a posture.
func (b *body) set(p world.Posture) {
	if p == b.posture && b.frames != nil {
		return
	}
	b.posture = p
	b.frames = b.world.Body.Frames(b.world.Positions(p))
	b.extent = 0
	for i, r := range b.rods {
		b.placed[i] = r.Moved(b.frames[r.link])
		if r.moving {
			for _, end := range []world.Vec{b.placed[i].A, b.placed[i].B} {
				b.extent = max(b.extent, math.Hypot(end.X, end.Y)+r.Radius)
			}
		}
	}
	b.self = 0
	for _, pair := range b.pairs {
		b.self = max(b.self, -b.placed[pair[0]].Distance(b.placed[pair[1]]))
	}
	v := b.world.Robot
	for i, r := range b.rods {
		if r.moving {
			b.self = max(b.self, world.DepthInCylinder(b.placed[i], v.Radius, 0, v.Height))
		}
	}
}

// depth is how deep the robot's arm, with what it carries, is in itself and in the world with the base at a pose.
// Carried is the size of what is at a place in the tool's frame; 0 is nothing.
func (b *body) depth(base world.Pose, carried float64, at world.Vec) float64 {
	d := b.self
	if b.world.Clearance(base.X, base.Y) > b.extent+carried && b.lowest() > carried {
		return d
	}
	t := base.Transform(0)
	check := func(r world.Rod) {
		r = r.Moved(t)
		d = max(d, r.Radius-min(r.A.Z, r.B.Z)) // the floor
		for i := range b.world.Walls {
			d = max(d, b.world.Walls[i].Depth(r))
		}
		for i := range b.world.Furniture {
			d = max(d, b.world.Furniture[i].Depth(r))
		}
	}
	for i, r := range b.rods {
		if r.moving {
			check(b.placed[i])
		}
	}
	if carried > 0 {
		// A ball a little smaller than the object: where it lies it does not bump into what it lies on.
		at = b.frames[b.tool].Apply(at)
		check(world.Rod{A: at, B: at, Radius: 0.4 * carried})
	}
	return d
}

// lowest is the height of the arm's lowest point.
func (b *body) lowest() float64 {
	low := math.Inf(1)
	for i, r := range b.rods {
		if r.moving {
			low = min(low, b.placed[i].A.Z-r.Radius, b.placed[i].B.Z-r.Radius)
		}
	}
	return low
}

// toolFrame is where tool0 is in map.
func (b *body) toolFrame(base world.Pose) world.Transform {
	return base.Transform(0).Mul(b.frames[b.tool])
}

// linkFrame is where a link is in map.
func (b *body) linkFrame(base world.Pose, link int) world.Transform {
	return base.Transform(0).Mul(b.frames[link])
}
