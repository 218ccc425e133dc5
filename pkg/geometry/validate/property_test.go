package validate_test

import (
	"math"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/geometry/zone"

	"gonum.org/v1/gonum/spatial/r2"
	"pgregory.net/rapid"
)

// inRoom draws a pose on the map of testdata/world.json, and a bit around.
func inRoom(t *rapid.T, name string) spatial.Pose2 {
	return spatial.Pose2{X: rapid.Float64Range(-5.5, 6.5).Draw(t, name+".x"), Y: rapid.Float64Range(-4.5, 5.5).Draw(t, name+".y"), Yaw: rapid.Float64Range(-math.Pi, math.Pi).Draw(t, name+".yaw")}
}

func drawWorld(t *rapid.T) *validate.World {
	w := world(inRoom(t, "at"))
	if rapid.Bool().Draw(t, "box") {
		w.Footprint = must(spatial.PolygonFootprint([]r2.Vec{v(0.5, 0.2), v(-0.3, 0.2), v(-0.3, -0.2), v(0.5, -0.2)}))
	}
	if rapid.Bool().Draw(t, "workspace") {
		w.Workspace = []*zone.Zone{must(zone.New(zone.Config{
			Name: "hall", Kind: zone.KeepIn, Frame: "odom", Margin: 0.05,
			Shape: must(zone.Polygon([]r2.Vec{v(-4, -3), v(5, -3), v(5, 0), v(3, 1), v(5, 4), v(-4, 4)})),
		}))}
	}
	return w
}

// breach says how a single pose breaks a world, by the rooms' own answers for poses.
func breach(w *validate.World, p spatial.Pose2) string {
	odom := spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}
	for _, z := range append(append([]*zone.Zone(nil), w.Workspace...), w.Zones...) {
		at := p
		if z.Frame() == "odom" {
			at = odom.Inverse().Compose(p)
		}
		if z.Room(w.Footprint, at) < -1e-9 {
			return z.Name()
		}
	}
	if !w.Map.Free(w.Footprint, p, 0) {
		return "map"
	}
	return ""
}

// clean reports whether the start breaks nothing, so that no tolerance is at work.
func clean(w *validate.World) bool {
	return breach(w, spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}.Compose(w.State.Pose.Planar())) == ""
}

func startOf(w *validate.World) spatial.Pose2 {
	return spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}.Compose(w.State.Pose.Planar())
}

func TestWhatPassesBreaksNothingOnItsWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		var c validate.Command
		var poses []spatial.Pose2
		sample := func(m spatial.Motion) {
			for i := range 200 {
				poses = append(poses, m.At(float64(i)/199))
			}
		}
		from := startOf(w)
		switch rapid.IntRange(0, 4).Draw(t, "command") {
		case 0:
			d := rapid.Float64Range(-6, 6).Draw(t, "distance")
			s, k := math.Sincos(from.Yaw)
			c = validate.Drive{Distance: d}
			sample(spatial.Motion{From: from, Shift: v(d*k, d*s)})
		case 1:
			a := rapid.Float64Range(-7, 7).Draw(t, "angle")
			c = validate.Turn{Angle: a}
			sample(spatial.Rotation(from, a))
		case 2:
			g := inRoom(t, "goal")
			c = validate.PoseGoal{Frame: "map", Pose: g.Pose()}
			poses = append(poses, g)
		case 3:
			p := validate.Path{Frame: "map", Poses: []spatial.Pose{from.Pose()}}
			last := from
			for range rapid.IntRange(1, 4).Draw(t, "waypoints") {
				next := inRoom(t, "waypoint")
				p.Poses = append(p.Poses, next.Pose())
				sample(spatial.Line(last, next))
				last = next
			}
			c = p
		case 4:
			tw := twist(rapid.Float64Range(-0.5, 0.5).Draw(t, "v"), rapid.Float64Range(-1, 1).Draw(t, "w"))
			c = tw
			poses = drive(w, from, tw.Twist)
		}
		r := validate.Validate(c, w)
		if !r.Valid() {
			if r.Nearest != nil {
				if again := validate.Validate(r.Nearest, w); !again.Valid() {
					t.Fatalf("the nearest %+v is refused: %v", r.Nearest, again.Findings)
				}
			}
			return
		}
		if !clean(w) {
			return // borne with at the start; TestStartState
		}
		for _, p := range poses {
			if b := breach(w, p); b != "" {
				t.Fatalf("%+v passes, but breaks %s at %+v", c, b, p)
			}
		}
	})
}

