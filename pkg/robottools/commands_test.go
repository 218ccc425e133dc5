package robottools_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/robottools"
)

// commandCase is a message as somebody would send it, and what is to be said of it.
type commandCase struct {
	ID, Why, Actuator string
	InterfaceType     string `json:"interface_type"`
	MessageJSON       string `json:"message_json"`
	Unsafe            bool
	Rule, Subject     string
}

var (
	clockToken  = regexp.MustCompile(`<now([+-]\d+)?>`)
	repeatToken = regexp.MustCompile(`@repeat\((.*?),(\d+)\)@`)
)

// message has the clock's tokens filled in and repetitions written out.
func (c commandCase) message(now time.Time) string {
	m := clockToken.ReplaceAllStringFunc(c.MessageJSON, func(s string) string {
		n, _ := strconv.ParseInt(strings.Trim(s, "<now>"), 10, 64)
		return strconv.FormatInt(now.Unix()+n, 10)
	})
	m = strings.ReplaceAll(m, "<nanosec>", strconv.Itoa(now.Nanosecond()))
	return repeatToken.ReplaceAllStringFunc(m, func(s string) string {
		p := repeatToken.FindStringSubmatch(s)
		n, _ := strconv.Atoi(p[2])
		return strings.Repeat(p[1], n)
	})
}

func readCases(t *testing.T, file string) []commandCase {
	t.Helper()
	f := must1(os.Open(file))(t)
	defer f.Close()
	var out []commandCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c commandCase
		must(t, json.Unmarshal(lines.Bytes(), &c))
		out = append(out, c)
	}
	return out
}

// TestCommandsAreJudgedByRule sends every case to the built-in robot's profile: nothing unsafe is valid, nothing safe is refused,
// what is offered instead is valid, and nothing at all reaches an actuator.
func TestCommandsAreJudgedByRule(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t)
		r.ok("get_pose", "{}")
		time.Sleep(time.Second)
		before := r.bot.Counters()
		cases := append(readCases(t, "testdata/commands.jsonl"), more...)
		for _, c := range cases {
			ask := func(message string) robottools.Verdict {
				return r.robot.ValidateCommand(context.Background(), robottools.RawCommand{Type: c.InterfaceType, JSON: message, Actuator: c.Actuator})
			}
			v := ask(c.message(time.Now()))
			valid := len(v.Findings) == 0
			if valid == c.Unsafe {
				t.Errorf("%s (%s): valid %v: %v", c.ID, c.Why, valid, v.Findings)
			}
			if c.Rule != "" && !slices.ContainsFunc(v.Findings, func(f geometry.Finding) bool {
				return f.Rule == c.Rule && (c.Subject == "" || f.Subject == c.Subject) && f.Message != ""
			}) {
				t.Errorf("%s (%s): rule %q about %q is not among %v", c.ID, c.Why, c.Rule, c.Subject, v.Findings)
			}
			if v.NearestJSON != "" {
				if again := ask(v.NearestJSON); len(again.Findings) > 0 {
					t.Errorf("%s (%s): the proposal %s is refused: %v", c.ID, c.Why, v.NearestJSON, again.Findings)
				}
			} else if c.Rule == "velocity" || c.Rule == "position" || strings.HasSuffix(c.Rule, "r velocity") {
				t.Errorf("%s (%s): no proposal", c.ID, c.Why)
			}
		}
		for name, n := range r.bot.Counters() {
			if n != before[name] {
				t.Errorf("counter %s went from %d to %d", name, before[name], n)
			}
		}
	})
}

const jointNames = `["shoulder_pan_joint","shoulder_lift_joint","elbow_joint","wrist_1_joint","wrist_2_joint","wrist_3_joint"]`

// slow is a trajectory that is valid, with something added to it.
func slow(extra string, time string) string {
	return fmt.Sprintf(`{"trajectory":{"joint_names":%s,"points":[{"positions":[0.1,-1.85,2.7,-2.4208,-1.5708,0.1],"time_from_start":%s}]}%s}`, jointNames, time, extra)
}

const (
	follow = "control_msgs/action/FollowJointTrajectory"
	secs   = `{"sec":2,"nanosec":0}`
)

