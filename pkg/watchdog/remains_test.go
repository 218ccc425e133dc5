package watchdog_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/harness/trace"
	"agent_node/pkg/watchdog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	goalA = "000102030405060708090a0b0c0d0e0f"
	goalB = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
)

// event of a trace, in short.
type event struct {
	kind, call string
	data       map[string]any
}

func called(id, tool, class string) event {
	return event{"call", id, map[string]any{"tool": tool, "class": class}}
}
func observed(id string) event { return event{"observation", id, map[string]any{"ok": true}} }
func sent(goal, actuator string) event {
	return event{"tool.skill.goal_sent", "c", map[string]any{"action": "/" + actuator, "goal": goal, "actuator": actuator}}
}

func ended(goal string) event {
	return event{"tool.skill.goal_ended", "c", map[string]any{"goal": goal, "status": 4}}
}

func turned(actuator, to string) event {
	return event{"guard.transition", "", map[string]any{"actuator": actuator, "to": to}}
}

// write makes a trace of events; torn adds half a line.
func write(t *testing.T, dir, session string, events []event, torn bool) string {
	t.Helper()
	sink, err := trace.NewFiles(trace.FileOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := sink.Open(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		data, err := json.Marshal(e.data)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(trace.Event{Time: time.Now(), Kind: e.kind, CallID: e.call, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if torn {
		f, err := os.OpenFile(log.Name(), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"seq":99,"kind":"tool.skill.goal_en`); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return log.Name()
}

func TestRemainsOfATrace(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []event
		torn   bool
		goals  []string
		tools  []string
		moving []string
		over   bool
	}{
		{name: "nothing but its beginning", events: []event{{"session", "", map[string]any{}}}},
		{
			name:   "a goal under way",
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base"), turned("base", "sent"), turned("base", "in_flight")},
			goals:  []string{goalA}, tools: []string{"navigate_to"}, moving: []string{"base"},
		},
		{
			name: "one goal ended, the next under way",
			events: []event{
				called("1", "gripper", "skill"), sent(goalA, "gripper"), ended(goalA), observed("1"),
				called("2", "navigate_to", "skill"), sent(goalB, "base"), turned("base", "in_flight"),
			},
			goals: []string{goalB}, tools: []string{"navigate_to"}, moving: []string{"base"},
		},
		{
			name:   "rejected",
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base"), {"tool.skill.goal_rejected", "1", map[string]any{"goal": goalA}}},
			tools:  []string{"navigate_to"},
		},
		{
			name:   "given up by an operator's pause and sent again: both may live",
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base"), sent(goalB, "base")},
			goals:  []string{goalA, goalB}, tools: []string{"navigate_to"},
		},
		{
			name:   "a stream",
			events: []event{called("1", "drive", "skill"), turned("base", "sent"), turned("base", "in_flight")},
			tools:  []string{"drive"}, moving: []string{"base"},
		},
		{
			name:   "at rest between two calls",
			events: []event{called("1", "drive", "skill"), turned("base", "in_flight"), turned("base", "settling"), turned("base", "holding"), observed("1")},
		},
		{name: "a question", events: []event{called("1", "get_pose", "query")}},
		{
			name: "torn in the middle of a line", torn: true,
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base")}, goals: []string{goalA}, tools: []string{"navigate_to"},
		},
		{
			name: "ended", over: true,
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base"), ended(goalA), observed("1"), {"end", "", map[string]any{"outcome": "DONE"}}},
		},
		{
			name:   "ended, and a goal has outlived it",
			events: []event{called("1", "navigate_to", "skill"), sent(goalA, "base"), turned("base", "fault"), {"end", "", map[string]any{"outcome": "FAILED"}}},
			goals:  []string{goalA},
		},
		{
			name: "ended after its server was gone", over: true,
			events: []event{sent(goalA, "base"), {"tool.skill.server_lost", "1", map[string]any{"goal": goalA}}, {"end", "", map[string]any{"outcome": "FAILED"}}},
		},
		{name: "a goal without its name", events: []event{{"tool.skill.goal_sent", "1", map[string]any{"goal": "xyz", "action": "/a"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := watchdog.ReadRemains(write(t, t.TempDir(), "s1", c.events, c.torn))
			if err != nil {
				t.Fatal(err)
			}
			if (r == nil) != c.over {
				t.Fatalf("remains %+v, over %t", r, c.over)
			}
			if r == nil {
				return
			}
			var goals []string
			for _, g := range r.Goals {
				goals = append(goals, g.ID.String())
				if g.Action == "" || g.Actuator == "" {
					t.Errorf("goal %+v", g)
				}
			}
			if !slices.Equal(goals, c.goals) || !slices.Equal(r.Tools, c.tools) || !slices.Equal(r.Moving, c.moving) || r.Session != "s1" {
				t.Errorf("goals %v tools %v moving %v of %s", goals, r.Tools, r.Moving, r.Session)
			}
			if r.Empty() != (len(c.goals)+len(c.tools)+len(c.moving) == 0) {
				t.Errorf("empty: %t", r.Empty())
			}
		})
	}
}

func TestTheLastTraceCounts(t *testing.T) {
	dir := t.TempDir()
	if r, err := watchdog.LastRemains(filepath.Join(dir, "missing")); r != nil || err != nil {
		t.Errorf("no folder: %v, %v", r, err)
	}
	if r, err := watchdog.LastRemains(dir); r != nil || err != nil {
		t.Errorf("an empty folder: %v, %v", r, err)
	}
	open := []event{called("1", "drive", "skill")}
	age := func(file string, ago time.Duration) {
		t.Helper()
		at := time.Now().Add(-ago)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	age(write(t, dir, "old", open, false), time.Hour)
	age(write(t, dir, "newer", []event{{"end", "", nil}}, false), time.Minute)
	age(write(t, dir, watchdog.PlanPrefix+"x", open, false), time.Second)
	if r, err := watchdog.LastRemains(dir); r != nil || err != nil {
		t.Errorf("the last one has ended: %+v, %v", r, err)
	}
	write(t, dir, "newest", open, false)
	if r, err := watchdog.LastRemains(dir); err != nil || r == nil || r.Session != "newest" {
		t.Errorf("the newest: %+v, %v", r, err)
	}
}

func FuzzReadRemains(f *testing.F) {
	f.Add([]byte(`{"seq":1,"kind":"tool.skill.goal_sent","data":{"goal":"` + goalA + `","action":"/a"}}` + "\n"))
	f.Add([]byte("{}\n{\n"))
	f.Add([]byte{0xff, '\n'})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		file := filepath.Join(dir, "x.jsonl")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := watchdog.ReadRemains(file); err == nil && r != nil && r.Trace != file {
			t.Errorf("trace %q", r.Trace)
		}
	})
}
