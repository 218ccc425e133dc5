//go:build !race

package peers

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/grid"
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r2"
	"gonum.org/v1/gonum/spatial/r3"
)

// TestSpeedBesidePinocchioAndCoal prints what one call takes, in processor time, beside the C++ of Pinocchio and Coal in the same run, and the limits that are aimed
// at. It is run by `make bench` (tools/bench-geometry), which says where the program that times them is.
func TestSpeedBesidePinocchioAndCoal(t *testing.T) {
	if os.Getenv("SPEED") == "" {
		t.Skip("figures are taken by make bench")
	}
	var ask bytes.Buffer
	list := robots(t)
	for _, r := range list {
		r.describe(&ask)
	}
	pairs := samplePairs(&ask)
	theirs := timed(t, &ask)
	w := &table{t: t}
	w.line("what", "ours", "beside it", "limit")
	for _, r := range list {
		rows, _ := r.many(random(9), 64)
		fk := each(100_000, func(i int) {
			if _, err := r.chain.FK(rows[i&63]); err != nil {
				t.Fatal(err)
			}
		})
		limit := math.Max(500, 2*theirs["fk "+r.name])
		w.line(fmt.Sprintf("forward kinematics, %s, %d joints", r.name, len(r.joints)), micro(fk), beside(theirs, "fk "+r.name, "Pinocchio"), "0.5 us, or twice Pinocchio's")
		if theirs["fk "+r.name] > 0 && fk > slack*limit {
			t.Errorf("%s: forward kinematics take %.0f ns, limit %.0f ns", r.name, fk, limit)
		}
		jac := mat.NewDense(6, len(r.joints), nil)
		j := each(100_000, func(i int) {
			if err := r.chain.Jacobian(jac, rows[i&63]); err != nil {
				t.Fatal(err)
			}
		})
		w.line("Jacobian, "+r.name, micro(j), beside(theirs, "jacobian "+r.name, "Pinocchio"), "")
	}
	for _, p := range pairs {
		d := each(50_000, func(i int) {
			x := &p.list[i%len(p.list)]
			sink += collision.Distance(x.a, x.at, x.b, x.bt)
		})
		w.line("distance, "+p.name, micro(d), beside(theirs, "pair "+p.name, "Coal"), "0.5 us")
		if d > slack*500 {
			t.Errorf("%s: a distance takes %.0f ns, limit 500 ns", p.name, d)
		}
	}
	for _, r := range list {
		w.line("inverse kinematics, any pose in reach, "+r.name, micro(solved(t, r)), "", "0.5 ms")
	}
	w.line("times for a path of five corners, 7 joints", micro(timedPath(t, list[1])), "", "")
	w.line("trajectory of 100 points, 7 joints, itself and 50 obstacles", micro(crowded(t, list[1])), "", "2 ms")
	for _, where := range []struct {
		name string
		room float64
	}{{"in the open", 1.5}, {"within 10 cm of something", 0.1}} {
		ns, allocs := twistCheck(t, where.room)
		for _, v := range wholes(t, where.room) {
			w.line(fmt.Sprintf("Validate, %s, %s", v.name, where.name), micro(v.ns), "", "")
		}
		w.line(fmt.Sprintf("check of a velocity, 4,000 by 4,000 cells, %s (%.0f allocations)", where.name, allocs), micro(ns), "", "1 us, none")
		if ns > slack*1000 {
			t.Errorf("the check of a velocity takes %.0f ns %s, limit 1000 ns", ns, where.name)
		}
		if allocs != 0 {
			t.Errorf("the check of a velocity allocates %g times", allocs)
		}
	}
	w.line("footprint poses on 4,000 by 4,000 cells", fmt.Sprintf("%.1f million/s", 1e3/footprints(t)), "", "1 million/s")
	w.flush()
}

var sink float64

// slack is what a busy machine may add to processor time before a limit counts as missed.
const slack = 1.5

