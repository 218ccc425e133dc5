package trajectory

import (
	"errors"
	"time"

	"agent_node/pkg/geometry/limits"
)

// ErrPath is wrapped by errors about a path that no trajectory can be made of.
var ErrPath = errors.New("trajectory: bad path")

// FromPath makes a trajectory along a path of joint configurations: straight in joint space between them, at rest at each of them, as
// fast as the limits (velocity and acceleration, both needed) times speed allow; speed is in (0, 1], 0 means 1. It begins with the path's first configuration at time
// zero. Configurations that repeat the one before are passed over; a path that goes nowhere is a trajectory of one point.
func FromPath(path [][]float64, joints []limits.Joint, speed float64) (Trajectory, error) {
	return Trajectory{}, ErrPath
}

// Slowed is the trajectory stretched in time by a factor of 1 or more: the same curve, velocities and accelerations to match.
func (t Trajectory) Slowed(factor float64) Trajectory { return t }

// Start is the state from which a controller interpolates to the first point.
type Start struct {
	Positions  []float64     // in the order of Trajectory.Joints
	Velocities []float64     // empty: at rest
	Time       time.Duration // at which the joints are there, on the trajectory's clock
}

// Curve is what a controller makes of a trajectory: a polynomial per joint and segment.
type Curve struct{}

// NewCurve joins start and points. The trajectory's form must be sound (see Check).
func NewCurve(start Start, t Trajectory) (*Curve, error) { return nil, ErrPath }

// At writes positions, velocities and accelerations at a time; any of them may be nil. Before the start and after the end the joints are at rest there.
func (c *Curve) At(t time.Duration, q, v, a []float64) {}

// Duration of the curve, from its start to its end.
func (c *Curve) Duration() time.Duration { return 0 }
