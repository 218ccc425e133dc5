package urdf

import (
	"fmt"
)

// Semantic is what MoveIt's semantic description (SRDF) says of a robot: which of its links may touch, which joints belong together, what it
// calls poses. It is read only.
type Semantic struct {
	Name         string
	Disabled     []DisabledPair
	Groups       []Group
	States       []GroupState
	EndEffectors []EndEffector
	Virtual      []VirtualJoint
	Passive      []string // joints that nobody commands
}

// DisabledPair are two links whose contacts do not count.
type DisabledPair struct {
	Link1, Link2 string
	Reason       string // "Adjacent", "Never", …; may be empty
	Line         int
}

// Group of joints. Chains and subgroups are as written: see Semantic.Joints for what they come to.
type Group struct {
	Name      string
	Joints    []string
	Links     []string
	Chains    [][2]string // base link, tip link
	Subgroups []string
	Line      int
}

// GroupState is a pose of a group that has a name.
type GroupState struct {
	Name, Group string
	Positions   map[string]float64 // by joint, rad or m
	Line        int
}

// EndEffector is a group that a link of another group carries.
type EndEffector struct {
	Name, Group, ParentLink, ParentGroup string
	Line                                 int
}

// VirtualJoint ties the robot's root to the world.
type VirtualJoint struct {
	Name, Type, ParentFrame, ChildLink string
	Line                               int
}

// maxPairs bounds the pairs of links of a description.
const maxPairs = 100_000

// ParseSRDF reads a semantic description of the robot that m describes. Every error is an *Error with the line: what it names must be there.
func ParseSRDF(data []byte, m *Model) (*Semantic, error) {
	if m == nil {
		return nil, &Error{Reason: ErrElement, What: "there is no model that it could be about"}
	}
	root, err := readXML(data)
	if err != nil {
		return nil, err
	}
	if root.name != "robot" {
		return nil, root.errorf(ErrElement, "the document is a <%s>, must be a <robot>", root.name)
	}
	s := &Semantic{}
	s.Name, _ = root.attr("name")
	if s.Name != "" && m.Name != "" && s.Name != m.Name {
		return nil, root.errorf(ErrName, "is about robot %q, the description is of %q", s.Name, m.Name)
	}
	r := srdfReader{s, m}
	for _, e := range root.children {
		var err error
		switch e.name {
		case "disable_collisions":
			err = r.pair(e)
		case "group":
			err = r.group(e)
		case "group_state":
			err = r.state(e)
		case "end_effector":
			err = r.endEffector(e)
		case "virtual_joint":
			err = r.virtual(e)
		case "passive_joint":
			err = r.passive(e)
		case "disable_default_collisions", "enable_collisions":
			err = e.errorf(ErrElement, "is not understood, and would change which contacts count")
		}
		if err != nil {
			return nil, err
		}
	}
	return s, r.finish()
}

type srdfReader struct {
	s *Semantic
	m *Model
}

// link is an attribute that names a link of the model.
func (r srdfReader) link(e *element, attr string) (string, error) {
	name, err := e.text(attr)
	if err == nil && r.m.Link(name) == nil {
		err = e.errorf(ErrName, "%s: there is no link %q", attr, name)
	}
	return name, err
}

func (r srdfReader) joint(e *element, attr string) (string, error) {
	name, err := e.text(attr)
	if err == nil && r.m.Joint(name) == nil {
		err = e.errorf(ErrName, "%s: there is no joint %q", attr, name)
	}
	return name, err
}

func (r srdfReader) pair(e *element) error {
	a, err := r.link(e, "link1")
	if err != nil {
		return err
	}
	b, err := r.link(e, "link2")
	if err != nil {
		return err
	}
	if a == b {
		return e.errorf(ErrName, "both are %q", a)
	}
	if len(r.s.Disabled) >= maxPairs {
		return e.errorf(ErrTooLarge, "more than %d pairs", maxPairs)
	}
	reason, _ := e.attr("reason")
	r.s.Disabled = append(r.s.Disabled, DisabledPair{a, b, reason, e.line})
	return nil
}

