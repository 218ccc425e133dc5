package scripted_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/model/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func lines(t testing.TB, text string) *scripted.Model {
	t.Helper()
	s, err := scripted.ParseLines("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(s)
}

// asked is a request whose history holds n answers, and then these messages.
func asked(n int, more ...model.Message) model.Request {
	r := model.Request{Messages: []model.Message{{Role: model.RoleSystem}, {Role: model.RoleUser, Content: "the task"}}}
	for range n {
		r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant})
	}
	r.Messages = append(r.Messages, more...)
	return r
}

func TestAnswersInOrder(t *testing.T) {
	m := lines(t, `
# a comment
{"text":"Off I go.","calls":[{"tool":"navigate_to","arguments":{"place":"kitchen"}},{"id":"x","name":"wait","arguments":"{broken"}]}
// another
{"calls":[{"tool":"get_pose"}],"finish":"length","usage":{"input_tokens":5,"output_tokens":6,"cached_tokens":1},"times":2}
{"error":"overloaded","usage":{"input_tokens":7}}
{"text":"done"}
{"repeat":true}
`)
	if m.Name() != "scripted" {
		t.Error(m.Name())
	}
	r, err := m.Sample(t.Context(), asked(0))
	if err != nil || r.Text != "Off I go." || r.Finish != model.FinishToolCalls || len(r.Calls) != 2 || r.Usage.Known ||
		r.Calls[0] != (model.Call{Tool: "navigate_to", Arguments: `{"place":"kitchen"}`}) || r.Calls[1] != (model.Call{ID: "x", Tool: "wait", Arguments: "{broken"}) {
		t.Fatalf("%+v %v", r, err)
	}
	for n := 1; n <= 2; n++ {
		r, err = m.Sample(t.Context(), asked(n))
		if err != nil || r.Finish != model.FinishLength || r.Calls[0].Arguments != "{}" || r.Usage != (model.Usage{InputTokens: 5, OutputTokens: 6, CachedTokens: 1, Known: true}) {
			t.Fatalf("%+v %v", r, err)
		}
	}
	if r, err = m.Sample(t.Context(), asked(3)); err == nil || err.Error() != "overloaded" || r.Usage.InputTokens != 7 || len(r.Calls) != 0 {
		t.Fatalf("%+v %v", r, err)
	}
	for n := 4; n < 20; n++ {
		if r, err = m.Sample(t.Context(), asked(n)); err != nil || r.Text != "done" || r.Finish != model.FinishStop {
			t.Fatalf("%+v %v", r, err)
		}
	}
}

func TestScriptThatIsOver(t *testing.T) {
	m := lines(t, `{"text":"done"}`)
	if _, err := m.Sample(t.Context(), asked(1)); !errors.Is(err, scripted.ErrOver) {
		t.Fatal(err)
	}
}

func TestTemplates(t *testing.T) {
	m := lines(t, "{\"text\":\"{{task}}: {{content `get_x`}}\",\"calls\":[{\"tool\":\"finish\",\"arguments\":{\"answer\":\"{{field `get_battery` `percent`}} % <ok> {{field `get_battery` `deep` `name`}}\",\"n\":1.50,\"evidence\":[\"{{id `get_battery`}}\",{\"a\":\"{{id `get_x`}}\"}]}}],\"repeat\":true}")
	history := []model.Message{
		{Role: model.RoleTool, CallID: "old", Tool: "get_battery", OK: true, Content: `{"percent":1}`},
		{Role: model.RoleTool, CallID: "b7", Tool: "get_battery", OK: true, Content: `{"percent":87.40,"deep":{"name":"n"}}`},
		{Role: model.RoleTool, CallID: "failed", Tool: "get_battery", Content: "stale_state: old"},
		{Role: model.RoleTool, CallID: "x1", Tool: "get_x", OK: true, Content: `say "hi"`},
	}
	r, err := m.Sample(t.Context(), asked(3, history...))
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != `the task: say "hi"` || r.Calls[0].Arguments != `{"answer":"87.40 % <ok> n","evidence":["b7",{"a":"x1"}],"n":1.50}` {
		t.Fatalf("%q %s", r.Text, r.Calls[0].Arguments)
	}
	for name, more := range map[string][]model.Message{
		"no such call": history[:1], "no JSON": append(history[:3:3], model.Message{Role: model.RoleTool, Tool: "get_battery", OK: true, Content: "x"}, history[3]),
	} {
		if _, err := m.Sample(t.Context(), asked(3, more...)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := lines(t, `{"text":"late","delay":"1.5s"}`+"\n"+`{"text":"later","delay":3,"repeat":true}`)
		start := time.Now()
		if _, err := m.Sample(t.Context(), asked(0)); err != nil || time.Since(start) != 1500*time.Millisecond {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := m.Sample(ctx, asked(1)); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Fatalf("%v after %v", err, time.Since(start))
		}
	})
}

func TestYAMLAndFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, err := scripted.Load(write("a.yaml", "- text: Off\n  calls:\n    - {tool: navigate_to, arguments: {place: kitchen, x: 1.5}}\n- text: done\n  repeat: true\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := scripted.New(s).Sample(t.Context(), asked(0))
	if err != nil || r.Calls[0].Arguments != `{"place":"kitchen","x":1.5}` {
		t.Fatalf("%+v %v", r, err)
	}
	if _, err := scripted.Load(write("a.jsonl", `{"text":"x"}`)); err != nil {
		t.Error(err)
	}
	for _, path := range []string{write("b.yml", "- text: x\n- {txt: y}\n"), write("c.yaml", "text: [x"), filepath.Join(dir, "none"), write("d.yaml", "")} {
		if _, err := scripted.Load(path); err == nil {
			t.Errorf("%s: no error", path)
		} else if strings.HasSuffix(path, "b.yml") && !strings.Contains(err.Error(), "b.yml:2:") {
			t.Errorf("no line in %v", err)
		}
	}
}

func TestScriptsAreCheckedWhenRead(t *testing.T) {
	for text, words := range map[string]string{
		"": "no answer", `{"txt":"x"}`: "unknown field", "{\"text\":\"x\"}\n{": "test:2", `{"text":"x"} {"text":"y"}`: "behind", `{"repeat":true}`: "nothing to repeat",
		"{\"text\":\"x\",\"repeat\":true}\n{\"text\":\"y\"}": "never given", `{"text":"x","times":0}`: "times", `{"text":"x","times":2,"repeat":true}`: "times",
		`{"text":"x","finish":"end"}`: "finish", `{"text":"{{nope}}"}`: "nope", `{"text":"{{"}`: "unclosed", `{"calls":[{"tool":"a","name":"b"}]}`: "not both",
		`{"calls":[{"tool":"a","arguments":{"x":["{{nope}}"]}}]}`: "nope", `{"calls":[{"tool":"a","id":"{{nope}}"}]}`: "nope", `{"text":"x","delay":"soon"}`: "delay", `{"text":"x","delay":-1}`: "delay", `{"text":"x","delay":[]}`: "delay",
	} {
		if _, err := scripted.ParseLines("test", []byte(text)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v, want %q", text, err, words)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add([]byte("{\"text\":\"{{id `x`}}\",\"calls\":[{\"tool\":\"a\",\"arguments\":{\"x\":[\"{{task}}\"]}}]}\n{\"repeat\":true}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := scripted.ParseLines("fuzz", b)
		if err != nil || strings.Contains(string(b), "delay") {
			return
		}
		_, _ = scripted.New(s).Sample(t.Context(), asked(1)) // any answer, no panic
	})
}
