package robottools_test

import (
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

// TestFaultsHaveFileAndLine: every kind of fault is refused at start-up, with the line it stands on.
func TestFaultsHaveFileAndLine(t *testing.T) {
	good := string(config.SimRobot)
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":      {"simulation: true", "simulatoin: true", `unknown field "simulatoin"`},
		"wrong type":         {"linear: 0.5", "linear: fast", "actuators/base/limits/linear"},
		"unknown class":      {"class: query\n    description: Where", "class: motion\n    description: Where", "tools/get_pose/class"},
		"unknown actuator":   {"actuator: base\n    parameters:\n      type: object\n      properties:\n        distance_m", "actuator: leg\n    parameters:\n      type: object\n      properties:\n        distance_m", `no actuator is called "leg"`},
		"bad CEL":            {"pass: charge > args.percent", "pass: charge >> args.percent", "tools/battery_above/pass"},
		"unknown variable":   {"pass: charge > args.percent", "pass: chrage > args.percent", "undeclared reference"},
		"twice":              {"frames: {map", "name: x\nframes: {map", `"name" stands twice`},
		"no verdict":         {"    pass: charge > args.percent\n", "", "needs pass"},
		"not YAML":           {"name: sim_robot", "name: [sim_robot", "sim_robot.yaml:"},
		"open arguments":     {"required: [percent]\n      additionalProperties: false", "required: [percent]", "additionalProperties"},
		"unvalidated motion": {"simulation: true", "simulation: false", ""},
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
