package robottools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent_node/pkg/harness/tool"
)

// A motion that ends as done and was not made is not done, however short it is, or where it ends: a whole turn ends where it began.
func TestWhatWasNotMovedIsNotDone(t *testing.T) {
	t.Parallel()
	r := newRig(
		t,
		`until: "(args.distance_m - moved.x) * math.sign(args.distance_m) <= 0.004"`, `until: "args.distance_m != 0.25"`,
		`until: "(args.angle_rad - moved.yaw) * math.sign(args.angle_rad) <= 0.008"`, `until: "true"`,
	)
	for _, c := range []struct{ name, args string }{
		{"drive", `{"distance_m":0.1}`},
		{"drive", `{"distance_m":-0.02}`},
		{"drive", `{"distance_m":1.0}`},
		{"turn", `{"angle_rad":0.1}`},
		{"turn", `{"angle_rad":-0.1}`},
		{"turn", `{"angle_rad":6.283185307}`},
	} {
		if got := r.call(c.name, c.args); got.OK || got.ErrorKind != tool.PostconditionFailed {
			t.Errorf("%s %s: ok %t, %s: %s", c.name, c.args, got.OK, got.ErrorKind, got.Content)
		}
	}
}

// The checks of short motions are tighter than the motions: what they say of where the robot began fails.
func TestTolerancesGoWithWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ name, args string }{
		{"drive", `{"distance_m":0.1}`},
		{"turn", `{"angle_rad":0.1}`},
	} {
		got := r.call(c.name, c.args)
		if !got.OK || len(got.Postconditions) != 1 {
			t.Fatalf("%s %s: %+v", c.name, c.args, got)
		}
		check := "[" + strings.TrimSuffix(strings.TrimPrefix(got.Postconditions[0], "at_pose("), ")") + "]"
		var v []float64
		must(t, json.Unmarshal([]byte(check), &v))
		if len(v) < 4 {
			t.Fatalf("%s %s: %s", c.name, c.args, check)
		}
		if tolerance := v[len(v)-1]; tolerance > 0.06 {
			t.Errorf("%s %s is judged within %g", c.name, c.args, tolerance)
		}
	}
}
