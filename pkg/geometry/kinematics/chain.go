package kinematics

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// Chain is the way from one link to another one that hangs on it.
type Chain struct {
	base, tip string
	joints    []limits.Joint
	names     []string
	links     []string
	places    []placed          // of links, with the base's frame as frame 0
	frames    []Frame           // frames[0] is the base's
	end       spatial.Transform // of the tip in the last frame
	reach     float64           // no point of the tip is farther from the first joint's origin
	scale     float64           // m per rad: how an angle is weighed against a length
}

// NewChain makes the chain from a base link to a tip link. Joints that mimic others are moved by these, which must be on the way themselves or
// count as joints of the chain. Errors wrap ErrModel.
func NewChain(m *urdf.Model, base, tip string) (*Chain, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: there is none", ErrModel)
	}
	for _, l := range [...]string{base, tip} {
		if m.Link(l) == nil {
			return nil, fmt.Errorf("%w: there is no link %q", ErrModel, l)
		}
	}
	var way []*urdf.Joint
	for at := tip; at != base; {
		j := m.Above(at)
		if j == nil {
			return nil, fmt.Errorf("%w: link %q does not hang on %q", ErrModel, tip, base)
		}
		if j.Loose() {
			return nil, fmt.Errorf("%w: joint %q between %q and %q is %s: its position is not a single number", ErrModel, j.Name, base, tip, j.Type)
		}
		way = append(way, j)
		at = j.Parent
	}
	slices.Reverse(way)
	c := &Chain{base: base, tip: tip, links: []string{base}, places: []placed{{0, spatial.Identity()}}, frames: make([]Frame, 1)}
	p := c.places[0]
	for _, j := range way {
		p.pose = p.pose.Compose(j.Origin)
		if j.Moves() {
			source, factor, offset := m.Source(j)
			k := slices.Index(c.names, source.Name)
			if k < 0 {
				k = len(c.names)
				c.names = append(c.names, source.Name)
			}
			c.frames = append(c.frames, Frame{
				Parent: p.frame, Origin: p.pose, Axis: j.Axis, Slides: j.Type == urdf.Prismatic, Joint: k, Factor: factor, Offset: offset,
			})
			p = placed{len(c.frames) - 1, spatial.Identity()}
		}
		c.links = append(c.links, j.Child)
		c.places = append(c.places, p)
	}
	if len(c.names) == 0 {
		return nil, fmt.Errorf("%w: nothing moves between %q and %q", ErrModel, base, tip)
	}
	c.end = p.pose
	var err error
	if c.joints, err = jointLimits(m, c.names); err != nil {
		return nil, err
	}
	c.measure()
	return c, nil
}

// measure bounds the chain's reach.
func (c *Chain) measure() {
	c.reach = r3.Norm(c.end.Translation)
	for _, f := range c.frames[1:] {
		if f.Slides {
			j := c.joints[f.Joint]
			c.reach += max(abs(f.Factor*j.Lower+f.Offset), abs(f.Factor*j.Upper+f.Offset))
		}
	}
	for _, f := range c.frames[2:] {
		c.reach += r3.Norm(f.Origin.Translation)
	}
	// A radian at half of the reach: an error of the orientation then weighs as much as the way it makes there.
	c.scale = max(c.reach/2, 1e-3)
}

func abs(v float64) float64 { return max(v, -v) }

// Reach bounds the distance of the tip from the first joint's origin, m, within the joints' limits.
func (c *Chain) Reach() float64 { return c.reach }

// Gains are, per joint, how much it moves frames of the chain in all: 1, or more where others mimic it.
func (c *Chain) Gains() []float64 {
	out := make([]float64, len(c.joints))
	for _, f := range c.frames[1:] {
		out[f.Joint] += abs(f.Factor)
	}
	return out
}

// Base link.
func (c *Chain) Base() string { return c.base }

// Tip link.
func (c *Chain) Tip() string { return c.tip }

// Joints that move, from base to tip. Accelerations are 0: URDF has none. The slice is a copy.
func (c *Chain) Joints() []limits.Joint { return slices.Clone(c.joints) }

