package urdf_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"agent_node/pkg/geometry/urdf"
)

const srdf = `<?xml version="1.0"?>
<robot name="sim_robot">
  <virtual_joint name="world" type="planar" parent_frame="odom" child_link="base_link"/>
  <group name="arm"><chain base_link="base_link" tip_link="tool0"/></group>
  <group name="hand"><joint name="finger_joint"/><link name="right_finger"/></group>
  <group name="all"><group name="hand"/><group name="arm"/></group>
  <group_state name="folded" group="arm"><joint name="elbow_joint" value="2.7"/></group_state>
  <end_effector name="gripper" parent_link="tool0" group="hand" parent_group="arm"/>
  <passive_joint name="left_wheel_joint"/>
  <passive_joint name="world"/>
  <disable_collisions link1="left_finger" link2="right_finger" reason="Adjacent"/>
  <disable_collisions link1="base_link" link2="left_finger"/>
</robot>
`

func simModel() *urdf.Model { return must(urdf.Parse(must(os.ReadFile("../testdata/sim_robot.urdf")))) }

func TestSemanticDescription(t *testing.T) {
	m := simModel()
	s := must(urdf.ParseSRDF([]byte(srdf), m))
	for group, want := range map[string]string{
		"arm":  "[shoulder_pan_joint shoulder_lift_joint elbow_joint wrist_1_joint wrist_2_joint wrist_3_joint]",
		"hand": "[finger_joint ", // and what moves the right finger
	} {
		if got := fmt.Sprint(must(s.Joints(group, m))); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", group, got, want)
		}
	}
	if all := must(s.Joints("all", m)); len(all) != len(must(s.Joints("arm", m)))+len(must(s.Joints("hand", m))) {
		t.Errorf("all: %v", all)
	}
	if p := s.Pairs(); len(p) != 2 || p[0] != [2]string{"left_finger", "right_finger"} || s.Disabled[0].Reason != "Adjacent" || s.Disabled[1].Line != 12 {
		t.Errorf("%+v", s.Disabled)
	}
	if len(s.States) != 1 || s.States[0].Positions["elbow_joint"] != 2.7 || len(s.EndEffectors) != 1 || len(s.Virtual) != 1 || len(s.Passive) != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := s.Joints("legs", m); err == nil {
		t.Error("there are legs")
	}
}

func TestSemanticDescriptionsThatAreRefused(t *testing.T) {
	m := simModel()
	replace := func(old, by string) string { return strings.Replace(srdf, old, by, 1) }
	for name, tc := range map[string]struct {
		text   string
		reason error
		line   int
	}{
		"nothing":                    {"", urdf.ErrSyntax, 1},
		"cut off":                    {srdf[:200], urdf.ErrSyntax, 4},
		"another document":           {"<sdf/>", urdf.ErrElement, 1},
		"another robot":              {replace(`name="sim_robot"`, `name="moon"`), urdf.ErrName, 2},
		"a link that is not there":   {replace(`link1="left_finger"`, `link1="moon"`), urdf.ErrName, 11},
		"half a pair":                {replace(` link2="right_finger"`, ""), urdf.ErrElement, 11},
		"one link twice":             {replace(`link2="right_finger"`, `link2="left_finger"`), urdf.ErrName, 11},
		"a joint that is not there":  {replace(`joint name="finger_joint"`, `joint name="moon"`), urdf.ErrName, 5},
		"a chain the wrong way":      {replace(`base_link="base_link" tip_link="tool0"`, `base_link="tool0" tip_link="base_link"`), urdf.ErrTree, 4},
		"a chain to nowhere":         {replace(`tip_link="tool0"`, `tip_link="moon"`), urdf.ErrName, 4},
		"a group of itself":          {replace(`<group name="hand"/>`, `<group name="all"/>`), urdf.ErrName, 6},
		"a group that is not there":  {replace(`<group name="hand"/>`, `<group name="legs"/>`), urdf.ErrName, 6},
		"a group twice":              {replace(`<group name="all">`, `<group name="arm">`), urdf.ErrName, 6},
		"an unknown part of a group": {replace(`<group name="hand"/>`, `<mesh/>`), urdf.ErrElement, 6},
		"a state of no group":        {replace(`group="arm"><joint`, `group="legs"><joint`), urdf.ErrName, 7},
		"a state of another group":   {replace(`group="arm"><joint`, `group="hand"><joint`), urdf.ErrName, 7},
		"a state beyond a limit":     {replace(`value="2.7"`, `value="9"`), urdf.ErrNumber, 7},
		"a state of NaN":             {replace(`value="2.7"`, `value="nan"`), urdf.ErrNumber, 7},
		"a state without a value":    {replace(` value="2.7"`, ""), urdf.ErrElement, 7},
		"an end effector of nothing": {replace(`group="hand" parent`, `group="foot" parent`), urdf.ErrName, 8},
		"a virtual joint that turns": {replace(`type="planar"`, `type="revolute"`), urdf.ErrJointType, 3},
		"a passive joint of nothing": {replace(`name="left_wheel_joint"`, `name="moon"`), urdf.ErrName, 9},
		"all contacts off":           {replace("</robot>", "<disable_default_collisions link=\"base_link\"/></robot>"), urdf.ErrElement, 13},
	} {
		_, err := urdf.ParseSRDF([]byte(tc.text), m)
		var e *urdf.Error
		if !errors.As(err, &e) || !errors.Is(err, tc.reason) || e.Line != tc.line {
			t.Errorf("%s: %v, want %v on line %d", name, err, tc.reason, tc.line)
		}
	}
	if _, err := urdf.ParseSRDF([]byte(srdf), nil); err == nil {
		t.Error("about no robot")
	}
}

func FuzzParseSRDF(f *testing.F) {
	f.Add([]byte(srdf))
	f.Add([]byte(`<robot><group name="g"><group name="g"/></group></robot>`))
	m := simModel()
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := urdf.ParseSRDF(data, m)
		if err != nil {
			return
		}
		for _, p := range s.Pairs() {
			if m.Link(p[0]) == nil || m.Link(p[1]) == nil {
				t.Fatalf("pair %v", p)
			}
		}
		for _, g := range s.Groups {
			if _, err := s.Joints(g.Name, m); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