// more are cases of the same kinds about what else the messages can hold.
var more = []commandCase{
	{ID: "goal", Why: "the goal's own type", InterfaceType: follow + "_Goal", Actuator: "arm", MessageJSON: slow("", secs)},
	{ID: "feedback", Why: "no command", InterfaceType: follow + "_Feedback", Actuator: "arm", MessageJSON: `{}`, Unsafe: true, Rule: "type"},
	{
		ID: "multi", Why: "joints with several degrees of freedom", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "joint names",
		MessageJSON: slow(`,"multi_dof_trajectory":{"joint_names":["virtual_joint"]}`, secs),
	},
	{
		ID: "multi points", Why: "points for them without a name", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "length",
		MessageJSON: slow(`,"multi_dof_trajectory":{"points":[{}]}`, secs),
	},
	{
		ID: "component", Why: "a tolerance for them", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "tolerance",
		MessageJSON: slow(`,"component_path_tolerance":[{"joint_name":"virtual_joint","component":1}]`, secs),
	},
	{
		ID: "nanosec", Why: "a full second of nanoseconds in a point's time", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "stamp",
		Subject: "trajectory.points.time_from_start.nanosec", MessageJSON: slow("", `{"sec":2,"nanosec":1000000000}`),
	},
	{
		ID: "tolerance time", Why: "the same in the goal's tolerance", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "stamp",
		MessageJSON: slow(`,"goal_time_tolerance":{"sec":0,"nanosec":4294967295}`, secs),
	},
	{
		ID: "header time", Why: "the same in the header", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "stamp",
		MessageJSON: `{"trajectory":{"header":{"stamp":{"sec":1,"nanosec":1000000000}},"joint_names":` + jointNames + `,"points":[{"positions":[0.1,-1.85,2.7,-2.42,-1.57,0.1],"time_from_start":{"sec":2}}]}}`,
	},
	{
		ID: "topic", Why: "a bare trajectory", InterfaceType: "trajectory_msgs/msg/JointTrajectory", Actuator: "arm",
		MessageJSON: `{"joint_names":` + jointNames + `,"points":[{"positions":[0.1,-1.85,2.7,-2.42,-1.57,0.1],"time_from_start":{"sec":2}}]}`,
	},
	{
		ID: "fast topic", Why: "a bare one that is too fast", InterfaceType: "trajectory_msgs/msg/JointTrajectory", Actuator: "arm", Unsafe: true, Rule: "velocity", Subject: "shoulder_pan_joint",
		MessageJSON: `{"joint_names":` + jointNames + `,"points":[{"positions":[-0.5,-1.85,2.7,-2.42,-1.57,0.1],"velocities":[0,0,0,0,0,0],"time_from_start":{"sec":0,"nanosec":500000000}}]}`,
	},
	{
		ID: "into the base", Why: "the arm folds into the robot's body", InterfaceType: follow, Actuator: "arm", Unsafe: true, Rule: "self-collision",
		MessageJSON: `{"trajectory":{"joint_names":` + jointNames + `,"points":[{"positions":[0,0.4,2.7,-2.42,-1.57,0],"time_from_start":{"sec":9}}]}}`,
	},
	{ID: "twist to the arm", Why: "a message of another actuator's", InterfaceType: "geometry_msgs/msg/Twist", Actuator: "arm", MessageJSON: `{}`, Unsafe: true, Rule: "type"},
	{ID: "grip", Why: "a bare command", InterfaceType: "control_msgs/msg/GripperCommand", Actuator: "gripper", MessageJSON: `{"position":0.04,"max_effort":10}`},
	{ID: "grip hard", Why: "more force than there is", InterfaceType: "control_msgs/msg/GripperCommand", Actuator: "gripper", MessageJSON: `{"position":0.04,"max_effort":1000}`, Unsafe: true, Rule: "effort"},
	{ID: "parallel", Why: "a named joint", InterfaceType: "control_msgs/action/ParallelGripperCommand", Actuator: "gripper", MessageJSON: `{"command":{"name":["finger_joint"],"position":[0.04]}}`},
	{
		ID: "parallel wide", Why: "wider than it opens", InterfaceType: "control_msgs/action/ParallelGripperCommand", Actuator: "gripper", Unsafe: true, Rule: "position",
		MessageJSON: `{"command":{"name":["finger_joint"],"position":[0.4]}}`,
	},
	{ID: "parallel nothing", Why: "names no joint", InterfaceType: "control_msgs/action/ParallelGripperCommand", Actuator: "gripper", MessageJSON: `{}`, Unsafe: true, Rule: "joint names"},
	{
		ID: "parallel other", Why: "names another joint", InterfaceType: "control_msgs/action/ParallelGripperCommand", Actuator: "gripper", Unsafe: true, Rule: "joint names",
		MessageJSON: `{"command":{"name":["elbow_joint"],"position":[0.04]}}`,
	},
	{ID: "ahead", Why: "Nav2's straight drive", InterfaceType: "nav2_msgs/action/DriveOnHeading", Actuator: "base", MessageJSON: `{"target":{"x":0.5},"speed":0.2}`},
	{ID: "ahead fast", Why: "faster than the base", InterfaceType: "nav2_msgs/action/DriveOnHeading", Actuator: "base", MessageJSON: `{"target":{"x":0.5},"speed":2}`, Unsafe: true, Rule: "linear velocity"},
	{ID: "ahead wall", Why: "through the wall", InterfaceType: "nav2_msgs/action/DriveOnHeading", Actuator: "base", MessageJSON: `{"target":{"x":5.5},"speed":0.2}`, Unsafe: true, Rule: "swept path"},
	{ID: "sideways", Why: "a straight drive to the side", InterfaceType: "nav2_msgs/action/DriveOnHeading", Actuator: "base", MessageJSON: `{"target":{"y":0.5},"speed":0.2}`, Unsafe: true, Rule: "range"},
	{ID: "signs", Why: "distance ahead, speed back", InterfaceType: "nav2_msgs/action/DriveOnHeading", Actuator: "base", MessageJSON: `{"target":{"x":0.5},"speed":-0.2}`, Unsafe: true, Rule: "range"},
	{ID: "back", Why: "a little backwards", InterfaceType: "nav2_msgs/action/BackUp", Actuator: "base", MessageJSON: `{"target":{"x":0.1},"speed":0.1}`},
	{ID: "back far", Why: "backwards whatever the sign: into the wall", InterfaceType: "nav2_msgs/action/BackUp", Actuator: "base", MessageJSON: `{"target":{"x":4},"speed":0.1}`, Unsafe: true, Rule: "swept path"},
	{ID: "spin", Why: "a quarter turn", InterfaceType: "nav2_msgs/action/Spin", Actuator: "base", MessageJSON: `{"target_yaw":1.57}`},
	{ID: "spin on", Why: "a thousand turns", InterfaceType: "nav2_msgs/action/Spin", Actuator: "base", MessageJSON: `{"target_yaw":6283}`, Unsafe: true, Rule: "range"},
	{
		ID: "through", Why: "one of two poses in the zone", InterfaceType: "nav2_msgs/action/NavigateThroughPoses", Actuator: "base", Unsafe: true, Rule: "keep-out",
		MessageJSON: `{"poses":[{"header":{"frame_id":"map"},"pose":{"position":{"x":1},"orientation":{"w":1}}},{"header":{"frame_id":"map"},"pose":{"orientation":{"w":1}}}]}`,
	},
	{ID: "through none", Why: "no poses", InterfaceType: "nav2_msgs/action/NavigateThroughPoses", Actuator: "base", MessageJSON: `{}`, Unsafe: true, Rule: "empty"},
	{ID: "path", Why: "an empty path", InterfaceType: "nav2_msgs/action/FollowPath", Actuator: "base", MessageJSON: `{}`, Unsafe: true, Rule: "empty"},
	{ID: "deep list", Why: "brackets without end", InterfaceType: "geometry_msgs/msg/Twist", Actuator: "base", MessageJSON: `@repeat([,100000)@`, Unsafe: true, Rule: "json"},
	{ID: "brackets in text", Why: "they are no depth", InterfaceType: "geometry_msgs/msg/TwistStamped", Actuator: "base", MessageJSON: `{"header":{"frame_id":"@repeat([,100)@"}}`},
}
