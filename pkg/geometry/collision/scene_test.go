package collision

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"
)

var simJoints = []string{"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"}

// Poses of the built-in robot's arm: folded over its base, forward and aside over a table.
var (
	carry = []float64{0, -1.85, 2.70, -2.420796, -1.570796, 0}
	above = []float64{-0.125, -1.14, 0.99, -1.42, -1.5708, 1.445}
	aside = []float64{0.6, -1.2, 1, -1.4, -1.5708, 1} // the same, to the left
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func model(name string) *urdf.Model {
	return must(urdf.Parse(must(os.ReadFile("../testdata/" + name + ".urdf"))))
}

// robots that everything is tried on; the second one's first joint slides.
func robots() map[string]*Robot {
	return map[string]*Robot{
		"sim":        must(NewRobot(model("sim_robot"), Config{Joints: simJoints})),
		"seven":      must(NewRobot(model("seven"), Config{Joints: []string{"slide", "a1", "a2", "a3", "a4", "a5", "a6", "a7"}})),
		"industrial": must(NewRobot(model("industrial"), Config{Base: "column", Joints: []string{"axis_1", "axis_2", "axis_3", "axis_4", "axis_5", "axis_6"}, Allowed: []Pair{{"roll", "flange"}, {"turret", "boom"}}})),
		"gripper":    must(NewRobot(model("sim_robot"), Config{Joints: []string{"finger_joint", "wrist_3_joint"}})),
	}
}

func block(name string, x, y, z, sx, sy, sz float64) Body {
	return Body{Name: name, Shape: Shape{Kind: Box, Size: r3.Vec{X: sx, Y: sy, Z: sz}}, Pose: spatial.Transform{Translation: r3.Vec{X: x, Y: y, Z: z}, Rotation: quat.Number{Real: 1}}}
}

func furnished() World {
	return World{
		Bodies: []Body{
			block("table", 0.6, 0, 0.2, 0.6, 1.4, 0.4), block("floor", 0, 0, -0.05, 10, 10, 0.1),
			{Name: "ball", Shape: Shape{Kind: Sphere, Radius: 0.1}, Pose: spatial.Transform{Translation: r3.Vec{X: 0.1, Y: 0.5, Z: 0.6}, Rotation: quat.Number{Real: 1}}},
			{Name: "post", Shape: Shape{Kind: Cylinder, Radius: 0.05, Length: 1}, Pose: spatial.Transform{Translation: r3.Vec{X: -0.5, Y: 0.4, Z: 0.5}, Rotation: quat.Number{Real: 1}}},
		},
	}
}

func anywhere(r *rand.Rand, s *Scene) []float64 {
	q := make([]float64, len(s.joints))
	for i, j := range s.joints {
		lo, hi := max(j.Lower, -math.Pi), min(j.Upper, math.Pi)
		q[i] = lo + r.Float64()*(hi-lo)
	}
	return q
}

func names(c []Contact) string {
	var out []string
	for _, x := range c {
		out = append(out, x.A+"/"+x.B)
	}
	return strings.Join(out, " ")
}

func TestCarryTouchesNothing(t *testing.T) {
	s := must(robots()["sim"].Scene(World{Rest: map[string]float64{"finger_joint": 0.08}}))
	if c := must(s.Check(carry)); len(c) > 0 || !s.Free(carry) {
		t.Errorf("%+v", c)
	}
}

// Capsules come as a cylinder and two balls.
func TestCapsulesAreFound(t *testing.T) {
	count := map[string][]Kind{}
	s := must(robots()["sim"].Scene(World{}))
	for _, p := range s.parts {
		count[p.name] = append(count[p.name], p.local.kind)
	}
	for link, want := range map[string]int{"upper_arm_link": 1, "forearm_link": 1, "shoulder_link": 2, "wrist_3_link": 1, "gripper_link": 1, "tool0": 0} {
		if len(count[link]) != want {
			t.Errorf("%s has %v", link, count[link])
		}
	}
	if count["upper_arm_link"][0] != Capsule || count["wrist_3_link"][0] != Cylinder {
		t.Errorf("%v", count)
	}
}

// What touches at a configuration, by hand.
func TestCheck(t *testing.T) {
	cube := func(x float64) World {
		w := World{Rest: map[string]float64{"finger_joint": 0.08}}
		w.Bodies = []Body{block("table", 0.6, 0, 0.2, 0.6, 1.4, 0.4)}
		// Held between the fingers; x is how far it sticks out below.
		w.Attached = []Attached{{Link: "tool0", Body: block("cube", 0, 0, x, 0.03, 0.05, 0.05)}}
		return w
	}
	down := append([]float64(nil), above...)
	down[1] += 0.35
	for _, tc := range []struct {
		name string
		w    World
		q    []float64
		want string
	}{
		{"over the table", World{Bodies: furnished().Bodies}, above, ""},
		{"the fingers in the table", World{Bodies: furnished().Bodies}, down, "left_finger/table right_finger/table"},
		{"and they may", World{Bodies: furnished().Bodies, Allowed: []Pair{{"table", "left_finger"}, {"right_finger", "table"}}}, down, ""},
		{"the upper arm in the mast", World{}, []float64{2.9, -1.4, 1.9, -2, -1.57, 0}, "upper_arm_link/camera_link upper_arm_link/camera_mast"},
		{"a cube in the hand", cube(0), above, ""},
		{"a cube that reaches down to the table", func() World { w := cube(0.12); w.Attached[0].Shape.Size.Z = 0.3; return w }(), above, "cube/table"},
		{"a beam in the hand hits the arm", func() World { w := cube(0); w.Attached[0].Shape.Size = r3.Vec{X: 1, Y: 0.02, Z: 0.6}; return w }(), above, "cube/wrist_1_link cube/forearm_link cube/wrist_2_link cube/table"},
		{"and may touch the wrist", func() World {
			w := cube(0)
			w.Attached[0].Shape.Size = r3.Vec{X: 1, Y: 0.02, Z: 0.6}
			w.Attached[0].Touch = []string{"wrist_1_link", "wrist_2_link"}
			return w
		}(), above, "cube/forearm_link cube/table"},
		{"a margin", World{Bodies: []Body{block("wall", 0, 0, 1.2, 1, 1, 0.1)}, Margin: 0.5}, carry, "elbow"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := must(robots()["sim"].Scene(tc.w))
			got := must(s.Check(tc.q))
			if tc.want == "elbow" { // whatever is nearest to the ceiling
				if len(got) == 0 || got[0].Distance <= 0 || got[0].Margin != 0.5 || got[0].Self {
					t.Errorf("%+v", got)
				}
				return
			}
			have, want := strings.Fields(names(got)), strings.Fields(tc.want)
			if len(have) != len(want) {
				t.Fatalf("%q, want %q", have, want)
			}
			for _, n := range want {
				if !strings.Contains(names(got), n) {
					t.Errorf("%q, want %q", have, want)
				}
			}
			for i, c := range got {
				if c.Self != !strings.HasSuffix(c.B, "table") || i > 0 && c.Distance < got[i-1].Distance {
					t.Errorf("%+v", got)
				}
			}
			if s.Free(tc.q) != (len(want) == 0) {
				t.Error("Free says otherwise")
			}
		})
	}
}

