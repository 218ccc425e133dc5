package harness_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/criteria"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

type panickingEvaluator struct{}

func (panickingEvaluator) Compile(string) (criteria.Expression, error) { panic("no") }

// Ids that a model repeats or leaves out never pair a call with another's result, and nothing runs twice.
func TestCallIDs(t *testing.T) {
	rob := newRobot()
	m := ends(
		calls(callID("a", "navigate_to", `{"place":"kitchen"}`), callID("a", "navigate_to", `{"place":"office"}`)),
		calls(callID("a", "navigate_to", `{"place":"dock"}`)),
		calls(call("get_battery", `{}`), callID("call_3_1", "get_battery", `{}`), callID("with space", "get_place", `{}`)),
		finish("done"),
	)
	r := newRig(t, m, rob.tools()...)
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	for i, x := range []struct {
		id   string
		kind tool.ErrorKind
	}{{"a", ""}, {"call_1_2", tool.DuplicateCall}, {"call_2_1", tool.DuplicateCall}, {"call_3_1", ""}, {"call_3_2", tool.DuplicateCall}, {"call_3_3", ""}} {
		if s := res.Steps[i]; s.CallID != x.id || s.ErrorKind != x.kind {
			t.Errorf("step %d: id %s, kind %q (%s), want %s, %q", i+1, s.CallID, s.ErrorKind, s.Content, x.id, x.kind)
		}
	}
	if rob.navigate.count() != 1 || rob.isAt() != "kitchen" {
		t.Errorf("%d motions, at %s", rob.navigate.count(), rob.isAt())
	}
	// In the history each call is followed by its own result.
	msgs := m.seen[len(m.seen)-1].Messages
	for i := 0; i < len(msgs); i++ {
		for k, c := range msgs[i].Calls {
			if o := msgs[i+1+k]; o.Role != model.RoleTool || o.CallID != c.ID || o.Tool != c.Tool {
				t.Errorf("call %s is followed by %+v", c.ID, o)
			}
		}
	}
}

// Twelve calls, twelve results, in call order.
func TestManyCallsInOneAnswer(t *testing.T) {
	rob := newRobot()
	var twelve []model.Call
	for range 12 {
		twelve = append(twelve, call("get_place", `{}`))
	}
	r := newRig(t, ends(calls(twelve...), finish("It is at the dock.", "call_1_12")), rob.tools()...)
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if len(res.Steps) != 13 || rob.where.count() != 12 {
		t.Fatalf("%d steps, %d executions", len(res.Steps), rob.where.count())
	}
}

// An answer with an invalid skill call runs none of its skills, and behind a skill that failed no other begins; what
// only reads still does.
func TestSkillsOfOneAnswerStandTogether(t *testing.T) {
	kitchen, battery := call("navigate_to", `{"place":"kitchen"}`), call("get_battery", `{}`)
	for _, x := range []struct {
		name  string
		calls []model.Call
		fails bool
		kinds []tool.ErrorKind
	}{
		{"invalid arguments", []model.Call{kitchen, battery, call("navigate_to", `{"place":3}`)}, false, []tool.ErrorKind{tool.PreconditionFailed, "", tool.InvalidArguments}},
		{"unknown tool", []model.Call{kitchen, call("fly", `{}`)}, false, []tool.ErrorKind{tool.PreconditionFailed, tool.UnknownTool}},
		{"a query's invalid arguments", []model.Call{kitchen, call("get_battery", `{"x":1}`)}, false, []tool.ErrorKind{"", tool.InvalidArguments}},
		{"a failure", []model.Call{kitchen, call("wait", `{"seconds":1}`), battery}, true, []tool.ErrorKind{tool.ServerFailed, tool.PreconditionFailed, ""}},
		{"behind finish", []model.Call{call("finish", `{"answer":"done"}`), kitchen, battery}, false, []tool.ErrorKind{tool.PostconditionFailed, tool.Canceled, tool.Canceled}},
	} {
		t.Run(x.name, func(t *testing.T) {
			rob := newRobot()
			if x.fails {
				rob.fails["kitchen"] = tool.ServerFailed
			}
			r := newRig(t, ends(calls(x.calls...), says("done")), rob.tools()...)
			res := r.run()
			for i, k := range x.kinds {
				wantStep(t, res, i, k)
			}
		})
	}
}

