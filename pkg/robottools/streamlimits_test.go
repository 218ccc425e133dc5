package robottools_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness/tool"
)

// What a profile asks for in a stream is judged as it is written, not after the ramp has made it smaller: nothing moves.
func TestAStreamOverItsLimitNeverBegins(t *testing.T) {
	const written = "linear.x: approach(args.distance_m - moved.x, 0.4, 0.3)"
	for name, c := range map[string]struct{ expression, rule string }{
		"ten times the limit": {`linear.x: "5.0"`, "linear.x is 5 m/s"},
		"infinite":            {`linear.x: "1.0 / 0.0"`, "finite"},
		"no number":           {`linear.x: "0.0 / 0.0"`, "finite"},
		"backwards":           {`linear.x: "-5.0"`, "linear.x is -5 m/s"},
		"sideways":            {"linear.x: \"0.2\"\n          linear.y: \"0.2\"", "linear.y"},
		"upwards":             {"linear.x: \"0.2\"\n          linear.z: \"0.2\"", "linear.z"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, written, c.expression)
				before := r.bot.Truth().Pose
				res := r.call("drive", `{"distance_m":1}`)
				if res.OK || res.ErrorKind != tool.GeometryRefused || !strings.Contains(res.Content, c.rule) {
					t.Errorf("%v %s: %s, want %q", res.OK, res.ErrorKind, res.Content, c.rule)
				}
				time.Sleep(time.Second)
				if after := r.bot.Truth().Pose; after != before {
					t.Errorf("moved from %v to %v", before, after)
				}
			})
		})
	}
}

// Odometry that freezes with fresh stamps: the robot does not drive on for a stall's time.
func TestAStreamDoesNotDriveBlind(t *testing.T) {
	for _, c := range []struct {
		name, tool, args string
		after            time.Duration
		way, turn        float64 // at most, by the truth
	}{
		{"a drive, from the start", "drive", `{"distance_m":0.3}`, 0, 0.55, 0.3},
		{"a drive, on its way", "drive", `{"distance_m":2}`, 1500 * time.Millisecond, 1.1, 0.3},
		{"a turn, from the start", "turn", `{"angle_rad":0.5}`, 0, 0.1, 1.1},
		{"a turn, on its way", "turn", `{"angle_rad":3}`, 1500 * time.Millisecond, 0.1, 2.4},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.faulty = true
				before := r.bot.Truth()
				time.AfterFunc(c.after, func() { r.setParam("fault.freeze_odom", true) })
				res := r.call(c.tool, c.args)
				time.Sleep(time.Second)
				after := r.bot.Truth()
				if res.OK || !strings.Contains(res.Content, "odometry is frozen") || after.Driven-before.Driven > c.way || math.Abs(after.Pose.Yaw-before.Pose.Yaw) > c.turn {
					t.Errorf("%v %s: %s; driven %.2f m, turned %.2f rad", res.OK, res.ErrorKind, res.Content, after.Driven-before.Driven, after.Pose.Yaw-before.Pose.Yaw)
				}
				t.Logf("%s: %s; driven %.2f m, turned %.2f rad", res.ErrorKind, res.Content, after.Driven-before.Driven, after.Pose.Yaw-before.Pose.Yaw)
			})
		})
	}
}