// No pair approaches faster than its bound: else a step could jump over a contact.
func TestSpeedsAreBounds(t *testing.T) {
	all := robots()
	scenes := map[string]*Scene{}
	for name, r := range all {
		w := furnished()
		if name == "sim" {
			w.Attached = []Attached{{Link: "tool0", Body: block("beam", 0.1, 0, 0, 0.4, 0.02, 0.02)}}
		}
		scenes[name] = must(r.Scene(w))
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"sim", "seven", "industrial", "gripper"}).Draw(t, "robot")
		s := scenes[name]
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		from, to := anywhere(random, s), anywhere(random, s)
		if rapid.Bool().Draw(t, "beyond the limits") {
			to[0] *= 3
		}
		r := s.newRoom()
		m := line{from, to}
		m.Rates(r.dq)
		m.At(0, r.q)
		s.speeds(r)
		before := make([]float64, len(s.pairs))
		const steps = 50
		for i := range steps + 1 {
			m.At(float64(i)/steps, r.q)
			s.place(r, r.q)
			for k := range s.pairs {
				p := &s.pairs[k]
				d := distance(&r.solids[p.a], &r.solids[p.b])
				if i > 0 && d > 0 && before[k] > 0 && math.Abs(d-before[k]) > r.speed[k]/steps+1e-7 {
					t.Fatalf("%s: %s and %s: from %g to %g in a step, bound %g", name, s.parts[p.a].name, s.parts[p.b].name, before[k], d, r.speed[k]/steps)
				}
				if near := s.near(r, p); d > 0 && near > d+1e-7 {
					t.Fatalf("%s: %s and %s: the quick bound is %g, the distance %g", name, s.parts[p.a].name, s.parts[p.b].name, near, d)
				}
				before[k] = d
			}
		}
	})
}

