package kinematics_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"

	"gonum.org/v1/gonum/spatial/r3"
)

func TestStat(t *testing.T) {
	for _, a := range arms {
		c := chain(t, a.file, a.base, a.tip)
		r := rand.New(rand.NewPCG(1, 2))
		for _, f := range []kinematics.Freedom{kinematics.Whole, kinematics.Pointing, kinematics.PositionOnly} {
			failed := 0
			n := 2000
			begin := time.Now()
			worst := time.Duration(0)
			for range n {
				q := anywhere(r, c.Joints())
				target, _ := c.FK(q)
				b := time.Now()
				got, err := c.IK(target, nil, kinematics.Options{Freedom: f})
				worst = max(worst, time.Since(b))
				if err != nil {
					failed++
					continue
				}
				p, _ := c.FK(got)
				if r3.Norm(r3.Sub(p.Translation, target.Translation)) > 1.1e-6 || f == 0 && spatial.Angle(p.Rotation, target.Rotation) > 1.1e-6 {
					t.Error("wrong")
				}
			}
			t.Log(a.file, f, "failed", failed, time.Since(begin)/time.Duration(n), worst)
		}
	}
}
