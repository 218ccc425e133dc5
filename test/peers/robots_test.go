//go:build !race

package peers

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"

	"gonum.org/v1/gonum/num/quat"
)

// robot is one of the three that the comparisons are made with.
type robot struct {
	name, base, tip string
	acceleration    float64 // rad/s² or m/s² of all joints
	model           *urdf.Model
	chain           *kinematics.Chain
	joints          []limits.Joint
}

func robots(t *testing.T) []*robot {
	t.Helper()
	list := []*robot{
		{name: "arm6", base: "base_link", tip: "tool0", acceleration: 8},
		{name: "arm7", base: "base_link", tip: "tool0", acceleration: 6},
		{name: "mobile", base: "base_link", tip: "tool0", acceleration: 5},
	}
	for _, r := range list {
		data, err := os.ReadFile(r.file())
		fatal(t, err)
		r.model, err = urdf.Parse(data)
		fatal(t, err)
		r.chain, err = kinematics.NewChain(r.model, r.base, r.tip)
		fatal(t, err)
		r.joints = r.chain.Joints()
		for i := range r.joints {
			r.joints[i].Acceleration = r.acceleration
		}
	}
	return list
}

func (r *robot) file() string { return "testdata/" + r.name + ".urdf" }

// load makes the peer know the robot.
func (r *robot) load(p *peer) {
	p.ask("load", question{"name": r.name, "urdf": abs(p.t, r.file()), "joints": r.chain.Names()}, nil, nil)
}

// random configuration within the limits.
func (r *robot) random(rng *rand.Rand) []float64 {
	q := make([]float64, len(r.joints))
	for i, j := range r.joints {
		lo, hi := j.Lower, j.Upper
		if j.Continuous {
			lo, hi = -math.Pi, math.Pi
		}
		q[i] = lo + rng.Float64()*(hi-lo)
	}
	return q
}

func (r *robot) many(rng *rand.Rand, n int) (rows [][]float64, flat []float64) {
	for range n {
		q := r.random(rng)
		rows, flat = append(rows, q), append(flat, q...)
	}
	return rows, flat
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// matrix is a rotation by rows and a translation.
func matrix(t spatial.Transform) [12]float64 {
	q := t.Rotation
	w, x, y, z := q.Real, q.Imag, q.Jmag, q.Kmag
	return [12]float64{
		1 - 2*(y*y+z*z), 2 * (x*y - w*z), 2 * (x*z + w*y),
		2 * (x*y + w*z), 1 - 2*(x*x+z*z), 2 * (y*z - w*x),
		2 * (x*z - w*y), 2 * (y*z + w*x), 1 - 2*(x*x+y*y),
		t.Translation.X, t.Translation.Y, t.Translation.Z,
	}
}

// turned is a rotation at random, evenly over all of them.
func turned(rng *rand.Rand) quat.Number {
	for {
		q := quat.Number{Real: rng.NormFloat64(), Imag: rng.NormFloat64(), Jmag: rng.NormFloat64(), Kmag: rng.NormFloat64()}
		if n := quat.Abs(q); n > 1e-3 {
			return quat.Scale(1/n, q)
		}
	}
}