func TestPathsAgreeWithDenseSamples(t *testing.T) {
	scenes := map[string]*Scene{}
	for name, r := range robots() {
		w := furnished()
		w.Margin, w.SelfMargin = 0.01, 0.004
		scenes[name] = must(r.Scene(w))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := scenes[rapid.SampledFrom([]string{"sim", "seven", "industrial", "gripper"}).Draw(t, "robot")]
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		from, to := anywhere(random, s), anywhere(random, s)
		hit, err := s.CheckPath(from, to)
		if err != nil {
			t.Fatal(err)
		}
		const steps = 150
		near := math.Inf(1)
		q := make([]float64, len(from))
		for i := range steps + 1 {
			u := float64(i) / steps
			line{from, to}.At(u, q)
			c, ok, err := s.Nearest(q)
			if err != nil || !ok {
				t.Fatal(err)
			}
			room := c.Distance - c.Margin
			near = min(near, room)
			if hit == nil && room <= 0 {
				t.Fatalf("passes, but at %g %+v", u, c)
			}
			if hit != nil && u < hit.At-1e-9 && room <= 0 {
				t.Fatalf("the first contact is at %g, but at %g there is %+v", hit.At, u, c)
			}
			if free := s.Free(q); math.Abs(room-Resolution) > 1e-7 && free != (room > Resolution) {
				t.Fatalf("Free %v, nearest %+v", free, c)
			}
		}
		if hit != nil && !(hit.Distance <= hit.Margin+2*Resolution) {
			t.Fatalf("%+v", hit)
		}
		if hit != nil {
			if contacts, err := s.Check(hit.Q); err != nil || len(contacts) == 0 && hit.Distance < hit.Margin+Resolution {
				t.Fatalf("%+v: %v, %v", hit, contacts, err)
			}
		}
	})
}

func TestTheFirstContactOfAPath(t *testing.T) {
	s := must(robots()["sim"].Scene(furnished()))
	down := append([]float64(nil), above...)
	down[1] += 0.5
	hit := must(s.CheckPath(aside, above, down))
	if hit == nil || hit.Segment != 1 || hit.B != "table" || !(hit.At > 0.3 && hit.At < 1) {
		t.Errorf("%+v", hit)
	}
	if hit := must(s.CheckPath(down)); hit == nil || hit.At != 0 {
		t.Errorf("a single configuration: %+v", hit)
	}
	if hit := must(s.CheckPath()); hit != nil {
		t.Errorf("no path: %+v", hit)
	}
	if hit := must(s.CheckMotion(Line(aside, above), Line(above, aside))); hit != nil {
		t.Errorf("%+v", hit)
	}
}

// What is borne with at the start: see Grace.
func TestGrace(t *testing.T) {
	lowered := func(by float64) []float64 {
		q := append([]float64(nil), above...)
		q[1] += by
		return q
	}
	// The table's top is put just where it touches the fingers at lowered(0.2).
	free := must(robots()["sim"].Scene(World{}))
	q := lowered(0.2)
	r := free.newRoom()
	free.place(r, q)
	low := math.Inf(1)
	for i, p := range free.parts {
		if strings.HasSuffix(p.name, "finger") {
			b := &r.solids[i]
			low = min(low, b.support(r3.Vec{Z: -1}).Z)
		}
	}
	scene := func(depth, grace float64) *Scene {
		return must(robots()["sim"].Scene(World{Bodies: []Body{block("table", 0.6, 0, low+depth-0.1, 0.6, 1.4, 0.2)}, Margin: 0.005, Grace: grace}))
	}
	for _, tc := range []struct {
		name         string
		depth, grace float64
		path         [][]float64
		ok           bool
	}{
		{"clear, up", -0.02, 0, [][]float64{q, lowered(0)}, true},
		{"within the margin, up, no grace", -0.003, 0, [][]float64{q, lowered(0)}, false},
		{"within the margin, up", -0.003, 0.02, [][]float64{q, lowered(0)}, true},
		{"in the table, up", 0.01, 0.02, [][]float64{q, lowered(0)}, true},
		{"deep in the table", 0.03, 0.02, [][]float64{q, lowered(0)}, false},
		{"stays", 0.01, 0.02, [][]float64{q, q}, true},
		{"a little worse", 0.01, 0.02, [][]float64{q, lowered(0.201)}, true},
		{"much worse", 0.01, 0.02, [][]float64{q, lowered(0.22)}, false},
		{"up and down again", 0.01, 0.02, [][]float64{q, lowered(0), q}, false},
		{"down from above", 0.01, 0.02, [][]float64{lowered(0), q}, false},
	} {
		if hit := must(scene(tc.depth, tc.grace).CheckPath(tc.path...)); (hit == nil) != tc.ok {
			t.Errorf("%s: %+v", tc.name, hit)
		}
	}
}

