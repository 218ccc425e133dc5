package validate_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

// Each test is a trap that others have fallen into.

func TestFramesAndTime(t *testing.T) {
	old := func(w *validate.World) { w.Now += int64(3 * time.Second); w.State.Stamp = w.Now }
	for _, tc := range []struct {
		name   string
		frame  string
		stamp  func(now int64) validate.Stamp
		change func(*validate.World)
		want   string
	}{
		{"odom, unstamped", "odom", nil, nil, ""},
		{"base_link, unstamped", "base_link", nil, nil, ""},
		{"odom, stamped now", "odom", func(now int64) validate.Stamp { return validate.StampOf(now) }, nil, ""},
		{"unknown frame", "moon", nil, nil, "frame"},
		{"no frame", "", nil, nil, "frame"},
		{"leading slash", "/map", nil, nil, "frame"},
		{"no transforms at all", "odom", nil, func(w *validate.World) { w.TF = nil; w.State.Frame = "map" }, "frame"},
		{"latest is too old, and latest at any age is no answer", "base_link", nil, func(w *validate.World) { old(w); w.State.Frame = "map" }, "transform age"},
		{"before the buffer's oldest", "odom", func(now int64) validate.Stamp { return validate.StampOf(now - int64(4*time.Second)) }, nil, "stamp"},
		{"a stamp ahead of the clock, even in the fixed frame", "map", func(now int64) validate.Stamp { return validate.StampOf(now + int64(time.Minute)) }, nil, "stamp"},
		{"a stale goal", "map", func(now int64) validate.Stamp { return validate.StampOf(now - int64(time.Minute)) }, nil, "stamp"},
		{"a negative time", "map", func(int64) validate.Stamp { return validate.Stamp{Sec: -1} }, nil, "stamp"},
		{"nanoseconds of a full second", "map", func(int64) validate.Stamp { return validate.Stamp{Nanosec: 1e9} }, nil, "stamp"},
		{"stale odometry that reads zero", "map", nil, func(w *validate.World) { w.Now += int64(time.Second) }, "state age"},
		{"odometry from the future", "map", nil, func(w *validate.World) { w.State.Stamp += int64(time.Minute) }, "state age"},
		{"never any odometry", "map", nil, func(w *validate.World) { w.State = validate.State{} }, "state age"},
		{"odometry in an unknown frame", "map", nil, func(w *validate.World) { w.State.Frame = "moon" }, "frame"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(spatial.Pose2{})
			if tc.change != nil {
				tc.change(w)
			}
			g := validate.PoseGoal{Frame: tc.frame, Pose: pose(1, -1, 0)}
			if tc.stamp != nil {
				g.Stamp = tc.stamp(w.Now)
			}
			expect(t, validate.Validate(g, w), tc.want)
		})
	}
}

func TestGoalIsJudgedInTheFixedFrame(t *testing.T) {
	// 2 m ahead of a robot at (2, -1) that looks along y is the middle of the zone.
	w := world(spatial.Pose2{X: 2, Y: -1, Yaw: math.Pi / 2})
	expect(t, validate.Validate(validate.PoseGoal{Frame: "base_link", Pose: pose(2, 0, 0)}, w), "keep-out")
	expect(t, validate.Validate(validate.PoseGoal{Frame: "base_link", Pose: pose(-1, 0, 0)}, w), "")
}

