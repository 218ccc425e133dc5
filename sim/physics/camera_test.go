package physics_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// lay puts an object down where it lies.
func (h hand) lay(name string, x, y float64) {
	h.t.Helper()
	o := h.object(name).Object
	o.X, o.Y, o.Z = x, y, h.World().Top(x, y)+o.Size/2
	h.must(h.PutObject(o))
	h.wait(100 * time.Millisecond)
}

func TestCameraSeesWhatIsInView(t *testing.T) {
	start := world.Pose{X: 1.5, Y: -0.2, Yaw: math.Pi / 2}
	for name, c := range map[string]struct {
		x, y float64
		seen bool
	}{
		"in front, on the floor":  {1.5, 0.5, true},
		"behind":                  {1.5, -1.5, false},
		"right below":             {1.5, 0, false},
		"too far":                 {1.5, 2.3, false},
		"at the side":             {2.6, 0, false},
		"on the counter":          {1.5, 1.95, true},
		"left within the angle":   {1.2, 0.7, true},
		"right beyond the angle":  {2.7, 0.7, false},
		"hidden behind the table": {3.4, -1.8, false},
	} {
		h := armed(t, physics.Options{Start: &start})
		h.lay("red cube", c.x, c.y)
		if _, seen := names(h.Detections())["red cube"]; seen != c.seen {
			t.Errorf("%s: seen is %v", name, seen)
		}
	}
}

func TestWallsAndFurnitureHide(t *testing.T) {
	// On either side of the inner wall, looking at it.
	west, east := world.Pose{X: -1.4, Y: 1.8, Yaw: 0}, world.Pose{X: 0.2, Y: 1.8, Yaw: math.Pi}
	for _, c := range []struct {
		from world.Pose
		x    float64
		seen bool
	}{{west, -0.8, true}, {west, 0.1, false}, {east, -0.4, true}, {east, -1.0, false}} {
		h := armed(t, physics.Options{Start: &c.from})
		h.lay("green ball", c.x, 1.8)
		if _, seen := names(h.Detections())["green ball"]; seen != c.seen {
			t.Errorf("from x %.1f m the ball at x %.1f m is seen: %v", c.from.X, c.x, seen)
		}
	}
	// On the floor behind the table.
	start := world.Pose{X: 2.0, Y: -1.6}
	h := armed(t, physics.Options{Start: &start})
	h.lay("red cube", 3.4, -1.6)
	if _, seen := names(h.Detections())["red cube"]; seen {
		t.Error("it sees through the table")
	}
}

func TestNothingSeenIsSaidToo(t *testing.T) {
	h := armed(t, physics.Options{})
	if d := h.Detections(); len(d.Seen) != 0 || d.Time != 0 {
		t.Errorf("at the dock it sees %+v", d)
	}
	h.wait(time.Second)
	if d := h.Detections(); len(d.Seen) != 0 || d.Time != h.Time() {
		t.Errorf("later it sees %+v", d)
	}
}

// What it says is where it is, up to the noise; and what it says lies in its view.
func TestDetectionsAreTrueUpToTheirNoise(t *testing.T) {
	w := world.Default()
	camera := w.Body.Index(world.LinkCamera)
	mount := w.Body.Frames(nil)[camera]
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		at := w.Places[rapid.IntRange(0, 3).Draw(t, "place")].Pose
		at.X += rapid.Float64Range(-0.1, 0.1).Draw(t, "x")
		at.Yaw += rapid.Float64Range(-0.5, 0.5).Draw(t, "yaw")
		s, err := physics.New(physics.Options{Seed: seed, Start: &at})
		if err != nil {
			t.Skip("no room there")
		}
		drive(s, world.Twist{Angular: 0.5}, 300*time.Millisecond)
		frame := s.Truth().Pose.Transform(0).Mul(mount)
		things := map[string]physics.ObjectState{}
		for _, o := range s.Objects() {
			things[o.Name] = o
		}
		for _, d := range s.Detections().Seen {
			o := things[d.Name]
			is := frame.Inverse().Apply(world.Vec{X: o.X, Y: o.Y, Z: o.Z})
			if off := d.Position.Sub(is).Norm(); off > 4*w.Camera.Noise*math.Sqrt(3) {
				t.Fatalf("%s is said %.4f m beside where it is", d.Name, off)
			}
			if d.Position == is {
				t.Fatal("it says the truth itself")
			}
			if d.Distance < w.Camera.RangeMin || d.Distance > w.Camera.RangeMax || math.Abs(math.Atan2(is.Y, is.X)) > w.Camera.HorizontalFOV/2 {
				t.Fatalf("%s is out of view at %+v", d.Name, is)
			}
		}
	})
}

func TestThePlacesOverlookTheirSurfaces(t *testing.T) {
	for _, p := range world.Default().Places {
		r := p.Surface.Reach
		for _, spot := range [][2]float64{{r.MinX, r.MinY}, {r.MaxX, r.MinY}, {r.MinX, r.MaxY}, {r.MaxX, r.MaxY}} {
			h := at(t, p.Name, physics.Options{})
			h.lay("blue cube", spot[0], spot[1])
			if _, seen := names(h.Detections())["blue cube"]; !seen {
				t.Errorf("from the %s it does not see %v", p.Name, spot)
			}
		}
	}
}
