package robottools_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"agent_node/config"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
)

// opened is the built-in robot's profile with discovery and generic skills.
func opened(generic string) []byte {
	return []byte(strings.Replace(string(config.SimRobot), "\ntools:\n", "\ndiscovery: {deny: [/sim/**, '/sim_robot:sim.*']}\n"+generic+"\ntools:\n", 1))
}

func (r *rig) answer(name, args string) map[string]any {
	r.t.Helper()
	var out map[string]any
	must(r.t, json.Unmarshal([]byte(r.ok(name, args).Content), &out))
	return out
}

// names of a list's rows.
func names(v any) string {
	var out []string
	rows, _ := v.([]any)
	for _, row := range rows {
		m, _ := row.(map[string]any)
		n, _ := m["name"].(string)
		out = append(out, n)
	}
	return strings.Join(out, " ")
}

func TestDiscoveryTellsWhatIsThere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRigOf(t, opened(""))
		r.ok("get_pose", "{}")
		for _, x := range []struct{ tool, args, key, has, lacks string }{
			{"list_topics", `{}`, "topics", "/odom", "/sim/"},
			{"list_topics", `{"contains":"battery"}`, "topics", "/battery_state", "/odom"},
			{"list_services", `{}`, "services", "/sim_robot", "get_parameters"},
			{"list_actions", `{}`, "actions", "/navigate_to_pose", "_action"},
			{"list_nodes", `{}`, "nodes", "/sim_robot", "/sim/"},
			{"list_parameters", `{"node":"/sim_robot"}`, "parameters", "fault.drift", "sim.teleport"},
		} {
			got := r.answer(x.tool, x.args)
			list := names(got[x.key])
			if x.tool != "list_services" && !strings.Contains(list, x.has) || strings.Contains(list, x.lacks) {
				t.Errorf("%s(%s): %s", x.tool, x.args, list)
			}
		}
		if got := r.answer("show_interface", `{"type":"nav2_msgs/action/NavigateToPose"}`); !strings.Contains(got["definition"].(string), "geometry_msgs/PoseStamped pose") && !strings.Contains(got["definition"].(string), "geometry_msgs/msg/PoseStamped pose") {
			t.Errorf("%v", got)
		}
		if got := r.answer("get_parameter", `{"node":"/sim_robot","name":"seed"}`); got["value"] != 7.0 {
			t.Errorf("%v", got)
		}
		odom := r.answer("sample_topic", `{"topic":"/odom"}`)
		if m, _ := odom["message"].(map[string]any); m["child_frame_id"] != "base_link" || odom["note"] != nil {
			t.Errorf("%v", odom)
		}
		grid := r.ok("sample_topic", `{"topic":"/map"}`).Content
		if len(grid) > 7000 || !strings.Contains(grid, "occupied") || !strings.Contains(grid, "thumbnail") {
			t.Errorf("%d bytes: %s", len(grid), grid)
		}
		if got := r.answer("topic_rate", `{"topic":"/odom","seconds":2}`); math.Abs(got["rate_hz"].(float64)-50) > 2 {
			t.Errorf("%v", got)
		}
		for _, x := range []struct {
			tool, args string
			kind       tool.ErrorKind
			says       string
		}{
			{"sample_topic", `{"topic":"/nowhere"}`, tool.PreconditionFailed, "no topic /nowhere"},
			{"sample_topic", `{"topic":"/sim/ground_truth"}`, tool.PreconditionFailed, "no topic /sim/ground_truth"},
			{"topic_rate", `{"topic":"/sim/counters"}`, tool.PreconditionFailed, "no topic"},
			{"sample_topic", `{"topic":"/cmd_vel"}`, tool.Failed, "no message on /cmd_vel within 5 s"},
			{"get_parameter", `{"node":"/sim_robot","name":"sim.teleport"}`, tool.PreconditionFailed, "no parameter"},
			{"get_parameter", `{"node":"/nobody","name":"x"}`, tool.PreconditionFailed, "no node /nobody"},
			{"show_interface", `{"type":"no_msgs/msg/Such"}`, tool.PreconditionFailed, "no type no_msgs/msg/Such"},
		} {
			if res := r.call(x.tool, x.args); res.OK || res.ErrorKind != x.kind || !strings.Contains(res.Content, x.says) {
				t.Errorf("%s(%s): %s %s", x.tool, x.args, res.ErrorKind, res.Content)
			}
		}
		if n := r.bot.Counters(); n["/cmd_vel"] != 0 {
			t.Errorf("looking moved something: %v", n)
		}
	})
}