func TestQuaternionsOfGoals(t *testing.T) {
	for _, tc := range []struct {
		name  string
		q     quat.Number
		want  string
		noted bool
		offer bool
	}{
		{"45 degrees in three digits", quat.Number{Real: 0.924, Kmag: 0.383}, "", true, false},
		{"exact", quat.Number{Real: 1}, "", false, false},
		{"zero is not the identity", quat.Number{}, "unit quaternion", false, false},
		{"norm 0.99", quat.Number{Real: 0.7, Kmag: 0.7}, "unit quaternion", false, true},
		{"NaN", quat.Number{Real: math.NaN()}, "finite", false, false},
		{"infinite", quat.Number{Real: 1, Kmag: math.Inf(-1)}, "finite", false, false},
		{"upside down", quat.Number{Imag: 1}, "roll and pitch", false, true},
		{"norm overflows", quat.Number{Real: 1e200}, "unit quaternion", false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := goal(1, -1, 0)
			g.Pose.Orientation = tc.q
			w := world(spatial.Pose2{})
			r := validate.Validate(g, w)
			expect(t, r, tc.want)
			if (len(r.Notes) > 0) != tc.noted {
				t.Errorf("notes %v", r.Notes)
			}
			if (r.Nearest != nil) != tc.offer {
				t.Errorf("offers %+v", r.Nearest)
			} else if tc.offer {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}

func TestGoalsOnTheMapAndInZones(t *testing.T) {
	cup := func(rows ...string) *grid.Grid { // 1 m cells from (-2, -2)
		data := make([]int8, 0, 25)
		for i := len(rows) - 1; i >= 0; i-- {
			for _, c := range rows[i] {
				data = append(data, map[rune]int8{'#': 100, '?': -1, '.': 0}[c])
			}
		}
		return must(grid.New(grid.Config{Frame: "map", Width: 5, Height: 5, Resolution: 1, Origin: spatial.Pose2{X: -2, Y: -2}, Data: data}))
	}
	for _, tc := range []struct {
		name   string
		g      validate.PoseGoal
		change func(*validate.World)
		want   string
		says   string
	}{
		{"free", goal(1, -1, 0), nil, "", ""},
		{"in the wall", goal(0, 3, 0), nil, "map", "occupied cell"},
		{"beside the wall, footprint in it", goal(0, 2.7, 0), nil, "map", "occupied cell"},
		{"off the map", goal(11, 0, 0), nil, "map", "off the map"},
		{"centre on the map, footprint off it", goal(5.9, 0, 0), nil, "map", "off the map"},
		{"in the zone", goal(2, 1, 0), nil, "keep-out", "lab"},
		{"centre outside the zone, footprint inside", goal(2.625, 1, 0), nil, "keep-out", "limit 0 m"},
		{"outside the workspace", goal(-3, 0, 0), func(w *validate.World) {
			w.Workspace = []*zone.Zone{must(zone.New(zone.Config{Name: "hall", Kind: zone.KeepIn, Frame: "map", Margin: 0.1, Shape: must(zone.Box(v(0, 0), v(4, 4), 0))}))}
		}, "workspace", "hall"},
		{"unknown ground is not free", goal(0.5, 0.5, 0), func(w *validate.World) {
			w.Map, w.Zones = cup(".....", ".....", "..?..", ".....", "....."), nil
			w.State = validate.State{Frame: "map", Pose: pose(-1, -1, 0), Stamp: w.Now}
		}, "map", "unknown cell"},
		{"an obstacle wholly inside the outline", goal(0.5, 0.5, 0), func(w *validate.World) {
			w.Map, w.Zones = cup(".....", ".....", "..#..", ".....", "....."), nil
			w.Footprint = must(spatial.CircleFootprint(1.4))
			w.State = validate.State{Frame: "map", Pose: pose(0.5, 0.5, 0), Stamp: w.Now}
		}, "map, map", "occupied cell"},
		{"the map has not come yet", goal(1, -1, 0), func(w *validate.World) { w.Map = nil }, "map", "not arrived"},
		{"a robot without a map", goal(1, -1, 0), func(w *validate.World) { w.Map, w.NeedMap = nil, false }, "", ""},
		{"in the air", validate.PoseGoal{Frame: "map", Pose: spatial.Pose{Position: r3.Vec{X: 1, Y: -1, Z: 3}, Orientation: quat.Number{Real: 1}}}, nil, "position.z", "limit 0.5 m"},
		{"1e308", goal(1e308, 0, 0), nil, "range", "1e+308"},
		{"below a shelf that begins over its head", goal(-2, -2, 0), func(w *validate.World) {
			w.Height = 0.4
			w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "shelf", Kind: zone.KeepOut, Frame: "map", Shape: must(must(zone.Circle(v(-2, -2), 1)).WithHeights(0.5, 2))}))}
		}, "", ""},
		{"the same shelf and a taller robot", goal(-2, -2, 0), func(w *validate.World) {
			w.Height = 0.6
			w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "shelf", Kind: zone.KeepOut, Frame: "map", Shape: must(must(zone.Circle(v(-2, -2), 1)).WithHeights(0.5, 2))}))}
		}, "keep-out", "shelf"},
		{"a zone in another frame", goal(0.3+math.Cos(0.4), -0.2+math.Sin(0.4), 0), func(w *validate.World) {
			w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "ahead", Kind: zone.KeepOut, Frame: "odom", Shape: must(zone.Circle(v(1, 0), 0.1))}))}
		}, "keep-out", "ahead"},
		{"a zone in a frame that nobody knows", goal(1, -1, 0), func(w *validate.World) {
			w.Zones = []*zone.Zone{must(zone.New(zone.Config{Name: "lost", Kind: zone.KeepOut, Frame: "moon", Shape: must(zone.Circle(v(1, 0), 0.1))}))}
		}, "frame, frame", "moon"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(spatial.Pose2{})
			if tc.change != nil {
				tc.change(w)
			}
			r := validate.Validate(tc.g, w)
			expect(t, r, tc.want)
			if tc.says != "" && (r.Err() == nil || !strings.Contains(r.Err().Error(), tc.says)) {
				t.Errorf("%v does not say %q", r.Err(), tc.says)
			}
			if r.Nearest != nil {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}

func TestNearestGoalIsCloseAndInTheGoalsFrame(t *testing.T) {
	w := world(spatial.Pose2{})
	odom := spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}
	r := validate.Validate(validate.PoseGoal{Frame: "odom", Pose: odom.Inverse().Compose(spatial.Pose2{X: 2.625, Y: 1, Yaw: 1}).Pose()}, w)
	expect(t, r, "keep-out")
	near, ok := r.Nearest.(validate.PoseGoal)
	if !ok || near.Frame != "odom" {
		t.Fatalf("%+v", r.Nearest)
	}
	// The zone ends at x = 2.5; the nearest free pose for a radius of 0.25 is at 2.75.
	if p := odom.Compose(near.Pose.Planar()); math.Abs(p.X-2.775) > 0.03 || math.Abs(p.Y-1) > 0.03 || math.Abs(p.Yaw-1) > 1e-9 {
		t.Errorf("offers %+v in map", p)
	}
}

