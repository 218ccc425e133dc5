package limits_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"
	"pgregory.net/rapid"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/limits"
	"agent_node/pkg/geometry/spatial"
)

func TestTipLimitsThatMakeNoSense(t *testing.T) {
	for _, bad := range []error{
		limits.Tip{Linear: -1}.Check(), limits.Tip{Angular: math.NaN()}.Check(), limits.Wrench{Force: math.Inf(1)}.Check(), limits.Wrench{Torque: -0.1}.Check(),
	} {
		if !errors.Is(bad, limits.ErrConfig) {
			t.Errorf("%v is no error of the configuration", bad)
		}
	}
	if err := errors.Join(limits.Tip{}.Check(), limits.Tip{Linear: 1, Angular: 2}.Check(), limits.Wrench{Force: 20, Torque: 2}.Check()); err != nil {
		t.Error(err)
	}
}

// A force over its limit, a torque where none may be asked for, and each component that is no number are found, with value, limit and unit.
func TestCheckWrench(t *testing.T) {
	w := limits.Wrench{Force: 5}
	for name, x := range map[string]struct {
		wrench spatial.Wrench
		want   []geometry.Finding
	}{
		"within":    {spatial.Wrench{Force: r3.Vec{X: 3, Y: 4}}, nil},
		"too much":  {spatial.Wrench{Force: r3.Vec{X: 3, Y: 4, Z: 12}}, []geometry.Finding{{Rule: geometry.RuleForce, Subject: "tool.force", Value: 13, Limit: 5, Unit: "N"}}},
		"no torque": {spatial.Wrench{Torque: r3.Vec{Z: -0.5}}, []geometry.Finding{{Rule: geometry.RuleTorque, Subject: "tool.torque", Value: 0.5, Limit: 0, Unit: "Nm"}}},
		"both":      {spatial.Wrench{Force: r3.Vec{X: 6}, Torque: r3.Vec{Z: 1}}, []geometry.Finding{{Rule: geometry.RuleForce, Subject: "tool.force", Value: 6, Limit: 5, Unit: "N"}, {Rule: geometry.RuleTorque, Subject: "tool.torque", Value: 1, Unit: "Nm"}}},
		"no number": {spatial.Wrench{Force: r3.Vec{X: 99, Y: math.Inf(1)}, Torque: r3.Vec{X: math.Inf(-1)}}, []geometry.Finding{{Rule: geometry.RuleFinite, Subject: "tool.force.y", Value: math.Inf(1), Limit: math.MaxFloat64, Unit: "N"}, {Rule: geometry.RuleFinite, Subject: "tool.torque.x", Value: math.Inf(-1), Limit: math.MaxFloat64, Unit: "Nm"}}},
	} {
		got := w.CheckWrench(x.wrench, "tool", nil)
		if len(got) != len(x.want) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		for i, f := range got {
			if f.Rule != x.want[i].Rule || f.Subject != x.want[i].Subject || f.Value != x.want[i].Value || f.Limit != x.want[i].Limit || f.Unit != x.want[i].Unit {
				t.Errorf("%s: %+v, want %+v", name, f, x.want[i])
			}
		}
	}
}

// A clamped wrench passes the check, points where it pointed, and is left alone where it passed before.
func TestClampedWrenchesPass(t *testing.T) {
	vec := func(t *rapid.T, name string) r3.Vec {
		f := rapid.Float64Range(-1e6, 1e6)
		return r3.Vec{X: f.Draw(t, name+".x"), Y: f.Draw(t, name+".y"), Z: f.Draw(t, name+".z")}
	}
	rapid.Check(t, func(t *rapid.T) {
		w := limits.Wrench{Force: rapid.Float64Range(1e-3, 1e3).Draw(t, "force limit"), Torque: rapid.Float64Range(1e-3, 1e3).Draw(t, "torque limit")}
		x := spatial.Wrench{Force: vec(t, "force"), Torque: vec(t, "torque")}
		c, ok := w.Clamp(x)
		if !ok {
			t.Fatal("it is not clamped")
		}
		if f := w.CheckWrench(c, "tool", nil); len(f) > 0 {
			t.Fatalf("%v", f)
		}
		if len(w.CheckWrench(x, "tool", nil)) == 0 && c != x {
			t.Fatalf("%v became %v", x, c)
		}
		for _, p := range [][2]r3.Vec{{x.Force, c.Force}, {x.Torque, c.Torque}} {
			if across := r3.Norm(r3.Cross(p[0], p[1])); across > 1e-9*r3.Norm(p[0])*r3.Norm(p[1]) || r3.Dot(p[0], p[1]) < 0 {
				t.Fatalf("%v points elsewhere than %v", p[1], p[0])
			}
		}
	})
	if _, ok := (limits.Wrench{Force: 1, Torque: 1}).Clamp(spatial.Wrench{Force: r3.Vec{X: math.NaN()}}); ok {
		t.Error("what is no number was clamped")
	}
}
