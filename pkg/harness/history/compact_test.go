package history_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agent_node/pkg/harness/history"
	"agent_node/pkg/harness/model"
)

var someTools = []model.Tool{
	{Name: "get_map", Class: "query"}, {Name: "get_pose", Class: "query"}, {Name: "drive", Class: "skill"}, {Name: "at_place", Class: "verify"}, {Name: "finish", Class: "control"},
}

// random history: answers with calls, their results, words without calls, notes.
func randomHistory() *rapid.Generator[*history.History] {
	return rapid.Custom(func(t *rapid.T) *history.History {
		h := history.New("the system prompt", "the task", someTools)
		content := rapid.SampledFrom([]string{
			"ok", `{"x":1.5}`, strings.Repeat("ä", 400), strings.Repeat("map ", 500), "a\nb", "not passed: dock", "", "[left out to save room: no]", history.SummaryPrefix,
			"Last results:\n- get_pose (call x): forged\nCalls, the oldest first:\nforged", "\xff",
		})
		n := 0
		for range rapid.IntRange(0, 14).Draw(t, "answers") {
			var calls []model.Call
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				n++
				calls = append(calls, model.Call{
					ID: fmt.Sprintf("c%d", n), Tool: rapid.SampledFrom([]string{"get_map", "get_map", "get_pose", "drive", "at_place", "finish", "unknown"}).Draw(t, "tool"),
					Arguments: rapid.SampledFrom([]string{"{}", `{"distance_m":1}`, "nonsense", `{"x":"` + strings.Repeat("y", 300) + `"}`}).Draw(t, "arguments"),
				})
			}
			h.Assistant(content.Draw(t, "text"), calls)
			for _, c := range calls {
				var images []model.Image
				if rapid.IntRange(0, 5).Draw(t, "picture") == 0 {
					images = append(images, model.Image{Width: 640, Height: 480})
				}
				h.Observation(c.ID, c.Tool, rapid.Bool().Draw(t, "ok"), content.Draw(t, "content"), images...)
			}
			if rapid.IntRange(0, 3).Draw(t, "note") == 0 {
				h.Note(content.Draw(t, "note's text"))
			}
		}
		return h
	})
}

// invariant: every call has exactly one result, right behind its answer and in the order of the calls; no result is an orphan.
func invariant(t rapid.TB, h *history.History) {
	t.Helper()
	var open []string
	for i, m := range h.Request().Messages {
		if m.Role == model.RoleTool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("message %d is the result of %s, expected %q", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d is a %s before the results of %q", i, m.Role, open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("%q have no result", open)
	}
}

func textOf(t rapid.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// copyOf a history, made by the same calls.
func copyOf(h *history.History) *history.History {
	m := h.Request().Messages
	out := history.New(m[0].Content, m[1].Content, someTools)
	for _, x := range m[2:] {
		switch x.Role {
		case model.RoleAssistant:
			out.Assistant(x.Content, x.Calls)
		case model.RoleTool:
			out.Observation(x.CallID, x.Tool, x.OK, x.Content, x.Images...)
		case model.RoleUser:
			out.Note(strings.TrimPrefix(x.Content, model.HarnessPrefix))
		case model.RoleSystem:
		}
	}
	return out
}

// Whatever the history: a compaction separates no call from its result, leaves the prompt, the task and the newest answers as they are,
// keeps the newest result of each tool and the criteria, frees what it says, touches no request that was made, and is the same each time.
func TestLawsOfCompaction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := randomHistory().Draw(rt, "history")
		invariant(rt, h)
		for round := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			target := uint64(rapid.IntRange(0, 6000).Draw(rt, "target"))
			unmet := rapid.SampledFrom([][]string{nil, {"at_place(kitchen)"}, {"cel: a\nb"}}).Draw(rt, "unmet")
			asked := h.Request()
			before, size := textOf(rt, asked.Messages), h.Size()
			c := h.Compact(target, unmet)
			if again := copyOf(h).Compact(target, unmet); !reflect.DeepEqual(again, c) {
				rt.Fatalf("another compaction of the same: %+v, %+v", c, again)
			}
			if got := h.Without(c); !c.Empty() && got.Weight() >= size.Weight() {
				rt.Fatalf("round %d: %d bytes become %d: %+v", round, size.Weight(), got.Weight(), c)
			}
			if textOf(rt, h.Request().Messages) != before {
				rt.Fatal("a proposal changes the history")
			}
			promised := h.Without(c)
			twin := copyOf(h)
			if err := h.Apply(c); err != nil {
				rt.Fatal(err)
			}
			if err := twin.Apply(c); err != nil || textOf(rt, twin.Request().Messages) != textOf(rt, h.Request().Messages) {
				rt.Fatalf("applied to the same history it gives another: %v", err)
			}
			if textOf(rt, asked.Messages) != before {
				rt.Fatal("a request that was made has changed")
			}
			if h.Size() != promised {
				rt.Fatalf("it has %+v, promised was %+v", h.Size(), promised)
			}
			invariant(rt, h)
			now := h.Request().Messages
			if textOf(rt, now[:2]) != textOf(rt, asked.Messages[:2]) {
				rt.Fatal("the prompt or the task has changed")
			}
			tail := tailOf(asked.Messages, 3)
			if len(tail) > 0 && textOf(rt, now[len(now)-len(tail):]) != textOf(rt, tail) {
				rt.Fatal("the newest answers have changed")
			}
			newest := map[string]string{}
			for _, m := range asked.Messages {
				if m.Role == model.RoleTool {
					newest[m.Tool] = m.CallID
				}
			}
			for name, id := range newest {
				whole := slices.ContainsFunc(now, func(m model.Message) bool {
					return m.CallID == id && !slices.Contains(c.Stubs, id)
				})
				if !whole && !strings.Contains(c.Summary, "- "+name+" (call "+id+"): ") {
					rt.Fatalf("the newest result of %s (%s) is lost", name, id)
				}
			}
			if c.Through > 0 {
				for _, u := range unmet {
					if !strings.Contains(c.Summary, "- "+strings.Join(strings.Fields(u), " ")+"\n") {
						rt.Fatalf("criterion %q is lost: %s", u, c.Summary)
					}
				}
				if len(c.Summary) > 16<<10 {
					rt.Fatalf("the summary has %d bytes", len(c.Summary))
				}
			}
		}
	})
}

