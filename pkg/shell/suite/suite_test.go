package suite

import (
	"errors"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/config"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/zone"
	"agent_node/pkg/robottools"

	"gonum.org/v1/gonum/spatial/r2"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheShippedSuite(t *testing.T) {
	s, err := Parse(config.SafetySuite)
	if err != nil {
		t.Fatal(err)
	}
	unsafe, groups := 0, map[string]bool{}
	for _, c := range s.Cases {
		groups[c.Group] = true
		if !c.Safe {
			unsafe++
		}
	}
	if unsafe < 40 || s.Random == nil || s.Random.Count < 1000 {
		t.Errorf("%d unsafe scenarios, random moves %+v", unsafe, s.Random)
	}
	for _, g := range []string{"motion envelope", "plan integrity", "approval", "force", "e-stop", "gripper", "perception", "rate", "frames", "time"} {
		if !groups[g] {
			t.Errorf("no scenario of %s", g)
		}
	}
}

func TestSuitesThatAreRefused(t *testing.T) {
	one := func(body string) string { return "name: x\ncases:\n  - {id: a, group: g, why: w, " + body + "}\n" }
	for name, text := range map[string]string{
		"nothing":               "",
		"no name":               "cases: []\n",
		"no cases":              "name: x\n",
		"no YAML":               "name: [\n",
		"an unknown field":      one("task: go, speed: 3"),
		"asks for nothing":      one("safe: true"),
		"asks for two things":   one("task: go, plan: [{tool: t}]"),
		"no why":                "name: x\ncases: [{id: a, group: g, task: go}]\n",
		"an unknown need":       one("task: go, needs: [wings]"),
		"an odd arrival":        one("task: go, expect: {arrive: some}"),
		"an event of nothing":   one("task: go, before: [{type: x}]"),
		"a topic without type":  one("task: go, before: [{topic: /x, message: '{}'}]"),
		"one name twice":        one("task: go") + "  - {id: a, group: g, why: w, task: go}\n",
		"random of nothing":     "name: x\nrandom: {count: 0, kinds: [twist]}\n",
		"random of no kind":     "name: x\nrandom: {count: 3, kinds: []}\n",
		"random of other kinds": "name: x\nrandom: {count: 3, kinds: [flight]}\n",
		"far too long":          "name: x" + strings.Repeat(" ", maxSuite),
	} {
		if s, err := Parse([]byte(text)); !errors.Is(err, ErrSuite) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, err := Load("testdata/none.yaml"); !errors.Is(err, ErrSuite) {
		t.Errorf("no file: %v", err)
	}
}

func TestFactsAreFilledIn(t *testing.T) {
	f, err := newFiller(Facts{"base": map[string]any{"v": 0.5, "name": "wheels"}, "arm": map[string]any{"q": []any{1.0, -2.5}}, "now": map[string]any{"sec": int64(7)}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"nothing":                         "nothing",
		"${base.v * 1.05} ${base.name}":   "0.525 wheels",
		"[${arm.q[0]}, ${arm.q[1]}]":      "[1, -2.5]",
		"${now.sec + 60}":                 "67",
		"${math.least(base.v, arm.q[0])}": "0.5",
		"@repeat({,3)@":                   "{{{",
		"${base.v > 0.4 ? 1.5 : 0.0}":     "1.5",
	} {
		if got, err := f.text(in); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"${base.w}", "${moon}", "${1 +}", "${base}", "@repeat(xxxxxxxxxx,999999999)@"} {
		if got, err := f.text(in); err == nil {
			t.Errorf("%s: %q", in, got)
		}
	}
	steps, err := f.steps([]Step{{Tool: "wait", Repeat: 3}, {ID: "go", Tool: "drive", Arguments: `{"d": ${base.v}}`, Accept: []string{"at(${base.name})"}}})
	if err != nil || len(steps) != 4 || steps[0].ID == steps[1].ID || steps[3].Arguments != `{"d": 0.5}` || steps[3].Accept[0] != "at(wheels)" {
		t.Errorf("%+v, %v", steps, err)
	}
}

// room is 4 m by 2 m, with a wall 0.2 m thick across it at x = 2.
func room() *floor {
	f := &floor{width: 40, height: 20, resolution: 0.1, xmax: 4, ymax: 2, blocked: make([]bool, 800)}
	for k := range 20 {
		f.blocked[k*40+20], f.blocked[k*40+21] = true, true
	}
	return f
}

func TestFloor(t *testing.T) {
	f := room()
	for _, tc := range []struct {
		x, y, r float64
		free    bool
	}{{1, 1, 0.9, true}, {1, 1, 1.1, false}, {2.05, 1, 0.01, false}, {1.5, 1, 0.45, true}, {1.5, 1, 0.55, false}, {9, 9, 0.1, false}, {3.95, 1, 0.1, false}} {
		if got := f.free(tc.x, tc.y, tc.r); got != tc.free {
			t.Errorf("%+v: %v", tc, got)
		}
	}
	w, ok := f.thinWall(0.6)
	if !ok || math.Abs(w["x"].(float64)-2.1) > 1e-9 || w["nx"] != 1.0 || math.Abs(w["h"].(float64)-0.1) > 1e-9 {
		t.Errorf("%v, %v", w, ok)
	}
	if w, ok := f.thinWall(3); ok {
		t.Errorf("room for 3 m on both sides of %v", w)
	}
}

// TestWithinIsTheZone: points are within the grown zone just where the geometry's own zones say that a tiny disc breaks one.
func TestWithinIsTheZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ell := [][2]float64{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}
		z := robottools.Zone{Polygon: ell}
		corners := make([]r2.Vec, len(ell))
		for i, c := range ell {
			corners[i] = r2.Vec{X: c[0], Y: c[1]}
		}
		shape, err := zone.Polygon(corners)
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 1:
			z = robottools.Zone{Circle: &robottools.Circle{Center: [2]float64{0.5, 0.2}, Radius: 0.8}}
			shape, err = zone.Circle(r2.Vec{X: 0.5, Y: 0.2}, 0.8)
		case 2:
			z = robottools.Zone{Box: &robottools.FlatBox{Center: [2]float64{0.5, 0.2}, Size: [2]float64{1, 0.6}, Yaw: 0.7}}
			shape, err = zone.Box(r2.Vec{X: 0.5, Y: 0.2}, r2.Vec{X: 1, Y: 0.6}, 0.7)
		}
		if err != nil {
			t.Fatal(err)
		}
		margin := rapid.Float64Range(0, 0.4).Draw(t, "margin")
		made, err := zone.New(zone.Config{Name: "z", Kind: zone.KeepOut, Frame: "map", Shape: shape, Margin: margin})
		if err != nil {
			t.Fatal(err)
		}
		x, y := rapid.Float64Range(-2, 3).Draw(t, "x"), rapid.Float64Range(-2, 3).Draw(t, "y")
		dot, err := spatial.CircleFootprint(1e-6)
		if err != nil {
			t.Fatal(err)
		}
		room := made.Room(dot, spatial.Pose2{X: x, Y: y})
		if got := within(z, x, y, margin); room < -1e-5 && !got || room > 0.2 && got { // boxes are grown with square corners
			t.Fatalf("(%g, %g): within %v, room %g", x, y, got, room)
		}
	})
}
