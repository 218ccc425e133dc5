package gazebo_test

import (
	"bytes"
	"encoding/xml"
	"math"
	"os"
	"testing"

	"agent_node/sim/gazebo"
	"agent_node/sim/world"
)

type sdfThing struct {
	Name   string  `xml:"name,attr"`
	Static bool    `xml:"static"`
	Pose   sdfPose `xml:"pose"`
	Link   struct {
		Inertial struct {
			Mass    float64    `xml:"mass"`
			Inertia sdfInertia `xml:"inertia"`
		} `xml:"inertial"`
		Collisions []sdfShape `xml:"collision"`
		Visuals    []sdfShape `xml:"visual"`
	} `xml:"link"`
}

func things(t *testing.T) map[string]sdfThing {
	t.Helper()
	text, err := os.ReadFile("worlds/flat.sdf")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		World struct {
			Name   string     `xml:"name,attr"`
			Models []sdfThing `xml:"model"`
		} `xml:"world"`
	}
	if err := xml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if w.World.Name != gazebo.WorldName {
		t.Errorf("the world is called %q", w.World.Name)
	}
	out := map[string]sdfThing{}
	for _, m := range w.World.Models {
		out[m.Name] = m
	}
	return out
}

func TestWorldHasTheObstaclesTheZoneAndTheObjects(t *testing.T) {
	w, all := world.Default(), things(t)
	left := len(all) - 1 // the floor
	box := func(name string, b world.Box, height float64, solid bool) {
		t.Helper()
		left--
		m := all[gazebo.ID(name)]
		if !m.Static || len(m.Link.Visuals) != 1 || (len(m.Link.Collisions) == 1) != solid {
			t.Errorf("%s is static %v with %d visuals and %d collisions", name, m.Static, len(m.Link.Visuals), len(m.Link.Collisions))
			return
		}
		at, size := floats(t, m.Pose.Text, 6), floats(t, m.Link.Visuals[0].Box, 3)
		got := world.Box{MinX: at[0] - size[0]/2, MinY: at[1] - size[1]/2, MaxX: at[0] + size[0]/2, MaxY: at[1] + size[1]/2}
		if !near(got.MinX, b.MinX) || !near(got.MinY, b.MinY) || !near(got.MaxX, b.MaxX) || !near(got.MaxY, b.MaxY) || !near(size[2], height) || !near(at[2], height/2) {
			t.Errorf("%s reaches over %+v up to %v m, and should over %+v up to %v m", name, got, at[2]+size[2]/2, b, height)
		}
		if solid && m.Link.Collisions[0].Box != m.Link.Visuals[0].Box {
			t.Errorf("%s looks other than it is", name)
		}
	}
	for _, o := range w.Obstacles() {
		box(o.Name, o.Box, o.Height, true)
	}
	for _, z := range w.Zones {
		height := floats(t, all[gazebo.ID(z.Name)].Link.Visuals[0].Box, 3)[2]
		if height > w.Robot.LidarHeight/10 {
			t.Errorf("the lidar sees the zone %s, which is %v m high", z.Name, height)
		}
		box(z.Name, z.Box, height, false)
	}
	for _, o := range w.Objects {
		left--
		m := all[gazebo.ID(o.Name)]
		at := floats(t, m.Pose.Text, 6)
		if m.Static || !near(at[0], o.X) || !near(at[1], o.Y) || !near(at[2], o.Z) || !near(at[5], o.Yaw) || !near(m.Link.Inertial.Mass, o.Mass()) {
			t.Errorf("%s: %v kg at %v", o.Name, m.Link.Inertial.Mass, at)
		}
		shape := m.Link.Collisions[0]
		round := shape.Sphere != nil && near(shape.Sphere.Radius, o.Size/2)
		square := shape.Box != "" && near(floats(t, shape.Box, 3)[0], o.Size)
		if round != (o.Shape == world.Ball) || square != (o.Shape == world.Cube) {
			t.Errorf("%s is no %s of %v m: %+v", o.Name, o.Shape, o.Size, shape)
		}
		want := o.Mass() * o.Size * o.Size / 6
		if o.Shape == world.Ball {
			want = 0.4 * o.Mass() * o.Size * o.Size / 4
		}
		if i := m.Link.Inertial.Inertia; math.Abs(i.XX-want) > 1e-3*want || i.XX != i.YY || i.YY != i.ZZ {
			t.Errorf("%s: the inertia is %+v, not %v", o.Name, i, want)
		}
	}
	if left != 0 {
		t.Errorf("%d models are of nothing in sim/world", left)
	}
}

// Nav2's map is the robot's own, and its mask keeps the robot's middle so far out that its edge is.
func TestMapsAreTheWorlds(t *testing.T) {
	w := world.Default()
	g := w.Grid()
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head := []byte("P5\n160 100\n255\n")
		if !bytes.HasPrefix(text, head) || len(text) != len(head)+len(g.Occupied) {
			t.Fatalf("%s has %d bytes and begins with %q", name, len(text), text[:20])
		}
		return text[len(head):]
	}
	flat, mask := read("maps/flat.pgm"), read("maps/keepout.pgm")
	for i := range g.Occupied {
		row, column := i/g.Width, i%g.Width
		pixel := (g.Height-1-row)*g.Width + column
		if black := flat[pixel] == 0; black != g.Occupied[i] {
			t.Errorf("cell %d: black is %v, occupied is %v", i, black, g.Occupied[i])
		}
		x, y := g.Center(i)
		room, corner := w.ZoneDistance(x, y), g.Resolution/math.Sqrt2
		if mask[pixel] != 0 && room-corner < w.Robot.Radius-1e-9 {
			t.Errorf("at %.3f, %.3f the robot may reach into the zone, %.3f m away", x, y, room)
		}
		if mask[pixel] == 0 && room > w.Robot.Radius+2*corner {
			t.Errorf("at %.3f, %.3f the mask keeps the robot out without need", x, y)
		}
	}
}
