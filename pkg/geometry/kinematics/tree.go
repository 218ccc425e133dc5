package kinematics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// Frame moves with one joint. Everything that hangs rigidly on it moves as it does.
type Frame struct {
	Parent int               // index of the frame that carries it
	Origin spatial.Transform // at joint position 0, in the parent frame
	Axis   r3.Vec            // unit, in its own frame
	Slides bool              // prismatic: moves along the axis; else turns about it
	Joint  int               // index of the position that moves it
	Factor float64           // joint position = Factor * that position + Offset (mimics)
	Offset float64
}

// Tree has all links of a robot, moved by some of its joints while the others rest. It is read only.
//
// Links that move as one share a frame. Where a floating or planar joint is, what hangs on it is placed as if the joint were at zero: see Loose. Frame 0 is the root link's and does not move; a frame comes after its parent.
type Tree struct {
	frames []Frame // frames[0] is the root's
	links  map[string]placed
	joints []limits.Joint
}

// placed is where a link is in its frame.
type placed struct {
	frame int
	pose  spatial.Transform
}

// NewTree makes a tree whose joints move in the order given; mimics follow the joint they mimic. rest has positions of other joints, by
// name: those that are not in it are at 0, or at the bound next to it. Errors wrap ErrModel.
func NewTree(m *urdf.Model, joints []string, rest map[string]float64) (*Tree, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: there is none", ErrModel)
	}
	t := &Tree{frames: make([]Frame, 1, len(joints)+1), links: make(map[string]placed, len(m.Links))}
	index := make(map[string]int, len(joints))
	for i, name := range joints {
		j := m.Joint(name)
		switch _, twice := index[name]; {
		case j == nil:
			return nil, fmt.Errorf("%w: there is no joint %q", ErrModel, name)
		case twice:
			return nil, fmt.Errorf("%w: joint %q is named twice", ErrModel, name)
		case !j.Moves():
			return nil, fmt.Errorf("%w: joint %q is fixed", ErrModel, name)
		case j.Mimic != nil:
			return nil, fmt.Errorf("%w: joint %q follows %q and does not move by itself", ErrModel, name, j.Mimic.Joint)
		}
		index[name] = i
	}
	if err := checkRest(m, index, rest); err != nil {
		return nil, err
	}
	t.links[m.Root] = placed{0, spatial.Identity()}
	for _, l := range m.Links {
		t.place(m, l.Name, index, rest)
	}
	var err error
	t.joints, err = jointLimits(m, joints)
	return t, err
}

func checkRest(m *urdf.Model, moving map[string]int, rest map[string]float64) error {
	for name, q := range rest {
		j := m.Joint(name)
		_, moves := moving[name]
		switch {
		case j == nil:
			return fmt.Errorf("%w: joint %q is said to rest at %g and is not there", ErrModel, name, q)
		case moves:
			return fmt.Errorf("%w: joint %q both moves and rests", ErrModel, name)
		case !j.Moves() || j.Mimic != nil:
			return fmt.Errorf("%w: joint %q is said to rest at %g and has no position of its own", ErrModel, name, q)
		case !spatial.Finite(q):
			return fmt.Errorf("%w: joint %q rests at %g, must be a finite number", ErrModel, name, q)
		}
	}
	return nil
}

// place puts a link into its frame, after the links above it.
func (t *Tree) place(m *urdf.Model, link string, index map[string]int, rest map[string]float64) placed {
	var way []*urdf.Joint
	at := link
	for {
		if _, done := t.links[at]; done {
			break
		}
		j := m.Above(at)
		way = append(way, j)
		at = j.Parent
	}
	p := t.links[at]
	for i := len(way) - 1; i >= 0; i-- {
		j := way[i]
		p.pose = p.pose.Compose(j.Origin)
		if j.Moves() {
			source, factor, offset := m.Source(j)
			if k, moves := index[source.Name]; moves {
				t.frames = append(t.frames, Frame{
					Parent: p.frame, Origin: p.pose, Axis: j.Axis, Slides: j.Type == urdf.Prismatic, Joint: k, Factor: factor, Offset: offset,
				})
				p = placed{len(t.frames) - 1, spatial.Identity()}
			} else {
				p.pose = p.pose.Compose(motion(j.Axis, j.Type == urdf.Prismatic, factor*restOf(source, rest)+offset))
			}
		}
		t.links[j.Child] = p
	}
	return p
}

func restOf(j *urdf.Joint, rest map[string]float64) float64 {
	if q, ok := rest[j.Name]; ok {
		return q
	}
	return min(max(0, j.Limit.Lower), j.Limit.Upper)
}

func motion(axis r3.Vec, slides bool, q float64) spatial.Transform {
	if slides {
		return spatial.Transform{Translation: r3.Scale(q, axis), Rotation: quat.Number{Real: 1}}
	}
	return spatial.Transform{Rotation: spatial.FromAxis(axis, q)}
}

