package validate

import (
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
)

// JointTrajectory is a motion of the arm (the goal of control_msgs/FollowJointTrajectory, trajectory_msgs/JointTrajectory), from the measured state on.
type JointTrajectory struct {
	Stamp Stamp // when it starts; zero: now
	trajectory.Trajectory
	PathTolerance, GoalTolerance []Tolerance
	GoalTimeTolerance            time.Duration
}

// Tolerance of a joint (control_msgs/JointTolerance).
type Tolerance struct {
	Joint                            string
	Position, Velocity, Acceleration float64 // 0: the controller's; negative: none
}

// GripperCommand opens or closes a gripper (control_msgs/GripperCommand).
type GripperCommand struct {
	Position  float64 // m
	MaxEffort float64 // N; 0: the gripper's own
}

func (JointTrajectory) command() {}
func (GripperCommand) command()  {}

// JointState is what was measured of joints (sensor_msgs/JointState).
type JointState struct {
	Names      []string // may hold more joints than are asked for, in any order
	Positions  []float64
	Velocities []float64 // empty: not measured, and taken for zero
	Stamp      int64     // ns, of the measurement; 0: there is none
}

// Arm is what is known of an arm when a trajectory is judged. It needs no base: nothing else of a World but Now, MaxAge and the stamps' limits is looked at. Numbers that
// are 0 take the default in their comment.
type Arm struct {
	// Joints in the order of Scene's configurations: limits with velocity and acceleration, both needed.
	Joints []limits.Joint
	// Scene of the robot, in the base's frame (World.ToBase); nil refuses every trajectory.
	Scene *collision.Scene
	State JointState
	// Chain of joints of the arm to its tip, and what the tip may do, against the base; Chain is needed where Tip limits anything.
	Chain *kinematics.Chain
	Tip   limits.Tip
	// Wrench is the most that may be asked for at the tip; without it, no Wrench command passes.
	Wrench limits.Wrench

	StartTolerance float64       // rad or m between the measured state and a trajectory that begins at time zero (0.05)
	LimitTolerance float64       // rad or m by which a measured position may be beyond its limit (0.02)
	StepLag        float64       // rad or m that a joint may lag behind where a trajectory without velocities changes its speed at once (0.1)
	StartLate      time.Duration // by which a stamped trajectory may have begun already (0.1 s)
}

// Gripper is what is known of a gripper.
type Gripper struct {
	Open, Closed float64 // m, positions at the ends, either may be the greater
	MaxEffort    float64 // N
}

func (a *Arm) startTolerance() float64  { return or(a.StartTolerance, 0.05) }
func (a *Arm) limitTolerance() float64  { return or(a.LimitTolerance, 0.02) }
func (a *Arm) stepLag() float64         { return or(a.StepLag, 0.1) }
func (a *Arm) startLate() time.Duration { return or(a.StartLate, 100*time.Millisecond) }

// Check reports what is wrong with the parts of an arm that come from configuration: one that fails refuses every trajectory.
func (a *Arm) Check() error {
	if a == nil {
		return fmt.Errorf("%w: there is no arm", ErrWorld)
	}
	if a.Scene == nil {
		return fmt.Errorf("%w: the arm has no scene: no collision can be judged", ErrWorld)
	}
	names := a.Scene.Robot().Joints()
	if len(names) != len(a.Joints) {
		return fmt.Errorf("%w: limits of %d joints, the scene moves %d", ErrWorld, len(a.Joints), len(names))
	}
	for i, j := range a.Joints {
		if j.Name != names[i] {
			return fmt.Errorf("%w: joint %d is %q, in the scene %q", ErrWorld, i, j.Name, names[i])
		}
		if err := j.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrWorld, err)
		}
		if j.Velocity == 0 || j.Acceleration == 0 {
			return fmt.Errorf("%w: joint %q: velocity limit %g, acceleration limit %g: both are needed", ErrWorld, j.Name, j.Velocity, j.Acceleration)
		}
	}
	if err := a.checkTip(); err != nil {
		return err
	}
	for _, f := range [...]struct {
		name  string
		value float64
	}{
		{"StartTolerance", a.StartTolerance}, {"LimitTolerance", a.LimitTolerance}, {"StepLag", a.StepLag}, {"StartLate", float64(a.StartLate)},
	} {
		if !(f.value >= 0 && spatial.Finite(f.value)) {
			return fmt.Errorf("%w: %s is %g, must be finite and not negative", ErrWorld, f.name, f.value)
		}
	}
	return nil
}

// checkTip: what the tip's limits need is there.
func (a *Arm) checkTip() error {
	if err := errors.Join(a.Tip.Check(), a.Wrench.Check()); err != nil {
		return fmt.Errorf("%w: %w", ErrWorld, err)
	}
	if a.Tip == (limits.Tip{}) {
		return nil
	}
	if a.Chain == nil {
		return fmt.Errorf("%w: the tip's speed is limited, and the chain of joints that leads to it is missing", ErrWorld)
	}
	_, err := newTipSpeed(a)
	return err
}

// Check reports the first number of a gripper that makes no sense.
func (g *Gripper) Check() error {
	if g == nil {
		return fmt.Errorf("%w: there is no gripper", ErrWorld)
	}
	if !spatial.Finite(g.Open) || !spatial.Finite(g.Closed) || g.Open == g.Closed {
		return fmt.Errorf("%w: gripper: open is %g m, closed %g m, must be finite and differ", ErrWorld, g.Open, g.Closed)
	}
	if !(g.MaxEffort > 0 && spatial.Finite(g.MaxEffort)) {
		return fmt.Errorf("%w: gripper: MaxEffort is %g N, must be finite and over 0", ErrWorld, g.MaxEffort)
	}
	return nil
}

// ToBase places bodies that are known in a frame into the base's, as it stands now: for the scene of an Arm. A frame that is unknown, or a transform that is
// too old, gives findings and no bodies.
func (w *World) ToBase(frame string, bodies []collision.Body) ([]collision.Body, []geometry.Finding) {
	const subject = "bodies"
	t, found := w.into(w.base(), frame, 0, subject, nil)
	if len(found) > 0 {
		return nil, found
	}
	out := make([]collision.Body, len(bodies))
	for i, b := range bodies {
		b.Pose = t.Compose(b.Pose)
		out[i] = b
	}
	return out, nil
}
