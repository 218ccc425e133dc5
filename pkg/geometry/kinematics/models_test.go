package kinematics_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/urdf"
)

// arms are the chains that everything is tried on.
var arms = []struct{ file, base, tip string }{
	{"sim_robot", "base_link", "tool0"},
	{"industrial", "world", "tool"},
	{"seven", "carriage", "tool"},
}

func model(t testing.TB, name string) *urdf.Model {
	t.Helper()
	data, err := os.ReadFile("../testdata/" + name + ".urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, err := urdf.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func chain(t testing.TB, file, base, tip string) *kinematics.Chain {
	t.Helper()
	c, err := kinematics.NewChain(model(t, file), base, tip)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// anywhere within the limits; continuous joints within three turns.
func anywhere(r *rand.Rand, joints []limits.Joint) []float64 {
	q := make([]float64, len(joints))
	for i, j := range joints {
		lo, hi := j.Lower, j.Upper
		if j.Continuous {
			lo, hi = -6*math.Pi, 6*math.Pi
		}
		q[i] = lo + r.Float64()*(hi-lo)
	}
	return q
}