// Nothing is repaired into a call.
func TestMalformedArgumentsAreNotRepaired(t *testing.T) {
	for _, arguments := range []string{
		``, `{"place":"kitchen"`, `{"place":"kitchen"}{"place":"office"}`, `{"place":"kitchen"} trailing`, `{"place":"kitchen","place":"office"}`,
		`"{\"place\":\"kitchen\"}"`, "```json\n{\"place\":\"kitchen\"}\n```", `["kitchen"]`, `null`, `NaN`, `{"place":NaN}`, `{"Place":"kitchen"}`,
		`{"place":"kitchen","speed":3}`, `{"place":"Kitchen"}`, `{"place":"kitchen "}`, `{}`, `{"place":"\ud800"}`, "{\"place\":\"\xff\"}", `{place:"kitchen"}`,
	} {
		rob := newRobot()
		m := ends(calls(call("navigate_to", arguments)), says("done"))
		r := newRig(t, m, rob.tools()...)
		res := r.run()
		wantStep(t, res, 0, tool.InvalidArguments)
		if rob.navigate.count() != 0 {
			t.Errorf("%q was carried out", arguments)
		}
		// What goes back to the endpoint is always an object, or it would refuse every later request.
		if shown := m.seen[1].Messages[2].Calls[0].Arguments; !strings.HasPrefix(strings.TrimSpace(shown), "{") {
			t.Errorf("%q goes back as %q", arguments, shown)
		}
	}
}

// An answer that was cut off, or whose end is unknown, is never carried out, however complete its calls look.
func TestIncompleteAnswerIsNotCarriedOut(t *testing.T) {
	for _, f := range []model.FinishReason{model.FinishLength, "", "eos?"} {
		rob := newRobot()
		cut := goKitchen
		cut.Finish = f
		m := ends(cut, says("done"))
		r := newRig(t, m, rob.tools()...)
		res := r.run()
		want(t, res, harness.ReasonUnverified)
		if rob.navigate.count() != 0 || len(res.Steps) != 0 {
			t.Errorf("finish %q: %d motions, %d steps", f, rob.navigate.count(), len(res.Steps))
		}
		if n := m.seen[1].Messages[3]; n.Role != model.RoleUser || !strings.HasPrefix(n.Content, model.HarnessPrefix) {
			t.Errorf("the model was told %+v", n)
		}
	}
}

func TestAllowedToolsAreWhatTheModelSees(t *testing.T) {
	rob := newRobot()
	m := ends(calls(call("get_battery", `{}`)), finish("87 %", "get_battery"))
	r := newRig(t, m, rob.tools()...)
	r.goal.AllowedTools = []string{"get_battery"}
	want(t, r.run(), harness.ReasonAccepted)
	var names []string
	for _, d := range m.seen[0].Tools {
		names = append(names, d.Name)
	}
	if fmt.Sprint(names) != "[finish ask_person declare_criteria get_battery]" {
		t.Fatalf("the model sees %v", names)
	}
}