func (r srdfReader) group(e *element) error {
	name, err := e.text("name")
	if err != nil {
		return err
	}
	if g := r.s.Group(name); g != nil {
		return e.errorf(ErrName, "there is a group of that name on line %d", g.Line)
	}
	g := Group{Name: name, Line: e.line}
	for _, c := range e.children {
		var one string
		switch c.name {
		case "joint":
			if one, err = r.joint(c, "name"); err == nil {
				g.Joints = append(g.Joints, one)
			}
		case "link":
			if one, err = r.link(c, "name"); err == nil {
				g.Links = append(g.Links, one)
			}
		case "group":
			if one, err = c.text("name"); err == nil {
				g.Subgroups = append(g.Subgroups, one)
			}
		case "chain":
			var base, tip string
			if base, err = r.link(c, "base_link"); err == nil {
				if tip, err = r.link(c, "tip_link"); err == nil {
					g.Chains = append(g.Chains, [2]string{base, tip})
				}
			}
			if err == nil && !r.hangs(tip, base) {
				err = c.errorf(ErrTree, "link %q does not hang on %q", tip, base)
			}
		default:
			err = c.errorf(ErrElement, "is nothing that a group has: joint, link, chain or group")
		}
		if err != nil {
			return err
		}
	}
	r.s.Groups = append(r.s.Groups, g)
	return nil
}

// hangs reports whether there is a way from base to tip.
func (r srdfReader) hangs(tip, base string) bool {
	for tip != base {
		j := r.m.Above(tip)
		if j == nil {
			return false
		}
		tip = j.Parent
	}
	return true
}

func (r srdfReader) state(e *element) error {
	name, err := e.text("name")
	if err != nil {
		return err
	}
	group, err := e.text("group")
	if err != nil {
		return err
	}
	for _, o := range r.s.States {
		if o.Name == name && o.Group == group {
			return e.errorf(ErrName, "group %q has a state of that name on line %d", group, o.Line)
		}
	}
	st := GroupState{Name: name, Group: group, Positions: map[string]float64{}, Line: e.line}
	for _, c := range e.children {
		if c.name != "joint" {
			return c.errorf(ErrElement, "is nothing that a state has: joint")
		}
		joint, err := r.joint(c, "name")
		if err != nil {
			return err
		}
		if _, twice := st.Positions[joint]; twice {
			return c.errorf(ErrName, "joint %q is given twice", joint)
		}
		if _, ok := c.attr("value"); !ok {
			return c.errorf(ErrElement, "has no attribute value")
		}
		if st.Positions[joint], err = c.number("value", 0); err != nil {
			return err
		}
	}
	r.s.States = append(r.s.States, st)
	return nil
}

func (r srdfReader) endEffector(e *element) error {
	x := EndEffector{Line: e.line}
	var err error
	if x.Name, err = e.text("name"); err != nil {
		return err
	}
	if x.Group, err = e.text("group"); err != nil {
		return err
	}
	if x.ParentLink, err = r.link(e, "parent_link"); err != nil {
		return err
	}
	x.ParentGroup, _ = e.attr("parent_group")
	r.s.EndEffectors = append(r.s.EndEffectors, x)
	return nil
}

func (r srdfReader) virtual(e *element) error {
	v := VirtualJoint{Line: e.line}
	var err error
	for _, f := range [...]struct {
		name string
		into *string
	}{{"name", &v.Name}, {"type", &v.Type}, {"parent_frame", &v.ParentFrame}} {
		if *f.into, err = e.text(f.name); err != nil {
			return err
		}
	}
	if v.Type != "fixed" && v.Type != "planar" && v.Type != "floating" {
		return e.errorf(ErrJointType, "%q is none: fixed, planar or floating", v.Type)
	}
	if v.ChildLink, err = r.link(e, "child_link"); err != nil {
		return err
	}
	r.s.Virtual = append(r.s.Virtual, v)
	return nil
}

