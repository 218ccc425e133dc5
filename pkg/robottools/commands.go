package robottools

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// commandReader turns a message into what the geometry layer judges, for one kind of actuator.
type commandReader struct {
	kind string // of the actuator: base, arm, gripper
	read func(*ros.Message, Actuator) asked
	// write puts a proposal into a copy of the message; false: it has none to offer.
	write func(*ros.Message, validate.Command) bool
}

// asked is a command, and what of the message the command has no place for.
type asked struct {
	command validate.Command
	found   []geometry.Finding
}

// readers by message type; an action's name stands for its goal.
var readers = map[string]commandReader{
	"geometry_msgs/msg/Twist": {"base", func(m *ros.Message, _ Actuator) asked {
		return asked{command: validate.Twist{Twist: twistOf(m)}}
	}, writeTwist},
	"geometry_msgs/msg/TwistStamped": {"base", func(m *ros.Message, _ Actuator) asked {
		return asked{command: validate.Twist{Twist: twistOf(m.Msg("twist")), Frame: m.Str("header.frame_id"), Stamp: stampOf(m)}}
	}, writeTwist},
	"geometry_msgs/msg/PoseStamped":         {"base", func(m *ros.Message, _ Actuator) asked { return asked{command: goalOf(m)} }, writeGoal},
	"nav2_msgs/action/NavigateToPose":       {"base", func(m *ros.Message, _ Actuator) asked { return asked{command: goalOf(m.Msg("pose"))} }, writeGoal},
	"nav2_msgs/action/NavigateThroughPoses": {"base", readRoute, writeRoute},
	"nav_msgs/msg/Path":                     {"base", func(m *ros.Message, _ Actuator) asked { return asked{command: stampedPath(m)} }, nil},
	"nav2_msgs/action/FollowPath":           {"base", func(m *ros.Message, _ Actuator) asked { return asked{command: stampedPath(m.Msg("path"))} }, nil},
	"nav2_msgs/action/DriveOnHeading":       {"base", readDrive, writeDrive},
	"nav2_msgs/action/BackUp":               {"base", readBackUp, writeDrive},
	"nav2_msgs/action/Spin": {"base", func(m *ros.Message, _ Actuator) asked {
		return asked{command: validate.Turn{Angle: m.Float("target_yaw")}, found: badDuration(m, "time_allowance", -1, nil)}
	}, writeSpin},
	"trajectory_msgs/msg/JointTrajectory":       {"arm", func(m *ros.Message, _ Actuator) asked { return readTrajectory(m, nil) }, writeTrajectory},
	"control_msgs/action/FollowJointTrajectory": {"arm", func(m *ros.Message, _ Actuator) asked { return readTrajectory(m.Msg("trajectory"), m) }, writeTrajectory},
	"geometry_msgs/msg/Wrench": {"arm", func(m *ros.Message, _ Actuator) asked {
		return asked{command: validate.WrenchCommand{Wrench: wrenchOf(m)}}
	}, writeWrench},
	"geometry_msgs/msg/WrenchStamped": {"arm", func(m *ros.Message, _ Actuator) asked {
		return asked{command: validate.WrenchCommand{Wrench: wrenchOf(m.Msg("wrench")), Frame: m.Str("header.frame_id"), Stamp: stampOf(m)}}
	}, writeWrench},
	"control_msgs/msg/GripperCommand":            {"gripper", func(m *ros.Message, _ Actuator) asked { return asked{command: gripperOf(m)} }, writeGripper},
	"control_msgs/action/GripperCommand":         {"gripper", func(m *ros.Message, _ Actuator) asked { return asked{command: gripperOf(m.Msg("command"))} }, writeGripper},
	"control_msgs/action/ParallelGripperCommand": {"gripper", readParallelGripper, writeParallelGripper},
}

