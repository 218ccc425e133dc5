package world_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"agent_node/sim/world"
)

func TestPlacesAreFreeAndFarApart(t *testing.T) {
	w := world.Default()
	for _, p := range w.Places {
		room := min(w.Clearance(p.Pose.X, p.Pose.Y), w.ZoneDistance(p.Pose.X, p.Pose.Y)) - w.Robot.Radius
		if room < 0.15 {
			t.Errorf("%s: %.3f m around the robot, want 0.15 m", p.Name, room)
		}
	}
	for _, pair := range [][2]string{{"kitchen", "office"}, {"office", "dock"}, {"dock", "kitchen"}} {
		a, b := place(t, w, pair[0]), place(t, w, pair[1])
		if d := a.Pose.DistanceTo(b.Pose); d < 3 {
			t.Errorf("%s and %s are %.2f m apart, want 3 m", a.Name, b.Name, d)
		}
	}
	if _, err := w.Place("garage"); err == nil {
		t.Error("there is a garage")
	}
	if w.Start() != place(t, w, "dock").Pose {
		t.Error("the robot does not start at the dock")
	}
}

func TestStraightLinesAreBarred(t *testing.T) {
	w := world.Default()
	for _, c := range []struct{ from, to, by string }{
		{"dock", "kitchen", "keep-out"},
		{"office", "kitchen", "inner wall"},
	} {
		a, b := place(t, w, c.from).Pose, place(t, w, c.to).Pose
		if !crosses(a, b, box(t, w, c.by)) {
			t.Errorf("the line from %s to %s does not cross the %s", c.from, c.to, c.by)
		}
	}
}

func TestObjectsLieWithinReachOfAPlace(t *testing.T) {
	const reach = 0.7
	w := world.Default()
	for _, o := range w.Objects {
		lies := false
		for _, p := range w.Places {
			on := p.Surface.Box.Contains(o.X, o.Y) && math.Abs(o.Z-o.Size/2-p.Surface.Height) < 1e-9
			lies = lies || on && p.Pose.DistanceTo(world.Pose{X: o.X, Y: o.Y}) <= reach
		}
		if !lies {
			t.Errorf("%s lies nowhere", o.Name)
		}
	}
}

func TestProfileTellsOfThisWorld(t *testing.T) {
	text, err := os.ReadFile("../../config/sim_robot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var profile struct {
		Places    map[string]struct{ X, Y, Yaw float64 }
		Actuators map[string]struct {
			Limits map[string]float64
		}
		World struct {
			Footprint struct{ Radius float64 }
			KeepOut   []struct{ Polygon [][2]float64 } `yaml:"keep_out"`
		}
	}
	if err := yaml.Unmarshal(text, &profile); err != nil {
		t.Fatal(err)
	}
	w := world.Default()
	if len(profile.Places) != len(w.Places) {
		t.Errorf("the profile has %d places, the world %d", len(profile.Places), len(w.Places))
	}
	for _, p := range w.Places {
		q := profile.Places[p.Name]
		if math.Hypot(q.X-p.Pose.X, q.Y-p.Pose.Y) > 1e-3 || math.Abs(world.WrapAngle(q.Yaw-p.Pose.Yaw)) > 1e-3 {
			t.Errorf("%s: the profile says %+v, the world %+v", p.Name, q, p.Pose)
		}
	}
	if got := profile.World.Footprint.Radius; got != w.Robot.Radius {
		t.Errorf("the profile's footprint is %v m, the robot's %v m", got, w.Robot.Radius)
	}
	limits := profile.Actuators["base"].Limits
	if limits["linear"] != w.Robot.Limits.Linear || limits["angular"] != w.Robot.Limits.Angular {
		t.Errorf("the profile's limits %v are not the robot's %+v", limits, w.Robot.Limits)
	}
	if len(profile.World.KeepOut) != len(w.Zones) {
		t.Fatalf("the profile has %d zones, the world %d", len(profile.World.KeepOut), len(w.Zones))
	}
	for i, z := range w.Zones {
		for _, p := range profile.World.KeepOut[i].Polygon {
			onEdge := (p[0] == z.Box.MinX || p[0] == z.Box.MaxX) && (p[1] == z.Box.MinY || p[1] == z.Box.MaxY)
			if !onEdge {
				t.Errorf("zone %s: %v is no corner of %+v", z.Name, p, z.Box)
			}
		}
	}
}