// Names of the joints, in their order. The slice is a copy.
func (c *Chain) Names() []string { return slices.Clone(c.names) }

// Links from base to tip, both included, in the order of Poses. The slice is a copy.
func (c *Chain) Links() []string { return slices.Clone(c.links) }

// maxFrames that are kept on the stack.
const maxFrames = 16

// FK is the pose of the tip in the base's frame. It does not allocate. The error is a *PositionsError.
func (c *Chain) FK(q []float64) (spatial.Transform, error) {
	if err := CheckPositions(c.joints, q); err != nil {
		return spatial.Transform{}, err
	}
	t := spatial.Transform{Rotation: quat.Number{Real: 1}}
	for i := 1; i < len(c.frames); i++ {
		f := &c.frames[i]
		f.pose(&t, &t, f.Factor*q[f.Joint]+f.Offset)
	}
	return t.Compose(c.end), nil
}

// Poses of all Links in the base's frame, appended to dst[:0]. It allocates only where dst has no room. The error is a *PositionsError.
func (c *Chain) Poses(dst []spatial.Transform, q []float64) ([]spatial.Transform, error) {
	if err := CheckPositions(c.joints, q); err != nil {
		return nil, err
	}
	var room [maxFrames]spatial.Transform
	frames := c.frameRoom(room[:])
	c.framePoses(frames, q)
	dst = dst[:0]
	for _, p := range c.places {
		dst = append(dst, frames[p.frame].Compose(p.pose))
	}
	return dst, nil
}

func (c *Chain) frameRoom(room []spatial.Transform) []spatial.Transform {
	if len(c.frames) > len(room) {
		return make([]spatial.Transform, len(c.frames))
	}
	return room[:len(c.frames)]
}

func (c *Chain) framePoses(dst []spatial.Transform, q []float64) {
	dst[0] = spatial.Transform{Rotation: quat.Number{Real: 1}}
	for i := 1; i < len(c.frames); i++ {
		f := &c.frames[i]
		f.pose(&dst[i], &dst[f.Parent], f.Factor*q[f.Joint]+f.Offset)
	}
}

// Jacobian of the tip's origin, in the base's frame: rows vx vy vz wx wy wz per unit of each joint's speed, a column per joint. dst is empty, or 6 by the number
// of joints; it does not allocate then. The error is a *PositionsError, or ErrOptions for another size.
func (c *Chain) Jacobian(dst *mat.Dense, q []float64) error {
	if err := CheckPositions(c.joints, q); err != nil {
		return err
	}
	n := len(c.joints)
	if dst.IsEmpty() {
		dst.ReuseAs(6, n)
	}
	if rows, cols := dst.Dims(); rows != 6 || cols != n {
		return fmt.Errorf("%w: room for a Jacobian of %d by %d, is 6 by %d", ErrOptions, rows, cols, n)
	}
	var room [maxFrames]spatial.Transform
	frames := c.frameRoom(room[:])
	c.framePoses(frames, q)
	raw := dst.RawMatrix()
	for row := range 6 {
		clear(raw.Data[row*raw.Stride : row*raw.Stride+n])
	}
	c.jacobian(raw.Data, raw.Stride, frames, c.tipPose(frames).Translation)
	return nil
}

func (c *Chain) tipPose(frames []spatial.Transform) spatial.Transform {
	return frames[len(frames)-1].Compose(c.end)
}

// jacobian adds the columns to data, rows stride apart, which is zero before.
func (c *Chain) jacobian(data []float64, stride int, frames []spatial.Transform, tip r3.Vec) {
	for i := 1; i < len(c.frames); i++ {
		f := &c.frames[i]
		axis := r3.Scale(f.Factor, spatial.Rotate(frames[i].Rotation, f.Axis))
		col := data[f.Joint:]
		if f.Slides {
			col[0] += axis.X
			col[stride] += axis.Y
			col[2*stride] += axis.Z
			continue
		}
		v := r3.Cross(axis, r3.Sub(tip, frames[i].Translation))
		col[0] += v.X
		col[stride] += v.Y
		col[2*stride] += v.Z
		col[3*stride] += axis.X
		col[4*stride] += axis.Y
		col[5*stride] += axis.Z
	}
}
