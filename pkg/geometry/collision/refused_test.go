package collision

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/urdf"
)

func TestRobotsThatAreRefused(t *testing.T) {
	sim := model("sim_robot")
	mesh := must(urdf.Parse([]byte(`<robot name="r"><link name="a"/><link name="b"><collision><geometry><mesh filename="package://r/b.stl"/></geometry></collision></link>
		<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>`)))
	for name, tc := range map[string]struct {
		m *urdf.Model
		c Config
	}{
		"none":                      {nil, Config{Joints: simJoints}},
		"nothing moves":             {sim, Config{}},
		"a joint that is not there": {sim, Config{Joints: []string{"moon"}}},
		"a base that is not there":  {sim, Config{Base: "moon", Joints: simJoints}},
		"a base that moves":         {sim, Config{Base: "forearm_link", Joints: simJoints}},
		"a pair that is not there":  {sim, Config{Joints: simJoints, Allowed: []Pair{{"forearm_link", "moon"}}}},
		"a mesh":                    {mesh, Config{Joints: []string{"j"}}},
	} {
		if r, err := NewRobot(tc.m, tc.c); r != nil || !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		} else if name == "a mesh" && !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("%v does not name the link", err)
		}
	}
}

func TestWorldsThatAreRefused(t *testing.T) {
	nan := math.NaN()
	bad := func(change func(*Body)) World {
		b := block("x", 0, 0, 2, 1, 1, 1)
		change(&b)
		return World{Bodies: []Body{b}}
	}
	for name, w := range map[string]World{
		"no name":                     bad(func(b *Body) { b.Name = "" }),
		"a link's name":               bad(func(b *Body) { b.Name = "tool0" }),
		"no shape":                    bad(func(b *Body) { b.Shape = Shape{} }),
		"a size of NaN":               bad(func(b *Body) { b.Shape.Size.X = nan }),
		"a negative radius":           bad(func(b *Body) { b.Shape = Shape{Kind: Sphere, Radius: -1} }),
		"a can without length":        bad(func(b *Body) { b.Shape = Shape{Kind: Cylinder, Radius: 1} }),
		"a place of NaN":              bad(func(b *Body) { b.Pose.Translation.X = nan }),
		"far away":                    bad(func(b *Body) { b.Pose.Translation.X = 1e9 }),
		"no orientation":              bad(func(b *Body) { b.Pose.Rotation = quat.Number{} }),
		"an orientation that is none": bad(func(b *Body) { b.Pose.Rotation.Real = 0.995 }),
		"held by nothing":             {Attached: []Attached{{Link: "moon", Body: block("x", 0, 0, 0, 1, 1, 1)}}},
		"held without a name":         {Attached: []Attached{{Link: "tool0", Body: block("", 0, 0, 0, 1, 1, 1)}}},
		"touches the moon":            {Attached: []Attached{{Link: "tool0", Body: block("x", 0, 0, 0, 1, 1, 1), Touch: []string{"moon"}}}},
		"a pair that is not there":    {Allowed: []Pair{{"tool0", "moon"}}},
		"a negative margin":           {Margin: -0.1},
		"a margin of NaN":             {SelfMargin: nan},
		"an endless grace":            {Grace: math.Inf(1)},
		"rest of what moves":          {Rest: map[string]float64{"elbow_joint": 0}},
	} {
		if s, err := robots()["sim"].Scene(w); s != nil || !errors.Is(err, ErrWorld) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPositionsThatAreNone(t *testing.T) {
	s := must(robots()["sim"].Scene(furnished()))
	for _, q := range [][]float64{nil, {1}, {0, 0, math.NaN(), 0, 0, 0}, {0, 0, 0, 0, 0, math.Inf(1)}} {
		var e *kinematics.PositionsError
		if _, err := s.Check(q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if _, _, err := s.Nearest(q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if _, err := s.CheckPath(carry, q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if _, _, err := s.LinkPose("tool0", q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if _, err := s.LinkPoses(q); !errors.As(err, &e) {
			t.Errorf("%v: %v", q, err)
		}
		if s.Free(q) {
			t.Errorf("%v is free", q)
		}
	}
	if _, err := s.CheckPath(carry, []float64{1e9, 0, 0, 0, 0, 0}); !errors.Is(err, ErrWorld) {
		t.Error(err)
	}
	if _, err := s.CheckMotion(Line(carry, []float64{math.NaN(), 0, 0, 0, 0, 0})); !errors.Is(err, ErrWorld) {
		t.Error(err)
	}
}

// TestFloatingParts: a robot on a floating base is judged from its base on; what floats beside it is not.
func TestFloatingParts(t *testing.T) {
	const ball = `<collision><geometry><sphere radius="0.1"/></geometry></collision>`
	text := func(world string) string {
		return `<robot name="r"><link name="world">` + world + `</link><link name="base">` + ball + `</link><link name="arm">` + ball + `</link>
		<joint name="free" type="floating"><parent link="world"/><child link="base"/></joint>
		<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="1 0 0"/></joint></robot>`
	}
	r, err := NewRobot(must(urdf.Parse([]byte(text("")))), Config{Base: "base", Joints: []string{"j"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := must(must(r.Scene(World{})).Check([]float64{0})); len(c) != 0 {
		t.Error(c)
	}
	if _, err := NewRobot(must(urdf.Parse([]byte(text(ball)))), Config{Base: "base", Joints: []string{"j"}}); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), `"world"`) {
		t.Errorf("a ball whose place is not known: %v", err)
	}
	if _, err := kinematics.NewChain(must(urdf.Parse([]byte(text("")))), "world", "arm"); !errors.Is(err, kinematics.ErrModel) || !strings.Contains(err.Error(), `"free"`) {
		t.Errorf("a chain over it: %v", err)
	}
}