// A camera is listened to while it is asked for, and for a while after: its messages are most of what a node could do.
func TestHeavyTopicsAreHeardOnlyWhenWanted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		look := "\n  look:\n    class: query\n    description: A picture.\n    binding: {topic: {name: /camera, type: sensor_msgs/msg/Image, max_age: 1.0}}\n"
		r := newRigOf(t, []byte(strings.Replace(string(config.SimRobot), "\ntools:\n", "\ntools:\n"+look, 1)))
		pub := must1(r.peer.CreatePublisher("/camera", "sensor_msgs/msg/Image", ros.SensorQoS()))(t)
		over := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				m := ros.New(pub.Type()).With("width", uint32(4)).With("height", uint32(2)).With("encoding", "mono8").With("step", uint32(4)).With("data", []uint8{0, 0, 255, 255, 0, 0, 255, 255})
				m.SetStamp("header.stamp", r.peer.Clock().Now())
				must(t, pub.Publish(m))
				select {
				case <-over:
					return
				case <-time.After(30 * time.Millisecond):
				}
			}
		}()
		defer func() { close(over); <-done }()
		listeners := func() int { return len(must1(r.peer.Graph().Subscriptions("/camera"))(t)) }
		if n := listeners(); n != 0 {
			t.Errorf("%d subscriptions before anybody asked", n)
		}
		if got := r.answer("look", "{}"); got["width"] != 4.0 {
			t.Errorf("%v", got)
		}
		if n := listeners(); n == 0 {
			t.Error("it is given up at once")
		}
		time.Sleep(10 * time.Second)
		r.ok("look", "{}")
		time.Sleep(15 * time.Second)
		if n := listeners(); n == 0 {
			t.Error("a second look did not keep it")
		}
		time.Sleep(10 * time.Second)
		if n := listeners(); n != 0 {
			t.Errorf("%d subscriptions after it was left alone", n)
		}
	})
}

// Without their sections of the profile there are neither.
func TestDiscoveryAndGenericSkillsAreOffByDefault(t *testing.T) {
	p := must1(robottools.Load("sim_robot.yaml", config.SimRobot))(t)
	if made := p.MadeTools(); len(made) != 0 {
		t.Errorf("%v", made)
	}
}

const generic = `generic:
  publish_topic:
    - {name: /cmd_vel, type: geometry_msgs/msg/Twist, actuator: base}
    - {name: /speech, type: std_msgs/msg/String, requires: {"it is too long to be said": "size(msg.data) < 20"}}
    - {name: /light, type: std_msgs/msg/Float64}
  call_service:
    - {name: /beep, type: std_srvs/srv/SetBool}
  send_action_goal:
    - {name: /navigate_to_pose, type: nav2_msgs/action/NavigateToPose, actuator: base}
    - {name: /gripper_controller/gripper_cmd, type: control_msgs/action/GripperCommand, actuator: gripper}
    - {name: /compute_path_to_pose, type: nav2_msgs/action/ComputePathToPose}
  set_parameter:
    - {node: /sim_robot, name: fault.drift, min: 0.0, max: 0.05}
    - {node: /sim_robot, name: fault.nan_odom, one_of: [false]}
    - {node: /sim_robot, name: seed}
`

func TestGenericSkillsSendWhatIsListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRigOf(t, opened(generic))
		heard := make(chan string, 10)
		must1(r.peer.CreateSubscription("/speech", "std_msgs/msg/String", ros.DefaultQoS(), func(m ros.Received) { heard <- m.Message.Str("data") }))(t)
		beep := must1(r.peer.Types().Service("std_srvs/srv/SetBool"))(t)
		must1(r.peer.CreateService("/beep", "std_srvs/srv/SetBool", func(_ context.Context, q *ros.Message) (*ros.Message, error) {
			return ros.New(beep.Response).With("success", q.Bool("data")).With("message", "beeped"), nil
		}))(t)
		r.ok("get_pose", "{}")

		before := r.bot.Truth().Pose
		r.ok("publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":0.2}},"seconds":2}`)
		if d := r.bot.Truth().Pose.DistanceTo(before); d < 0.25 || d > 0.5 {
			t.Errorf("2 s at 0.2 m/s: moved %g m", d)
		}
		turned := r.bot.Truth().Pose.Yaw
		r.ok("publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":0.1},"angular":{"z":0.3}},"seconds":1.5}`)
		if d := math.Abs(r.bot.Truth().Pose.Yaw - turned); d < 0.2 {
			t.Errorf("an arc turned by %g rad", d)
		}
		r.ok("publish_topic", `{"topic":"/speech","message":{"data":"hello"}}`)
		if said := <-heard; said != "hello" {
			t.Errorf("%q", said)
		}
		if got := r.answer("call_service", `{"service":"/beep","request":{"data":true}}`); got["response"].(map[string]any)["message"] != "beeped" {
			t.Errorf("%v", got)
		}
		r.ok("send_action_goal", `{"action":"/navigate_to_pose","goal":{"pose":{"header":{"frame_id":"map"},"pose":{"position":{"x":-1.6,"y":-0.5},"orientation":{"w":1}}}}}`)
		if p := r.bot.Truth().Pose; math.Hypot(p.X+1.6, p.Y+0.5) > 0.3 {
			t.Errorf("it stands at %+v", p)
		}
		r.ok("send_action_goal", `{"action":"/gripper_controller/gripper_cmd","goal":{"command":{"position":0.02,"max_effort":10}}}`)
		path := r.answer("send_action_goal", `{"action":"/compute_path_to_pose","goal":{"goal":{"header":{"frame_id":"map"},"pose":{"position":{"x":1.4,"y":1.5},"orientation":{"w":1}}}}}`)
		if path["status"] != "succeeded" || !strings.Contains(string(must1(json.Marshal(path))(t)), "length_m") {
			t.Errorf("%v", path)
		}
		if got := r.answer("set_parameter", `{"node":"/sim_robot","name":"fault.drift","value":0}`); got["was"] != 0.0 {
			t.Errorf("%v", got)
		}
	})
}

func TestGenericSkillsRefuseTheRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRigOf(t, opened(generic))
		must1(r.peer.CreateSubscription("/light", "std_msgs/msg/Float64", ros.DefaultQoS(), func(ros.Received) { t.Error("/light was published") }))(t)
		r.ok("get_pose", "{}")
		before := r.bot.Counters()
		goal := func(x, w string) string {
			return `{"action":"/navigate_to_pose","goal":{"pose":{"header":{"frame_id":"map"},"pose":{"position":{"x":` + x + `,"y":0.1},"orientation":{"w":` + w + `}}}}}`
		}
		for _, x := range []struct {
			tool, args string
			kind       tool.ErrorKind
			says       string
		}{
			{"publish_topic", `{"topic":"/other","message":{}}`, tool.PermissionDenied, "not on the profile's list"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":0.2}}}`, tool.InvalidArguments, "for how many seconds"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":5}},"seconds":1}`, tool.GeometryRefused, "rule"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":0.5}},"seconds":10}`, tool.GeometryRefused, "rule"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"y":0.1}},"seconds":1}`, tool.GeometryRefused, "linear.y"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":"NaN"}},"seconds":1}`, tool.GeometryRefused, "finite"},
			{"publish_topic", `{"topic":"/cmd_vel","message":{"speed":1},"seconds":1}`, tool.InvalidArguments, "speed"},
			{"publish_topic", `{"topic":"/light","message":{"data":"Infinity"}}`, tool.GeometryRefused, "finite"},
			{"publish_topic", `{"topic":"/light","message":{"data":1},"seconds":3}`, tool.InvalidArguments, "seconds are for topics that move"},
			{"publish_topic", `{"topic":"/speech","message":{"data":"a sentence that goes on and on"}}`, tool.GeometryRefused, "too long to be said"},
			{"call_service", `{"service":"/beep","request":{"data":true}}`, tool.ServerUnavailable, "nobody serves /beep"},
			{"send_action_goal", goal("0.0", "1"), tool.GeometryRefused, "keep-out"},
			{"send_action_goal", goal("1e308", "1"), tool.GeometryRefused, "rule"},
			{"send_action_goal", goal("-1.0", "0"), tool.GeometryRefused, "quaternion"},
			{"send_action_goal", `{"action":"/gripper_controller/gripper_cmd","goal":{"command":{"position":0.5}}}`, tool.GeometryRefused, "rule"},
			{"set_parameter", `{"node":"/sim_robot","name":"fault.drift","value":0.4}`, tool.GeometryRefused, "at most 0.05"},
			{"set_parameter", `{"node":"/sim_robot","name":"fault.drift","value":"fast"}`, tool.InvalidArguments, "must be a number"},
			{"set_parameter", `{"node":"/sim_robot","name":"fault.nan_odom","value":true}`, tool.GeometryRefused, "one of"},
			{"set_parameter", `{"node":"/sim_robot","name":"fault.stop_odom","value":true}`, tool.PermissionDenied, "not on the profile's list"},
			{"set_parameter", `{"node":"/sim_robot","name":"seed","value":true}`, tool.InvalidArguments, "an integer"},
			{"set_parameter", `{"node":"/sim_robot","name":"seed","value":8}`, tool.ServerRejected, "read-only"},
		} {
			res := r.call(x.tool, x.args)
			if res.OK || res.ErrorKind != x.kind || !strings.Contains(res.Content, x.says) {
				t.Errorf("%s(%s): %t %s: %s", x.tool, x.args, res.OK, res.ErrorKind, res.Content)
			}
			if dry, ok := r.tools[x.tool].(tool.DryRunner); ok && x.kind == tool.GeometryRefused {
				if res := dry.DryRun(t.Context(), tool.Call{Arguments: json.RawMessage(x.args), Note: func(string, any) {}}); res.OK {
					t.Errorf("dry run of %s(%s): %s", x.tool, x.args, res.Content)
				}
			}
		}
		for name, n := range r.bot.Counters() {
			if n != before[name] {
				t.Errorf("%s went from %d to %d", name, before[name], n)
			}
		}
	})
}

