package policy_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
)

// plainTool is a skill with numbers, texts and lists as arguments.
type plainTool struct{ name string }

func (p plainTool) Spec() tool.Spec {
	return tool.Spec{Name: p.name, Class: tool.Skill, Validated: true, Parameters: json.RawMessage(`{"type":"object","properties":{
		"place":{"type":"string"},"speed":{"type":"number"},"joints":{"type":"array"},"in":{"type":"number"}}}`)}
}

func (plainTool) Call(context.Context, tool.Call) tool.Result { return tool.Result{OK: true} }

func table(t testing.TB) *tool.Table {
	t.Helper()
	tb, err := tool.NewTable(plainTool{"go"}, plainTool{"other"})
	if err != nil {
		t.Fatal(err)
	}
	return tb
}

func judge(t testing.TB, base policy.Permission, conditions ...string) (*policy.Judge, tool.Spec) {
	t.Helper()
	p := policy.Policy{Tools: map[string]policy.Permission{"go": base}, Conditions: map[string][]policy.Condition{}}
	for _, text := range conditions {
		c, err := policy.ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.String() != text {
			t.Errorf("%q reads as %q", text, c)
		}
		p.Conditions["go"] = append(p.Conditions["go"], c)
	}
	tb := table(t)
	j, err := policy.NewJudge(p, tb)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := tb.Spec("go")
	return j, s
}

func TestConditionsOnArguments(t *testing.T) {
	for _, x := range []struct {
		name       string
		base       policy.Permission
		conditions []string
		arguments  string
		want       policy.Permission
		says       string
	}{
		{"none holds", policy.Allow, []string{"ask if speed > 0.3"}, `{"speed":0.3}`, policy.Allow, "name"},
		{"one holds", policy.Allow, []string{"ask if speed > 0.3"}, `{"speed":0.31}`, policy.Ask, "speed > 0.3"},
		{"a whole number", policy.Allow, []string{"ask if speed > 3"}, `{"speed":4}`, policy.Ask, "speed > 3"},
		{"a text", policy.Allow, []string{"deny if place == 'stairs'"}, `{"place":"stairs"}`, policy.Deny, "stairs"},
		{"another text", policy.Allow, []string{"deny if place == 'stairs'"}, `{"place":"kitchen"}`, policy.Allow, ""},
		{"an argument that was not given equals nothing", policy.Allow, []string{"deny if place == 'stairs'"}, `{}`, policy.Allow, ""},
		{"a null", policy.Allow, []string{"deny if place == 'stairs'"}, `{"place":null}`, policy.Allow, ""},
		{"what cannot be judged holds", policy.Allow, []string{"ask if speed > 0.3"}, `{}`, policy.Ask, "could not be judged"},
		{"unless it is asked whether it was given", policy.Allow, []string{"ask if speed != null && speed > 0.3"}, `{}`, policy.Allow, ""},
		{"or so", policy.Allow, []string{"ask if has(args.speed) && args.speed > 0.3"}, `{}`, policy.Allow, ""},
		{"an argument named like a word of CEL", policy.Allow, []string{"deny if args['in'] > 1.0"}, `{"in":2}`, policy.Deny, "args"},
		{"a wrong type cannot be judged", policy.Allow, []string{"deny if speed > 0.3"}, `{"speed":"fast"}`, policy.Deny, "could not be judged"},
		{"a list", policy.Allow, []string{"ask if joints.exists(q, math.abs(q) > 3.0)"}, `{"joints":[0,-3.5]}`, policy.Ask, "joints"},
		{"the strictest counts", policy.Allow, []string{"allow if speed < 1.0", "ask if speed > 0.3", "deny if speed > 0.8"}, `{"speed":0.9}`, policy.Deny, "0.8"},
		{"and not the first", policy.Allow, []string{"ask if speed > 0.3", "deny if speed > 0.8"}, `{"speed":0.9}`, policy.Deny, "0.8"},
		{"allow lifts an ask", policy.Ask, []string{"allow if speed < 0.1"}, `{"speed":0.05}`, policy.Allow, "0.1"},
		{"allow lifts nothing where it does not hold", policy.Ask, []string{"allow if speed < 0.1"}, `{"speed":0.5}`, policy.Ask, ""},
		{"what cannot be judged allows nothing", policy.Ask, []string{"allow if speed < 0.1"}, `{"speed":"slow"}`, policy.Ask, ""},
		{"allow lifts no denial", policy.Deny, []string{"allow if speed < 0.1"}, `{"speed":0.05}`, policy.Deny, ""},
		{"a condition that gives no bool holds", policy.Allow, []string{"ask if args.speed"}, `{"speed":1}`, policy.Ask, "must give bool"},
		{"no object", policy.Allow, []string{"ask if speed > 0.3"}, `[]`, policy.Deny, "no object"},
		{"no JSON", policy.Allow, []string{"ask if speed > 0.3"}, `{`, policy.Deny, "no object"},
		{"a costly condition holds", policy.Allow, []string{"deny if joints.exists(a, joints.exists(b, joints.exists(c, a + b + c == 1.0)))"}, `{"joints":[` + strings.Repeat("5,", 200) + `5]}`, policy.Deny, "could not be judged"},
	} {
		j, spec := judge(t, x.base, x.conditions...)
		if got, why := j.Decide(spec, json.RawMessage(x.arguments)); got != x.want || !strings.Contains(why, x.says) || why == "" {
			t.Errorf("%s: %s (%s), want %s", x.name, got, why, x.want)
		}
	}
}