// drive integrates a twist applied for the command timeout and then braked, finely.
func drive(w *validate.World, p spatial.Pose2, t spatial.Twist) (poses []spatial.Pose2) {
	const dt = 1e-3
	vx, wz := t.Linear.X, t.Angular.Z
	for s := 0.0; vx != 0 || wz != 0; s += dt {
		poses = append(poses, p)
		p = spatial.Arc(p, vx, 0, wz, dt).End()
		if s >= 0.5 {
			vx = math.Copysign(math.Max(math.Abs(vx)-w.Limits.Decel*dt, 0), vx)
			wz = math.Copysign(math.Max(math.Abs(wz)-w.Limits.AngularDecel*dt, 0), wz)
		}
		if math.Abs(vx) == 0 && math.Abs(wz) == 0 {
			break
		}
	}
	return append(poses, p)
}

// TestWhatIsRefusedBreaksSomething: no crying wolf, beyond a few millimetres.
func TestWhatIsRefusedBreaksSomething(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		from := startOf(w)
		d := rapid.Float64Range(-6, 6).Draw(t, "distance")
		r := validate.Validate(validate.Drive{Distance: d}, w)
		if r.Valid() {
			return
		}
		s, k := math.Sincos(from.Yaw)
		m := spatial.Motion{From: from, Shift: v(d*k, d*s)}
		for i := range 2000 {
			p := m.At(float64(i) / 1999)
			near := w.Map.Room(w.Footprint, p) < 0.004
			for _, z := range append(append([]*zone.Zone(nil), w.Workspace...), w.Zones...) {
				at := p
				if z.Frame() == "odom" {
					at = spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}.Inverse().Compose(p)
				}
				near = near || z.Room(w.Footprint, at) < 0.004
			}
			if near {
				return
			}
		}
		t.Fatalf("%v, but nothing is near the way of %+v by %g", r.Findings, from, d)
	})
}

