package urdf_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"agent_node/pkg/geometry/urdf"

	"gonum.org/v1/gonum/spatial/r3"
)

func read(t testing.TB, name string) *urdf.Model {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, err := urdf.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParse(t *testing.T) {
	m := read(t, "sim_robot")
	if m.Name != "sim_robot" || m.Root != "base_link" || len(m.Links) != len(m.Joints)+1 {
		t.Errorf("%q, root %q, %d links, %d joints", m.Name, m.Root, len(m.Links), len(m.Joints))
	}
	j := m.Joint("shoulder_lift_joint")
	if j.Type != urdf.Revolute || j.Parent != "shoulder_link" || j.Child != "upper_arm_link" || j.Axis != (r3.Vec{Y: 1}) ||
		j.Limit != (urdf.Limit{Lower: -2.9, Upper: 0.5, Velocity: 1.2, Effort: 60}) || j.Origin.Translation != (r3.Vec{Y: 0.07, Z: 0.04}) {
		t.Errorf("%+v", j)
	}
	if w := m.Joint("left_wheel_joint"); w.Type != urdf.Continuous || !math.IsInf(w.Limit.Lower, -1) || !math.IsInf(w.Limit.Upper, 1) || w.Limit.Velocity == 0 {
		t.Errorf("%+v", w)
	}
	f := m.Joint("right_finger_joint")
	if f.Type != urdf.Prismatic || f.Mimic == nil || *f.Mimic != (urdf.Mimic{Joint: "finger_joint", Multiplier: 0.5}) {
		t.Errorf("%+v", f)
	}
	if s, factor, offset := m.Source(f); s.Name != "finger_joint" || factor != 0.5 || offset != 0 {
		t.Error(s, factor, offset)
	}
	shapes := m.Link("shoulder_link").Collisions
	if len(shapes) != 4 || shapes[0].Shape != (urdf.Cylinder{Radius: 0.042, Length: 0.07}) || shapes[3].Shape != (urdf.Sphere{Radius: 0.042}) {
		t.Errorf("%+v", shapes)
	}
	if m.Link("moon") != nil || m.Joint("moon") != nil || m.Above("moon") != nil || m.Above("base_link") != nil || m.Above("tool0").Name != "tool0_joint" {
		t.Error("finds what is not there, or does not find what is")
	}
	// A turned frame, an axis that is no unit, a default axis.
	i := read(t, "industrial")
	if a := i.Joint("axis_6").Axis; a != (r3.Vec{X: 1}) {
		t.Error(a)
	}
	if q := i.Joint("column_joint").Origin.Rotation; math.Abs(q.Kmag-math.Sin(0.2)) > 1e-15 {
		t.Error(q)
	}
}

func TestWhatIsForOthersIsPassedOver(t *testing.T) {
	m, err := urdf.Parse([]byte(`<?xml version="1.0"?>
<!-- a comment -->
<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <gazebo reference="a"><joint name="x"/></gazebo>
  <ros2_control name="c" type="system"><joint name="j"><command_interface name="position"/></joint></ros2_control>
  <transmission name="t"><joint name="j"/></transmission>
  <link name="a"><visual><geometry><mesh filename="package://r/a.dae"/></geometry></visual><inertial><mass value="NaN"/></inertial></link>
  <link name="b"><collision name="hull"><geometry><mesh filename="package://r/b.stl" scale="0.001 0.001 0.001"/></geometry></collision></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><safety_controller soft_lower_limit="0"/></joint>
</robot>
`))
	if err != nil {
		t.Fatal(err)
	}
	if j := m.Joint("j"); len(m.Joints) != 1 || j.Axis != (r3.Vec{X: 1}) || j.Line != 9 || j.Limit.Velocity != 0 {
		t.Errorf("%+v", m.Joints)
	}
	c := m.Link("b").Collisions[0]
	if mesh, ok := c.Shape.(urdf.Mesh); !ok || mesh.Filename != "package://r/b.stl" || mesh.Scale.X != 0.001 || c.Name != "hull" {
		t.Errorf("%+v", c)
	}
}

// robot with its parts on lines of their own, from line 2 on.
func robot(lines ...string) string {
	return "<robot name=\"r\">\n" + strings.Join(lines, "\n") + "\n</robot>"
}

const (
	a  = `<link name="a"/>`
	b  = `<link name="b"/>`
	c  = `<link name="c"/>`
	ab = `<joint name="ab" type="fixed"><parent link="a"/><child link="b"/></joint>`
)

func moving(kind, rest string) string {
	return fmt.Sprintf(`<joint name="ab" type="%s"><parent link="a"/><child link="b"/>%s</joint>`, kind, rest)
}

func shape(s string) string {
	return fmt.Sprintf(`<link name="a"><collision><geometry>%s</geometry></collision></link>`, s)
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		text   string
		reason error
		line   int
		says   string
	}{
		{"nothing", "", urdf.ErrSyntax, 1, "no element"},
		{"not XML", "arm: true", urdf.ErrSyntax, 1, "text outside"},
		{"cut off", "<robot>\n<link name=\"a\">\n", urdf.ErrSyntax, 3, "not closed"},
		{"crossed", "<robot>\n<link name=\"a\">\n</robot></link>", urdf.ErrSyntax, 3, "ends nothing"},
		{"an entity that nobody knows", robot(a, "<x y=\"&lol;\"/>"), urdf.ErrSyntax, 3, "lol"},
		{"an attribute twice", robot(`<link name="a" name="b"/>`), urdf.ErrSyntax, 2, "twice"},
		{"two documents", robot(a) + "\n" + robot(b), urdf.ErrSyntax, 4, "second document"},
		{"Latin-1", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n" + robot(a), urdf.ErrSyntax, 1, "encoding"},
		{"another document", "<sdf/>", urdf.ErrElement, 1, "<sdf>"},
		{"deep", robot(strings.Repeat("<x>", 100) + strings.Repeat("</x>", 100)), urdf.ErrTooLarge, 2, "deeper"},
		{"no links", robot(""), urdf.ErrElement, 1, "no <link>"},
		{"a link without a name", robot(`<link/>`), urdf.ErrElement, 2, "name"},
		{"a link with an empty name", robot(`<link name=""/>`), urdf.ErrName, 2, "name"},
		{"a blank before a name", robot(`<link name=" a"/>`), urdf.ErrName, 2, "blanks"},
		{"a link twice", robot(a, b, a), urdf.ErrName, 4, "line 2"},
		{"a joint twice", robot(a, b, c, ab, `<joint name="ab" type="fixed"><parent link="b"/><child link="c"/></joint>`), urdf.ErrName, 6, "line 5"},
		{"two roots", robot(a, b), urdf.ErrTree, 3, "one root"},
		{"two parents", robot(a, b, c, ab, `<joint name="cb" type="fixed"><parent link="c"/><child link="b"/></joint>`), urdf.ErrTree, 6, "already"},
		{"a ring", robot(a, b, c, `<joint name="bc" type="fixed"><parent link="b"/><child link="c"/></joint>`, `<joint name="cb" type="fixed"><parent link="c"/><child link="b"/></joint>`), urdf.ErrTree, 0, "ring"},
		{"a ring and nothing else", robot(a, b, ab, `<joint name="ba" type="fixed"><parent link="b"/><child link="a"/></joint>`), urdf.ErrTree, 0, "ring"},
		{"on itself", robot(a, `<joint name="aa" type="fixed"><parent link="a"/><child link="a"/></joint>`), urdf.ErrTree, 3, "ring"},
		{"a link that is not there", robot(a, b, `<joint name="j" type="fixed"><parent link="a"/><child link="x"/></joint>`), urdf.ErrTree, 4, `"x"`},
		{"no parent", robot(a, b, `<joint name="j" type="fixed"><child link="b"/></joint>`), urdf.ErrElement, 4, "<parent>"},
		{"two children", robot(a, b, c, `<joint name="j" type="fixed"><parent link="a"/><child link="b"/><child link="c"/></joint>`), urdf.ErrElement, 5, "second"},
		{"no type", robot(a, b, `<joint name="j"><parent link="a"/><child link="b"/></joint>`), urdf.ErrElement, 4, "type"},
		{"an unknown type", robot(a, b, moving("hinge", "")), urdf.ErrJointType, 4, "hinge"},
		{"a floating one that follows another", robot(a, b, moving("floating", `<mimic joint="j"/>`)), urdf.ErrElement, 4, "floating"},
		{"a macro", robot(`<xacro:arm prefix="left"/>`, a), urdf.ErrElement, 2, "xacro"},
		{"no limit", robot(a, b, moving("revolute", "")), urdf.ErrElement, 4, "<limit>"},
		{"limits in the wrong order", robot(a, b, moving("revolute", `<limit lower="1" upper="-1" velocity="1"/>`)), urdf.ErrNumber, 4, "over upper"},
		{"a negative velocity", robot(a, b, moving("prismatic", `<limit upper="1" velocity="-1"/>`)), urdf.ErrNumber, 4, "negative"},
		{"NaN", robot(a, b, moving("revolute", `<limit lower="nan" upper="1"/>`)), urdf.ErrNumber, 4, "nan"},
		{"infinite", robot(a, b, moving("revolute", `<limit lower="-inf" upper="1"/>`)), urdf.ErrNumber, 4, "inf"},
		{"huge", robot(a, b, moving("revolute", `<limit lower="-1e300" upper="1"/>`)), urdf.ErrNumber, 4, "1e300"},
		{"a decimal comma", robot(a, b, moving("revolute", `<limit lower="-1,5" upper="1"/>`)), urdf.ErrNumber, 4, "-1,5"},
		{"hexadecimal", robot(a, b, moving("revolute", `<limit lower="0x0p0" upper="1"/>`)), urdf.ErrNumber, 4, "0x0p0"},
		{"a macro that was not expanded", robot(a, b, moving("revolute", `<limit lower="${-pi}" upper="1"/>`)), urdf.ErrNumber, 4, "${-pi}"},
		{"two limits", robot(a, b, moving("revolute", `<limit upper="1"/>`+"\n"+`<limit upper="2"/>`)), urdf.ErrElement, 5, "line 4"},
		{"an axis of zero", robot(a, b, moving("continuous", `<axis xyz="0 0 0"/>`)), urdf.ErrNumber, 4, "direction"},
		{"an axis of two numbers", robot(a, b, moving("continuous", `<axis xyz="0 1"/>`)), urdf.ErrNumber, 4, "three numbers"},
		{"an origin of four numbers", robot(a, b, moving("fixed", `<origin xyz="0 0 1 2"/>`)), urdf.ErrNumber, 4, "three numbers"},
		{"an rpy of words", robot(a, b, moving("fixed", `<origin rpy="0 0 up"/>`)), urdf.ErrNumber, 4, "up"},
		{"two origins", robot(a, b, moving("fixed", `<origin/><origin/>`)), urdf.ErrElement, 4, "second"},
		{"follows nobody", robot(a, b, moving("continuous", `<mimic joint="x"/>`)), urdf.ErrElement, 4, "not there"},
		{"follows itself", robot(a, b, moving("continuous", `<mimic joint="ab"/>`)), urdf.ErrElement, 4, "follows it"},
		{"fixed and follows", robot(a, b, moving("fixed", `<mimic joint="ab"/>`)), urdf.ErrElement, 4, "fixed"},
		{"follows a fixed one", robot(a, b, c, ab, `<joint name="bc" type="continuous"><parent link="b"/><child link="c"/><mimic joint="ab"/></joint>`), urdf.ErrElement, 6, "is fixed"},
		{"a multiplier that is none", robot(a, b, moving("continuous", `<mimic joint="ab" multiplier="x"/>`)), urdf.ErrNumber, 4, "multiplier"},
		{"no geometry", robot(`<link name="a"><collision/></link>`), urdf.ErrElement, 2, "<geometry>"},
		{"no shape", robot(shape("")), urdf.ErrElement, 2, "0 shapes"},
		{"two shapes", robot(shape(`<sphere radius="1"/><sphere radius="1"/>`)), urdf.ErrElement, 2, "2 shapes"},
		{"an unknown shape", robot(shape(`<cone radius="1"/>`)), urdf.ErrElement, 2, "no shape"},
		{"a ball of zero", robot(shape(`<sphere radius="0"/>`)), urdf.ErrNumber, 2, "over 0"},
		{"a ball without a radius", robot(shape(`<sphere/>`)), urdf.ErrElement, 2, "radius"},
		{"a negative length", robot(shape(`<cylinder radius="1" length="-1"/>`)), urdf.ErrNumber, 2, "over 0"},
		{"a flat box", robot(shape(`<box size="1 1 0"/>`)), urdf.ErrNumber, 2, "over 0"},
		{"a box without a size", robot(shape(`<box/>`)), urdf.ErrNumber, 2, "over 0"},
		{"a mesh without a file", robot(shape(`<mesh/>`)), urdf.ErrElement, 2, "filename"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := urdf.Parse([]byte(tc.text))
			var e *urdf.Error
			if m != nil || !errors.As(err, &e) || !errors.Is(err, tc.reason) {
				t.Fatalf("%v", err)
			}
			if tc.line != 0 && e.Line != tc.line {
				t.Errorf("on line %d, want %d: %v", e.Line, tc.line, err)
			}
			if e.Line == 0 || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v does not say %q", err, tc.says)
			}
		})
	}
}

