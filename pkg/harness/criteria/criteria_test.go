package criteria_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type spec tool.Spec

func (s spec) Spec() tool.Spec                             { return tool.Spec(s) }
func (s spec) Call(context.Context, tool.Call) tool.Result { return tool.Result{} }

func tools(t testing.TB) (*tool.Table, criteria.Evaluator) {
	t.Helper()
	tab, err := tool.NewTable(
		spec{Name: "object_at", Class: tool.Verify, Parameters: json.RawMessage(`{"type":"object","properties":{"object":{"type":"string"},"place":{"enum":["kitchen","office"]}},"required":["object","place"]}`)},
		spec{Name: "battery_above", Class: tool.Verify, Parameters: json.RawMessage(`{"type":"object","properties":{"percent":{"type":"number"}},"required":["percent"]}`)},
		spec{Name: "near", Class: tool.Verify, Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"array","items":{"type":"number"}},"tol":{"type":["number","null"]},"strict":{"type":"boolean"},"any":{}},"required":["q"]}`)},
		spec{Name: "gripper_empty", Class: tool.Verify},
		spec{Name: "either", Class: tool.Verify, Parameters: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"name":{"type":"string"}},"required":["name"]},{"properties":{"n":{"type":"integer"}},"required":["n"]}]}`)},
		spec{Name: "get_battery", Class: tool.Query},
		spec{Name: "get_pose", Class: tool.Query, Parameters: json.RawMessage(`{"type":"object","properties":{"frame":{"type":"string"}}}`)},
		spec{Name: "get_object", Class: tool.Query, Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)},
		spec{Name: "in", Class: tool.Query},
		spec{Name: "get-x", Class: tool.Query},
		spec{Name: "drive", Class: tool.Skill, Validated: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	eval, err := criteria.NewCEL(tab.Specs())
	if err != nil {
		t.Fatal(err)
	}
	return tab, eval
}

func TestParse(t *testing.T) {
	tab, eval := tools(t)
	for text, want := range map[string]string{
		"object_at(red cube, kitchen)":      `object_at {"object":"red cube","place":"kitchen"}`,
		" object_at( red cube ,kitchen ) ":  `object_at {"object":"red cube","place":"kitchen"}`,
		`object_at("red, (cube)", kitchen)`: `object_at {"object":"red, (cube)","place":"kitchen"}`,
		`object_at("\"\\", "office")`:       `object_at {"object":"\"\\","place":"office"}`,
		"object_at(7, kitchen)":             `object_at {"object":"7","place":"kitchen"}`,
		"object_at(true, kitchen)":          `object_at {"object":"true","place":"kitchen"}`,
		"battery_above(20)":                 `battery_above {"percent":20}`,
		"battery_above(-1.5e1)":             `battery_above {"percent":-1.5e1}`,
		"near([0, 1.5], 0.1, true, x y)":    `near {"q":[0, 1.5],"tol":0.1,"strict":true,"any":"x y"}`,
		`near([0], null, false, {"a":[1]})`: `near {"q":[0],"tol":null,"strict":false,"any":{"a":[1]}}`,
		"near([])":                          `near {"q":[]}`,
		"gripper_empty()":                   `gripper_empty {}`,
		"gripper_empty(  )":                 `gripper_empty {}`,
		"either(x)":                         `either {"name":"x"}`,
		"cel: get_battery().percent > 20.0": `cel get_battery`,
		"cel:get_battery.percent > 20":      `cel get_battery`,
		"person: Is the table clean?":       `person Is the table clean?`,
		"person:  (really), yes?  ":         `person (really), yes?`,
	} {
		c, err := criteria.Parse(text, tab, eval)
		got := ""
		switch c.Kind {
		case criteria.ByTool:
			got = c.Tool + " " + string(c.Arguments)
		case criteria.ByCEL:
			got = "cel " + strings.Join(c.Expression.Reads(), " ")
		case criteria.ByPerson:
			got = "person " + c.Question
		}
		if err != nil || got != want || c.Text != strings.TrimSpace(text) {
			t.Errorf("%q: %s %v, want %s", text, got, err, want)
		}
	}
}

