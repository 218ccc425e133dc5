package gazebo_test

import (
	"encoding/xml"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/urdf"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

// sdfModel is the robot as another program reads it.
type sdfModel struct {
	Links  []sdfLink  `xml:"model>link"`
	Frames []sdfFrame `xml:"model>frame"`
	Joints []sdfJoint `xml:"model>joint"`
	Plugs  []struct {
		Filename string `xml:"filename,attr"`
		Inner    string `xml:",innerxml"`
	} `xml:"model>plugin"`
}

type (
	sdfPose struct {
		RelativeTo string `xml:"relative_to,attr"`
		Text       string `xml:",chardata"`
	}
	sdfFrame struct {
		Name string  `xml:"name,attr"`
		On   string  `xml:"attached_to,attr"`
		Pose sdfPose `xml:"pose"`
	}
	sdfLink struct {
		Name     string  `xml:"name,attr"`
		Pose     sdfPose `xml:"pose"`
		Inertial struct {
			Pose    sdfPose    `xml:"pose"`
			Mass    float64    `xml:"mass"`
			Inertia sdfInertia `xml:"inertia"`
		} `xml:"inertial"`
		Collisions []sdfShape `xml:"collision"`
		Visuals    []sdfShape `xml:"visual"`
		Sensors    []struct {
			Topic string `xml:"topic"`
			Frame string `xml:"gz_frame_id"`
		} `xml:"sensor"`
	}
	sdfInertia struct {
		XX float64 `xml:"ixx"`
		XY float64 `xml:"ixy"`
		XZ float64 `xml:"ixz"`
		YY float64 `xml:"iyy"`
		YZ float64 `xml:"iyz"`
		ZZ float64 `xml:"izz"`
	}
	sdfShape struct {
		Name     string  `xml:"name,attr"`
		Pose     sdfPose `xml:"pose"`
		Box      string  `xml:"geometry>box>size"`
		Cylinder *struct {
			Radius float64 `xml:"radius"`
			Length float64 `xml:"length"`
		} `xml:"geometry>cylinder"`
		Sphere *struct {
			Radius float64 `xml:"radius"`
		} `xml:"geometry>sphere"`
	}
	sdfJoint struct {
		Name     string  `xml:"name,attr"`
		Pose     sdfPose `xml:"pose"`
		Parent   string  `xml:"parent"`
		Child    string  `xml:"child"`
		XYZ      string  `xml:"axis>xyz"`
		Lower    string  `xml:"axis>limit>lower"`
		Upper    string  `xml:"axis>limit>upper"`
		Effort   string  `xml:"axis>limit>effort"`
		Velocity string  `xml:"axis>limit>velocity"`
	}
)

func readModel(t *testing.T) sdfModel {
	t.Helper()
	text, err := os.ReadFile("models/sim_robot/model.sdf")
	if err != nil {
		t.Fatal(err)
	}
	var m sdfModel
	if err := xml.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// described is the robot's URDF by the geometry's own reader.
func described(t *testing.T) *urdf.Model {
	t.Helper()
	text, err := robot.Description(world.Default())
	if err != nil {
		t.Fatal(err)
	}
	m, err := urdf.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func floats(t *testing.T, text string, n int) []float64 {
	t.Helper()
	out := make([]float64, 0, n)
	for _, f := range strings.Fields(text) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		out = append(out, v)
	}
	if len(out) != n {
		t.Fatalf("%q has %d numbers, not %d", text, len(out), n)
	}
	return out
}

func number(t *testing.T, text string) float64 { return floats(t, text, 1)[0] }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9+1e-5*math.Abs(b) }

// transform is a pose "x y z roll pitch yaw".
func transform(t *testing.T, text string) world.Transform {
	if strings.TrimSpace(text) == "" {
		return world.Identity()
	}
	v := floats(t, text, 6)
	return world.Transform{R: world.RPY(v[3], v[4], v[5]), P: world.Vec{X: v[0], Y: v[1], Z: v[2]}}
}

func apart(a, b world.Transform) float64 {
	d := a.P.Sub(b.P).Norm()
	for i := range 3 {
		d = max(d, a.R.Column(i).Sub(b.R.Column(i)).Norm())
	}
	return d
}

func TestModelHasTheBodysMassesAndInertias(t *testing.T) {
	m, w := readModel(t), world.Default()
	links := map[string]sdfLink{}
	for _, l := range m.Links {
		links[l.Name] = l
	}
	for _, l := range w.Body {
		want := l.Inertia()
		got, ok := links[l.Name]
		if want.Mass == 0 {
			if ok {
				t.Errorf("%s has no body and is a link", l.Name)
			}
			continue
		}
		i, c := got.Inertial.Inertia, floats(t, got.Inertial.Pose.Text, 6)
		if !near(got.Inertial.Mass, want.Mass) || !near(c[0], want.Center.X) || !near(c[1], want.Center.Y) || !near(c[2], want.Center.Z) {
			t.Errorf("%s: %v kg at %v, the body has %v kg at %v", l.Name, got.Inertial.Mass, c, want.Mass, want.Center)
		}
		if !near(i.XX, want.IXX) || !near(i.YY, want.IYY) || !near(i.ZZ, want.IZZ) || !near(i.XY, want.IXY) || !near(i.XZ, want.IXZ) || !near(i.YZ, want.IYZ) {
			t.Errorf("%s: the inertia is %+v, the body's %+v", l.Name, i, want)
		}
	}
}

// Casters are under the base, and nothing else is more or less than in the URDF.
func TestModelHasTheURDFsShapes(t *testing.T) {
	m, u := readModel(t), described(t)
	for _, l := range m.Links {
		want := u.Link(l.Name)
		if want == nil {
			t.Errorf("the URDF has no %s", l.Name)
			continue
		}
		var got []sdfShape
		for _, c := range l.Collisions {
			if l.Name != world.LinkBase || !strings.HasSuffix(c.Name, "caster") {
				got = append(got, c)
				continue
			}
			at := floats(t, c.Pose.Text, 6)
			if c.Sphere == nil || !near(at[2], c.Sphere.Radius) || math.Hypot(at[0], at[1])+c.Sphere.Radius > world.Default().Robot.Radius {
				t.Errorf("%s at %v does not stand on the floor within the footprint", c.Name, at)
			}
		}
		if len(got) != len(want.Collisions) || len(l.Visuals) != len(want.Collisions) {
			t.Errorf("%s: %d collisions and %d visuals, the URDF has %d", l.Name, len(got), len(l.Visuals), len(want.Collisions))
			continue
		}
		for i, c := range want.Collisions {
			for _, shape := range []sdfShape{got[i], l.Visuals[i]} {
				if !same(t, shape, c) {
					t.Errorf("%s: %s is %+v, the URDF has %+v", l.Name, shape.Name, shape, c)
				}
			}
		}
	}
}

func same(t *testing.T, got sdfShape, want urdf.Collision) bool {
	x := transform(t, got.Pose.Text)
	for _, p := range []r3.Vec{{}, {X: 1}, {Y: 1}, {Z: 1}} {
		a, b := x.Apply(world.Vec{X: p.X, Y: p.Y, Z: p.Z}), want.Origin.Apply(p)
		if !near(a.X, b.X) || !near(a.Y, b.Y) || !near(a.Z, b.Z) {
			return false
		}
	}
	switch s := want.Shape.(type) {
	case urdf.Box:
		size := floats(t, got.Box, 3)
		return near(size[0], s.Size.X) && near(size[1], s.Size.Y) && near(size[2], s.Size.Z)
	case urdf.Cylinder:
		return got.Cylinder != nil && near(got.Cylinder.Radius, s.Radius) && near(got.Cylinder.Length, s.Length)
	case urdf.Sphere:
		return got.Sphere != nil && near(got.Sphere.Radius, s.Radius)
	}
	return false
}

func TestModelHasTheURDFsLimits(t *testing.T) {
	m, u := readModel(t), described(t)
	joints := map[string]sdfJoint{}
	for _, j := range m.Joints {
		joints[j.Name] = j
	}
	for _, want := range u.Joints {
		if !want.Moves() {
			continue
		}
		j, ok := joints[want.Name]
		if !ok || j.Parent != want.Parent || j.Child != want.Child {
			t.Errorf("%s ties %s to %s, the URDF %s to %s", want.Name, j.Parent, j.Child, want.Parent, want.Child)
			continue
		}
		lower, upper := number(t, j.Lower), number(t, j.Upper)
		endless := want.Type == urdf.Continuous && lower <= -1e15 && upper >= 1e15
		if !endless && (!near(lower, want.Limit.Lower) || !near(upper, want.Limit.Upper)) || !near(number(t, j.Effort), want.Limit.Effort) || !near(number(t, j.Velocity), want.Limit.Velocity) {
			t.Errorf("%s: %s to %s, %s, %s; the URDF has %+v", j.Name, j.Lower, j.Upper, j.Effort, j.Velocity, want.Limit)
		}
		axis := floats(t, j.XYZ, 3)
		if !near(axis[0], want.Axis.X) || !near(axis[1], want.Axis.Y) || !near(axis[2], want.Axis.Z) {
			t.Errorf("%s: the axis is %v, the URDF's %v", j.Name, axis, want.Axis)
		}
	}
	if moving := len(m.Joints); moving < 10 {
		t.Errorf("only %d joints", moving)
	}
}

// SDFormat's poses, followed from frame to frame, put every link where the robot has it.
func TestModelsFramesAreTheRobots(t *testing.T) {
	m, w := readModel(t), world.Default()
	links := map[string]sdfPose{}
	for _, l := range m.Links {
		links[l.Name] = l.Pose
	}
	joints := map[string]sdfJoint{}
	for _, j := range m.Joints {
		joints[j.Name] = j
	}
	var where func(name string) world.Transform
	where = func(name string) world.Transform {
		if j, ok := joints[name]; ok {
			return where(j.Pose.RelativeTo).Mul(transform(t, j.Pose.Text))
		}
		pose, ok := links[name]
		if !ok {
			t.Fatalf("no frame %q", name)
		}
		if pose.RelativeTo == "" {
			return transform(t, pose.Text)
		}
		return where(pose.RelativeTo).Mul(transform(t, pose.Text))
	}
	at := map[string]world.Transform{world.LinkBase: world.Identity()}
	for _, l := range w.Body {
		if l.Parent != "" {
			at[l.Name] = at[l.Parent].Mul(l.Joint.Origin(0))
		}
		got := world.Identity()
		if l.Mass > 0 {
			got = where(l.Name)
		} else {
			for _, f := range m.Frames {
				if f.Name == l.Name {
					got = where(f.On).Mul(transform(t, f.Pose.Text))
				}
			}
		}
		if d := apart(got, at[l.Name]); d > 1e-9 {
			t.Errorf("%s is %.3g off", l.Name, d)
		}
	}
}

func TestControlledURDFIsTheURDFAndItsJoints(t *testing.T) {
	text, err := os.ReadFile("sim_robot.urdf")
	if err != nil {
		t.Fatal(err)
	}
	var u struct {
		Joints []struct {
			Name     string `xml:"name,attr"`
			Commands []struct {
				Name string   `xml:"name,attr"`
				Min  []string `xml:"param"`
			} `xml:"command_interface"`
			States []struct {
				Name   string   `xml:"name,attr"`
				Params []string `xml:"param"`
			} `xml:"state_interface"`
		} `xml:"ros2_control>joint"`
	}
	if err := xml.Unmarshal(text, &u); err != nil {
		t.Fatal(err)
	}
	w, plain := world.Default(), described(t)
	if m, err := urdf.Parse(text); err != nil || len(m.Links) != len(plain.Links) || len(m.Joints) != len(plain.Joints) {
		t.Errorf("it is no URDF of the robot any more: %v", err)
	}
	start := map[string]float64{w.Gripper.Joint: 0}
	for i, name := range w.Arm.Names {
		start[name] = w.Arm.Carry[i]
	}
	told := map[string]bool{}
	for _, j := range u.Joints {
		told[j.Name] = true
		limit := plain.Joint(j.Name)
		initial, commanded := start[j.Name]
		if (len(j.Commands) == 1) != commanded || len(j.States) != 2 {
			t.Errorf("%s takes %v and tells %v", j.Name, j.Commands, j.States)
			continue
		}
		if commanded {
			if got := number(t, j.States[0].Params[0]); math.Abs(got-initial) > 1e-6 {
				t.Errorf("%s begins at %v, not at %v", j.Name, got, initial)
			}
			if c := j.Commands[0]; c.Name != "position" || !near(number(t, c.Min[0]), limit.Limit.Lower) || !near(number(t, c.Min[1]), limit.Limit.Upper) {
				t.Errorf("%s takes %+v, its limits are %+v", j.Name, c, limit.Limit)
			}
		}
	}
	for _, j := range plain.Joints {
		if j.Moves() != told[j.Name] {
			t.Errorf("%s: moves is %v, told of is %v", j.Name, j.Moves(), told[j.Name])
		}
	}
}
