package manipulate

import (
	"math"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
	"agent_node/sim/world"
	"agent_node/test/house"
)

const errand = "take the red cube to the kitchen"

// moving, from the truth.
func moving(s physics.Truth) bool { return math.Abs(s.Twist.Linear) > 0.2 }

// carrying: it drives with the cube.
func carrying(s physics.Truth) bool { return s.Held == "red cube" && moving(s) }

// untouched: these objects lie where they lay.
func untouched(t *testing.T, before, after house.Situation, names ...string) {
	t.Helper()
	for _, name := range names {
		a, b := before.Objects[name], after.Objects[name]
		if math.Hypot(a.X-b.X, a.Y-b.Y) > 0.005 || math.Abs(a.Z-b.Z) > 0.005 {
			t.Errorf("the %s was moved from %.3f, %.3f, %.3f to %.3f, %.3f, %.3f", name, a.X, a.Y, a.Z, b.X, b.Y, b.Z)
		}
	}
}

// bumped: base and arm ran into nothing all the way.
func bumped(t *testing.T, h *house.House) {
	t.Helper()
	for _, s := range h.Path {
		if s.Contact || s.ArmContact {
			t.Fatalf("after %v it ran into something at %+v", s.Time, s.Pose)
		}
		if world.Default().ZoneDistance(s.Pose.X, s.Pose.Y) == 0 {
			t.Fatalf("after %v it was in the keep-out zone", s.Time)
		}
	}
}

// done judges the errand by the truth.
func done(t *testing.T, h *house.House, r *ros.Message, before house.Situation) {
	t.Helper()
	after := h.Now()
	if r.Int("outcome") != 1 || r.Str("reason_code") != "accepted" {
		t.Errorf("it ends as %d %s: %s", r.Int("outcome"), r.Str("reason_code"), r.Str("answer"))
	}
	if at := after.PlaceOf("red cube"); at != "kitchen" {
		t.Errorf("the red cube is at %q: %+v", at, after.Objects["red cube"])
	}
	untouched(t, before, after, "blue cube", "green ball")
	folded(t, after)
	bumped(t, h)
}

// folded: at rest with an empty hand and the arm over the base.
func folded(t *testing.T, after house.Situation) {
	t.Helper()
	if !after.AtRest() || after.Held != "" {
		t.Errorf("at rest %v, holding %q", after.AtRest(), after.Held)
	}
	for i, q := range world.Default().Arm.Carry {
		if math.Abs(after.Arm[i]-q) > 0.05 {
			t.Errorf("joint %d is at %.3f rad, folded it is at %.3f rad", i+1, after.Arm[i], q)
		}
	}
}
