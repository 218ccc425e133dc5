package urdf

import (
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/spatial"
)

// Model is a robot: a tree of links and joints, in the order of the file. It is read only.
type Model struct {
	Name   string
	Root   string // the link that is no joint's child
	Links  []Link
	Joints []Joint

	links, joints map[string]int
	above         map[string]int // link -> the joint whose child it is
}

// Link is a rigid part.
type Link struct {
	Name       string
	Collisions []Collision
	Line       int // in the file, from 1
}

// Collision is a part of a link's shape.
type Collision struct {
	Name   string            // may be empty
	Origin spatial.Transform // of the shape in the link's frame
	Shape  Shape
	Line   int
}

// Shape is one of Box, Cylinder, Sphere and Mesh.
type Shape interface{ shape() }

// Box has its centre at the origin and its edges along the axes.
type Box struct{ Size r3.Vec } // m, whole lengths

// Cylinder has its centre at the origin and its axis along z. Its ends are flat.
type Cylinder struct{ Radius, Length float64 } // m

// Sphere has its centre at the origin.
type Sphere struct{ Radius float64 } // m

// Mesh names a file that is not part of the description, and is not read here.
type Mesh struct {
	Filename string
	Scale    r3.Vec
}

func (Box) shape()      {}
func (Cylinder) shape() {}
func (Sphere) shape()   {}
func (Mesh) shape()     {}

// JointType is how a joint moves, in URDF's words.
type JointType string

// Joint types. The position of a floating or planar joint is not a single number: what hangs on one has no known place against what it hangs on.
const (
	Fixed      JointType = "fixed"
	Revolute   JointType = "revolute"
	Continuous JointType = "continuous"
	Prismatic  JointType = "prismatic"
	Floating   JointType = "floating"
	Planar     JointType = "planar"
)

// Joint ties its child link to its parent link.
type Joint struct {
	Name          string
	Type          JointType
	Parent, Child string            // links
	Origin        spatial.Transform // of the child's frame in the parent's, at position 0
	Axis          r3.Vec            // unit, in the child's frame; zero for a fixed joint
	Limit         Limit
	Mimic         *Mimic // nil: moves by itself
	Line          int
}

// Moves reports whether the joint has a position that is a number.
func (j *Joint) Moves() bool {
	return j.Type == Revolute || j.Type == Continuous || j.Type == Prismatic
}

// Loose reports whether the joint is floating or planar.
func (j *Joint) Loose() bool { return j.Type == Floating || j.Type == Planar }

// Limit of a joint. A continuous joint has -Inf and +Inf as bounds; velocity and effort are 0 where the file names none.
type Limit struct {
	Lower, Upper float64 // rad or m
	Velocity     float64 // rad/s or m/s
	Effort       float64 // Nm or N
}

// Mimic makes a joint follow another: position = Multiplier * other + Offset.
type Mimic struct {
	Joint              string
	Multiplier, Offset float64
}

// Link finds a link by name; nil: there is none.
func (m *Model) Link(name string) *Link {
	if i, ok := m.links[name]; ok {
		return &m.Links[i]
	}
	return nil
}

// Joint finds a joint by name; nil: there is none.
func (m *Model) Joint(name string) *Joint {
	if i, ok := m.joints[name]; ok {
		return &m.Joints[i]
	}
	return nil
}

// Above is the joint that a link hangs on; nil for the root and for a link that is not there.
func (m *Model) Above(link string) *Joint {
	if i, ok := m.above[link]; ok {
		return &m.Joints[i]
	}
	return nil
}