func TestDriveAndTurn(t *testing.T) {
	bar := must(spatial.PolygonFootprint([]r2.Vec{v(0.6, 0.1), v(-0.2, 0.1), v(-0.2, -0.1), v(0.6, -0.1)}))
	for _, tc := range []struct {
		name   string
		at     spatial.Pose2
		cmd    validate.Command
		change func(*validate.World)
		want   string
		near   validate.Command
	}{
		{"20 cm", spatial.Pose2{}, validate.Drive{Distance: 0.2}, nil, "", nil},
		{"nothing", spatial.Pose2{}, validate.Drive{}, nil, "", nil},
		{"back", spatial.Pose2{}, validate.Drive{Distance: -1}, nil, "", nil},
		{"back without a reverse gear", spatial.Pose2{}, validate.Drive{Distance: -1}, func(w *validate.World) { w.Limits.Backward = 0 }, "linear velocity", nil},
		{"through a thin wall, free on both sides", spatial.Pose2{Y: 2.2, Yaw: math.Pi / 2}, validate.Drive{Distance: 1.6}, nil, "swept path", validate.Drive{Distance: 0.4}},
		{"through the zone, free on both sides", spatial.Pose2{X: 0.5, Y: 1}, validate.Drive{Distance: 3}, nil, "keep-out", validate.Drive{Distance: 0.7}},
		{"off the map", spatial.Pose2{}, validate.Drive{Distance: -10}, nil, "swept path", validate.Drive{Distance: -4.7}},
		{"100 m", spatial.Pose2{}, validate.Drive{Distance: 100}, nil, "range", nil},
		{"100 m with no limit of distance", spatial.Pose2{}, validate.Drive{Distance: 100}, func(w *validate.World) { w.Limits.MaxDistance = 0 }, "swept path", validate.Drive{Distance: 5.7}},
		{"what a small model asked for", spatial.Pose2{}, validate.Drive{Distance: 1e12}, func(w *validate.World) { w.Limits.MaxDistance = 0 }, "range", nil},
		{"NaN", spatial.Pose2{}, validate.Drive{Distance: math.NaN()}, nil, "finite", nil},
		{"infinite", spatial.Pose2{}, validate.Drive{Distance: math.Inf(1)}, nil, "finite", nil},
		{"too fast", spatial.Pose2{}, validate.Drive{Distance: 0.2, Speed: 2}, nil, "linear velocity", validate.Drive{Distance: 0.2, Speed: 0.5}},
		{"backwards in speed", spatial.Pose2{}, validate.Drive{Distance: 0.2, Speed: -0.1}, nil, "range", nil},
		{"NaN speed", spatial.Pose2{}, validate.Drive{Distance: 0.2, Speed: math.NaN()}, nil, "finite", nil},
		{"turn", spatial.Pose2{}, validate.Turn{Angle: 1.57}, nil, "", nil},
		{"a hundred turns", spatial.Pose2{}, validate.Turn{Angle: 628}, nil, "", nil},
		{"a hundred turns are too many", spatial.Pose2{}, validate.Turn{Angle: 628}, func(w *validate.World) { w.Limits.MaxAngle = 7 }, "range", nil},
		{"NaN turn", spatial.Pose2{}, validate.Turn{Angle: math.NaN()}, nil, "finite", nil},
		{"too fast a turn", spatial.Pose2{}, validate.Turn{Angle: 1, Speed: 9}, nil, "angular velocity", validate.Turn{Angle: 1, Speed: 1}},
		{"a long nose swings into the wall", spatial.Pose2{Y: 2.5}, validate.Turn{Angle: math.Pi / 2}, func(w *validate.World) { w.Footprint = bar }, "swept path", validate.Turn{Angle: 0.5}},
		{"and past it the other way", spatial.Pose2{Y: 2.5}, validate.Turn{Angle: -math.Pi / 2}, func(w *validate.World) { w.Footprint = bar }, "", nil},
		{"all the way round: start and end are free", spatial.Pose2{Y: 2.5}, validate.Turn{Angle: 2 * math.Pi}, func(w *validate.World) { w.Footprint = bar }, "swept path", validate.Turn{Angle: 0.5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(tc.at)
			if tc.change != nil {
				tc.change(w)
			}
			r := validate.Validate(tc.cmd, w)
			expect(t, r, tc.want)
			if !reflect.DeepEqual(r.Nearest, tc.near) {
				t.Errorf("nearest %+v, want %+v", r.Nearest, tc.near)
			}
			if r.Nearest != nil {
				expect(t, validate.Validate(r.Nearest, w), "")
			}
		})
	}
}