func TestBaseOfItsOwn(t *testing.T) {
	// The same wall, told in the root's frame and in the column's.
	m := model("industrial")
	config := Config{Joints: []string{"axis_1", "axis_2", "axis_3", "axis_4", "axis_5", "axis_6"}}
	inRoot := must(NewRobot(m, config))
	config.Base = "column"
	inColumn := must(NewRobot(m, config))
	if inColumn.Base() != "column" || inRoot.Base() != "world" || inRoot.Model() != m {
		t.Error("forgets its base")
	}
	wall := block("wall", 0.9, 0.3, 0.5, 0.1, 0.8, 1)
	tree := must(kinematics.NewTree(m, config.Joints, nil))
	_, column, _ := tree.Link("column")
	moved := wall
	moved.Pose = column.Inverse().Compose(wall.Pose)
	a, b := must(inRoot.Scene(World{Bodies: []Body{wall}})), must(inColumn.Scene(World{Bodies: []Body{moved}}))
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		q := anywhere(r, a)
		x, _, _ := a.Nearest(q)
		y, _, _ := b.Nearest(q)
		if x.A != y.A || math.Abs(x.Distance-y.Distance) > 1e-7 {
			t.Fatalf("%+v and %+v", x, y)
		}
		p, ok, err := a.LinkPose("flange", q)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		o, _, _ := b.LinkPose("flange", q)
		if d := r3.Norm(r3.Sub(column.Compose(o).Translation, p.Translation)); d > 1e-12 {
			t.Fatalf("off by %g", d)
		}
	}
	if _, ok, err := a.LinkPose("moon", make([]float64, 6)); ok || err != nil {
		t.Error(ok, err)
	}
	if poses := must(a.LinkPoses(make([]float64, 6))); len(poses) != len(m.Links) {
		t.Errorf("%d poses", len(poses))
	}
}

func TestScenesAreShared(t *testing.T) {
	s := must(robots()["sim"].Scene(furnished()))
	done := make(chan bool)
	for range 4 {
		go func() {
			ok := true
			for range 200 {
				ok = ok && s.Free(carry) && must(s.CheckPath(aside, above)) == nil
			}
			done <- ok
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("checks disturb each other")
		}
	}
}

func TestChecksAllocateNothing(t *testing.T) {
	s := must(robots()["sim"].Scene(furnished()))
	motion := Line(aside, above)
	s.Free(carry)
	if n := testing.AllocsPerRun(100, func() {
		s.Free(above)
		if c, err := s.Check(carry); len(c) > 0 || err != nil {
			t.Error(c, err)
		}
		_, _, _ = s.Nearest(carry)
		_, _ = s.CheckMotion(motion)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkScene(b *testing.B) {
	s := must(robots()["sim"].Scene(World{Bodies: furnished().Bodies, Margin: 0.01, SelfMargin: 0.005}))
	random := rand.New(rand.NewPCG(3, 4))
	var free [][]float64
	for len(free) < 64 {
		if q := anywhere(random, s); s.Free(q) {
			free = append(free, q)
		}
	}
	b.Run("free", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			s.Free(free[i&63])
		}
	})
	b.Run("nearest", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			_, _, _ = s.Nearest(free[i&63])
		}
	})
	b.Run("path", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, _ = s.CheckPath(free[i&63], free[(i+1)&63])
		}
	})
	b.Run("over-the-table", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = s.CheckPath(aside, above)
		}
	})
	r := robots()["sim"]
	w := furnished()
	b.Run("new-scene", func(b *testing.B) {
		for b.Loop() {
			_, _ = r.Scene(w)
		}
	})
}

// TestDistantBodiesAreLeftOut: what no configuration reaches is not looked at, and everything that touches anywhere is.
func TestDistantBodiesAreLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for name, robot := range robots() {
		w := World{Margin: 0.02}
		for range 60 {
			s, at := randomSolid(r, kinds[r.IntN(len(kinds))], 2.5)
			w.Bodies = append(w.Bodies, Body{Name: "body", Shape: s, Pose: at})
		}
		whole := must(robot.Scene(w))
		all := *whole
		all.pairs = slices.Concat(whole.pairs, whole.distant)
		all.rooms = make(chan *room, 1)
		left := len(whole.distant)
		if name == "sim" && left == 0 {
			t.Errorf("%s: nothing is left out of %d pairs", name, len(all.pairs))
		}
		for range 60 {
			q := anywhere(r, whole)
			if a, b := must(whole.Check(q)), must(all.Check(q)); len(a) != len(b) {
				t.Fatalf("%s: %v, with everything %v", name, a, b)
			}
			a, ok, err := whole.Nearest(q)
			b, _, _ := all.Nearest(q)
			if err != nil || ok && math.Abs(a.Distance-a.Margin-b.Distance+b.Margin) > 1e-9 {
				t.Fatalf("%s: nearest %v, of all %v", name, a, b)
			}
		}
	}
}