// A cancel brings a stream of a model's own velocities to rest, like any motion.
func TestACanceledStreamOfVelocitiesEndsAtRest(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRigOf(t, opened(generic))
		r.ok("get_pose", "{}")
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		res := r.callCtx(ctx, "publish_topic", `{"topic":"/cmd_vel","message":{"linear":{"x":0.2}},"seconds":8}`)
		if res.OK || res.ErrorKind != tool.Canceled {
			t.Errorf("%+v", res)
		}
		if v := r.bot.Truth().Twist.Linear; v != 0 {
			t.Errorf("it moves at %g m/s", v)
		}
	})
}

// What nothing validates is for a person, and a profile cannot list what moves something without saying what.
func TestGenericEntriesAreChecked(t *testing.T) {
	p := must1(robottools.Load("opened", opened(generic)))(t)
	got := p.Unvalidated()
	want := map[string]string{
		"publish_topic": "topic in ['/light']", "call_service": "service in ['/beep']",
		"send_action_goal": "action in ['/compute_path_to_pose']", "set_parameter": "node + ':' + name in ['/sim_robot:seed']",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %q, want %q", k, got[k], v)
		}
	}
	for _, x := range []struct{ generic, says string }{
		{"generic: {publish_topic: [{name: /cmd_vel, type: geometry_msgs/msg/Twist}]}", "moves a base: name its actuator"},
		{"generic: {publish_topic: [{name: /goal_pose, type: geometry_msgs/msg/PoseStamped, actuator: base}]}", "send a goal to an action instead"},
		{"generic: {publish_topic: [{name: /cmd_vel, type: geometry_msgs/msg/Twist, actuator: arm}]}", "is no base"},
		{"generic: {publish_topic: [{name: /cmd_vel, type: geometry_msgs/msg/Twist, actuator: wings}]}", "no actuator is called"},
		{"generic: {send_action_goal: [{name: /spin, type: nav2_msgs/action/Spin}]}", "moves a base: name its actuator"},
		{"generic: {call_service: [{name: /a, type: std_srvs/srv/Empty}, {name: /a, type: std_srvs/srv/Empty}]}", "stands twice"},
		{"generic: {call_service: [{name: /a, type: std_srvs/srv/Empty, requires: {x: \"1 +\"}}]}", "CEL"},
	} {
		if _, err := robottools.Load("opened", opened(x.generic)); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v", x.generic, err)
		}
	}
	clash := strings.Replace(string(opened("")), "\n  get_pose:\n", "\n  list_topics:\n", 1)
	if _, err := robottools.Load("clash", []byte(clash)); err == nil || !strings.Contains(err.Error(), "is a tool of discovery") {
		t.Errorf("%v", err)
	}
}
