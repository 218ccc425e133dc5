package validate

import (
	"math"
	"time"

	"agent_node/pkg/geometry/spatial"
)

// Command is one of Twist, PoseGoal, Route, Path, Drive, Turn, JointTrajectory, GripperCommand and WrenchCommand.
type Command interface {
	command()
}

// Stamp is a builtin_interfaces/Time as it stands in a message; the zero Stamp means "now" as ROS has it.
type Stamp struct {
	Sec     int32
	Nanosec uint32
}

// StampOf splits nanoseconds. A time that a stamp cannot hold becomes the last or first one that it can, which no check lets pass.
func StampOf(ns int64) Stamp {
	s := ns / nanosecondsPerSecond
	r := ns % nanosecondsPerSecond
	if r < 0 {
		s, r = s-1, r+nanosecondsPerSecond
	}
	return Stamp{Sec: int32(min(max(s, math.MinInt32), math.MaxInt32)), Nanosec: uint32(r)}
}

// Ns is the stamp in nanoseconds.
func (s Stamp) Ns() int64 { return int64(s.Sec)*1e9 + int64(s.Nanosec) }

// IsZero reports whether the stamp is not set.
func (s Stamp) IsZero() bool { return s == Stamp{} }

// Twist is a velocity for the base (geometry_msgs/Twist and TwistStamped).
type Twist struct {
	Twist spatial.Twist
	Frame string // empty or the base frame: a body twist; anything else is refused
	Stamp Stamp
	// Duration for which it will be applied before it ends or is checked again: in a stream that checks each twist, the time between
	// two of them. 0: World.CommandTimeout, the time for which it goes on if nobody says anything any more.
	Duration time.Duration
}

// PoseGoal is a pose that somebody else will drive to (geometry_msgs/PoseStamped, the goal of nav2_msgs/NavigateToPose).
type PoseGoal struct {
	Frame string
	Stamp Stamp
	Pose  spatial.Pose
}

// Path is a path that a planner made (nav_msgs/Path), driven from the measured pose through all of its poses.
type Path struct {
	Frame string
	Stamp Stamp
	Poses []spatial.Pose
	// AlongPath: the orientations of all poses but the last say nothing (many planners leave them empty); the base heads along the path.
	AlongPath bool
	// Times from the start, one per pose, when the path has a schedule; else nil.
	Times []time.Duration
	// Goal that the path is for, in Frame; nil: not compared.
	Goal *spatial.Pose
}

// Drive goes straight ahead (Distance > 0) or back from the measured pose.
type Drive struct {
	Distance float64 // m
	Speed    float64 // m/s, not negative; 0: the base's own
}

// Turn turns in place from the measured pose, left is positive; may exceed pi.
type Turn struct {
	Angle float64 // rad
	Speed float64 // rad/s, not negative; 0: the base's own
}

func (Twist) command()    {}
func (PoseGoal) command() {}
func (Path) command()     {}
func (Drive) command()    {}
func (Turn) command()     {}
