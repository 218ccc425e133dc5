package node_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/trace"
	"agent_node/pkg/ros"
)

// cutRecord writes the record of an earlier session as a killed process would have left it: up to the n-th event of a kind, and then torn.
func cutRecord(t *testing.T, from, dir, session string, kind harness.Kind, n int) {
	t.Helper()
	events, report, err := trace.EventsOfFile(from)
	if err != nil || !report.OK() {
		t.Fatal(err, report)
	}
	files := must(trace.NewFiles(trace.FileOptions{Dir: dir}))(t)
	log := must(files.Open(session))(t)
	for _, e := range events {
		check(t, log.Append(trace.Event{Time: e.Time, Kind: e.Kind, CallID: e.CallID, Phase: e.Phase, State: e.State, Data: e.Data}))
		if harness.Kind(e.Kind) == kind {
			if n--; n == 0 {
				break
			}
		}
	}
	check(t, log.Close())
	f := must(os.OpenFile(log.Name(), os.O_WRONLY|os.O_APPEND, 0))(t)
	must(f.WriteString(`{"seq":`))(t)
	check(t, f.Close())
}

// A session that another process left goes on by a goal that names it, once.
func TestAGoalGoesOnWithAnEarlierSession(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script.jsonl")
	check(t, os.WriteFile(script, []byte(strings.Join([]string{
		`{"calls":[{"tool":"get_battery"}]}`, `{"calls":[{"tool":"drive","arguments":{"distance_m":0.3}}]}`, `{"calls":[{"tool":"turn","arguments":{"angle_rad":0.5}}]}`,
		`{"text":"done"}`,
	}, "\n")), 0o600))
	h := newHouse(t, "model.kind:=scripted", "model.script:="+script)
	client := h.client("execute_task", "agent_msgs/action/ExecuteTask")
	first := h.run(client, func(m *ros.Message) { m.With("task", "drive and turn") }).Result
	if first.Str("reason_code") != "accepted" {
		t.Fatalf("%s: %s", first.Str("reason_code"), first.Str("answer"))
	}
	whole := first.Str("trace")
	dir := filepath.Dir(whole)
	cutRecord(t, whole, dir, "killed", harness.KindObservation, 2) // the drive is over, the turn was not asked for
	again := h.client("resume_task", "agent_msgs/action/ResumeTask")
	resume := func(session string) *ros.Message {
		return h.run(again, func(m *ros.Message) { m.With("session", session) }).Result
	}
	second := resume("killed")
	if second.Str("reason_code") != "accepted" {
		t.Fatalf("%s: %s", second.Str("reason_code"), second.Str("answer"))
	}
	var tools []string
	for _, s := range second.Msgs("completed_steps") {
		tools = append(tools, s.Str("tool"))
	}
	if strings.Join(tools, " ") != "get_battery drive turn" || second.Msg("usage").Int("steps") < 3 {
		t.Errorf("steps %q, usage %d", tools, second.Msg("usage").Int("steps"))
	}
	begun := 0
	events, _, err := trace.EventsOfFile(second.Str("trace"))
	check(t, err)
	live := false
	for _, e := range events {
		live = live || harness.Kind(e.Kind) == harness.KindResumed
		if live && harness.Kind(e.Kind) == harness.KindCall {
			var d struct{ Tool string }
			check(t, json.Unmarshal(e.Data, &d))
			if d.Tool == "drive" {
				t.Error("it drove again")
			}
			begun++
		}
	}
	if begun != 1 {
		t.Errorf("%d calls began live", begun)
	}
	if report := must(harness.Replay(events))(t); report.Difference != nil || !report.Complete {
		t.Errorf("its replay: %+v", report)
	}
	for name, x := range map[string]struct {
		r     *ros.Message
		words string
	}{
		"once more":       {resume("killed"), "goes on with killed"},
		"one that ended":  {resume(strings.TrimSuffix(filepath.Base(whole), ".jsonl")), "it ended as accepted"},
		"no such session": {resume("nothing"), "no such file"},
		"a path":          {resume("../killed"), "no session's id"},
	} {
		if x.r.Str("reason_code") != "bad_request" || !strings.Contains(x.r.Str("answer"), x.words) {
			t.Errorf("%s: %s: %s", name, x.r.Str("reason_code"), x.r.Str("answer"))
		}
	}
}
