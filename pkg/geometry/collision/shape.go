package collision

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// Kind of a shape.
type Kind int

// Kinds of shapes. All are convex and filled, and centred at their origin, but for hulls; axes are along z.
const (
	Sphere     Kind = iota + 1 // Radius
	Capsule                    // Radius, Length of the axis: half a sphere at each end
	Cylinder                   // Radius, Length; flat ends
	Box                        // Size
	Polyhedron                 // Hull
	HalfSpace                  // everything below z = 0: a floor, a wall, the outside of a workspace's side; for bodies of a world only
)

// String is the kind's name in messages.
func (k Kind) String() string {
	switch k {
	case Sphere:
		return "sphere"
	case Capsule:
		return "capsule"
	case Cylinder:
		return "cylinder"
	case Box:
		return "box"
	case Polyhedron:
		return "hull"
	case HalfSpace:
		return "half space"
	}
	return "no shape"
}

// Shape is a convex body about its own origin. The zero value is none.
type Shape struct {
	Kind   Kind
	Radius float64 // m
	Length float64 // m along z
	Size   r3.Vec  // m, whole edges
	Hull   *Hull
}

// Body is a shape somewhere.
type Body struct {
	Name  string
	Shape Shape
	Pose  spatial.Transform // of the shape in the base's frame (of an attached object: in its link's)
}

// check reports the first number of a shape that makes no sense.
func (s Shape) check() error {
	positive := func(name string, v float64) error {
		if !(v > 0 && v <= spatial.MaxExtent) {
			return fmt.Errorf("%s is %g m, must be over 0 and at most %g m", name, v, float64(spatial.MaxExtent))
		}
		return nil
	}
	var err error
	switch s.Kind {
	case Sphere:
		err = positive("radius", s.Radius)
	case Capsule, Cylinder:
		if err = positive("radius", s.Radius); err == nil {
			err = positive("length", s.Length)
		}
	case Box:
		for _, v := range [...]float64{s.Size.X, s.Size.Y, s.Size.Z} {
			if err = positive("size", v); err != nil {
				break
			}
		}
	case Polyhedron:
		if s.Hull == nil || len(s.Hull.corners) == 0 {
			err = fmt.Errorf("the hull is missing")
		}
	case HalfSpace:
	default:
		err = fmt.Errorf("there is no shape %d", s.Kind)
	}
	return err
}

// solid is a shape in place: a core (point, segment, cylinder, box) that is grown by a radius.
type solid struct {
	kind   Kind
	grow   float64 // radius of sphere and capsule
	radius float64 // of a cylinder
	half   r3.Vec  // half extents; of capsule and cylinder Z alone
	c      r3.Vec  // centre
	x      r3.Vec  // unit axes; all of a box, z of capsule and cylinder
	y, z   r3.Vec
	hull   *Hull // its centre is c
}

func newSolid(s Shape, t spatial.Transform) solid {
	o := solid{kind: s.Kind, c: t.Translation}
	switch s.Kind {
	case Sphere:
		o.grow = s.Radius
	case Capsule:
		o.grow, o.half.Z = s.Radius, s.Length/2
	case Cylinder:
		o.radius, o.half.Z = s.Radius, s.Length/2
	case Box:
		o.half = r3.Scale(0.5, s.Size)
	case Polyhedron:
		o.hull, o.c = s.Hull, t.Apply(s.Hull.center)
	case HalfSpace:
	}
	m := rotationOf(&t)
	o.x, o.y, o.z = m.x, m.y, m.z
	return o
}

// bound is the radius of the ball about the centre that holds the solid.
func (s *solid) bound() float64 {
	switch s.kind {
	case Polyhedron:
		return s.hull.radius
	case HalfSpace:
		return math.Inf(1)
	default:
	}
	return s.grow + math.Sqrt(s.radius*s.radius+r3.Dot(s.half, s.half))
}

// moved writes s, given in a frame, into dst, in the frame's parent.
func (s *solid) moved(dst *solid, m *rotation, at r3.Vec) {
	dst.c = r3.Add(at, m.apply(s.c))
	switch s.kind {
	case Box, Polyhedron:
		dst.x, dst.y, dst.z = m.apply(s.x), m.apply(s.y), m.apply(s.z)
	case Capsule, Cylinder:
		dst.z = m.apply(s.z)
	default: // a ball looks the same from everywhere
	}
}

// rotation has the images of the axes.
type rotation struct{ x, y, z r3.Vec }

func (m *rotation) apply(v r3.Vec) r3.Vec {
	return r3.Vec{
		X: m.x.X*v.X + m.y.X*v.Y + m.z.X*v.Z,
		Y: m.x.Y*v.X + m.y.Y*v.Y + m.z.Y*v.Z,
		Z: m.x.Z*v.X + m.y.Z*v.Y + m.z.Z*v.Z,
	}
}

func rotationOf(t *spatial.Transform) rotation {
	w, x, y, z := t.Rotation.Real, t.Rotation.Imag, t.Rotation.Jmag, t.Rotation.Kmag
	return rotation{
		x: r3.Vec{X: 1 - 2*(y*y+z*z), Y: 2 * (x*y + w*z), Z: 2 * (x*z - w*y)},
		y: r3.Vec{X: 2 * (x*y - w*z), Y: 1 - 2*(x*x+z*z), Z: 2 * (y*z + w*x)},
		z: r3.Vec{X: 2 * (x*z + w*y), Y: 2 * (y*z - w*x), Z: 1 - 2*(x*x+y*y)},
	}
}
