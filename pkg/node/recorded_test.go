package node_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"agent_node/pkg/ros"
)

// judged is what becomes of the calls in each recording; where nothing is listed, there is none: words, or calls that were cut off.
var judged = map[int]string{
	1:  `drive({"distance_m": 1}) ok`,
	3:  `navigate_to({"place": "kitchen"}) ok; gripper({"open": true}) ok`,
	5:  `drive({"distance_m": 0.5}) ok; get_battery({}) ok`,
	7:  `drive({"distance_m": -50}) geometry_refused`, // 50 centimetres were asked for
	9:  `navigate_to({"place": "kitchen"}) ok; gripper({"open": true}) ok; drive({"distance_m": 9999}) geometry_refused`,
	11: `drive({"distance_m": -2}) ok; gripper({"open": true}) ok`,
	15: `gripper({"open": true}) ok`,
	19: `drive({"distance_m": 1}) ok`,
	23: `get_battery({}) ok`,
	33: `get_battery({}) ok`,
	35: `gripper({"open": true}) ok`,
	45: `navigate_to({"place": "kitchen"}) ok; gripper({"open": true}) ok`,
}

// What small models really wrote (pkg/harness/model/openai/testdata), as the first answer of a goal that is tried dry: each call of it is
// judged by the table, the schemas and geometry as it was written.
func TestRecordedCallsAreJudged(t *testing.T) {
	data := must(os.ReadFile("../harness/model/openai/testdata/model_responses.jsonl"))(t)
	c, params := newChat(t, "{}")
	h := newHouse(t, append(params, "model.retries:=0")...)
	client := h.client("execute_task", execute)
	before, seen := h.bot.Truth(), 0
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var r struct {
			ID     int
			Status int
			Note   string
			Raw    string
		}
		check(t, json.Unmarshal(sc.Bytes(), &r))
		if r.Status != 200 {
			continue
		}
		c.mu.Lock()
		c.texts = []string{r.Raw, "I am stopping here."}
		c.mu.Unlock()
		out := h.run(client, func(m *ros.Message) { m.With("task", r.Note).With("dry_run", true) }).Result
		var steps []string
		for _, s := range out.Msgs("completed_steps") {
			kind := s.Str("error_kind")
			if kind == "" {
				kind = "ok"
			}
			steps = append(steps, fmt.Sprintf("%s(%s) %s", s.Str("tool"), s.Str("arguments_json"), kind))
		}
		if got := strings.Join(steps, "; "); got != judged[r.ID] || out.Str("reason_code") != "dry_run" {
			t.Errorf("%d (%s): %s, %s, want %s", r.ID, r.Note, out.Str("reason_code"), got, judged[r.ID])
		}
		seen++
	}
	if seen < 25 {
		t.Errorf("%d recordings", seen)
	}
	if after := h.bot.Truth(); after.Pose != before.Pose {
		t.Errorf("the robot moved from %v to %v", before.Pose, after.Pose)
	}
}
