package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/workflow"
)

// named is a tool that is never called.
type named struct {
	name  string
	class tool.Class
}

func (n named) Spec() tool.Spec {
	return tool.Spec{Name: n.name, Class: n.class, Parameters: json.RawMessage(
		`{"type":"object","properties":{"place":{"type":"string","enum":["kitchen","office"]}},"required":["place"],"additionalProperties":false}`)}
}

func (named) Call(context.Context, tool.Call) tool.Result { panic("a check calls nothing") }

func rules(t testing.TB) workflow.Rules {
	t.Helper()
	table, err := tool.NewTable(named{"go", tool.Skill}, named{"at_place", tool.Verify}, named{"look", tool.Query})
	if err != nil {
		t.Fatal(err)
	}
	eval, err := criteria.NewCEL(table.Specs())
	if err != nil {
		t.Fatal(err)
	}
	return workflow.Rules{Table: table, Eval: eval}
}

func step(id string, after ...string) workflow.Step {
	return workflow.Step{ID: id, Tool: "go", Arguments: json.RawMessage(`{"place":"kitchen"}`), DependsOn: after}
}

func with(s workflow.Step, change func(*workflow.Step)) workflow.Step { change(&s); return s }

func plan(steps ...workflow.Step) workflow.Plan { return workflow.Plan{Steps: steps} }

