package validate_test

import (
	"math"
	"testing"
	"time"

	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/num/quat"
)

func TestTwistsAreJudgedByWhereTheyLead(t *testing.T) {
	slow := func(w *validate.World) {
		w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "school", Kind: zone.Speed, Frame: "map", Shape: must(zone.Circle(v(0, 0), 1)), MaxLinear: 0.2, MaxAngular: 0.5}))}
	}
	for _, tc := range []struct {
		name   string
		at     spatial.Pose2
		cmd    validate.Twist
		change func(*validate.World)
		want   string
	}{
		{"in the open", spatial.Pose2{}, twist(0.5, 0), nil, ""},
		{"towards the wall, room to stop", spatial.Pose2{Y: 2, Yaw: math.Pi / 2}, twist(0.5, 0), nil, ""},
		{"towards the wall, too close", spatial.Pose2{Y: 2.3, Yaw: math.Pi / 2}, twist(0.5, 0), nil, "swept path"},
		{"slower", spatial.Pose2{Y: 2.3, Yaw: math.Pi / 2}, twist(0.2, 0), nil, ""},
		{"away from it", spatial.Pose2{Y: 2.6, Yaw: -math.Pi / 2}, twist(0.5, 0), nil, ""},
		{"for longer", spatial.Pose2{Y: 2, Yaw: math.Pi / 2}, validate.Twist{Twist: twist(0.5, 0).Twist, Duration: 2 * time.Second}, nil, "swept path"},
		{"for ever", spatial.Pose2{}, validate.Twist{Twist: twist(0.5, 0).Twist, Duration: math.MaxInt64}, nil, "range"},
		{"for less than nothing", spatial.Pose2{}, validate.Twist{Twist: twist(0.5, 0).Twist, Duration: -1}, nil, "range"},
		{"towards the zone", spatial.Pose2{X: 1, Y: 1}, twist(0.5, 0), nil, "keep-out"},
		{"curving away from it", spatial.Pose2{X: 1, Y: 1, Yaw: math.Pi / 2}, twist(0.3, 1), nil, ""},
		{"another frame", spatial.Pose2{}, validate.Twist{Twist: twist(0.1, 0).Twist, Frame: "map"}, nil, "frame"},
		{"the base frame", spatial.Pose2{}, validate.Twist{Twist: twist(0.1, 0).Twist, Frame: "base_link"}, nil, ""},
		{"stamped in the past", spatial.Pose2{}, validate.Twist{Twist: twist(0.1, 0).Twist, Stamp: validate.Stamp{Sec: 1}}, nil, "stamp"},
		{"through a speed zone", spatial.Pose2{}, twist(0.3, 0.6), slow, "speed zone, speed zone"},
		{"slow enough for it", spatial.Pose2{}, twist(0.2, 0.5), slow, ""},
		{"entering it", spatial.Pose2{X: -1.3}, twist(0.3, 0), slow, "speed zone"},
		{"leaving it behind", spatial.Pose2{X: -1.3, Yaw: math.Pi}, twist(0.3, 0), slow, ""},
		{"a jump in speed within a stream", spatial.Pose2{}, twist(0.5, 0), func(w *validate.World) {
			w.Limits.Accel, w.Previous, w.PreviousStamp = 1, &spatial.Twist{}, w.Now-int64(50*time.Millisecond)
		}, "acceleration"},
		{"no limits", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Limits = nil }, "limits"},
		{"NaN limits", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Limits = &limits.Base{Forward: math.NaN()} }, "limits"},
		{"no footprint", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Footprint = spatial.Footprint{} }, "footprint"},
		{"no fixed frame", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Frame = "" }, "frame"},
		{"a zone that is nil", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Zones = []*zone.Zone{nil} }, "keep-out"},
		{"a workspace that keeps out", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.Workspace = w.Zones }, "workspace"},
		{"NaN margin", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.MapMargin = math.NaN() }, "limits"},
		{"NaN odometry", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.State.Twist.Linear.X = math.NaN() }, "finite"},
		{"NaN pose", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.State.Pose.Position.X = math.NaN() }, "finite"},
		{"zero quaternion measured", spatial.Pose2{}, twist(0.1, 0), func(w *validate.World) { w.State.Pose.Orientation = quat.Number{} }, "unit quaternion"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(tc.at)
			if tc.change != nil {
				tc.change(w)
			}
			r := validate.Validate(tc.cmd, w)
			expect(t, r, tc.want)
			if r.Nearest != nil {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}

func TestClampedTwistIsOfferedOnTheSameCurve(t *testing.T) {
	r := validate.Validate(twist(1, 0.5), world(spatial.Pose2{}))
	if n, ok := r.Nearest.(validate.Twist); !ok || math.Abs(n.Twist.Linear.X-0.5) > 1e-12 || math.Abs(n.Twist.Angular.Z-0.25) > 1e-12 {
		t.Errorf("%+v", r.Nearest)
	}
	// Towards the wall, the same twist slower.
	r = validate.Validate(twist(0.5, 0), world(spatial.Pose2{Y: 2.3, Yaw: math.Pi / 2}))
	if n, ok := r.Nearest.(validate.Twist); !ok || n.Twist.Linear.X < 0.2 || n.Twist.Linear.X >= 0.5 {
		t.Errorf("%+v", r.Nearest)
	}
}

// TestStreamOfAValidatedDriveIsNotStopped: whoever drives what was validated (or proposed), braking in time and checking each twist for
// its period, arrives.
func TestStreamOfAValidatedDriveIsNotStopped(t *testing.T) {
	const tick = 50 * time.Millisecond
	start := spatial.Pose2{Y: 1.5, Yaw: math.Pi / 2}
	offer, ok := validate.Validate(validate.Drive{Distance: 5}, world(start)).Nearest.(validate.Drive)
	if !ok || offer.Distance != 1.1 {
		t.Fatalf("offered %+v", offer)
	}
	gone, v := 0.0, 0.0
	for gone < offer.Distance-0.005 {
		w := world(spatial.Pose2{Y: start.Y + gone, Yaw: start.Yaw})
		w.State.Stamp -= int64(tick) // measured a tick ago; the pose is kinder than the truth by that
		w.Limits.Accel = 0.8
		want := math.Max(math.Sqrt(2*0.8*w.Limits.Decel*(offer.Distance-gone)), 0.02)
		next := w.Limits.Ramp(twist(v, 0).Twist, twist(math.Min(want, w.Limits.Forward), 0).Twist, tick)
		prev := twist(v, 0).Twist
		w.Previous, w.PreviousStamp = &prev, w.Now-int64(tick)
		if f := validate.CheckTwist(validate.Twist{Twist: next, Duration: tick}, w, nil); len(f) > 0 {
			t.Fatalf("after %.3f m at %.3f m/s: %v", gone, next.Linear.X, f)
		}
		v = next.Linear.X
		gone += v * tick.Seconds()
	}
}
