package collision

import (
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// Kind of a shape.
type Kind int

// Kinds of shapes. All are convex and filled, centred at their origin; axes are along z.
const (
	Sphere   Kind = iota + 1 // Radius
	Capsule                  // Radius, Length of the axis: half a sphere at each end
	Cylinder                 // Radius, Length; flat ends
	Box                      // Size
)

// Shape is a convex body about its own origin. The zero value is none.
type Shape struct {
	Kind   Kind
	Radius float64 // m
	Length float64 // m along z
	Size   r3.Vec  // m, whole edges
}

// Body is a shape somewhere.
type Body struct {
	Name  string
	Shape Shape
	Pose  spatial.Transform // of the shape in the base's frame (of an attached object: in its link's)
}
