package robottools_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/robottools"
)

// TestZonesOfEveryShape: circles and boxes hold as polygons do, only at their heights, in any frame, and for the arm as well.
func TestZonesOfEveryShape(t *testing.T) {
	const (
		polygon = "{name: keep-out, polygon: [[-0.4, -0.15], [0.4, -0.15], [0.4, 0.4], [-0.4, 0.4]]}"
		middle  = `{"header":{"frame_id":"map"},"pose":{"orientation":{"w":1}}}`
		aside   = `{"trajectory":{"joint_names":` + jointNames + `,"points":[{"positions":[-0.9,-1.85,2.7,-2.42,-1.57,0],"time_from_start":{"sec":4}}]}}`
	)
	for _, tc := range []struct {
		name, zone        string
		kind, message     string
		actuator, refused string
	}{
		{"a circle", "{name: keep-out, circle: {center: [0.2, 0.0], radius: 0.1}}", "geometry_msgs/msg/PoseStamped", middle, "base", "keep-out"},
		{"a circle that is far", "{name: keep-out, circle: {center: [0.5, 0.0], radius: 0.1}}", "geometry_msgs/msg/PoseStamped", middle, "base", ""},
		{"and its margin", "{name: keep-out, circle: {center: [0.5, 0.0], radius: 0.1}, margin: 0.3}", "geometry_msgs/msg/PoseStamped", middle, "base", "keep-out"},
		{"a box", "{name: keep-out, box: {center: [0, 0.3], size: [0.4, 0.2], yaw: 1.5708}}", "geometry_msgs/msg/PoseStamped", middle, "base", "keep-out"},
		{"on the floor", "{name: keep-out, box: {center: [0, 0], size: [1, 1]}, heights: [-1, 0.1]}", "geometry_msgs/msg/PoseStamped", middle, "base", "keep-out"},
		{"over the robot", "{name: keep-out, box: {center: [0, 0], size: [1, 1]}, heights: [1.5, 2]}", "geometry_msgs/msg/PoseStamped", middle, "base", ""},
		{"before the base, wherever it is", "{name: keep-out, frame: base_link, box: {center: [1.6, 1.5], size: [0.2, 0.2]}}", "geometry_msgs/msg/PoseStamped", middle, "base", "keep-out"},
		{"where the arm swings", "{name: keep-out, box: {center: [-1.47, -1.6], size: [0.08, 0.08]}, heights: [0.25, 0.5]}", "control_msgs/action/FollowJointTrajectory", aside, "arm", "keep-out"},
		{"above it", "{name: keep-out, box: {center: [-1.47, -1.6], size: [0.08, 0.08]}, heights: [1.28, 1.5]}", "control_msgs/action/FollowJointTrajectory", aside, "arm", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, polygon, tc.zone, "footprint: {radius: 0.22}", "footprint: {radius: 0.22, height: 1.2}")
				r.ok("get_pose", "{}")
				time.Sleep(time.Second)
				v := r.robot.ValidateCommand(context.Background(), robottools.RawCommand{Type: tc.kind, JSON: tc.message, Actuator: tc.actuator})
				var rules []string
				for _, f := range v.Findings {
					rules = append(rules, f.Rule)
				}
				if got := strings.Join(rules, ", "); got != tc.refused {
					t.Errorf("%q, want %q: %v", got, tc.refused, v.Findings)
				}
			})
		})
	}
}

// TestLimitsOfTheTip: a motion that keeps every joint's limits may be too fast for the tip, and is offered slower; forces are limited.
func TestLimitsOfTheTip(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, "limits: {acceleration: 2.5}", "limits: {acceleration: 2.5, tip_speed: 0.05, force: 20.0}")
		r.ok("get_pose", "{}")
		time.Sleep(time.Second)
		const swing = `{"trajectory":{"joint_names":` + jointNames + `,"points":[{"positions":[-0.5,-1.85,2.7,-2.42,-1.57,0],"velocities":[0,0,0,0,0,0],"time_from_start":{"sec":2}}]}}`
		ask := func(kind, message string) robottools.Verdict {
			return r.robot.ValidateCommand(context.Background(), robottools.RawCommand{Type: kind, JSON: message, Actuator: "arm"})
		}
		v := ask(follow, swing)
		if len(v.Findings) != 1 || v.Findings[0].Rule != "tip speed" || v.NearestJSON == "" {
			t.Fatalf("%v, nearest %q", v.Findings, v.NearestJSON)
		}
		if again := ask(follow, v.NearestJSON); len(again.Findings) > 0 {
			t.Error(again.Findings)
		}
		if v := ask("geometry_msgs/msg/WrenchStamped", `{"header":{"frame_id":"tool0"},"wrench":{"force":{"z":-20}}}`); len(v.Findings) > 0 {
			t.Error(v.Findings)
		}
		v = ask("geometry_msgs/msg/Wrench", `{"force":{"z":-40}}`)
		if len(v.Findings) != 1 || v.Findings[0].Rule != "force" || !strings.Contains(v.NearestJSON, "-20") {
			t.Errorf("%v, nearest %q", v.Findings, v.NearestJSON)
		}
		if v := ask("geometry_msgs/msg/Wrench", `{"torque":{"z":0.1}}`); len(v.Findings) != 1 || v.Findings[0].Rule != "torque" {
			t.Errorf("a torque, of which nothing is configured: %v", v.Findings)
		}
	})
}