func TestSweptPathFindingTellsAskedAndFree(t *testing.T) {
	w := world(spatial.Pose2{Y: 2.2, Yaw: math.Pi / 2})
	f := validate.Validate(validate.Drive{Distance: 1.6}, w).Findings[0]
	if f.Value != 1.6 || math.Abs(f.Limit-0.45) > 0.01 || f.Unit != "m" || f.Subject != "map" || !strings.Contains(f.Message, "of 1.600 m") {
		t.Errorf("%+v", f)
	}
}

func TestPaths(t *testing.T) {
	line := func(xy ...float64) (p []spatial.Pose) {
		for i := 0; i < len(xy); i += 2 {
			p = append(p, pose(xy[i], xy[i+1], 0))
		}
		return p
	}
	sec := time.Second
	bar := must(spatial.PolygonFootprint([]r2.Vec{v(0.6, 0.1), v(-0.6, 0.1), v(-0.6, -0.1), v(0.6, -0.1)}))
	at := pose(3, -1, 0)
	for _, tc := range []struct {
		name   string
		p      validate.Path
		change func(*validate.World)
		want   string
		index  int
	}{
		{"around the zone", validate.Path{Poses: line(0, 0, 2, -1, 4, 0, 4, 2.5)}, nil, "", 0},
		{"through the zone between two free waypoints", validate.Path{Poses: line(0, 0, 0.5, 1, 3.5, 1)}, nil, "keep-out", 2},
		{"through the wall between two free waypoints", validate.Path{Poses: line(0, 0, 0, 2, 0, 4)}, nil, "swept path", 2},
		{"leaves the map between two waypoints on it", validate.Path{Poses: line(0, 0, -4.5, -3.5, -5.5, 0, -4.5, 3.5)}, nil, "swept path", 2},
		{"empty", validate.Path{}, nil, "empty", -1},
		{"one pose", validate.Path{Poses: line(0.2, 0)}, nil, "", 0},
		{"begins elsewhere", validate.Path{Poses: line(-2, -2, -3, -3)}, nil, "start state", 0},
		{"NaN in the middle", validate.Path{Poses: line(0, 0, math.NaN(), 0, 1, 0)}, nil, "finite", 1},
		{"1e308 in the middle", validate.Path{Poses: line(0, 0, 1, 1e308, 1, 0)}, nil, "range", 1},
		{"zero quaternion in the middle", validate.Path{Poses: []spatial.Pose{pose(0, 0, 0), {Position: r3.Vec{X: 1}}, pose(2, -1, 0)}}, nil, "unit quaternion", 1},
		{"which says nothing in a path of points", validate.Path{AlongPath: true, Poses: []spatial.Pose{pose(0, 0, 0), {Position: r3.Vec{X: 1}}, pose(2, -1, 0)}}, nil, "", 0},
		{"but does at its end", validate.Path{AlongPath: true, Poses: []spatial.Pose{pose(0, 0, 0), {Position: r3.Vec{X: 1}}}}, nil, "unit quaternion", 1},
		{"ends at its goal", validate.Path{Poses: line(0, 0, 3, -1), Goal: &at}, nil, "", 0},
		{"ends elsewhere", validate.Path{Poses: line(0, 0, 2, -1), Goal: &at}, nil, "goal", 1},
		{"unknown frame", validate.Path{Frame: "moon", Poses: line(0, 0)}, nil, "frame", -1},
		{"a schedule", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{0, 2 * sec}}, nil, "", 0},
		{"a schedule beyond the limits", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{0, sec}}, nil, "linear velocity", 1},
		{"a turn beyond the limits", validate.Path{Poses: []spatial.Pose{pose(0, 0, 0), pose(0, 0, 2)}, Times: []time.Duration{0, sec}}, nil, "angular velocity", 1},
		{"equal times", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{sec, sec}}, nil, "time order", 1},
		{"falling times", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{sec, 0}}, nil, "time order", 1},
		{"a time before the start", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{-sec, 5 * sec}}, nil, "time order", 0},
		{"times that belong to another path", validate.Path{Poses: line(0, 0, 1, 0), Times: []time.Duration{0}}, nil, "length", -1},
		{"a long robot heading along a path beside the wall", validate.Path{AlongPath: true, Poses: line(0, 0, -2.5, 2.2, 2.8, 2.75, 3, -1)}, func(w *validate.World) { w.Footprint, w.Zones = bar, nil }, "", 0},
		{"the same robot across the path", validate.Path{Poses: []spatial.Pose{pose(0, 0, 0), pose(-2.5, 2.4, math.Pi/2), pose(2.5, 2.4, math.Pi/2)}}, func(w *validate.World) { w.Footprint, w.Zones = bar, nil }, "swept path", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := world(spatial.Pose2{})
			if tc.change != nil {
				tc.change(w)
			}
			if tc.p.Frame == "" {
				tc.p.Frame = "map"
			}
			r := validate.Validate(tc.p, w)
			expect(t, r, tc.want)
			if len(r.Findings) == 1 && r.Findings[0].Index != tc.index {
				t.Errorf("index %d, want %d", r.Findings[0].Index, tc.index)
			}
		})
	}
}

