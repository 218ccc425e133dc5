package robottools_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"agent_node/config"
	"agent_node/pkg/robottools"
)

func TestShippedProfileIsSound(t *testing.T) {
	p, err := robottools.Load("sim_robot.yaml", config.SimRobot)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.ToolOrder) != 23 || p.ToolOrder[0] != "get_pose" {
		t.Errorf("tools in file order: %v", p.ToolOrder)
	}
}

// Every profile that is shipped can be named, and is sound; one that is not there is answered by those that are.
func TestShippedProfilesAreOpenedByName(t *testing.T) {
	for _, name := range config.Names() {
		p, err := robottools.Open(name)
		if err != nil || p.Name != name {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "sim_robot" && (p.Simulation || p.Permissions["skill"] == "allow") && !strings.HasPrefix(name, "ros1") {
			t.Errorf("%s lets skills move a robot without asking", name)
		}
	}
	if p, err := robottools.Open(""); err != nil || p.Name != "sim_robot" {
		t.Errorf("no name: %v", err)
	}
	if _, err := robottools.Open("nobody"); err == nil || !strings.Contains(err.Error(), "turtlebot_nav2,") {
		t.Errorf("a name that is none: %v", err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("turtlebot_nav2", bytes.Replace(config.SimRobot, []byte("name: sim_robot"), []byte("name: mine"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := robottools.Open("turtlebot_nav2"); err != nil || p.Name != "mine" {
		t.Errorf("a file of that name comes first: %v", err)
	}
}

// The TurtleBot's two profiles differ by the type of velocities and by what they say of themselves, and by nothing else.
func TestStampedVariantIsKeptInStep(t *testing.T) {
	plain, _ := config.Shipped("turtlebot_nav2")
	stamped, _ := config.Shipped("turtlebot_nav2_stamped")
	a, b := strings.Split(string(plain), "\n"), strings.Split(string(stamped), "\n")
	if len(a) != len(b) {
		t.Fatalf("%d lines and %d", len(a), len(b))
	}
	for i := range a {
		same := strings.ReplaceAll(a[i], "geometry_msgs/msg/Twist}", "geometry_msgs/msg/TwistStamped}") == b[i]
		if !same && !strings.HasPrefix(a[i], "#") && !strings.HasPrefix(a[i], "name: ") {
			t.Errorf("line %d: %q and %q", i+1, a[i], b[i])
		}
	}
}

// TestFaultsHaveFileAndLine: every kind of fault is refused at start-up, with the line it stands on.
func TestFaultsHaveFileAndLine(t *testing.T) {
	good := string(config.SimRobot)
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":       {"simulation: true", "simulatoin: true", `unknown field "simulatoin"`},
		"wrong type":          {"linear: 0.5", "linear: fast", "actuators/base/limits/linear"},
		"unknown class":       {"class: query\n    description: Where", "class: motion\n    description: Where", "tools/get_pose/class"},
		"unknown actuator":    {"actuator: base\n    parameters:\n      type: object\n      properties:\n        distance_m", "actuator: leg\n    parameters:\n      type: object\n      properties:\n        distance_m", `no actuator is called "leg"`},
		"bad CEL":             {"pass: charge > args.percent", "pass: charge >> args.percent", "tools/battery_above/pass"},
		"unknown variable":    {"pass: charge > args.percent", "pass: chrage > args.percent", "undeclared reference"},
		"twice":               {"frames: {map", "name: x\nframes: {map", `"name" stands twice`},
		"no verdict":          {"    pass: charge > args.percent\n", "", "needs pass"},
		"not YAML":            {"name: sim_robot", "name: [sim_robot", "sim_robot.yaml:"},
		"open arguments":      {"required: [percent]\n      additionalProperties: false", "required: [percent]", "additionalProperties"},
		"motion without one":  {"validators: [pose, path, in_flight]", "validators: [pose, path, motion, in_flight]", "the validator motion needs distance or angle"},
		"target and distance": {"        target: target\n", "        target: target\n        distance: '1.0'\n", "either a target, or distance and angle"},
		"turn of a gripper":   {"        success: result.reached_goal || result.stalled", "        angle: '1.0'\n        success: result.reached_goal || result.stalled", "distance and angle are of a base's goals"},
		"a body of no size":   {"size: [1.4, 0.5, 0.4]", "size: [-1.4, 0.5, 0.4]", "world/bodies/0/size/0"},
		"an end that is one":  {`until: "(args.angle_rad - moved.yaw) * math.sign(args.angle_rad) <= 0.008"`, `until: "1.0"`, "yields a double, wanted true or false"},
		"a speed that is one": {"linear.x: approach(args.distance_m - moved.x, 0.4, 0.3)", `linear.x: "'fast'"`, "yields a string, wanted a number"},
		"an argument unknown": {"linear.x: approach(args.distance_m - moved.x, 0.4, 0.3)", "linear.x: approach(args.dist - moved.x, 0.4, 0.3)", "args.dist is no argument: args has distance_m"},
		"one asked for":       {"has(args.pose) ? args.pose : {}", "has(args.poze) ? args.pose : {}", "args.poze is no argument"},
		"one below another":   {"has(args.pose) ? args.pose : {}", "has(args.pose) ? {'x': args.pose.xx} : {}", "args.pose.xx is no argument"},
		"one that is no list": {"postconditions: \"['holding(' + args.object + ')']\"", "postconditions: \"'holding(' + string(args.object) + ')'\"", "wanted a list of strings"},
		"a pause of a text":   {"when: \"!(msg.data > 0.0)\"", "when: \"'paused'\"", "actuators/base/pause/0/when"},
		"one frame for all":   {"frames: {map: map, odom: odom, base: base_link}", "frames: {map: map, odom: map, base: map}", "frames/base"},
		"open is closed":      {"open: 0.08, closed: 0.0", "open: 0.0, closed: 0.0", "actuators/gripper/limits/open"},
		"nearly nothing":      {"deceleration: 1.0", "deceleration: 1e-300", "actuators/base/limits/deceleration"},
		"nearly everything":   {"deceleration: 1.0", "deceleration: 1e300", "actuators/base/limits/deceleration"},
		"a zone of a line":    {"[[-0.4, -0.15], [0.4, -0.15], [0.4, 0.4], [-0.4, 0.4]]", "[[-0.4, 0.4], [0.4, 0.4], [0.2, 0.4]]", "world/keep_out/0/polygon"},
		"a surface of a line": {"min: [1.2, 1.95], max: [1.6, 2.08]", "min: [1.2, 2.08], max: [1.6, 2.08]", "places/kitchen/surface"},
		"a second document":   {"    pass: \"!it.held && it.place == args.place\"", "    pass: \"!it.held && it.place == args.place\"\n---\nnonsense: 1", "a second YAML document"},
		"a broken second one": {"    pass: \"!it.held && it.place == args.place\"", "    pass: \"!it.held && it.place == args.place\"\n---\nnonsense: [1", "sim_robot.yaml:"},
		"unvalidated motion":  {"simulation: true", "simulation: false", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(good, c.old) {
				t.Fatalf("the profile has no %q to break", c.old)
			}
			bad := strings.Replace(good, c.old, c.new, 1)
			if name == "unvalidated motion" {
				bad = strings.Replace(bad, "validators: [motion, twist, in_flight]", "validators: []", 1)
				c.want = "nothing validates this skill"
			}
			_, err := robottools.Load("sim_robot.yaml", []byte(bad))
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q lacks %q", err, c.want)
			}
			first := strings.SplitN(err.Error(), "\n", 2)[0]
			if !strings.HasPrefix(first, "sim_robot.yaml:") || first[len("sim_robot.yaml:")] < '1' || first[len("sim_robot.yaml:")] > '9' {
				t.Errorf("error %q does not begin with file and line", first)
			}
		})
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(config.SimRobot)
	f.Add([]byte("name: x\nframes: {map: m, odom: o, base: b}\ntools: {}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := robottools.Load("fuzz.yaml", data)
		if err == nil && (p.Name == "" || len(p.Tools) == 0) {
			t.Errorf("accepted a profile without name or tools")
		}
	})
}