// messageType of a command: a message, or the goal of an action under the action's name or its own.
func messageType(types ros.TypeSource, name string) (t *ros.Type, reader string, err error) {
	if strings.Contains(name, "/action/") {
		action := strings.TrimSuffix(name, "_Goal")
		a, err := types.Action(action)
		if err != nil {
			return nil, "", err
		}
		return a.Goal, action, nil
	}
	t, err = types.Message(name)
	return t, name, err
}

// readable are the types that can be judged for a kind of actuator.
func readable(kind string) []string {
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for name, r := range readers {
			if r.kind == kind && !yield(name, true) {
				return
			}
		}
	})))
}

func stampOf(m *ros.Message) validate.Stamp {
	return validate.Stamp{Sec: int32(m.Int("header.stamp.sec")), Nanosec: uint32(m.Int("header.stamp.nanosec"))}
}

func twistOf(m *ros.Message) spatial.Twist {
	return spatial.Twist{Linear: vec3(m.Msg("linear")), Angular: vec3(m.Msg("angular"))}
}

func wrenchOf(m *ros.Message) spatial.Wrench {
	return spatial.Wrench{Force: vec3(m.Msg("force")), Torque: vec3(m.Msg("torque"))}
}

// goalOf reads a geometry_msgs/PoseStamped.
func goalOf(m *ros.Message) validate.PoseGoal {
	return validate.PoseGoal{Frame: m.Str("header.frame_id"), Stamp: stampOf(m), Pose: poseOf(m.Msg("pose"))}
}

func readRoute(m *ros.Message, _ Actuator) asked {
	var c validate.Route
	for _, p := range routePoses(m) {
		c.Goals = append(c.Goals, goalOf(p))
	}
	return asked{command: c}
}

// routePoses are the poses of a NavigateThroughPoses goal: a list, in newer distributions in a message of its own (nav_msgs/Goals).
func routePoses(m *ros.Message) []*ros.Message {
	if f := m.Type.Fields[m.Type.FieldIndex("poses")]; f.Array == ros.Single {
		return m.Msgs("poses.goals")
	}
	return m.Msgs("poses")
}

func stampedPath(m *ros.Message) validate.Path {
	p := pathOf(m)
	p.Stamp = stampOf(m)
	p.AlongPath = false
	return p
}

// readDrive reads a DriveOnHeading goal: Nav2 wants distance and speed to have the same sign, and nothing sideways.
func readDrive(m *ros.Message, _ Actuator) asked {
	x, speed := m.Float("target.x"), m.Float("speed")
	found := straightOnly(m)
	if x*speed < 0 {
		found = append(found, geometry.New(geometry.RuleRange, "speed", -1, speed, 0, "m/s", "must have the sign of target.x"))
	}
	return asked{command: validate.Drive{Distance: x, Speed: math.Abs(speed)}, found: found}
}

// readBackUp reads a BackUp goal: backwards, whatever the signs are.
func readBackUp(m *ros.Message, _ Actuator) asked {
	return asked{command: validate.Drive{Distance: -math.Abs(m.Float("target.x")), Speed: math.Abs(m.Float("speed"))}, found: straightOnly(m)}
}

func straightOnly(m *ros.Message) []geometry.Finding {
	found := badDuration(m, "time_allowance", -1, nil)
	for _, axis := range [...]string{"target.y", "target.z"} {
		if v := m.Float(axis); v != 0 {
			found = append(found, geometry.New(geometry.RuleRange, axis, -1, v, 0, "m", "must be 0: the drive is straight"))
		}
	}
	return found
}

// badDuration appends a finding for a time or a duration that is none: a full second or more of nanoseconds.
func badDuration(m *ros.Message, path string, index int, into []geometry.Finding) []geometry.Finding {
	if n := m.Int(path + ".nanosec"); n > maxNanosec {
		into = append(into, geometry.New(geometry.RuleStamp, path+".nanosec", index, float64(n), maxNanosec, "ns",
			fmt.Sprintf("is %d ns: a time has at most %d", n, maxNanosec)))
	}
	return into
}

const maxNanosec = 999_999_999