func (r srdfReader) passive(e *element) error {
	name, err := e.text("name")
	if err != nil {
		return err
	}
	virtual := false
	for _, v := range r.s.Virtual {
		virtual = virtual || v.Name == name
	}
	if !virtual && r.m.Joint(name) == nil {
		return e.errorf(ErrName, "there is no joint %q", name)
	}
	r.s.Passive = append(r.s.Passive, name)
	return nil
}

// finish checks what refers to groups: they may be written in any order.
func (r srdfReader) finish() error {
	fail := func(line int, where string, reason error, format string, args ...any) error {
		return &Error{Line: line, Where: where, Reason: reason, What: fmt.Sprintf(format, args...)}
	}
	for i := range r.s.Groups {
		g := &r.s.Groups[i]
		if _, err := r.s.Joints(g.Name, r.m); err != nil {
			return fail(g.Line, fmt.Sprintf("group %q", g.Name), ErrName, "%v", err)
		}
	}
	for _, st := range r.s.States {
		where := fmt.Sprintf("group_state %q", st.Name)
		joints, err := r.s.Joints(st.Group, r.m)
		if err != nil {
			return fail(st.Line, where, ErrName, "%v", err)
		}
		in := map[string]bool{}
		for _, j := range joints {
			in[j] = true
		}
		for name, q := range st.Positions {
			j := r.m.Joint(name)
			if !in[name] {
				return fail(st.Line, where, ErrName, "joint %q is none of group %q", name, st.Group)
			}
			if j.Moves() && !(q >= j.Limit.Lower-stateSlack && q <= j.Limit.Upper+stateSlack) {
				return fail(st.Line, where, ErrNumber, "joint %q at %g, limits %g and %g", name, q, j.Limit.Lower, j.Limit.Upper)
			}
		}
	}
	for _, x := range r.s.EndEffectors {
		if r.s.Group(x.Group) == nil || x.ParentGroup != "" && r.s.Group(x.ParentGroup) == nil {
			return fail(x.Line, fmt.Sprintf("end_effector %q", x.Name), ErrName, "there is no group %q or no group %q", x.Group, x.ParentGroup)
		}
	}
	return nil
}

// stateSlack is by how much a state written to a few digits may be beyond a limit, rad or m.
const stateSlack = 1e-3

// Group finds a group by name; nil: there is none.
func (s *Semantic) Group(name string) *Group {
	for i := range s.Groups {
		if s.Groups[i].Name == name {
			return &s.Groups[i]
		}
	}
	return nil
}

// Joints that move and belong to a group: those it names, those above the links it names, those of its chains from base to tip, and its subgroups'; each
// once, in that order. An error says which group is not there, or is part of itself.
func (s *Semantic) Joints(group string, m *Model) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(j *Joint) {
		if j != nil && j.Moves() && !seen[j.Name] {
			seen[j.Name] = true
			out = append(out, j.Name)
		}
	}
	open := map[string]bool{}
	var walk func(name string) error
	walk = func(name string) error {
		g := s.Group(name)
		switch {
		case g == nil:
			return fmt.Errorf("there is no group %q", name)
		case open[name]:
			return fmt.Errorf("group %q is part of itself", name)
		}
		open[name] = true
		defer delete(open, name)
		for _, j := range g.Joints {
			add(m.Joint(j))
		}
		for _, l := range g.Links {
			add(m.Above(l))
		}
		for _, c := range g.Chains {
			var way []*Joint
			for at := c[1]; at != c[0]; at = m.Above(at).Parent {
				way = append(way, m.Above(at))
			}
			for i := len(way) - 1; i >= 0; i-- {
				add(way[i])
			}
		}
		for _, sub := range g.Subgroups {
			if err := walk(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return out, walk(group)
}

// Pairs of links whose contacts do not count.
func (s *Semantic) Pairs() [][2]string {
	out := make([][2]string, len(s.Disabled))
	for i, d := range s.Disabled {
		out[i] = [2]string{d.Link1, d.Link2}
	}
	return out
}