func TestStartState(t *testing.T) {
	// The zone's edge is at x = 1.5, the footprint's radius 0.25.
	edge := func(inside float64) spatial.Pose2 { return spatial.Pose2{X: 1.25 + inside, Y: 1, Yaw: math.Pi} }
	for _, tc := range []struct {
		name string
		at   spatial.Pose2
		cmd  validate.Command
		want string
	}{
		{"localisation jumped into the zone: twist", spatial.Pose2{X: 2, Y: 1}, twist(0.1, 0), "keep-out"},
		{"drive", spatial.Pose2{X: 2, Y: 1}, validate.Drive{Distance: 0.1}, "keep-out"},
		{"turn", spatial.Pose2{X: 2, Y: 1}, validate.Turn{Angle: 0.1}, "keep-out"},
		{"goal", spatial.Pose2{X: 2, Y: 1}, goal(0, 0, 0), "keep-out"},
		{"path", spatial.Pose2{X: 2, Y: 1}, validate.Path{Frame: "map", Poses: []spatial.Pose{pose(2, 1, 0), pose(0, 0, 0)}}, "keep-out"},
		{"stop", spatial.Pose2{X: 2, Y: 1}, twist(0, 0), ""},
		{"noise at the edge, and away", edge(0.02), validate.Drive{Distance: 0.3}, ""},
		{"noise at the edge, and turning", edge(0.02), validate.Turn{Angle: 3}, ""},
		{"noise at the edge, and farther in", edge(0.02), validate.Drive{Distance: -0.1}, "keep-out"},
		{"noise at the edge is for where it is, not for where it goes", edge(0.02), goal(1.26, 1, 0), "keep-out"},
		{"more than noise, even if away", edge(0.05), validate.Drive{Distance: 0.3}, "keep-out"},
		{"in the wall", spatial.Pose2{Y: 2.8}, validate.Drive{Distance: -0.1}, "map"},
		{"touching the wall, and away", spatial.Pose2{Y: 2.66, Yaw: -math.Pi / 2}, validate.Drive{Distance: 0.3}, ""},
		{"touching the wall, and along the path away from it", spatial.Pose2{Y: 2.66}, validate.Path{Frame: "map", Poses: []spatial.Pose{pose(0, 2.6, 0), pose(0, 1, 0)}}, ""},
		{"touching the wall, and into it", spatial.Pose2{Y: 2.66, Yaw: math.Pi / 2}, validate.Drive{Distance: 0.1}, "swept path"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := validate.Validate(tc.cmd, world(tc.at))
			expect(t, r, tc.want)
			if strings.HasPrefix(tc.name, "localisation") && !strings.Contains(r.Err().Error(), "start state: the measured pose (2.000 m, 1.000 m, 0.000 rad)") {
				t.Errorf("%v does not name the measured pose", r.Err())
			}
		})
	}
}