// jointLimits of joints, narrowed by those of the joints that mimic them.
func jointLimits(m *urdf.Model, names []string) ([]limits.Joint, error) {
	out := make([]limits.Joint, len(names))
	for i, name := range names {
		j := m.Joint(name)
		out[i] = limits.Joint{
			Name: name, Lower: j.Limit.Lower, Upper: j.Limit.Upper, Velocity: j.Limit.Velocity, Effort: j.Limit.Effort,
			Continuous: j.Type == urdf.Continuous, Prismatic: j.Type == urdf.Prismatic,
		}
		for k := range m.Joints {
			f := &m.Joints[k]
			source, factor, offset := m.Source(f)
			if f.Mimic == nil || source != j || f.Type == urdf.Continuous || factor == 0 {
				continue
			}
			a, b := (f.Limit.Lower-offset)/factor, (f.Limit.Upper-offset)/factor
			// The mimic's bounds are written to a few digits: a hair too narrow is not meant.
			slack := 1e-9 * (1 + math.Abs(a) + math.Abs(b))
			if lo := min(a, b); lo > out[i].Lower+slack {
				out[i].Lower = lo
			}
			if hi := max(a, b); hi < out[i].Upper-slack {
				out[i].Upper = hi
			}
		}
		if !(out[i].Lower <= out[i].Upper) {
			return nil, fmt.Errorf("%w: joint %q has no position at which the joints that mimic it are within their limits", ErrModel, name)
		}
		if math.IsInf(out[i].Lower, -1) != math.IsInf(out[i].Upper, 1) || out[i].Continuous && !math.IsInf(out[i].Upper, 1) {
			return nil, fmt.Errorf("%w: joint %q turns for ever, and a joint that mimics it does not", ErrModel, name)
		}
	}
	return out, nil
}

// Loose are the links whose place against a link is not known, since a floating or planar joint is in between.
func Loose(m *urdf.Model, from string) []string {
	part := map[string]string{} // the link that a link hangs on without a loose joint in between
	var root func(link string) string
	root = func(link string) string {
		if r, ok := part[link]; ok {
			return r
		}
		r := link
		if j := m.Above(link); j != nil && !j.Loose() {
			r = root(j.Parent)
		}
		part[link] = r
		return r
	}
	var out []string
	for _, l := range m.Links {
		if root(l.Name) != root(from) {
			out = append(out, l.Name)
		}
	}
	return out
}

// Joints that move, in the order of positions. The slice is a copy.
func (t *Tree) Joints() []limits.Joint { return append([]limits.Joint(nil), t.joints...) }

// Frames in an order in which each comes after its parent. The slice is not to be changed.
func (t *Tree) Frames() []Frame { return t.frames }

// Link says which frame a link hangs on, and where in it.
func (t *Tree) Link(name string) (frame int, pose spatial.Transform, ok bool) {
	p, ok := t.links[name]
	return p.frame, p.pose, ok
}

// Poses of all frames in the root link's frame, appended to dst[:0]. It allocates only where dst has no room.
func (t *Tree) Poses(dst []spatial.Transform, q []float64) ([]spatial.Transform, error) {
	if err := CheckPositions(t.joints, q); err != nil {
		return nil, err
	}
	if cap(dst) < len(t.frames) {
		dst = make([]spatial.Transform, len(t.frames))
	}
	dst = dst[:len(t.frames)]
	t.poses(dst, q)
	return dst, nil
}

func (t *Tree) poses(dst []spatial.Transform, q []float64) {
	dst[0] = spatial.Transform{Rotation: quat.Number{Real: 1}}
	for i := 1; i < len(t.frames); i++ {
		f := &t.frames[i]
		f.pose(&dst[i], &dst[f.Parent], f.Factor*q[f.Joint]+f.Offset)
	}
}

// Place computes the frame's pose from its parent's and the positions of all joints. dst may be parent.
func (f *Frame) Place(dst, parent *spatial.Transform, q []float64) {
	f.pose(dst, parent, f.Factor*q[f.Joint]+f.Offset)
}

// pose of the frame on its parent's. Products of a few unit quaternions stay unit: nothing is normalised on the way.
func (f *Frame) pose(dst, parent *spatial.Transform, q float64) {
	r := quat.Mul(parent.Rotation, f.Origin.Rotation)
	p := r3.Add(parent.Translation, spatial.Rotate(parent.Rotation, f.Origin.Translation))
	if f.Slides {
		dst.Rotation, dst.Translation = r, r3.Add(p, r3.Scale(q, spatial.Rotate(r, f.Axis)))
		return
	}
	dst.Rotation, dst.Translation = quat.Mul(r, spatial.FromAxis(f.Axis, q)), p
}

// CheckPositions reports positions that are too few, too many or not finite. The error is a *PositionsError.
func CheckPositions(joints []limits.Joint, q []float64) error {
	if len(q) != len(joints) {
		return &PositionsError{Got: len(q), Want: len(joints)}
	}
	for i, v := range q {
		if !spatial.Finite(v) {
			return &PositionsError{Got: len(q), Want: len(joints), Joint: joints[i].Name, Value: v}
		}
	}
	return nil
}
