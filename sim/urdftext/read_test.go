package urdftext_test

import (
	"errors"
	"testing"

	"agent_node/sim/urdftext"
)

func TestReadKeepsTheTextOfNumbers(t *testing.T) {
	r, err := urdftext.Read(`<robot name="r">
		<material name="red"><color rgba="1 0 0 1"/></material>
		<link name="a"><inertial><origin xyz="0 0 0.10"/><mass value="1.50"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1" iyz="0" izz="2"/></inertial></link>
		<link name="b"><collision><origin xyz="1 2 3" rpy="0 0 1.5707963267949"/><geometry><cylinder radius="0.10" length="0.30"/></geometry></collision></link>
		<link name="c"/>
		<joint name="ab" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-1.0" upper="1.0" effort="3" velocity="4"/></joint>
		<joint name="ac" type="fixed"><parent link="a"/><child link="c"/></joint>
	</robot>`)
	if err != nil {
		t.Fatal(err)
	}
	in := r.Links[0].Inertial
	if in.Mass.Value != "1.50" || in.Origin.XYZ != "0 0 0.10" || in.Inertia.XX != "1e-3" {
		t.Errorf("the inertia is %+v", in)
	}
	if c := r.Links[1].Collisions[0]; c.Geometry.Cylinder == nil || c.Geometry.Cylinder.Length != "0.30" || c.Origin.RPY != "0 0 1.5707963267949" {
		t.Errorf("the shape is %+v", c)
	}
	if j := r.Above("b"); j == nil || j.Limit.Lower != "-1.0" || r.Above("a") != nil {
		t.Errorf("b hangs on %+v", j)
	}
	if below := r.Below("a"); len(below) != 2 || below[0].Name != "b" || below[1].Name != "c" {
		t.Errorf("below a are %v", below)
	}
	if r.Color("red") != "1 0 0 1" || r.Color("blue") != "1 1 1 1" {
		t.Error("the colours are not the materials'")
	}
}

func TestReadRefusesWhatIsNoTree(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":       `<robot name="r"/>`,
		"two roots":     `<robot><link name="a"/><link name="b"/></robot>`,
		"child first":   `<robot><link name="b"/><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>`,
		"twice":         `<robot><link name="a"/><link name="a"/></robot>`,
		"joint to none": `<robot><link name="a"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>`,
	} {
		if _, err := urdftext.Read(text); !errors.Is(err, urdftext.ErrTree) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := urdftext.Read("<robot>"); err == nil {
		t.Error("half a file is read")
	}
}
