package physics

import (
	"fmt"
	"math"

	"agent_node/sim/world"
)

// Figures of things that lie about.
const (
	gravity = 9.81 // m/s^2
	sunk    = world.Sunk
	beside  = 0.03  // m from the robot's body, where an object ends that fell on it
	rests   = 1e-9  // m above a surface that is on it
	lies    = 1e-12 // m/s
)

// ObjectState is an object as it is, in map.
type ObjectState struct {
	world.Object                // X, Y, Z and Yaw are those of now
	Rotation     world.Rotation // how it is turned: in the gripper it may be tipped
	Held         bool           // between the fingers
	Falling      bool           // in the air
	Gone         bool           // taken away
}

// objects are the things that lie about, and the one that is held.
type objects struct {
	world *world.World
	list  []object
	held  int // -1: none
}

type object struct {
	world.Object
	at   world.Transform // in map
	grip world.Transform // in tool0, while it is held
	fall float64         // m/s downwards
	gone bool
}

func newObjects(w *world.World) objects {
	o := objects{world: w, held: -1}
	for _, thing := range w.Objects {
		o.list = append(o.list, object{Object: thing, at: upright(thing.X, thing.Y, thing.Z, thing.Yaw)})
	}
	return o
}

func upright(x, y, z, yaw float64) world.Transform {
	return world.Transform{R: world.About(world.Vec{Z: 1}, yaw), P: world.Vec{X: x, Y: y, Z: z}}
}

// between is the object that the closing fingers would get hold of: the one nearest to the tool within reach
// that is not wider than they are open.
func (o *objects) between(tool world.Transform, width float64) int {
	best, least := -1, o.world.Gripper.Reach
	for i, thing := range o.list {
		if d := thing.at.P.Sub(tool.P).Norm(); !thing.gone && d <= least && thing.Size < width-rests {
			best, least = i, d
		}
	}
	return best
}

// grasp takes hold of an object. The fingers push it into the middle between them and turn its sides to theirs.
func (o *objects) grasp(i int, tool world.Transform) {
	g := tool.Inverse().Mul(o.list[i].at)
	g.P.Y = 0
	if o.list[i].Shape == world.Cube {
		g.R = squared(g.R)
	}
	o.held, o.list[i].grip, o.list[i].fall = i, g, 0
}

// squared is the rotation by right angles that is nearest to one.
func squared(r world.Rotation) (out world.Rotation) {
	taken := [3]bool{}
	for column := range 2 {
		best := -1
		for row := range 3 {
			if !taken[row] && (best < 0 || math.Abs(r[row][column]) > math.Abs(r[best][column])) {
				best = row
			}
		}
		taken[best] = true
		out[best][column] = math.Copysign(1, r[best][column])
	}
	z := out.Column(0).Cross(out.Column(1))
	out[0][2], out[1][2], out[2][2] = z.X, z.Y, z.Z
	return out
}

// release lets go of what is held. A thing that is let go stands upright where it comes down.
func (o *objects) release() {
	if o.held < 0 {
		return
	}
	thing := &o.list[o.held]
	thing.at = upright(thing.at.P.X, thing.at.P.Y, thing.at.P.Z, thing.at.R.Yaw())
	thing.fall = 0
	o.held = -1
}

// step carries what is held, and lets fall what is in the air.
func (o *objects) step(tool world.Transform, base world.Pose) {
	for i := range o.list {
		thing := &o.list[i]
		switch {
		case thing.gone:
		case i == o.held:
			thing.at = tool.Mul(thing.grip)
		default:
			o.drop(i, base)
		}
	}
}

// drop lets a step of falling pass.
func (o *objects) drop(i int, base world.Pose) {
	thing := &o.list[i]
	under := o.under(i) + thing.Size/2
	if thing.at.P.Z <= under+rests {
		thing.at.P.Z, thing.fall = under, 0
		return
	}
	thing.fall += gravity * dt
	thing.at.P.Z = max(under, thing.at.P.Z-thing.fall*dt)
	o.slide(thing, base)
}

// under is the height of the highest surface below an object.
func (o *objects) under(i int) float64 {
	thing := o.list[i]
	p, bottom, top := thing.at.P, thing.at.P.Z-thing.Size/2+sunk, 0.0
	for _, f := range o.world.Furniture {
		if f.Box.Contains(p.X, p.Y) && f.Height <= bottom {
			top = max(top, f.Height)
		}
	}
	for j, other := range o.list {
		over := math.Max(math.Abs(p.X-other.at.P.X), math.Abs(p.Y-other.at.P.Y)) < (thing.Size+other.Size)/2
		if head := other.at.P.Z + other.Size/2; j != i && j != o.held && !other.gone && over && head <= bottom {
			top = max(top, head)
		}
	}
	return top
}

// slide takes a falling thing off the robot's body, to the side it fell on.
func (o *objects) slide(thing *object, base world.Pose) {
	v, off := o.world.Robot, base.Inverse().Compose(world.Pose{X: thing.at.P.X, Y: thing.at.P.Y})
	if math.Hypot(off.X, off.Y) >= v.Radius || thing.at.P.Z-thing.Size/2 > v.Height {
		return
	}
	side := math.Copysign(v.Radius+thing.Size/2+beside, off.Y)
	for _, y := range []float64{side, -side} {
		to := base.Compose(world.Pose{Y: y})
		if o.world.Bounds.Contains(to.X, to.Y) && o.world.Clearance(to.X, to.Y) > thing.Size {
			thing.at.P.X, thing.at.P.Y = to.X, to.Y
			return
		}
	}
}

// put puts an object down somewhere by hand, also one that was taken away; the gripper loses it. It falls where it is in the air.
func (o *objects) put(at world.Object) error {
	i, err := o.find(at.Name)
	if err != nil {
		return err
	}
	if err := o.world.Room(at); err != nil {
		return err
	}
	if o.held == i {
		o.held = -1
	}
	o.list[i].at, o.list[i].fall, o.list[i].gone = upright(at.X, at.Y, at.Z, at.Yaw), 0, false
	return nil
}

// take takes an object out of the world.
func (o *objects) take(name string) error {
	i, err := o.find(name)
	if err != nil {
		return err
	}
	if o.held == i {
		o.held = -1
	}
	o.list[i].gone = true
	return nil
}

func (o *objects) find(name string) (int, error) {
	for i, thing := range o.list {
		if thing.Name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("physics: no object %q", name)
}

// states are all objects as they are.
func (o *objects) states() []ObjectState {
	out := make([]ObjectState, len(o.list))
	for i, thing := range o.list {
		s := ObjectState{Object: thing.Object, Rotation: thing.at.R, Held: i == o.held, Falling: thing.fall > lies, Gone: thing.gone}
		s.X, s.Y, s.Z, s.Yaw = thing.at.P.X, thing.at.P.Y, thing.at.P.Z, thing.at.R.Yaw()
		out[i] = s
	}
	return out
}

// heldName is the name of what is held, "" for nothing.
func (o *objects) heldName() string {
	if o.held < 0 {
		return ""
	}
	return o.list[o.held].Name
}
