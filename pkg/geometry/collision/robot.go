package collision

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/mesh"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// ErrModel is wrapped by errors about a robot's description, ErrWorld by those about what is around it.
var (
	ErrModel = errors.New("collision: model does not fit")
	ErrWorld = errors.New("collision: bad world")
)

// Config says how a robot's description is read.
type Config struct {
	// Base is the link in whose frame bodies are placed; empty: the root. None of Joints may move it.
	Base string
	// Joints that move, in the order of the configurations; mimics follow them.
	Joints []string
	// Allowed pairs of links that are never checked, beside links that are directly joined or move as one.
	Allowed []Pair
	// Mesh reads the file that a description names for a shape (mesh.Files.Load); its closed parts, or else the whole, are taken as
	// their convex hulls. Without it, a mesh is an error, for nothing is known of its shape.
	Mesh func(filename string) (*mesh.Mesh, error)
}

// Pair of links, bodies or attached objects, by name, in either order.
type Pair [2]string

// Robot is a description made ready: links and their shapes. It is read only.
type Robot struct {
	model  *urdf.Model
	config Config
	shapes map[string][]placedShape // by link
}

type placedShape struct {
	shape Shape
	pose  spatial.Transform
}

// NewRobot reads a description. A cylinder with a ball of its radius at each end becomes a capsule, a mesh the convex hulls of its parts.
// Errors wrap ErrModel and name the link.
func NewRobot(m *urdf.Model, c Config) (*Robot, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: there is none", ErrModel)
	}
	if len(c.Joints) == 0 {
		return nil, fmt.Errorf("%w: no joints that move", ErrModel)
	}
	if c.Base == "" {
		c.Base = m.Root
	}
	c.Joints, c.Allowed = slices.Clone(c.Joints), slices.Clone(c.Allowed)
	r := &Robot{model: m, config: c, shapes: map[string][]placedShape{}}
	for _, p := range c.Allowed {
		for _, l := range p {
			if m.Link(l) == nil {
				return nil, fmt.Errorf("%w: the allowed pair %q, %q names no link %q", ErrModel, p[0], p[1], l)
			}
		}
	}
	for i := range m.Links {
		shapes, err := shapesOf(&m.Links[i], c.Mesh)
		if err != nil {
			return nil, err
		}
		r.shapes[m.Links[i].Name] = shapes
	}
	for _, l := range kinematics.Loose(m, c.Base) {
		if len(r.shapes[l]) > 0 {
			return nil, fmt.Errorf("%w: link %q has a shape, and a floating or planar joint between it and %q leaves its place unknown", ErrModel, l, c.Base)
		}
	}
	// What can be found out without a world is found out here.
	if _, err := r.Scene(World{}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	return r, nil
}

// Joints that move, in the order of configurations. The slice is a copy.
func (r *Robot) Joints() []string { return slices.Clone(r.config.Joints) }

// Base is the link in whose frame bodies are placed.
func (r *Robot) Base() string { return r.config.Base }

// Model that the robot was made of.
func (r *Robot) Model() *urdf.Model { return r.model }

// shapesOf reads a link's shapes.
func shapesOf(l *urdf.Link, load func(string) (*mesh.Mesh, error)) ([]placedShape, error) {
	var out []placedShape
	var balls, cylinders []placedShape
	for _, c := range l.Collisions {
		p := placedShape{pose: c.Origin}
		switch s := c.Shape.(type) {
		case urdf.Box:
			p.shape = Shape{Kind: Box, Size: s.Size}
			out = append(out, p)
		case urdf.Sphere:
			p.shape = Shape{Kind: Sphere, Radius: s.Radius}
			balls = append(balls, p)
		case urdf.Cylinder:
			p.shape = Shape{Kind: Cylinder, Radius: s.Radius, Length: s.Length}
			cylinders = append(cylinders, p)
		case urdf.Mesh:
			hulls, err := hullsOf(s, load)
			if err != nil {
				return nil, fmt.Errorf("%w: link %q, line %d: collision shape: %w", ErrModel, l.Name, c.Line, err)
			}
			for _, h := range hulls {
				out = append(out, placedShape{shape: Shape{Kind: Polyhedron, Hull: h}, pose: c.Origin})
			}
		}
	}
	return append(out, joinCapsules(cylinders, balls)...), nil
}

// hullsOf reads a mesh.
func hullsOf(s urdf.Mesh, load func(string) (*mesh.Mesh, error)) ([]*Hull, error) {
	if load == nil {
		return nil, fmt.Errorf("the mesh %q, of which nothing is known here: give boxes, cylinders or spheres, or say how meshes are found", s.Filename)
	}
	m, err := load(s.Filename)
	if err != nil {
		return nil, err
	}
	if len(m.Triangles) == 0 {
		return nil, fmt.Errorf("the mesh %q: %w: it has no triangles", s.Filename, ErrHull)
	}
	var out []*Hull
	for _, points := range m.Pieces() {
		for i, p := range points {
			points[i] = r3.Vec{X: p.X * s.Scale.X, Y: p.Y * s.Scale.Y, Z: p.Z * s.Scale.Z}
		}
		h, err := NewHull(points)
		if err != nil {
			return nil, fmt.Errorf("the mesh %q: %w", s.Filename, err)
		}
		out = append(out, h)
	}
	return out, nil
}

// joinCapsules makes one shape of a cylinder and the balls at its ends. A ball may end several cylinders.
func joinCapsules(cylinders, balls []placedShape) []placedShape {
	var out []placedShape
	used := make([]bool, len(balls))
	for _, c := range cylinders {
		end := func(sign float64) int {
			at := c.pose.Apply(r3.Vec{Z: sign * c.shape.Length / 2})
			return slices.IndexFunc(balls, func(b placedShape) bool {
				return norm(r3.Sub(b.pose.Translation, at)) < 1e-6 && max(b.shape.Radius-c.shape.Radius, c.shape.Radius-b.shape.Radius) < 1e-6
			})
		}
		if i, k := end(-1), end(1); i >= 0 && k >= 0 {
			used[i], used[k] = true, true
			c.shape.Kind = Capsule
			c.shape.Radius = max(c.shape.Radius, balls[i].shape.Radius, balls[k].shape.Radius)
		}
		out = append(out, c)
	}
	for i, b := range balls {
		if !used[i] {
			out = append(out, b)
		}
	}
	return out
}

// Scene puts the robot into a world. Errors wrap ErrWorld.
func (r *Robot) Scene(w World) (*Scene, error) {
	tree, err := kinematics.NewTree(r.model, r.config.Joints, w.Rest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWorld, err)
	}
	b := sceneBuilder{robot: r, tree: tree, world: w, scene: &Scene{
		robot: r, frames: tree.Frames(), joints: tree.Joints(), margin: w.Margin, selfMargin: w.SelfMargin, grace: w.Grace,
	}}
	return b.build()
}