// each is the mean processor time of a call, ns.
func each(n int, f func(int)) float64 {
	for i := range n / 10 {
		f(i)
	}
	return float64(spent(func() {
		for i := range n {
			f(i)
		}
	})) / float64(n)
}

func micro(ns float64) string {
	if ns >= 1e5 {
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
	return fmt.Sprintf("%.2f us", ns/1e3)
}

func beside(theirs map[string]float64, what, who string) string {
	if v, ok := theirs[what]; ok {
		return who + " " + micro(v)
	}
	return ""
}

// table collects lines and prints them as one.
type table struct {
	t    *testing.T
	rows [][]string
}

func (w *table) line(cells ...string) { w.rows = append(w.rows, cells) }

func (w *table) flush() {
	var b strings.Builder
	for i, r := range w.rows {
		b.WriteString("\n| " + strings.Join(r, " | ") + " |")
		if i == 0 {
			b.WriteString("\n|" + strings.Repeat("---|", len(r)))
		}
	}
	w.t.Log(b.String())
}

// describe writes the chain for the other program: joints in order, each in the frame of the one before.
func (r *robot) describe(b io.Writer) {
	fmt.Fprintf(b, "robot %s %d\n", r.name, len(r.joints))
	at := spatial.Identity()
	for _, l := range r.chain.Links()[1:] {
		j := r.model.Above(l)
		at = at.Compose(j.Origin)
		if !j.Moves() {
			continue
		}
		kind := "turns"
		if j.Type == "prismatic" {
			kind = "slides"
		}
		fmt.Fprintf(b, "%s %.17g %.17g %.17g%s\n", kind, j.Axis.X, j.Axis.Y, j.Axis.Z, numbers(appendPose(nil, at)))
		at = spatial.Identity()
	}
	fmt.Fprintf(b, "tip%s\n", numbers(appendPose(nil, at)))
}

func numbers(list []float64) string {
	s := ""
	for _, v := range list {
		s += fmt.Sprintf(" %.17g", v)
	}
	return s
}

// pairKind has pairs of two kinds of shapes that are apart by a millimetre to a metre.
type pairKind struct {
	name string
	list []shapePair
}

func samplePairs(b io.Writer) []pairKind {
	var out []pairKind
	rng := random(3)
	simple := kinds[:4]
	for i, ka := range simple {
		for _, kb := range simple[i:] {
			p := pairKind{name: ka.String() + "-" + kb.String()}
			for len(p.list) < 64 {
				var c shapePair
				var pa, pb [3]float64
				c.a, pa = randomShape(rng, ka, nil)
				c.b, pb = randomShape(rng, kb, nil)
				reach := 0.8 * (extent(c.a) + extent(c.b))
				c.at, c.bt = randomPlace(rng, reach), randomPlace(rng, reach)
				if collision.Distance(c.a, c.at, c.b, c.bt) < 1e-3 {
					continue
				}
				p.list = append(p.list, c)
				row := appendPose(append([]float64(nil), pa[:]...), c.at)
				row = appendPose(append(row, pb[:]...), c.bt)
				fmt.Fprintf(b, "pair %s %s%s\n", ka, kb, numbers(row))
			}
			out = append(out, p)
		}
	}
	return out
}

// timed runs the program that times the others; without it there is nothing beside ours, and that is said.
func timed(t *testing.T, ask io.Reader) map[string]float64 {
	t.Helper()
	program := os.Getenv("SPEED")
	if _, err := os.Stat(program); err != nil {
		t.Logf("nothing beside ours: %v", err)
		return nil
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Stdin, cmd.Stderr = ask, io.Discard
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	found := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		var what, name string
		var ns float64
		if _, err := fmt.Sscan(line, &what, &name, &ns); err == nil {
			found[what+" "+name] = ns
		}
	}
	return found
}

// crowded is a trajectory of 100 points of the arm of seven joints, between 50 posts, validated whole: form, limits between points, contacts.
func crowded(t *testing.T, r *robot) float64 {
	t.Helper()
	made, err := collision.NewRobot(r.model, collision.Config{Base: r.base, Joints: r.chain.Names()})
	fatal(t, err)
	var world collision.World
	for i := range 50 {
		s, c := math.Sincos(2 * math.Pi * float64(i) / 50)
		world.Bodies = append(world.Bodies, collision.Body{
			Name: "post", Shape: collision.Shape{Kind: collision.Box, Size: r3.Vec{X: 0.08, Y: 0.08, Z: 1.2}},
			Pose: spatial.Transform{Translation: r3.Vec{X: 0.95 * c, Y: 0.95 * s, Z: 0.6}, Rotation: spatial.FromYaw(0)},
		})
	}
	scene, err := made.Scene(world)
	fatal(t, err)
	home := []float64{0, -0.6, 0, -2.2, 0, 1.8, 0.8}
	moved := func(k int, by float64) []float64 {
		q := append([]float64(nil), home...)
		q[k] += by
		return q
	}
	short, err := trajectory.FromPath([][]float64{home, moved(0, 0.6), moved(1, 0.3), moved(4, 0.5), home}, r.joints, 0.5)
	fatal(t, err)
	curve, err := trajectory.NewCurve(trajectory.Start{Positions: home}, short)
	fatal(t, err)
	dense := validate.JointTrajectory{Trajectory: trajectory.Trajectory{Joints: r.chain.Names()}}
	for i := range 100 {
		p := trajectory.Point{Positions: make([]float64, 7), Velocities: make([]float64, 7), Time: curve.End() * time.Duration(i) / 99}
		curve.At(p.Time, p.Positions, p.Velocities, nil)
		dense.Points = append(dense.Points, p)
	}
	w := &validate.World{Now: 1e9, Arm: &validate.Arm{Joints: r.joints, Scene: scene, State: validate.JointState{Names: r.chain.Names(), Positions: home, Stamp: 1e9}}}
	if rep := validate.Validate(dense, w); !rep.Valid() {
		t.Fatal(rep.Err())
	}
	return each(300, func(int) { validate.Validate(dense, w) })
}

// flat is 200 m by 200 m in cells of 5 cm: walls every 10 m with doors, and clutter.
func flat(t *testing.T) *grid.Grid {
	t.Helper()
	const n = 4000
	data := make([]int8, n*n)
	rng := random(1)
	for i := 0; i < n; i += 200 {
		for j := range n {
			if j%200 > 40 {
				data[i*n+j], data[j*n+i] = 100, 100
			}
		}
	}
	for range 20_000 {
		x, y := rng.IntN(n-4), rng.IntN(n-4)
		for k := range 16 {
			data[(y+k/4)*n+x+k%4] = 100
		}
	}
	g, err := grid.New(grid.Config{Frame: "map", Width: n, Height: n, Resolution: 0.05, Origin: spatial.Pose2{X: -100, Y: -100, Yaw: 0.1}, Data: data})
	fatal(t, err)
	g.Prepare()
	return g
}

func footprints(t *testing.T) float64 {
	t.Helper()
	g, rng := flat(t), random(3)
	poses := make([]spatial.Pose2, 1<<16)
	for i := range poses {
		p := g.Origin().Apply(r2.Vec{X: 200 * rng.Float64(), Y: 200 * rng.Float64()})
		poses[i] = spatial.Pose2{X: p.X, Y: p.Y, Yaw: 2 * math.Pi * rng.Float64()}
	}
	box, err := spatial.PolygonFootprint([]r2.Vec{{X: 0.4, Y: 0.3}, {X: -0.4, Y: 0.3}, {X: -0.4, Y: -0.3}, {X: 0.4, Y: -0.3}})
	fatal(t, err)
	return each(1_000_000, func(i int) {
		if g.Free(box, poses[i&(len(poses)-1)], 0) {
			sink++
		}
	})
}

// solved is the mean time of one pose, from the middle of the limits.
func solved(t *testing.T, r *robot) float64 {
	t.Helper()
	rows, _ := r.many(random(13), 500)
	targets := make([]spatial.Transform, len(rows))
	for i, q := range rows {
		var err error
		targets[i], err = r.chain.FK(q)
		fatal(t, err)
	}
	return each(2000, func(i int) {
		if _, err := r.chain.IK(targets[i%len(targets)], nil, kinematics.Options{}); err == nil {
			sink++
		}
	})
}

// timedPath gives a path through five configurations its times.
func timedPath(t *testing.T, r *robot) float64 {
	t.Helper()
	path, _ := r.many(random(17), 5)
	return each(20_000, func(int) {
		_, err := trajectory.FromPath(path, r.joints, 0.5)
		fatal(t, err)
	})
}

// whole is a command from what is in the message to its report.
type whole struct {
	name string
	ns   float64
}

func wholes(t *testing.T, room float64) (out []whole) {
	t.Helper()
	w, cmd := standing(t, room)
	at := w.State.Pose.Planar()
	line := spatial.Motion{From: at, Shift: r2.Vec{X: 1e-2 * math.Cos(at.Yaw), Y: 1e-2 * math.Sin(at.Yaw)}}
	path := validate.Path{Frame: "map"}
	for i := range 100 { // as far as there is surely room
		path.Poses = append(path.Poses, line.At(room*float64(i)).Pose())
	}
	for _, c := range []struct {
		name string
		cmd  validate.Command
	}{
		{"a velocity", cmd},
		{"a goal pose", validate.PoseGoal{Frame: "map", Pose: w.State.Pose}},
		{"a path of 100 poses", path},
		{"a turn right round", validate.Turn{Angle: 2 * math.Pi}},
	} {
		if rep := validate.Validate(c.cmd, w); !rep.Valid() {
			t.Fatalf("%s: %v", c.name, rep.Err())
		}
		out = append(out, whole{c.name, each(5000, func(int) { validate.Validate(c.cmd, w) })})
	}
	return out
}

// twistCheck stands where there is that much room, and no more than twice as much, beside the way.
func twistCheck(t *testing.T, room float64) (ns, allocs float64) {
	t.Helper()
	w, cmd := standing(t, room)
	buf := make([]geometry.Finding, 0, 8)
	allocs = testing.AllocsPerRun(100, func() { validate.CheckTwist(cmd, w, buf) })
	return each(200_000, func(int) { validate.CheckTwist(cmd, w, buf) }), allocs
}

// standing is a world in which the base has that much room, and no more than twice as much, and may drive.
func standing(t *testing.T, room float64) (*validate.World, validate.Twist) {
	t.Helper()
	g := flat(t)
	circle, err := spatial.CircleFootprint(0.22)
	fatal(t, err)
	w := &validate.World{
		Now: 1e9, Frame: "map", Map: g, NeedMap: true, Footprint: circle,
		Limits: &limits.Base{Forward: 0.5, Backward: 0.5, Angular: 1, Decel: 1, AngularDecel: 2},
	}
	rng := random(5)
	cmd := validate.Twist{Twist: spatial.Twist{Linear: r3.Vec{X: 0.3}, Angular: r3.Vec{Z: -0.2}}}
	for { // somewhere it may drive
		p := g.Origin().Apply(r2.Vec{X: 200 * rng.Float64(), Y: 200 * rng.Float64()})
		w.State = validate.State{Frame: "map", Pose: spatial.Pose2{X: p.X, Y: p.Y}.Pose(), Stamp: 1e9}
		free := g.Room(circle, w.State.Pose.Planar())
		if free > room && free < 2*room && len(validate.CheckTwist(cmd, w, nil)) == 0 {
			return w, cmd
		}
	}
}
