package validate_test

import (
	"testing"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
)

func TestRoute(t *testing.T) {
	for _, tc := range []struct {
		name  string
		goals []validate.PoseGoal
		want  string
		index int
		offer bool
	}{
		{"two that are free", []validate.PoseGoal{goal(1, -1, 0), goal(0, -1, 1)}, "", 0, false},
		{"none", nil, "empty", -1, false},
		{"too many", make([]validate.PoseGoal, 1001), "range", -1, false},
		{"the second is in the zone", []validate.PoseGoal{goal(1, -1, 0), goal(2.4, 1, 0)}, "keep-out", 1, true},
		{"and the third nowhere", []validate.PoseGoal{goal(1, -1, 0), goal(2.4, 1, 0), {Frame: "moon", Pose: pose(0, 0, 0)}}, "keep-out, frame", 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(spatial.Pose2{})
			r := validate.Validate(validate.Route{Goals: tc.goals}, w)
			expect(t, r, tc.want)
			if len(r.Findings) > 0 && r.Findings[0].Index != tc.index {
				t.Errorf("index %d, want %d", r.Findings[0].Index, tc.index)
			}
			if (r.Nearest != nil) != tc.offer {
				t.Fatalf("nearest %+v", r.Nearest)
			}
			if tc.offer {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}