func TestGridAgreesWithTheBoxes(t *testing.T) {
	w := world.Default()
	g := w.Grid()
	if g.Width != 160 || g.Height != 100 {
		t.Fatalf("%d x %d cells, want 160 x 100", g.Width, g.Height)
	}
	for i, occupied := range g.Occupied {
		x, y := g.Center(i)
		if got := g.Index(x, y); got != i {
			t.Fatalf("cell %d has its middle in cell %d", i, got)
		}
		inside := false
		for _, o := range w.Obstacles() {
			inside = inside || o.Box.Contains(x, y)
		}
		if inside != occupied {
			t.Errorf("cell at %.3f, %.3f: occupied %v, inside an obstacle %v", x, y, occupied, inside)
		}
	}
	for _, p := range [][2]float64{{-4.01, 0}, {0, 2.5}, {math.NaN(), 0}, {0, math.Inf(1)}} {
		if got := g.Index(p[0], p[1]); got != -1 {
			t.Errorf("%v is in cell %d, want off the map", p, got)
		}
	}
}

func TestRayEndsAtTheNearestObstacle(t *testing.T) {
	w := world.Default()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(w.Bounds.MinX, w.Bounds.MaxX).Draw(t, "x")
		y := rapid.Float64Range(w.Bounds.MinY, w.Bounds.MaxY).Draw(t, "y")
		angle := rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "angle")
		d := w.Ray(x, y, angle)
		s, c := math.Sincos(angle)
		if end := w.Clearance(x+d*c, y+d*s); end > 1e-9 {
			t.Fatalf("the ray ends %.3g m from any obstacle", end)
		}
		// Halfway there is nothing, unless the ray began in an obstacle.
		if d > 1e-6 {
			if half := w.Clearance(x+d/2*c, y+d/2*s); half == 0 {
				t.Fatalf("the ray went through an obstacle at %.3f m of %.3f m", d/2, d)
			}
		}
	})
}

func TestCollidesIsTrueForWhatIsNotFinite(t *testing.T) {
	w := world.Default()
	for _, p := range []world.Pose{{X: math.NaN()}, {Y: math.NaN()}, {X: math.Inf(1)}, {X: 100}} {
		if !w.Collides(p) {
			t.Errorf("%+v is free", p)
		}
	}
}

func TestPosesAreAGroup(t *testing.T) {
	pose := rapid.Custom(func(t *rapid.T) world.Pose {
		return world.Pose{
			X: rapid.Float64Range(-10, 10).Draw(t, "x"), Y: rapid.Float64Range(-10, 10).Draw(t, "y"),
			Yaw: rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "yaw"),
		}
	})
	same := func(a, b world.Pose) bool {
		return a.DistanceTo(b) < 1e-9 && math.Abs(world.WrapAngle(a.Yaw-b.Yaw)) < 1e-9
	}
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := pose.Draw(t, "p"), pose.Draw(t, "q"), pose.Draw(t, "r")
		if !same(p.Compose(p.Inverse()), world.Pose{}) || !same(p.Inverse().Compose(p), world.Pose{}) {
			t.Fatal("the inverse is none")
		}
		if !same(p.Compose(q).Compose(r), p.Compose(q.Compose(r))) {
			t.Fatal("composition is not associative")
		}
	})
}

func TestAdvanceIsTheSameInSmallSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := world.Twist{Linear: rapid.Float64Range(-1, 1).Draw(t, "v"), Angular: rapid.Float64Range(-2, 2).Draw(t, "w")}
		whole := world.Pose{}.Advance(v, 1)
		parts := world.Pose{}
		for range 100 {
			parts = parts.Advance(v, 0.01)
		}
		if whole.DistanceTo(parts) > 1e-6 || math.Abs(world.WrapAngle(whole.Yaw-parts.Yaw)) > 1e-6 {
			t.Fatalf("one step ends at %+v, a hundred at %+v", whole, parts)
		}
	})
}

func place(t *testing.T, w *world.World, name string) world.Place {
	t.Helper()
	p, err := w.Place(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func box(t *testing.T, w *world.World, name string) world.Box {
	t.Helper()
	for _, z := range w.Zones {
		if z.Name == name {
			return z.Box
		}
	}
	for _, o := range w.Obstacles() {
		if o.Name == name {
			return o.Box
		}
	}
	t.Fatalf("there is no %s", name)
	return world.Box{}
}

func crosses(a, b world.Pose, into world.Box) bool {
	for i := range 1001 {
		f := float64(i) / 1000
		if into.Contains(a.X+f*(b.X-a.X), a.Y+f*(b.Y-a.Y)) {
			return true
		}
	}
	return false
}

func TestDocumentationHasTheWorldsNumbers(t *testing.T) {
	text, err := os.ReadFile("../../docs/sim.md")
	if err != nil {
		t.Fatal(err)
	}
	w := world.Default()
	want := []string{fmt.Sprintf("%.2f m; `base_link`", w.Robot.Radius), fmt.Sprintf("| %.1f m/s, %.1f rad/s;", w.Robot.Limits.Linear, w.Robot.Limits.Angular)}
	for _, p := range w.Places {
		want = append(want, fmt.Sprintf("| %s | %.2f | %.2f | %.3f |", p.Name, p.Pose.X, p.Pose.Y, p.Pose.Yaw))
		r := p.Surface.Reach
		want = append(want, fmt.Sprintf("| %s | %.2f, %.2f | %.2f, %.2f |", p.Name, r.MinX, r.MinY, r.MaxX, r.MaxY))
	}
	for i, name := range w.Arm.Names {
		l, carry := w.Arm.Limits[i], strconv.FormatFloat(math.Round(w.Arm.Carry[i]*1e4)/1e4, 'f', -1, 64)
		want = append(want, fmt.Sprintf("| %.2f, %.2f | %.1f | %.1f |", l.Lower, l.Upper, l.Velocity, l.Acceleration), "`"+name+"`", " | "+carry)
	}
	c := w.Camera
	want = append(want, fmt.Sprintf("| %.2f rad wide, %.2f rad high |", c.HorizontalFOV, c.VerticalFOV), fmt.Sprintf("| %.1f to %.1f m |", c.RangeMin, c.RangeMax),
		fmt.Sprintf("| %.0f Hz |", c.Rate), fmt.Sprintf("| %.0f mm along each axis", 1000*c.Noise))
	corners := func(name string, b world.Box) string {
		return fmt.Sprintf("| %s | %.2f, %.2f | %.2f, %.2f |", name, b.MinX, b.MinY, b.MaxX, b.MaxY)
	}
	for _, o := range w.Obstacles() {
		if !strings.HasSuffix(o.Name, "wall") || o.Name == "inner wall" {
			want = append(want, corners(o.Name, o.Box))
		}
	}
	for _, z := range w.Zones {
		want = append(want, corners(z.Name, z.Box))
	}
	for _, o := range w.Objects {
		want = append(want, fmt.Sprintf("| %s | %.2f | %.2f | %.3f | %.2f |", o.Name, o.X, o.Y, o.Z, o.Size))
	}
	for _, line := range want {
		if !strings.Contains(string(text), line) {
			t.Errorf("docs/sim.md does not say %q", line)
		}
	}
}