// Long results are cut at a rune, and so are those that are not all text; each says so, and is whole beside the record.
func TestWhatIsCutIsKeptWhole(t *testing.T) {
	for name, x := range map[string]struct {
		content string
		shows   string
		kept    bool
	}{
		"short":                  {"ä", "ä", false},
		"as long as may be":      {strings.Repeat("a", 1001), strings.Repeat("a", 1001), false},
		"long":                   {strings.Repeat("ä", 3000), strings.Repeat("ä", 500) + " … [cut: the first 1000 of 6000 bytes; the whole is in s1.files/call_1_1.txt]", true},
		"not all text":           {"a\xff\xfeb", "a\uFFFDb [4 bytes that are not all text: what is no UTF-8 is shown as U+FFFD; the whole is in s1.files/call_1_1.txt]", true},
		"half a surrogate pair":  {"a\xed\xa0\xbd", "a\uFFFD [4 bytes that are not all text", true},
		"a rune across the edge": {strings.Repeat("a", 999) + "😀b", strings.Repeat("a", 999) + " … [cut: the first 999 of 1004 bytes", true},
	} {
		t.Run(name, func(t *testing.T) {
			rob := newRobot()
			rob.battery.do = fixed(tool.Result{OK: true, Content: x.content})
			m := ends(calls(call("get_battery", `{}`)), finish("long", "get_battery"))
			r := newRig(t, m, rob.tools()...)
			r.cfg.MaxResultBytes = 1001
			res := r.run()
			want(t, res, harness.ReasonAccepted)
			if c := res.Steps[0].Content; !strings.HasPrefix(c, x.shows) || !x.kept && c != x.content {
				t.Fatalf("it shows %q", c)
			}
			seen := m.seen[1].Messages
			if last := seen[len(seen)-1]; last.Content != res.Steps[0].Content {
				t.Errorf("the model reads %q", last.Content)
			}
			if got := r.sink.Kept("s1", "s1.files/call_1_1.txt"); x.kept && string(got) != x.content || !x.kept && got != nil {
				t.Errorf("%d bytes are kept", len(got))
			}
		})
	}
}

// Where the whole cannot be kept, the note says so, and the session goes on.
func TestWhatCannotBeKept(t *testing.T) {
	rob := newRobot()
	rob.battery.do = fixed(tool.Result{OK: true, Content: strings.Repeat("a", 100)})
	r := newRig(t, ends(calls(call("get_battery", `{}`)), finish("long", "get_battery")), rob.tools()...)
	r.cfg.MaxResultBytes = 10
	r.cfg.Trace = keepless{r.sink}
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if c := res.Steps[0].Content; !strings.Contains(c, "the whole could not be kept") {
		t.Errorf("it shows %q", c)
	}
}

// A verify tool's verdict is part of what the model reads.
func TestVerdictIsShown(t *testing.T) {
	for _, x := range []struct {
		content string
		passed  bool
		want    string
	}{
		{"at the dock", true, "passed: at the dock"},
		{"at the dock", false, "not passed: at the dock"},
		{`{"distance":2}`, false, `{"passed":false,"observed":{"distance":2}}`},
		{`{"passed":true,"evidence":{}}`, true, `{"passed":true,"evidence":{}}`},
		{`{broken`, true, "passed: {broken"},
	} {
		if got := harness.Shown(tool.Verify, true, "", x.passed, x.content); got != x.want {
			t.Errorf("%q shown as %q, want %q", x.content, got, x.want)
		}
	}
	if got := harness.Shown(tool.Skill, false, tool.Timeout, false, "too slow"); got != "timeout: too slow" {
		t.Errorf("a failure is shown as %q", got)
	}
}

// Notes of a tool are in the record under its call.
func TestToolNotesAreRecorded(t *testing.T) {
	rob := newRobot()
	rob.battery.do = func(_ context.Context, c tool.Call) tool.Result {
		c.Note("validation", map[string]float64{"speed": 0.2})
		c.Note("end", "not an end")
		return tool.Result{OK: true, Content: "{}"}
	}
	r := newRig(t, ends(calls(callID("b", "get_battery", `{}`)), finish("ok", "b")), rob.tools()...)
	want(t, r.run(), harness.ReasonAccepted)
	var kinds []string
	for _, e := range r.events() {
		if strings.HasPrefix(e.Kind, string(harness.KindTool)) {
			kinds = append(kinds, e.Kind+" "+e.CallID+" "+string(e.Data))
		}
	}
	if fmt.Sprint(kinds) != `[tool.validation b {"speed":0.2} tool.end b {"value":"not an end"}]` {
		t.Fatalf("notes %q", kinds)
	}
}
