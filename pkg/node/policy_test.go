package node

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools"
)

// What an operator says of a tool wins over the profile; conditions add up.
func TestPolicyJoinsProfileAndParameters(t *testing.T) {
	profile := &robottools.Profile{
		Name: "p", Permissions: map[string]string{"skill": "ask", "query": "allow"},
		Tools: map[string]robottools.Tool{
			"drive":  {Permission: "ask", Conditions: []string{"deny if distance_m > 5.0"}, Rate: &robottools.Rate{Calls: 2, Per: 30}},
			"turn":   {Permission: "deny", Rate: &robottools.Rate{Calls: 1, Per: 1}},
			"strong": {},
		},
		AllowUnvalidated: []string{"strong"},
	}
	var own policy.Policy
	if err := readRules([]string{"drive: allow", " drive : ask if distance_m > 0.3"}, &own); err != nil {
		t.Fatal(err)
	}
	if err := readRates([]string{"turn: 5 per 60"}, &own); err != nil {
		t.Fatal(err)
	}
	got, err := joinPolicy(profile, map[tool.Class]string{tool.Query: "deny"}, own)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tools["drive"] != policy.Allow || got.Tools["turn"] != policy.Deny || got.Tools["strong"] != policy.Ask {
		t.Errorf("tools %v", got.Tools)
	}
	if got.Classes[tool.Query] != policy.Deny || got.Classes[tool.Skill] != policy.Ask {
		t.Errorf("classes %v", got.Classes)
	}
	if c := got.Conditions["drive"]; len(c) != 2 || c[0].String() != "ask if distance_m > 0.3" || c[1].String() != "deny if distance_m > 5.0" {
		t.Errorf("conditions %v", c)
	}
	if got.Rates["drive"] != (policy.Rate{Calls: 2, Per: 30 * time.Second}) || got.Rates["turn"] != (policy.Rate{Calls: 5, Per: time.Minute}) {
		t.Errorf("rates %v", got.Rates)
	}
	for _, x := range []struct {
		rules, rates []string
		words        string
	}{
		{[]string{"drive allow"}, nil, "is not 'name: permission'"},
		{[]string{"drive: perhaps"}, nil, "must be allow, ask or deny"},
		{[]string{"drive: perhaps if x > 1"}, nil, "must be allow, ask or deny"},
		{nil, []string{"drive"}, "is not 'name: CALLS per SECONDS'"},
		{nil, []string{"drive: often"}, "is not 'CALLS per SECONDS'"},
	} {
		var p policy.Policy
		err := readRules(x.rules, &p)
		if err == nil {
			err = readRates(x.rates, &p)
		}
		if err == nil || !strings.Contains(err.Error(), x.words) {
			t.Errorf("%v %v: %v", x.rules, x.rates, err)
		}
	}
	if err := readRules([]string{"fly: allow"}, &own); err != nil {
		t.Fatal(err)
	}
	if _, err := joinPolicy(profile, nil, own); err == nil || !strings.Contains(err.Error(), `no tool "fly"`) {
		t.Errorf("a tool that is not there: %v", err)
	}
}

// What nothing validates of generic skills needs a person outside simulation, whatever else allows it, unless it is allowed unvalidated.
func TestGenericSkillsThatNothingValidatesAreAsked(t *testing.T) {
	one := []robottools.GenericService{{Name: "/beep", Type: "std_srvs/srv/Trigger"}, {Name: "/ring", Type: "std_srvs/srv/Trigger", Requires: robottools.Exprs{{Name: "why", CEL: "true"}}}}
	for _, x := range []struct {
		simulation bool
		allowed    []string
		rules      []string
		service    string
		want       policy.Permission
	}{
		{false, nil, nil, "/beep", policy.Ask},
		{false, nil, []string{"call_service: allow"}, "/beep", policy.Ask},
		{false, nil, nil, "/ring", policy.Allow},
		{false, []string{"call_service"}, nil, "/beep", policy.Allow},
		{true, nil, nil, "/beep", policy.Allow},
		{false, nil, []string{"call_service: deny"}, "/ring", policy.Deny},
	} {
		profile := &robottools.Profile{
			Name: "p", Simulation: x.simulation, Permissions: map[string]string{"skill": "allow"},
			Generic: robottools.Generic{CallService: one}, AllowUnvalidated: x.allowed,
		}
		var own policy.Policy
		if err := readRules(x.rules, &own); err != nil {
			t.Fatal(err)
		}
		p, err := joinPolicy(profile, nil, own)
		if err != nil {
			t.Fatal(err)
		}
		table, err := tool.NewTable(caller{})
		if err != nil {
			t.Fatal(err)
		}
		judge, err := policy.NewJudge(p, table)
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := table.Spec("call_service")
		if got, why := judge.Decide(spec, []byte(`{"service":"`+x.service+`"}`)); got != x.want {
			t.Errorf("%+v: %s (%s)", x, got, why)
		}
	}
}

// caller is a tool with the arguments of call_service.
type caller struct{}

func (caller) Spec() tool.Spec {
	return tool.Spec{Name: "call_service", Class: tool.Skill, Validated: true, Parameters: []byte(`{"type":"object","properties":{"service":{"type":"string"},"request":{"type":"object"}}}`)}
}

func (caller) Call(context.Context, tool.Call) tool.Result { return tool.Result{OK: true} }
