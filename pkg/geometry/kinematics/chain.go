package kinematics

import (
	"gonum.org/v1/gonum/mat"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

// Chain is the way from one link to another one above it in the tree.
type Chain struct {
	base, tip string
	joints    []limits.Joint
}

// NewChain makes the chain from a base link to a tip link that hangs on it; empty: the root, the only leaf. Errors wrap ErrModel.
func NewChain(m *urdf.Model, base, tip string) (*Chain, error) { return nil, ErrModel }

// Base link.
func (c *Chain) Base() string { return c.base }

// Tip link.
func (c *Chain) Tip() string { return c.tip }

// Joints that move, from base to tip. Accelerations are 0: URDF has none. The slice is a copy.
func (c *Chain) Joints() []limits.Joint { return append([]limits.Joint(nil), c.joints...) }

// Names of the joints, in their order.
func (c *Chain) Names() []string { return nil }

// Links from base to tip, both included, in the order of Poses.
func (c *Chain) Links() []string { return nil }

// FK is the pose of the tip in the base's frame. The error is a *PositionsError.
func (c *Chain) FK(q []float64) (spatial.Transform, error) { return spatial.Transform{}, ErrModel }

// Poses of all Links in the base's frame, appended to dst[:0].
func (c *Chain) Poses(dst []spatial.Transform, q []float64) ([]spatial.Transform, error) {
	return nil, ErrModel
}

// Jacobian of the tip's origin, in the base's frame: rows vx vy vz wx wy wz, a column per joint. dst is empty, or 6 by the number of joints.
func (c *Chain) Jacobian(dst *mat.Dense, q []float64) error { return ErrModel }

// IK finds joint positions within the limits for which the tip is at target (in the base's frame). It starts from seed (nil: the middle of
// the limits) and gives the first solution found, which is most often the one next to the seed. An error is an *UnreachableError, a
// *PositionsError, or wraps ErrOptions.
func (c *Chain) IK(target spatial.Transform, seed []float64, o Options) ([]float64, error) {
	return nil, ErrOptions
}

// Solutions finds up to n different solutions, the ones next to the seed first. Errors are those of IK.
func (c *Chain) Solutions(target spatial.Transform, seed []float64, n int, o Options) ([][]float64, error) {
	return nil, ErrOptions
}
