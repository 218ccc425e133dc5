package validate

import (
	"time"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/limits"
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

// JointState is what was measured of joints.
type JointState struct {
	Names      []string // may hold more joints than are asked for, in any order
	Positions  []float64
	Velocities []float64 // empty: not measured, and taken for zero
	Stamp      int64     // ns, of the measurement; 0: there is none
}

// Arm is what is known of an arm when a trajectory is judged. Numbers that are 0 take the default in their comment.
type Arm struct {
	// Joints in the order of Scene's configurations: limits with velocity and acceleration.
	Joints []limits.Joint
	// Scene of the robot; nil refuses every trajectory. Its world is placed in the robot's base frame (see World.Scene).
	Scene *collision.Scene
	State JointState

	StartTolerance float64 // rad or m between the measured state and a point at time zero (0.05)
	LimitTolerance float64 // rad or m by which a measured position may be beyond its limit (0.02)
	StepLag        float64 // rad or m a joint may lag behind where a trajectory without velocities changes its speed at once (0.1)
}

// Gripper is what is known of a gripper.
type Gripper struct {
	Open, Closed float64 // m, positions at the ends, either may be the greater
	MaxEffort    float64 // N
}
