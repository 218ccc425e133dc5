//go:build !race

package peers

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"agent_node/pkg/geometry/collision"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"

	"gonum.org/v1/gonum/spatial/r3"
)

// surroundings are bodies about an arm, thick enough to be met and far enough for there to be ways around.
func surroundings(rng *rand.Rand, count int) []collision.Body {
	var out []collision.Body
	for len(out) < count {
		at := spatial.Transform{Translation: r3.Vec{X: 1.6*rng.Float64() - 0.8, Y: 1.6*rng.Float64() - 0.8, Z: 1.4 * rng.Float64()}, Rotation: turned(rng)}
		if math.Hypot(at.Translation.X, at.Translation.Y) < 0.35 {
			continue
		}
		s := collision.Shape{Kind: []collision.Kind{collision.Box, collision.Sphere, collision.Cylinder, collision.Capsule}[rng.IntN(4)]}
		size := func() float64 { return 0.02 + 0.1*rng.Float64() }
		s.Radius, s.Length, s.Size = size(), 2*size(), r3.Vec{X: 2 * size(), Y: 2 * size(), Z: 2 * size()}
		out = append(out, collision.Body{Name: "body", Shape: s, Pose: at})
	}
	return out
}

// toCheck are the pairs of names that may not touch: all that the joints move against each other, but for links that are directly joined.
func (r *robot) toCheck(bodies bool) [][2]string {
	moves := map[string]bool{}
	for _, n := range r.chain.Names() {
		moves[n] = true
	}
	lump := map[string]string{} // what a link moves as one with
	var root func(link string) string
	root = func(link string) string {
		j := r.model.Above(link)
		if j == nil || moves[j.Name] {
			return link
		}
		return root(j.Parent)
	}
	joined := map[[2]string]bool{}
	for _, l := range r.model.Links {
		lump[l.Name] = root(l.Name)
		if j := r.model.Above(l.Name); j != nil {
			joined[[2]string{j.Parent, l.Name}], joined[[2]string{l.Name, j.Parent}] = true, true
		}
	}
	var out [][2]string
	for i, a := range r.model.Links {
		for _, b := range r.model.Links[:i] {
			if lump[a.Name] != lump[b.Name] && !joined[[2]string{a.Name, b.Name}] {
				out = append(out, [2]string{a.Name, b.Name})
			}
		}
		if bodies && lump[a.Name] != lump[r.base] {
			out = append(out, [2]string{a.Name, "body"})
		}
	}
	return out
}

// parameters of a shape as the peer wants them.
func parameters(s collision.Shape) []float64 {
	switch s.Kind {
	case collision.Box:
		return []float64{s.Size.X, s.Size.Y, s.Size.Z}
	case collision.Sphere:
		return []float64{s.Radius}
	default:
		return []float64{s.Radius, s.Length}
	}
}

// TestNoneOf1000TrajectoriesThatCollideIsPassed: what is passed is sampled densely by Coal on Pinocchio's kinematics and keeps its margins; where ours sees
// a contact, they see it too.
func TestNoneOf1000TrajectoriesThatCollideIsPassed(t *testing.T) {
	p := open(t)
	each := size(8, 334)
	samples := size(60, 200)
	for _, r := range robots(t) {
		r.load(p)
		rng := random(21)
		made, err := collision.NewRobot(r.model, collision.Config{Base: r.base, Joints: r.chain.Names()})
		fatal(t, err)
		passed, refused, points, pairs := 0, 0, 0, 0
		for worlds := 0; passed+refused < each; worlds++ {
			bodies := surroundings(rng, 12)
			margin := 0.01 * float64(rng.IntN(2))
			scene, err := made.Scene(collision.World{Bodies: bodies, Margin: margin})
			fatal(t, err)
			var list []any
			for _, b := range bodies {
				list = append(list, map[string]any{"name": b.Name, "kind": b.Shape.Kind.String(), "size": parameters(b.Shape), "pose": appendPose(nil, b.Pose)})
			}
			r.load(p) // afresh: bodies are added
			var head struct{ Pairs int }
			p.ask("scene", question{"name": r.name, "base": r.base, "bodies": list, "pairs": r.toCheck(true)}, nil, &head)
			pairs = head.Pairs
			for range 8 {
				curve := r.someCurve(t, rng, scene)
				if curve == nil {
					continue
				}
				var motions []collision.Motion
				for i := range curve.Segments() {
					motions = append(motions, curve.Segment(i))
				}
				hit, err := scene.CheckMotion(motions...)
				fatal(t, err)
				if hit != nil {
					refused++
					d := p.ask("clearances", question{"name": r.name, "margin": margin, "bodies": "body"}, hit.Q, nil)
					if !(d[0] <= collision.Resolution+band) {
						t.Errorf("%s: refused for %+v, yet Coal sees %g m more than there must be", r.name, hit, d[0])
					}
					continue
				}
				passed++
				var flat []float64
				q := make([]float64, len(r.joints))
				for k := range samples + 1 {
					curve.At(time.Duration(float64(curve.End())*float64(k)/float64(samples)), q, nil, nil)
					flat = append(flat, q...)
				}
				points += samples
				for k, d := range p.ask("clearances", question{"name": r.name, "margin": margin, "bodies": "body"}, flat, nil) {
					if !(d >= -band) {
						t.Fatalf("%s: passed, and in contact at sample %d: %g m short of the margin", r.name, k, -d)
					}
				}
			}
		}
		t.Logf("%s: %d passed (sampled at %d configurations, %d pairs of shapes), %d refused for a contact that is there", r.name, passed, points, pairs, refused)
		if passed == 0 || refused == 0 {
			t.Errorf("%s: only one kind of trajectory was made", r.name)
		}
	}
}

// someCurve goes from a free configuration over two others, with velocities: cubics that bulge.
func (r *robot) someCurve(t *testing.T, rng *rand.Rand, scene *collision.Scene) *trajectory.Curve {
	t.Helper()
	from := r.random(rng)
	for tries := 0; !scene.Free(from); tries++ {
		if tries == 200 {
			return nil
		}
		from = r.random(rng)
	}
	far := math.Pow(10, -rng.Float64())
	traj := trajectory.Trajectory{Joints: r.chain.Names()}
	q := from
	for i := range 3 {
		next, v := make([]float64, len(q)), make([]float64, len(q))
		to := r.random(rng)
		for k := range q {
			next[k] = q[k] + far*(to[k]-q[k])
			if i < 2 {
				v[k] = rng.NormFloat64() * far
			}
		}
		traj.Points = append(traj.Points, trajectory.Point{Positions: next, Velocities: v, Time: time.Duration(i+1) * time.Second})
		q = next
	}
	curve, err := trajectory.NewCurve(trajectory.Start{Positions: from}, traj)
	fatal(t, err)
	return curve
}