// Every kind of violation is found, and named with its step; a sound plan has none.
func TestCheck(t *testing.T) {
	long := strings.Repeat("x", workflow.MaxText+1)
	many := slices.Repeat([]string{"at_place(kitchen)"}, workflow.MaxCriteria+1)
	look := with(step("a"), func(s *workflow.Step) { s.Tool = "look" })
	for name, x := range map[string]struct {
		plan  workflow.Plan
		rules func(*workflow.Rules)
		want  []workflow.Kind
		says  string
	}{
		"sound":                {plan: plan(step("a"), step("b", "a"), workflow.Step{ID: "c", Description: "look around", DependsOn: []string{"b"}})},
		"no steps":             {plan: plan(), want: []workflow.Kind{workflow.Empty}, says: "no steps"},
		"too many steps":       {plan: plan(slices.Repeat([]workflow.Step{step("a")}, workflow.MaxSteps+1)...), want: []workflow.Kind{workflow.TooLong}, says: "101 steps, limit 100"},
		"more than asked for":  {plan: plan(step("a"), step("b")), rules: func(r *workflow.Rules) { r.MaxSteps = 1 }, want: []workflow.Kind{workflow.TooLong}, says: "limit 1"},
		"too many criteria":    {plan: workflow.Plan{Steps: []workflow.Step{step("a")}, SuccessCriteria: many}, want: []workflow.Kind{workflow.TooLong}, says: "limit 32"},
		"too many gates":       {plan: plan(with(step("a"), func(s *workflow.Step) { s.Acceptance = many })), want: []workflow.Kind{workflow.TooLong}, says: `step 1 ("a")`},
		"a long text":          {plan: plan(with(step("a"), func(s *workflow.Step) { s.Description = long })), want: []workflow.Kind{workflow.TooLong}, says: "4097 bytes"},
		"no id":                {plan: plan(step("")), want: []workflow.Kind{workflow.MissingID}},
		"the same id":          {plan: plan(step("a"), step("a")), want: []workflow.Kind{workflow.DuplicateID}, says: `step 2 ("a"): duplicate_id: step 1`},
		"an unknown step":      {plan: plan(step("a", "z")), want: []workflow.Kind{workflow.UnknownDependency}, says: `"z"`},
		"itself":               {plan: plan(step("a", "a")), want: []workflow.Kind{workflow.Cycle}},
		"a cycle behind one":   {plan: plan(step("a"), step("b", "a", "c"), step("c", "b")), want: []workflow.Kind{workflow.Cycle, workflow.Cycle}, says: "back to itself"},
		"an unknown tool":      {plan: plan(with(step("a"), func(s *workflow.Step) { s.Tool = "Go" })), want: []workflow.Kind{workflow.UnknownTool}, says: `"Go"`},
		"a tool not allowed":   {plan: plan(step("a"), with(step("b"), func(s *workflow.Step) { s.Tool = "look" })), rules: func(r *workflow.Rules) { r.Allowed = []string{"go"} }, want: []workflow.Kind{workflow.UnknownTool}, says: `"look"`},
		"a control tool":       {plan: plan(workflow.Step{ID: "a", Tool: tool.Finish}), want: []workflow.Kind{workflow.NotAStage}, says: "steers a session"},
		"no task":              {plan: plan(workflow.Step{ID: "a", Description: " \n"}), want: []workflow.Kind{workflow.NotAStage}, says: "description"},
		"a task and arguments": {plan: plan(workflow.Step{ID: "a", Description: "look", Arguments: json.RawMessage(`{"x":1}`)}), want: []workflow.Kind{workflow.NotAStage}, says: "no arguments"},
		"wrong arguments":      {plan: plan(with(step("a"), func(s *workflow.Step) { s.Arguments = json.RawMessage(`{"place":"moon"}`) })), want: []workflow.Kind{workflow.InvalidArguments}, says: "kitchen"},
		"no arguments":         {plan: plan(with(step("a"), func(s *workflow.Step) { s.Arguments = nil })), want: []workflow.Kind{workflow.InvalidArguments}, says: "missing"},
		"a wrong gate":         {plan: plan(with(step("a"), func(s *workflow.Step) { s.Acceptance = []string{"at_place(moon)"} })), want: []workflow.Kind{workflow.BadCriterion}},
		"a wrong criterion":    {plan: workflow.Plan{Steps: []workflow.Step{step("a")}, SuccessCriteria: []string{"nonsense"}}, want: []workflow.Kind{workflow.BadCriterion}, says: "plan: bad_criterion"},
		"nothing to judge by":  {plan: plan(look), rules: func(r *workflow.Rules) { r.NeedCriteria = true }, want: []workflow.Kind{workflow.MissingCriteria}},
		"something to judge":   {plan: plan(look, step("b")), rules: func(r *workflow.Rules) { r.NeedCriteria = true }},
		"a gate to judge by":   {plan: plan(with(look, func(s *workflow.Step) { s.Acceptance = []string{"at_place(kitchen)"} })), rules: func(r *workflow.Rules) { r.NeedCriteria = true }},
		"everything at once": {
			plan: plan(step("a", "z"), step("a"), with(step("c"), func(s *workflow.Step) { s.Tool = "fly" })),
			want: []workflow.Kind{workflow.DuplicateID, workflow.UnknownTool, workflow.UnknownDependency},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := rules(t)
			if x.rules != nil {
				x.rules(&r)
			}
			err := workflow.Check(x.plan, r)
			var bad *workflow.PlanError
			if !errors.As(err, &bad) {
				if len(x.want) > 0 || err != nil {
					t.Fatalf("%v, want %v", err, x.want)
				}
				return
			}
			var got []workflow.Kind
			for _, v := range bad.Violations {
				got = append(got, v.Kind)
				if !bad.Has(v.Kind) || v.Unwrap() == nil || !strings.Contains(err.Error(), v.Error()) {
					t.Errorf("%v is not in %v", v, err)
				}
			}
			if !slices.Equal(got, x.want) || !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v, want %v with %q", err, x.want, x.says)
			}
			if bad.Has("none") {
				t.Error("it has what it has not")
			}
		})
	}
}