func TestChainsOfMimics(t *testing.T) {
	m, err := urdf.Parse([]byte(robot(a, b, c, `<link name="d"/>`, moving("continuous", ""),
		`<joint name="bc" type="continuous"><parent link="b"/><child link="c"/><mimic joint="ab" multiplier="2" offset="1"/></joint>`,
		`<joint name="cd" type="continuous"><parent link="c"/><child link="d"/><mimic joint="bc" multiplier="-3" offset="0.5"/></joint>`)))
	if err != nil {
		t.Fatal(err)
	}
	// cd = -3 bc + 0.5 = -3 (2 ab + 1) + 0.5
	if s, factor, offset := m.Source(m.Joint("cd")); s.Name != "ab" || factor != -6 || offset != -2.5 {
		t.Error(s.Name, factor, offset)
	}
}

func FuzzParse(f *testing.F) {
	// Small ones: the fuzzer spends its time on making large ones smaller.
	for _, s := range []string{
		"", "<robot/>", robot(a, b, ab), robot(a, b, moving("revolute", `<limit lower="-1" upper="1"/><mimic joint="ab"/>`)), robot(shape(`<box size="1 1 1"/>`)),
		robot(a, b, moving("prismatic", `<origin xyz="0 0 1" rpy="1 2 3"/><axis xyz="0 0 2"/><limit upper="1" velocity="1"/>`)), robot(shape(`<cylinder radius="1" length="2"/>`)), robot(shape(`<mesh filename="x"/>`)),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := urdf.Parse(data)
		if err != nil {
			var e *urdf.Error
			if m != nil || !errors.As(err, &e) || e.Reason == nil || e.What == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		// What is accepted is a tree of sound numbers.
		for i := range m.Joints {
			j := &m.Joints[i]
			if m.Link(j.Parent) == nil || m.Link(j.Child) == nil || m.Above(j.Child) != j || !j.Origin.Finite() {
				t.Fatalf("%+v", j)
			}
			if j.Moves() && math.Abs(r3.Norm(j.Axis)-1) > 1e-9 || j.Moves() && !(j.Limit.Lower <= j.Limit.Upper) {
				t.Fatalf("%+v", j)
			}
			m.Source(j)
		}
		for _, l := range m.Links {
			at := l.Name
			for range m.Links {
				if j := m.Above(at); j != nil {
					at = j.Parent
				}
			}
			if at != m.Root {
				t.Fatalf("%q does not hang on the root", l.Name)
			}
		}
	})
}
