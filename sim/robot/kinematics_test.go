package robot_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/urdf"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

// Two programs that know nothing of each other, the simulation and the node's geometry, agree where the tool is and how it is turned.
func TestTheNodesKinematicsAgreesWithTheSimulation(t *testing.T) {
	w := world.Default()
	text, err := robot.Description(w)
	if err != nil {
		t.Fatal(err)
	}
	model, err := urdf.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	chain, err := kinematics.NewChain(model, world.LinkBase, world.LinkTool)
	if err != nil {
		t.Fatal(err)
	}
	if got := chain.Names(); [world.Joints]string(got) != w.Arm.Names {
		t.Fatalf("the chain's joints are %v", got)
	}
	tool := w.Body.Index(world.LinkTool)
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var q [world.Joints]float64
		for j, l := range w.Arm.Limits {
			q[j] = l.Lower + (l.Upper-l.Lower)*random.Float64()
		}
		theirs, err := chain.FK(q[:])
		if err != nil {
			t.Fatal(err)
		}
		ours := w.Body.Frames(w.Positions(world.Posture{Arm: q}))[tool]
		// A point beside the tool tells of its rotation, too.
		for _, p := range []world.Vec{{}, {X: 1}, {Y: 1}} {
			a, b := theirs.Apply(r3.Vec(p)), ours.Apply(p)
			if d := world.Vec(a).Sub(b).Norm(); d > 1e-9 {
				t.Fatalf("at %v they are %.3g m apart", q, d)
			}
		}
	}
}