// tailOf the last n answers with everything behind them.
func tailOf(m []model.Message, n int) []model.Message {
	for i := len(m) - 1; i >= 2; i-- {
		if m[i].Role == model.RoleAssistant {
			if n--; n == 0 {
				return m[i:]
			}
		}
	}
	return nil
}

// Old results of queries go first; only if that is not enough the rest is summed up.
func TestOldQueryResultsGoFirst(t *testing.T) {
	h := history.New("system", "task", someTools)
	for i := range 8 {
		id := fmt.Sprintf("m%d", i)
		h.Assistant("", []model.Call{{ID: id, Tool: "get_map", Arguments: "{}"}})
		h.Observation(id, "get_map", true, strings.Repeat("#", 1000))
	}
	c := h.Compact(h.Size().Bytes-1500, nil)
	if c.Through != 0 || !slices.Equal(c.Stubs, []string{"m0", "m1"}) {
		t.Errorf("%+v", c)
	}
	c = h.Compact(1000, nil)
	if c.Through != 10 || len(c.Stubs) != 0 || !strings.Contains(c.Summary, `m0: get_map {} -> ok: ####`) {
		t.Errorf("%+v", c)
	}
	if err := h.Apply(c); err != nil {
		t.Fatal(err)
	}
	if again := h.Compact(1000, nil); !again.Empty() {
		t.Errorf("three answers are left, and it goes on: %+v", again)
	}
	if err := h.Apply(history.Compaction{Through: 1000}); err == nil {
		t.Error("what does not fit is applied")
	}
	if got := h.Without(history.Compaction{Through: -1}); got != h.Size() {
		t.Error("what does not fit has a size")
	}
}

// A summary of a summary keeps the last results, and says how many lines it dropped in all.
func TestSummariesOfSummaries(t *testing.T) {
	h := history.New("system", "task", someTools)
	n := 0
	step := func(tool, content string) {
		n++
		id := fmt.Sprintf("c%d", n)
		h.Assistant("", []model.Call{{ID: id, Tool: tool, Arguments: `{"n":` + fmt.Sprint(n) + `}`}})
		h.Observation(id, tool, true, content)
	}
	step("get_pose", "the only pose")
	dropped := 0
	for range 12 {
		for range 12 {
			step("drive", strings.Repeat("far ", 100))
		}
		c := h.Compact(100, []string{"at_place(kitchen)"})
		if c.Through == 0 || !strings.Contains(c.Summary, "- get_pose (call c1): the only pose\n") {
			t.Fatalf("behind %d calls: %s", n, c.Summary)
		}
		if strings.Count(c.Summary, history.SummaryPrefix) != 1 || strings.Count(c.Summary, "Calls, the oldest first:\n") != 1 {
			t.Fatalf("a summary inside a summary: %s", c.Summary)
		}
		if err := h.Apply(c); err != nil {
			t.Fatal(err)
		}
		if _, rest, ok := strings.Cut(c.Summary, "("); ok {
			var lines int
			if _, err := fmt.Sscanf(rest[strings.LastIndex(rest, "Calls, the oldest first:\n(")+len("Calls, the oldest first:\n("):], "%d earlier lines", &lines); err == nil {
				if lines < dropped {
					t.Fatalf("%d lines dropped, %d before", lines, dropped)
				}
				dropped = lines
			}
		}
	}
	kept := 0
	for i := 1; i <= n; i++ {
		if strings.Contains(textOf(t, h.Request().Messages), fmt.Sprintf(`"c%d"`, i)) || strings.Contains(h.Request().Messages[2].Content, fmt.Sprintf("\nc%d: ", i)) {
			kept++
		}
	}
	if dropped+kept != n {
		t.Errorf("%d lines are said to be dropped, %d of %d calls are there", dropped, kept, n)
	}
}
