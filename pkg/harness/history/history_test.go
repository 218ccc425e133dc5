package history_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/harness/budget"
	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSystemPrompt(t *testing.T) {
	tools := []model.Tool{
		{Name: "finish", Class: "control"}, {Name: "get_pose", Class: "query"}, {Name: "get_battery", Class: "query"}, {Name: "navigate_to", Class: "skill"},
	}
	for name, p := range map[string]history.Prompt{
		"full": {
			Facts: "It stands on four wheels.\nPlaces: kitchen, office.\n", Criteria: []string{"at_place(kitchen)", "person: Is it\n clean?"}, DryRun: true, Tools: tools,
			Limits: budget.Limits{Steps: 50, ToolCalls: 100, InputTokens: 2_000_000, OutputTokens: 100_000, WallTime: 10 * time.Minute, Cost: 0.25},
		},
		"bare": {Tools: tools[:1]},
	} {
		got := history.System(p)
		path := filepath.Join("testdata", "system_"+name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
}

func TestLeft(t *testing.T) {
	l := budget.Limits{Steps: 5, ToolCalls: 6, InputTokens: 100, OutputTokens: 50, WallTime: time.Minute, Cost: 1}
	u := budget.Usage{Steps: 2, ToolCalls: 9, InputTokens: 40, OutputTokens: 50, WallTime: 2 * time.Minute, Cost: 0.5}
	if got := history.Left(l, u); got != "3 steps, 0 tool calls, 60 input tokens, 0 output tokens, 0 s, 0.5 of money left" {
		t.Error(got)
	}
	if got := history.Left(budget.Limits{}, u); got != "no limits" {
		t.Error(got)
	}
}

func bytesOf(t interface{ Fatal(...any) }, r model.Request) []byte {
	b, err := json.Marshal(r.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever is appended: each request begins with the bytes of the one before, an earlier request never changes, the
// same appends give the same bytes, and the size is that of all parts.
func TestHistoryIsAppendOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringN(0, 10, 40), rapid.Just("\xff"), rapid.Just(`{"a":1}`), rapid.Just(`{"a":`))
		tools := []model.Tool{{Name: "x", Description: "does x", Parameters: json.RawMessage(`{"type":"object"}`)}}
		a, b := history.New("system", "task", tools), history.New("system", "task", tools)
		first := a.Request()
		firstBytes := bytesOf(t, first)
		before := firstBytes
		for range rapid.IntRange(1, 20).Draw(t, "n") {
			var do func(*history.History)
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				s, c := text.Draw(t, "text"), model.Call{ID: text.Draw(t, "id"), Tool: text.Draw(t, "tool"), Arguments: text.Draw(t, "arguments")}
				do = func(h *history.History) { h.Assistant(s, []model.Call{c}) }
			case 1:
				id, s, ok := text.Draw(t, "id"), text.Draw(t, "content"), rapid.Bool().Draw(t, "ok")
				do = func(h *history.History) { h.Observation(id, "x", ok, s) }
			case 2:
				s := text.Draw(t, "note")
				do = func(h *history.History) { h.Note(s) }
			}
			do(a)
			do(b)
			now := bytesOf(t, a.Request())
			if !bytes.HasPrefix(now, before[:len(before)-1]) {
				t.Fatalf("the prefix changed:\n%s\n%s", before, now)
			}
			if !bytes.Equal(now, bytesOf(t, b.Request())) {
				t.Fatal("the same appends gave other bytes")
			}
			before = now
		}
		if !bytes.Equal(bytesOf(t, first), firstBytes) {
			t.Fatal("an earlier request changed")
		}
		var size budget.Size
		for _, m := range a.Request().Messages {
			size.Messages++
			size.Bytes += uint64(len(m.Content) + len(m.CallID) + len(m.Tool))
			for _, c := range m.Calls {
				size.Bytes += uint64(len(c.ID) + len(c.Tool) + len(c.Arguments))
				if !json.Valid([]byte(c.Arguments)) || !strings.HasPrefix(strings.TrimSpace(c.Arguments), "{") {
					t.Fatalf("arguments %q go to the endpoint", c.Arguments)
				}
			}
		}
		size.Tools, size.Bytes = 1, size.Bytes+uint64(len("x")+len("does x")+len(`{"type":"object"}`))
		if a.Size() != size {
			t.Fatalf("size %+v, want %+v", a.Size(), size)
		}
	})
}