func TestTwistCheckAllocatesNothing(t *testing.T) {
	w := world(spatial.Pose2{})
	buf := make([]geometry.Finding, 0, 8)
	disc, box := w.Footprint, must(spatial.PolygonFootprint([]r2.Vec{v(0.3, 0.2), v(-0.3, 0.2), v(-0.3, -0.2), v(0.3, -0.2)}))
	for name, c := range map[string]struct {
		near spatial.Pose2
		fp   spatial.Footprint
	}{"in the open": {fp: disc}, "beside the wall": {spatial.Pose2{Y: 2.3}, disc}, "closer to it": {spatial.Pose2{Y: 2.55}, disc}, "a box": {spatial.Pose2{Y: 2.55}, box}} {
		w.Footprint = c.fp
		w.State.Pose = spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}.Inverse().Compose(c.near).Pose()
		if n := testing.AllocsPerRun(100, func() {
			if len(validate.CheckTwist(twist(0.3, 0.2), w, buf)) > 0 {
				t.Error("refused")
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(0.1, 0.2, 0.3, 1.0, 0.0, int64(0), uint8(0))
	f.Add(2.0, 1.0, 0.0, 0.7, 0.7, int64(time.Second), uint8(1))
	f.Fuzz(func(t *testing.T, a, b, c, d, e float64, ns int64, kind uint8) {
		w := world(spatial.Pose2{})
		p := pose(a, b, 0)
		p.Position.Z, p.Orientation.Real, p.Orientation.Kmag = c, d, e
		var cmd validate.Command
		switch kind % 5 {
		case 0:
			tw := validate.Twist{Stamp: validate.StampOf(ns), Duration: time.Duration(ns)}
			tw.Twist.Linear.X, tw.Twist.Linear.Y, tw.Twist.Angular.Z = a, b, c
			cmd = tw
		case 1:
			cmd = validate.PoseGoal{Frame: "odom", Stamp: validate.StampOf(ns), Pose: p}
		case 2:
			cmd = validate.Path{Frame: "map", Poses: []spatial.Pose{pose(0, 0, 0), p, pose(d, e, a)}, Times: []time.Duration{0, time.Duration(ns), 5}, AlongPath: kind > 99}
		case 3:
			cmd = validate.Drive{Distance: a, Speed: b}
		case 4:
			cmd = validate.Turn{Angle: a, Speed: b}
		}
		r := validate.Validate(cmd, w)
		if r.Nearest != nil {
			if again := validate.Validate(r.Nearest, w); !again.Valid() {
				t.Fatalf("%+v: the nearest %+v is refused: %v", cmd, r.Nearest, again.Findings)
			}
		}
		for _, f := range r.Findings {
			if f.Rule == "" || f.Subject == "" || f.Message == "" {
				t.Fatalf("finding lacks something: %+v", f)
			}
		}
		w.State.Pose, w.State.Twist.Linear.X, w.State.Stamp = p, a, w.Now-ns
		validate.InFlight(w.State, w)
		validate.Validate(cmd, w)
	})
}

func BenchmarkCheckTwist(b *testing.B) {
	odom := spatial.Pose2{X: 0.3, Y: -0.2, Yaw: 0.4}
	buf := make([]geometry.Finding, 0, 8)
	for _, c := range []struct {
		name  string
		at    spatial.Pose2
		frame string
	}{{"open/map", spatial.Pose2{X: -2, Y: -1}, "map"}, {"open/odom", spatial.Pose2{X: -2, Y: -1}, "odom"}, {"near-wall/map", spatial.Pose2{Y: 2.55}, "map"}, {"near-wall/box", spatial.Pose2{Y: 2.55}, "map"}} {
		b.Run(c.name, func(b *testing.B) {
			w := world(c.at)
			if c.name == "near-wall/box" {
				w.Footprint = must(spatial.PolygonFootprint([]r2.Vec{v(0.3, 0.2), v(-0.3, 0.2), v(-0.3, -0.2), v(0.3, -0.2)}))
			}
			w.Map.Prepare()
			w.State.Frame, w.State.Pose = "map", c.at.Pose()
			if c.frame == "odom" {
				w.State.Frame, w.State.Pose = "odom", odom.Inverse().Compose(c.at).Pose()
			}
			t := twist(0.3, -0.2)
			b.ReportAllocs()
			for b.Loop() {
				if len(validate.CheckTwist(t, w, buf)) > 0 {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkPath100(b *testing.B) {
	w := world(spatial.Pose2{})
	w.Map.Prepare()
	p := validate.Path{Frame: "map", AlongPath: true}
	for i := range 100 {
		s, c := math.Sincos(float64(i) / 25)
		p.Poses = append(p.Poses, pose(1.5*s, 1.5*c-1.5, 0))
	}
	w.Zones = w.Zones[:1]
	if r := validate.Validate(p, w); !r.Valid() {
		b.Fatal(r.Err())
	}
	b.ReportAllocs()
	for b.Loop() {
		validate.Validate(p, w)
	}
}

func BenchmarkInFlight(b *testing.B) {
	w := world(spatial.Pose2{X: -3, Y: -1})
	s := w.State
	s.Twist.Linear.X = 0.4
	b.ReportAllocs()
	for b.Loop() {
		if len(validate.InFlight(s, w)) > 0 {
			b.Fatal("refused")
		}
	}
}
