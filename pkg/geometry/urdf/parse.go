package urdf

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"
)

// Parse reads a description. Every error is an *Error with the line.
func Parse(data []byte) (*Model, error) {
	root, err := readXML(data)
	if err != nil {
		return nil, err
	}
	if root.name != "robot" {
		return nil, root.errorf(ErrElement, "the document is a <%s>, must be a <robot>", root.name)
	}
	m := &Model{links: map[string]int{}, joints: map[string]int{}, above: map[string]int{}}
	m.Name, _ = root.attr("name")
	for _, e := range root.children {
		switch {
		case strings.HasPrefix(e.name, "xacro:"):
			err = e.errorf(ErrElement, "is a macro: the file must be processed by xacro first")
		case e.name == "link":
			err = m.addLink(e)
		case e.name == "joint":
			err = m.addJoint(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(m.Links) == 0 {
		return nil, root.errorf(ErrElement, "has no <link>")
	}
	if err := m.tie(); err != nil {
		return nil, err
	}
	if err := m.followMimics(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Model) addLink(e *element) error {
	name, err := e.text("name")
	if err != nil {
		return err
	}
	if i, ok := m.links[name]; ok {
		return e.errorf(ErrName, "there is a link of that name on line %d", m.Links[i].Line)
	}
	l := Link{Name: name, Line: e.line}
	for _, c := range e.children {
		if c.name != "collision" {
			continue
		}
		col := Collision{Line: c.line}
		col.Name, _ = c.attr("name")
		if col.Origin, err = c.origin(); err != nil {
			return err
		}
		g, err := c.need("geometry")
		if err != nil {
			return err
		}
		if col.Shape, err = readShape(g); err != nil {
			return err
		}
		l.Collisions = append(l.Collisions, col)
	}
	m.links[name] = len(m.Links)
	m.Links = append(m.Links, l)
	return nil
}

func readShape(g *element) (Shape, error) {
	if len(g.children) != 1 {
		return nil, g.errorf(ErrElement, "has %d shapes, must have one", len(g.children))
	}
	e := g.children[0]
	switch e.name {
	case "box":
		size, err := e.vector("size", r3.Vec{})
		if err == nil && !(size.X > 0 && size.Y > 0 && size.Z > 0) {
			err = e.errorf(ErrNumber, "size is %g %g %g, must be three numbers over 0", size.X, size.Y, size.Z)
		}
		return Box{Size: size}, err
	case "cylinder":
		r, err := e.positive("radius")
		if err != nil {
			return nil, err
		}
		l, err := e.positive("length")
		return Cylinder{Radius: r, Length: l}, err
	case "sphere":
		r, err := e.positive("radius")
		return Sphere{Radius: r}, err
	case "mesh":
		file, err := e.text("filename")
		if err != nil {
			return nil, err
		}
		scale, err := e.vector("scale", r3.Vec{X: 1, Y: 1, Z: 1})
		if err == nil && (scale.X == 0 || scale.Y == 0 || scale.Z == 0) {
			err = e.errorf(ErrNumber, "scale is %g %g %g: nothing would be left", scale.X, scale.Y, scale.Z)
		}
		return Mesh{Filename: file, Scale: scale}, err
	}
	return nil, e.errorf(ErrElement, "is no shape: box, cylinder, sphere or mesh")
}

func (m *Model) addJoint(e *element) error {
	name, err := e.text("name")
	if err != nil {
		return err
	}
	if i, ok := m.joints[name]; ok {
		return e.errorf(ErrName, "there is a joint of that name on line %d", m.Joints[i].Line)
	}
	j := Joint{Name: name, Line: e.line}
	kind, err := e.text("type")
	if err != nil {
		return err
	}
	switch j.Type = JointType(kind); j.Type {
	case Fixed, Revolute, Continuous, Prismatic, Floating, Planar:
	default:
		return e.errorf(ErrJointType, "%q is none", kind)
	}
	for _, end := range [...]struct {
		name string
		into *string
	}{{"parent", &j.Parent}, {"child", &j.Child}} {
		c, err := e.need(end.name)
		if err != nil {
			return err
		}
		if *end.into, err = c.text("link"); err != nil {
			return err
		}
	}
	if j.Origin, err = e.origin(); err != nil {
		return err
	}
	if j.Moves() {
		if err := j.readMotion(e); err != nil {
			return err
		}
	} else if c, err := e.only("mimic"); err != nil || c != nil {
		if err == nil {
			err = c.errorf(ErrElement, "joint %q is %s and cannot follow another one", name, j.Type)
		}
		return err
	}
	m.joints[name] = len(m.Joints)
	m.Joints = append(m.Joints, j)
	return nil
}

// readMotion reads what a joint that moves has: axis, limit, mimic.
func (j *Joint) readMotion(e *element) error {
	j.Axis = r3.Vec{X: 1}
	a, err := e.only("axis")
	if err != nil {
		return err
	}
	if a != nil {
		if j.Axis, err = a.vector("xyz", j.Axis); err != nil {
			return err
		}
		n := r3.Norm(j.Axis)
		if !(n > 1e-9) {
			return a.errorf(ErrNumber, "xyz is %g %g %g: no direction", j.Axis.X, j.Axis.Y, j.Axis.Z)
		}
		j.Axis = r3.Scale(1/n, j.Axis) // a direction; its length means nothing
	}
	l, err := e.only("limit")
	if err != nil {
		return err
	}
	if l == nil && j.Type != Continuous {
		return e.errorf(ErrElement, "is %s and has no <limit>", j.Type)
	}
	if l != nil {
		if err := j.readLimit(l); err != nil {
			return err
		}
	}
	if j.Type == Continuous {
		j.Limit.Lower, j.Limit.Upper = math.Inf(-1), math.Inf(1)
	}
	return j.readMimic(e)
}

func (j *Joint) readLimit(l *element) error {
	var err error
	if j.Limit.Velocity, err = l.notNegative("velocity"); err != nil {
		return err
	}
	if j.Limit.Effort, err = l.notNegative("effort"); err != nil {
		return err
	}
	if j.Limit.Lower, err = l.number("lower", 0); err != nil {
		return err
	}
	if j.Limit.Upper, err = l.number("upper", 0); err != nil {
		return err
	}
	if j.Type != Continuous && !(j.Limit.Lower <= j.Limit.Upper) {
		return l.errorf(ErrNumber, "joint %q: lower is %g, over upper, %g", j.Name, j.Limit.Lower, j.Limit.Upper)
	}
	return nil
}

func (j *Joint) readMimic(e *element) error {
	c, err := e.only("mimic")
	if err != nil || c == nil {
		return err
	}
	m := Mimic{}
	if m.Joint, err = c.text("joint"); err != nil {
		return err
	}
	if m.Multiplier, err = c.number("multiplier", 1); err != nil {
		return err
	}
	if m.Offset, err = c.number("offset", 0); err != nil {
		return err
	}
	j.Mimic = &m
	return nil
}

// tie makes sure that links and joints are one tree, and finds its root.
func (m *Model) tie() error {
	fail := func(j *Joint, format string, args ...any) error {
		return &Error{Line: j.Line, Where: fmt.Sprintf("joint %q", j.Name), Reason: ErrTree, What: fmt.Sprintf(format, args...)}
	}
	for i := range m.Joints {
		j := &m.Joints[i]
		for _, l := range [...]string{j.Parent, j.Child} {
			if m.Link(l) == nil {
				return fail(j, "there is no link %q", l)
			}
		}
		if k, ok := m.above[j.Child]; ok {
			return fail(j, "link %q hangs on joint %q of line %d already", j.Child, m.Joints[k].Name, m.Joints[k].Line)
		}
		m.above[j.Child] = i
	}
	for i := range m.Links {
		l := &m.Links[i]
		if m.Above(l.Name) != nil {
			continue
		}
		if m.Root != "" {
			return &Error{
				Line: l.Line, Where: fmt.Sprintf("link %q", l.Name), Reason: ErrTree,
				What: fmt.Sprintf("hangs on nothing, as does %q of line %d: there must be one root", m.Root, m.Link(m.Root).Line),
			}
		}
		m.Root = l.Name
	}
	// Each link hangs on one joint at most: what is not below the root is a ring.
	below := map[string]bool{m.Root: true}
	for i := range m.Links {
		var way []string
		for at := m.Links[i].Name; !below[at]; at = m.Above(at).Parent {
			way = append(way, at)
			if len(way) > len(m.Links) {
				return fail(m.Above(at), "the links from %q on form a ring", at)
			}
		}
		for _, l := range way {
			below[l] = true
		}
	}
	return nil
}

// followMimics makes sure that each mimic leads to a joint that moves by itself.
func (m *Model) followMimics() error {
	for i := range m.Joints {
		j := &m.Joints[i]
		fail := func(format string, args ...any) error {
			return &Error{Line: j.Line, Where: fmt.Sprintf("joint %q", j.Name), Reason: ErrElement, What: fmt.Sprintf(format, args...)}
		}
		at := j
		for steps := 0; at.Mimic != nil; steps++ {
			next := m.Joint(at.Mimic.Joint)
			switch {
			case next == nil:
				return fail("follows joint %q, which is not there", at.Mimic.Joint)
			case !next.Moves():
				return fail("follows joint %q, which is %s", next.Name, next.Type)
			case steps >= len(m.Joints):
				return fail("follows joint %q, which follows it", next.Name)
			}
			at = next
		}
	}
	return nil
}

// Source of a joint's position: the joint that moves by itself which it follows, itself where it follows none, with
// position = multiplier * position of that joint + offset.
func (m *Model) Source(j *Joint) (source *Joint, multiplier, offset float64) {
	source, multiplier, offset = j, 1, 0
	for source.Mimic != nil {
		offset += multiplier * source.Mimic.Offset
		multiplier *= source.Mimic.Multiplier
		source = m.Joint(source.Mimic.Joint)
	}
	return source, multiplier, offset
}
