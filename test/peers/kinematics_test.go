//go:build !race

package peers

import (
	"math"
	"testing"

	"agent_node/pkg/geometry/kinematics"

	"gonum.org/v1/gonum/mat"
)

// tolerance of poses and Jacobians, m, m/rad and elements of rotations.
const tolerance = 1e-9

// TestPosesAndJacobiansOf10000Configurations holds every link's pose and the tip's Jacobian against Pinocchio's.
func TestPosesAndJacobiansOf10000Configurations(t *testing.T) {
	p := open(t)
	n := size(500, 10_000)
	for _, r := range robots(t) {
		r.load(p)
		rows, flat := r.many(random(6), n)
		tree, err := kinematics.NewTree(r.model, r.chain.Names(), nil)
		fatal(t, err)
		var links []string
		for _, l := range r.model.Links {
			links = append(links, l.Name)
		}
		theirs := p.ask("frames", question{"name": r.name, "base": r.base, "links": links}, flat, nil)
		frames, err := tree.Poses(nil, rows[0])
		fatal(t, err)
		worst := 0.0
		for _, q := range rows {
			frames, err = tree.Poses(frames, q)
			fatal(t, err)
			baseFrame, basePose, _ := tree.Link(r.base)
			toBase := frames[baseFrame].Compose(basePose).Inverse()
			for _, l := range links {
				f, pose, _ := tree.Link(l)
				for i, v := range matrix(toBase.Compose(frames[f].Compose(pose))) {
					worst = math.Max(worst, math.Abs(v-theirs[i]))
				}
				theirs = theirs[12:]
			}
		}
		their := p.ask("jacobians", question{"name": r.name, "base": r.base, "tip": r.tip}, flat, nil)
		bent := 0.0
		jac := mat.NewDense(6, len(r.joints), nil)
		for _, q := range rows {
			fatal(t, r.chain.Jacobian(jac, q))
			for i := range 6 {
				for k := range r.joints {
					bent = math.Max(bent, math.Abs(jac.At(i, k)-their[i*len(r.joints)+k]))
				}
			}
			their = their[6*len(r.joints):]
		}
		t.Logf("%s: %d configurations, %d links: largest difference of poses %.1e, of Jacobians %.1e", r.name, n, len(links), worst, bent)
		if !(worst <= tolerance) || !(bent <= tolerance) {
			t.Errorf("%s: poses differ by %g, Jacobians by %g, limit %g", r.name, worst, bent, tolerance)
		}
	}
}
