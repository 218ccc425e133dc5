package policy_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDecide(t *testing.T) {
	named := policy.Policy{Tools: map[string]policy.Permission{"x": policy.Allow, "y": policy.Deny}}
	classes := policy.Policy{Classes: map[tool.Class]policy.Permission{tool.Skill: policy.Allow, tool.Query: policy.Deny, tool.Control: policy.Deny}}
	sim := classes
	sim.Simulation = true
	for _, x := range []struct {
		name   string
		policy policy.Policy
		spec   tool.Spec
		want   policy.Permission
	}{
		{"queries by default", policy.Policy{}, tool.Spec{Class: tool.Query}, policy.Allow},
		{"verifies by default", policy.Policy{}, tool.Spec{Class: tool.Verify}, policy.Allow},
		{"skills by default", policy.Policy{}, tool.Spec{Class: tool.Skill, Validated: true}, policy.Ask},
		{"a skill that nobody validates", policy.Policy{}, tool.Spec{Class: tool.Skill}, policy.Deny},
		{"the same, whatever its class says", classes, tool.Spec{Class: tool.Skill}, policy.Deny},
		{"the same in simulation", sim, tool.Spec{Class: tool.Skill}, policy.Allow},
		{"the same, allowed by name", named, tool.Spec{Name: "x", Class: tool.Skill}, policy.Allow},
		{"denied by name", named, tool.Spec{Name: "y", Class: tool.Query}, policy.Deny},
		{"by class", classes, tool.Spec{Class: tool.Query}, policy.Deny},
		{"built-in tools cannot be taken away", classes, tool.Spec{Class: tool.Control}, policy.Allow},
		{"an unknown class", policy.Policy{}, tool.Spec{Class: 9}, policy.Deny},
	} {
		if got, why := x.policy.Decide(x.spec); got != x.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", x.name, got, why, x.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, p := range map[string]policy.Policy{
		"a tool": {Tools: map[string]policy.Permission{"x": "perhaps"}}, "a class": {Classes: map[tool.Class]policy.Permission{tool.Skill: ""}}, "a timeout": {Timeout: -1},
	} {
		if p.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, s := range []string{"allow", "ask", "deny"} {
		if p, err := policy.ParsePermission(s); err != nil || string(p) != s {
			t.Errorf("%s: %v", s, err)
		}
	}
	if p, err := policy.ParsePermission("Allow"); err == nil || p != policy.Deny {
		t.Errorf("%s %v", p, err)
	}
	if err := (policy.Policy{}).Check(); err != nil {
		t.Error(err)
	}
}

// Two different calls have different digests, however their parts are cut.
func TestDigestBindsEveryPart(t *testing.T) {
	part := rapid.StringMatching(`[ab]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		var a, b [4]string
		for i := range a {
			a[i], b[i] = part.Draw(t, "a"), part.Draw(t, "b")
		}
		same := policy.Digest(a[0], a[1], a[2], []byte(a[3])) == policy.Digest(b[0], b[1], b[2], []byte(b[3]))
		if same != (a == b) {
			t.Fatalf("%q and %q: same digest %t", a, b, same)
		}
	})
	if id := policy.RequestID("c1", "0123456789abcdef"); id != "c1-0123456789ab" {
		t.Error(id)
	}
	if id := policy.RequestID("c1", "01"); id != "c1-01" {
		t.Error(id)
	}
}