func TestParseRefusesEverythingElse(t *testing.T) {
	tab, eval := tools(t)
	for text, words := range map[string]string{
		"": "empty", "  ": "empty", "the robot is there": "must be", "at_place kitchen": "must be", "at_place(kitchen)": `no tool is called "at_place"`,
		"drive()": "only a verify tool", "get_battery()": "only a verify tool", "finish(x)": "only a verify tool",
		"object_at (x, kitchen)": "in a tool's name", "object_at(x, kitchen": "closing parenthesis", "object_at(x, kitchen))": "behind the closing", "object_at(x, kitchen) && true": "behind the closing",
		"(x)": "name is missing", "object_at(x)": "missing property 'place'", "object_at(x, moon)": "/place", "object_at(x, kitchen, y)": "3 arguments", "object_at(, kitchen)": "empty",
		"object_at(x,)": "empty", "gripper_empty(,)": "empty", "gripper_empty(x)": "1 arguments", "object_at(a(b), kitchen)": "parenthesis", "battery_above(twenty)": "no number", "battery_above(NaN)": "NaN", "battery_above()": "missing",
		`object_at("x, kitchen)`: "closing", `object_at("\x", kitchen)`: "quoted text", `object_at(a"b, kitchen)`: "closing", `object_at(a"b", kitchen)`: "quotation mark", "near([1, 2)": "closing", "near(])": "closes nothing",
		"near([1], 2, maybe)": "no boolean", "battery_above(20": "closing",
		"cel:": "empty", "cel: get_battery().percent >": "Syntax error", "cel: unknown().x": "undeclared", "cel: true": "reads no query tool", "cel: 1 + 1": "must give bool", "cel: get_object().x == 1": "undeclared",
		"cel: get_battery().percent": "", "cel: drive()": "undeclared", "person:": "empty", "person:   ": "empty", "CEL: get_battery()": "in a tool's name",
		"person: " + strings.Repeat("x", 5000): "limit is 4096",
	} {
		c, err := criteria.Parse(text, tab, eval)
		if words == "" { // gives dyn: known only when it is evaluated
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60q: %+v %v, want %q", text, c, err, words)
		}
	}
	if _, err := criteria.Parse("cel: get_battery().x == 1", tab, nil); err == nil {
		t.Error("cel without an evaluator is accepted")
	}
}

func TestEvaluate(t *testing.T) {
	_, eval := tools(t)
	results := map[string]string{"get_battery": `{"percent":87.4,"cells":[3.9,4.0],"state":"full"}`, "get_pose": `plain text`}
	for expression, want := range map[string]string{
		"get_battery().percent > 20":                                  "true",
		"get_battery.percent > 20.0":                                  "true",
		"get_battery().percent > 90.0":                                "false",
		"get_battery().percent - 7.4 == 80.0":                         "true",
		"get_battery().cells.all(c, c > 3.5)":                         "true",
		"get_battery().cells.exists(get_battery, get_battery > 5.0)":  "false",
		"get_battery().state == 'full' && get_pose() == 'plain text'": "true",
		"get_pose().startsWith('plain')":                              "true",
		"math.abs(get_battery().percent - 90.0) < 5.0":                "true",
		"has(get_battery().volts)":                                    "false",
		"get_battery().volts > 1":                                     "no such key",
		"get_battery().percent":                                       "must give bool",
		"get_battery().percent + 'x' == 'y'":                          "no such overload",
		"get_pose().x == 1":                                           "no such key",
		"[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, [1,2,3,4,5,6,7,8,9].map(e, [1,2,3,4,5,6,7,8,9].map(f, get_battery())))))) == []": "cost",
	} {
		x, err := eval.Compile(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		ok, err := x.Eval(results)
		switch {
		case want == "true" || want == "false":
			if err != nil || ok != (want == "true") {
				t.Errorf("%s: %t %v", expression, ok, err)
			}
		case err == nil || ok || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %t %v, want %q", expression, ok, err, want)
		}
	}
	x, err := eval.Compile("get_battery().percent > 1.0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Eval(nil); err == nil || !strings.Contains(err.Error(), "no result of get_battery") {
		t.Errorf("without a result: %v", err)
	}
	// What sensors write for numbers that JSON lacks is text, and never satisfies a comparison.
	if ok, err := x.Eval(map[string]string{"get_battery": `{"percent":"NaN"}`}); ok || err == nil {
		t.Errorf("NaN: %t %v", ok, err)
	}
}

// Whatever text an argument is, quoting brings it through unchanged.
func TestQuotedTextComesThrough(t *testing.T) {
	tab, eval := tools(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 40, 200).Draw(t, "text")
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		c, err := criteria.Parse("object_at("+string(quoted)+", kitchen)", tab, eval)
		if err != nil {
			t.Fatalf("%s: %v", quoted, err)
		}
		var got struct{ Object string }
		if err := json.Unmarshal(c.Arguments, &got); err != nil || got.Object != text {
			t.Fatalf("%q becomes %q: %v", text, got.Object, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"object_at(red cube, kitchen)", `near([0, {"a":")"}], null)`, "cel: get_battery().percent > 20.0", "person: x", `object_at("\ud800", kitchen)`, "cel: [1].map(x, get_pose())[0] == 'x'"} {
		f.Add(s)
	}
	tab, eval := tools(f)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := criteria.Parse(text, tab, eval)
		if err != nil {
			return
		}
		switch c.Kind {
		case criteria.ByTool:
			if _, err := tab.Validate(c.Tool, c.Arguments); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		case criteria.ByCEL:
			results := map[string]string{}
			for _, name := range c.Expression.Reads() {
				results[name] = `{"percent":50,"x":1}`
			}
			_, _ = c.Expression.Eval(results) // any verdict, no panic
		case criteria.ByPerson:
			if strings.TrimSpace(c.Question) == "" {
				t.Fatalf("%q asks nothing", text)
			}
		default:
			t.Fatalf("%q: kind %d", text, c.Kind)
		}
	})
}
