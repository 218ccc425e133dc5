package robottools_test

import (
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