// Whatever the conditions and the arguments: a call is never treated more mildly than its permission, unless a condition that holds says
// so, and a denial stays one.
func TestConditionsNeverOpenWhatIsDenied(t *testing.T) {
	rank := map[policy.Permission]int{policy.Allow: 0, policy.Ask: 1, policy.Deny: 2}
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.SampledFrom([]policy.Permission{policy.Allow, policy.Ask, policy.Deny}).Draw(rt, "base")
		list := rapid.SliceOfN(rapid.SampledFrom([]string{
			"allow if speed < 0.5", "ask if speed > 0.3", "deny if speed > 0.8", "deny if place == 'stairs'", "ask if args.speed", "allow if place == 'dock'",
		}), 0, 4).Draw(rt, "conditions")
		arguments := rapid.SampledFrom([]string{`{}`, `{"speed":0.4}`, `{"speed":0.9,"place":"dock"}`, `{"place":"stairs"}`, `{"speed":"x"}`, `{"speed":0.2}`}).Draw(rt, "arguments")
		j, spec := judge(t, base, list...)
		got, why := j.Decide(spec, json.RawMessage(arguments))
		if rank[got] < rank[base] && (base == policy.Deny || !strings.Contains(why, "allow if")) {
			rt.Fatalf("%s became %s: %s", base, got, why)
		}
	})
}

func TestConditionsAreCheckedBeforehand(t *testing.T) {
	for text, words := range map[string]string{
		"speed > 0.3": "is not", "ask if ": "is not", "ask when speed > 1": "is not", "permit if speed > 1": "must be allow, ask or deny",
	} {
		if _, err := policy.ParseCondition(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
		}
	}
	with := func(name, expression string) policy.Policy {
		return policy.Policy{Conditions: map[string][]policy.Condition{name: {{Permission: policy.Ask, Expression: expression}}}}
	}
	for name, x := range map[string]struct {
		p     policy.Policy
		words string
	}{
		"an unknown argument":        {with("go", "velocity > 1.0"), "undeclared reference to 'velocity'"},
		"a syntax error":             {with("go", "speed >"), "Syntax error"},
		"no bool":                    {with("go", "1.0 + 2.0"), "must give bool"},
		"a tool that is not there":   {with("fly", "true"), "tool fly is not in the table"},
		"a built-in tool":            {with("finish", "true"), "built in"},
		"a rate of nothing":          {policy.Policy{Rates: map[string]policy.Rate{"go": {Calls: 0, Per: time.Second}}}, "rate of 0 calls"},
		"a rate of a missing tool":   {policy.Policy{Rates: map[string]policy.Rate{"fly": {Calls: 1, Per: time.Second}}}, "tool fly"},
		"a permission of a stranger": {policy.Policy{Tools: map[string]policy.Permission{"fly": policy.Allow}}, "tool fly"},
	} {
		if _, err := policy.NewJudge(x.p, table(t)); err == nil || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseRate(t *testing.T) {
	if r, err := policy.ParseRate(" 5 per 60 "); err != nil || r != (policy.Rate{Calls: 5, Per: time.Minute}) || r.String() != "5 calls per 1m0s" {
		t.Errorf("%v %v", r, err)
	}
	for _, text := range []string{"", "5", "5 per", "x per 60", "5 per x", "0 per 60", "5 per 0", "5 per -1", "5 per 1e300", "5 per NaN", "1000000 per 1"} {
		if r, err := policy.ParseRate(text); err == nil {
			t.Errorf("%q reads as %v", text, r)
		}
	}
}

// In no stretch of time of the rate's length are there more calls than it allows, and a call that waited as long as it was told to is let through.
func TestRateLimits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := policy.Rate{Calls: rapid.IntRange(1, 5).Draw(rt, "calls"), Per: time.Duration(rapid.IntRange(1, 50).Draw(rt, "per"))}
		l := policy.NewLimiter(policy.Policy{Rates: map[string]policy.Rate{"go": r}})
		now := time.Unix(0, 0)
		var made []time.Time
		for range rapid.IntRange(1, 60).Draw(rt, "tries") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(rt, "step")))
			wait, _, ok := l.Take("go", now)
			if !ok {
				if wait <= 0 || wait > r.Per {
					rt.Fatalf("told to wait %d of %d", wait, r.Per)
				}
				now = now.Add(wait)
				if _, _, ok = l.Take("go", now); !ok {
					rt.Fatal("the wait was too short")
				}
			}
			made = append(made, now)
			if n := len(made); n > r.Calls && made[n-1].Sub(made[n-1-r.Calls]) < r.Per {
				rt.Fatalf("%d calls within %d", r.Calls+1, r.Per)
			}
			if _, _, ok := l.Take("other", now); !ok {
				rt.Fatal("a tool without a rate is limited")
			}
		}
	})
}
