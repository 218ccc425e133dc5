package validate_test

import (
	"math"
	"testing"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/spatial/r3"
)

func TestInFlight(t *testing.T) {
	moving := func(x, w float64) spatial.Twist { return twist(x, w).Twist }
	for _, tc := range []struct {
		name   string
		at     spatial.Pose2
		twist  spatial.Twist
		change func(*validate.World, *validate.State)
		want   string
	}{
		{"at rest", spatial.Pose2{}, moving(0, 0), nil, ""},
		{"on its way", spatial.Pose2{}, moving(0.5, 0.3), nil, ""},
		{"noise over the limit", spatial.Pose2{}, moving(0.56, 0), nil, ""},
		{"far over the limit", spatial.Pose2{}, moving(0.7, 0), nil, "linear velocity"},
		{"spinning", spatial.Pose2{}, moving(0, -2), nil, "angular velocity"},
		{"sliding sideways", spatial.Pose2{}, spatial.Twist{Linear: r3.Vec{Y: 0.3}}, nil, "linear velocity"},
		{"stopping distance ends short of the zone", spatial.Pose2{X: 1.08, Y: 1}, moving(0.5, 0), nil, ""},
		{"stopping distance reaches into the zone", spatial.Pose2{X: 1.2, Y: 1}, moving(0.5, 0), nil, "keep-out"},
		{"beside the zone, along it", spatial.Pose2{X: 1.24, Y: 1, Yaw: math.Pi / 2}, moving(0.5, 0), nil, ""},
		{"in the zone", spatial.Pose2{X: 1.5, Y: 1}, moving(0, 0), nil, "keep-out"},
		{"leaving the workspace", spatial.Pose2{X: -2.7}, moving(-0.5, 0), func(w *validate.World, _ *validate.State) {
			w.Workspace = []*zone.Zone{must(zone.New(zone.Config{Name: "hall", Kind: zone.KeepIn, Frame: "map", Shape: must(zone.Box(v(0, 0), v(6, 6), 0))}))}
		}, "workspace"},
		{"too fast in a speed zone", spatial.Pose2{}, moving(0.5, 0), func(w *validate.World, _ *validate.State) {
			w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "school", Kind: zone.Speed, Frame: "map", Shape: must(zone.Circle(v(0, 0), 1)), MaxLinear: 0.2}))}
		}, "speed zone"},
		{"the wall is the planner's, by default", spatial.Pose2{Y: 2.6, Yaw: math.Pi / 2}, moving(0.5, 0), nil, ""},
		{"and ours where asked for", spatial.Pose2{Y: 2.6, Yaw: math.Pi / 2}, moving(0.5, 0), func(w *validate.World, _ *validate.State) { w.MapInFlight = true }, "swept path"},
		{"stale", spatial.Pose2{}, moving(0, 0), func(w *validate.World, _ *validate.State) { w.Now += int64(time.Second) }, "state age"},
		{"never", spatial.Pose2{}, moving(0, 0), func(_ *validate.World, s *validate.State) { s.Stamp = 0 }, "state age"},
		{"NaN velocity", spatial.Pose2{}, moving(math.NaN(), 0), nil, "finite"},
		{"infinite pose", spatial.Pose2{}, moving(0, 0), func(_ *validate.World, s *validate.State) { s.Pose.Position.Y = math.Inf(1) }, "finite"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(tc.at)
			s := w.State
			s.Twist = tc.twist
			w.State = validate.State{} // not looked at
			if tc.change != nil {
				tc.change(w, &s)
			}
			expect(t, validate.Report{Findings: validate.InFlight(s, w)}, tc.want)
		})
	}
}