func TestStopPassesInEveryWorld(t *testing.T) {
	broken := world(spatial.Pose2{X: 2, Y: 1})
	broken.State, broken.Limits, broken.Map, broken.TF, broken.Frame = validate.State{}, nil, nil, nil, ""
	stamped := twist(0, 0)
	stamped.Stamp, stamped.Frame = validate.Stamp{Sec: 1}, "moon"
	for _, w := range []*validate.World{nil, {}, broken} {
		for _, c := range []validate.Twist{twist(0, 0), stamped, twist(math.Copysign(0, -1), 0)} {
			expect(t, validate.Validate(c, w), "")
		}
	}
}

func TestNothingElsePassesInNoWorld(t *testing.T) {
	for _, w := range []*validate.World{nil, {}, {Frame: "map"}} {
		for _, c := range []validate.Command{nil, twist(0.1, 0), goal(0, 0, 0), validate.Path{}, validate.Drive{}, validate.Turn{}} {
			if r := validate.Validate(c, w); r.Valid() {
				t.Errorf("%T passes", c)
			}
		}
		if f := validate.InFlight(validate.State{Pose: pose(0, 0, 0), Frame: "map", Stamp: 1}, w); len(f) == 0 {
			t.Error("a state in flight passes")
		}
	}
	if r := validate.Validate(nil, world(spatial.Pose2{})); rules(r.Findings) != "empty" {
		t.Errorf("no command: %v", r.Findings)
	}
}

// TestNoNumberMayBeNaNOrInfinite puts each into every number of every command.
func TestNoNumberMayBeNaNOrInfinite(t *testing.T) {
	// bad is a pose with x in the place of its i-th number.
	bad := func(i int, x float64) spatial.Pose {
		p := pose(1, -1, 0)
		q := &p.Orientation
		*[]*float64{&p.Position.X, &p.Position.Y, &p.Position.Z, &q.Real, &q.Imag, &q.Jmag, &q.Kmag}[i] = x
		return p
	}
	commands := []func(x float64) validate.Command{
		func(x float64) validate.Command { return validate.Drive{Distance: x} },
		func(x float64) validate.Command { return validate.Drive{Distance: 0.1, Speed: x} },
		func(x float64) validate.Command { return validate.Turn{Angle: x} },
		func(x float64) validate.Command { return validate.Turn{Angle: 0.1, Speed: x} },
	}
	for i := range 6 {
		commands = append(commands, func(x float64) validate.Command {
			c := twist(0.1, 0.1)
			l, a := &c.Twist.Linear, &c.Twist.Angular
			*[]*float64{&l.X, &l.Y, &l.Z, &a.X, &a.Y, &a.Z}[i] = x
			return c
		})
	}
	for i := range 7 {
		commands = append(commands,
			func(x float64) validate.Command { return validate.PoseGoal{Frame: "map", Pose: bad(i, x)} },
			func(x float64) validate.Command {
				return validate.Path{Frame: "map", Poses: []spatial.Pose{pose(0, 0, 0), bad(i, x), pose(1, -1, 0)}}
			},
			func(x float64) validate.Command {
				g := bad(i, x)
				return validate.Path{Frame: "map", Poses: []spatial.Pose{pose(0, 0, 0), pose(1, -1, 0)}, Goal: &g}
			})
	}
	for _, c := range commands {
		for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			r := validate.Validate(c(x), world(spatial.Pose2{}))
			if r.Valid() || r.Findings[0].Rule != geometry.RuleFinite {
				t.Errorf("%+v: %v", c(x), r.Findings)
			}
			if r.Nearest != nil {
				t.Errorf("%+v: offers %+v", c(x), r.Nearest)
			}
		}
	}
}