// The order of a plan without cycles has every step once, behind all that it depends on; no earlier step could have gone first. Of a plan with
// cycles it leaves out exactly what waits for one.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "steps")
		cyclic := rapid.Bool().Draw(t, "cyclic")
		rank := rapid.Permutation(indices(n)).Draw(t, "rank")
		var p workflow.Plan
		for i := range n {
			s := workflow.Step{ID: fmt.Sprint(i)}
			for j := range n {
				if (cyclic || rank[j] < rank[i]) && rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					s.DependsOn = append(s.DependsOn, fmt.Sprint(j))
				}
			}
			p.Steps = append(p.Steps, s)
		}
		order := workflow.Order(p)
		done := map[string]bool{}
		free := func(i int) bool {
			return !done[p.Steps[i].ID] && !slices.ContainsFunc(p.Steps[i].DependsOn, func(d string) bool { return !done[d] })
		}
		for _, i := range order {
			first := slices.IndexFunc(indices(n), free)
			if i != first {
				t.Fatalf("step %d comes, the first free one is %d: %v", i, first, p)
			}
			done[p.Steps[i].ID] = true
		}
		if slices.ContainsFunc(indices(n), free) || !cyclic && len(order) != n {
			t.Fatalf("%d of %d steps: %v", len(order), n, p)
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Canonical arguments are those that a record holds: written into JSON and read back they are the same bytes. The plan that was given stays
// as it was.
func TestCanonical(t *testing.T) {
	for given, want := range map[string]string{
		`{"place":"kitchen"}`: `{"place":"kitchen"}`, "{ \"place\" :\n\"kitchen\" }": `{"place":"kitchen"}`, `{"x":1.50, "y":"<a> & b"}`: "", `{"x"`: `{"x"`, ``: ``,
	} {
		p := plan(workflow.Step{ID: "a", Arguments: json.RawMessage(given)})
		got := p.Canonical()
		if string(p.Steps[0].Arguments) != given || want != "" && string(got.Steps[0].Arguments) != want || given == "" && len(got.Steps[0].Arguments) > 0 {
			t.Errorf("%q became %q", given, got.Steps[0].Arguments)
		}
		if !json.Valid([]byte(given)) {
			continue
		}
		b, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var back workflow.Plan
		if err := json.Unmarshal(b, &back); err != nil || string(back.Steps[0].Arguments) != string(got.Steps[0].Arguments) {
			t.Errorf("%q reads back as %q: %v", got.Steps[0].Arguments, back.Steps[0].Arguments, err)
		}
	}
}

// Whatever plan comes in, it is refused in words or sound: each stage runs once, behind what it depends on, with arguments that
// its tool takes and that are written the same each time.
func FuzzCheck(f *testing.F) {
	for _, p := range []workflow.Plan{
		plan(step("a"), step("b", "a")), plan(step("a", "b"), step("b", "a")), plan(), plan(with(step("a"), func(s *workflow.Step) { s.Acceptance = []string{"at_place(office)"} })),
		plan(workflow.Step{ID: "x", Description: "tidy up"}),
	} {
		b, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"steps":[{"id":"a","tool":"go","arguments":{"place":"kitchen","place":"office"}}],"success_criteria":["cel: look({'place':'office'}) == 1"]}`))
	r := rules(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var p workflow.Plan
		if json.Unmarshal(data, &p) != nil {
			return
		}
		p = p.Canonical()
		err := workflow.Check(p, r)
		order := workflow.Order(p)
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("refused without a word")
			}
			return
		}
		if len(order) != len(p.Steps) {
			t.Fatalf("%d of %d stages are in the order", len(order), len(p.Steps))
		}
		done := map[string]bool{}
		for _, i := range order {
			s := p.Steps[i]
			for _, d := range s.DependsOn {
				if !done[d] {
					t.Errorf("stage %q comes before %q, on which it depends", s.ID, d)
				}
			}
			if done[s.ID] {
				t.Errorf("stage %q runs twice", s.ID)
			}
			done[s.ID] = true
			if s.Agent() {
				continue
			}
			arguments := s.Arguments
			if len(arguments) == 0 {
				arguments = []byte("{}")
			}
			if _, err := r.Table.Validate(s.Tool, arguments); err != nil {
				t.Errorf("stage %q is sound, and its tool takes no %s: %v", s.ID, arguments, err)
			}
		}
	})
}
