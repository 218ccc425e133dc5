package harness_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/workflow"
)

// A goal that says too much is refused with value and limit, before anything moves, and is not repeated whole: not in the result, not in
// the record, which is also what is told on a topic.
func TestAGoalThatSaysTooMuchIsRefusedAndNotRepeated(t *testing.T) {
	long := "x" + strings.Repeat("ä", 500_000)
	criteria := func(n int) []string { return slices.Repeat([]string{"at_place(dock)"}, n) }
	for _, c := range []struct {
		name string
		goal harness.Goal
		want []string
	}{
		{"task", harness.Goal{Task: long}, []string{"1000001 bytes", "65536 bytes"}},
		{"plan's task", harness.Goal{Plan: &workflow.Plan{Task: long, Steps: []workflow.Step{stage("a", "get_battery", "")}}}, []string{"1000001 bytes", "65536 bytes"}},
		{"criteria", harness.Goal{Task: "wait", Criteria: criteria(10_000)}, []string{"10000 success criteria", "limit is 100"}},
		{"one more than the limit", harness.Goal{Task: "wait", Criteria: criteria(101)}, []string{"101 success criteria", "limit is 100"}},
		{"a criterion", harness.Goal{Task: "wait", Criteria: []string{"at_place(dock)", "person: " + long}}, []string{"criterion 2", "1000009 bytes", "4096 bytes"}},
		{"a tool's name", harness.Goal{Task: "wait", AllowedTools: []string{long}}, []string{"allowed tool 1", "256 bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rob := newRobot()
			r := newRig(t, ends(navigate("kitchen"), finish("done")), rob.tools()...)
			r.goal = c.goal
			r.goal.Session = "s1"
			res := r.run()
			want(t, res, harness.ReasonBadRequest)
			for _, w := range c.want {
				if !strings.Contains(res.Answer, w) {
					t.Errorf("answer %q does not say %q", res.Answer, w)
				}
			}
			for _, text := range append(slices.Clone(res.UnmetGoals), res.Answer) {
				if len(text) > harness.MaxEcho+200 || !utf8.ValidString(text) {
					t.Errorf("%d bytes are repeated: %.80q", len(text), text)
				}
			}
			if n := rob.navigate.count(); n > 0 {
				t.Errorf("%d skills ran", n)
			}
			if n := len(r.sink.Bytes("s1")); n > 200_000 {
				t.Errorf("the record has %d bytes", n)
			}
		})
	}
}

// Criteria that say the same are judged once, as many as there are.
func TestEqualCriteriaAreJudgedOnce(t *testing.T) {
	rob := newRobot()
	r := newRig(t, ends(finish("nothing to do")), rob.tools()...)
	r.goal.Criteria = append(slices.Repeat([]string{"at_place(dock)", " at_place(dock) "}, 49), "cel: get_battery().percent > 1.0", "at_place(dock)")
	res := r.run()
	want(t, res, harness.ReasonAccepted)
	if len(res.Verifications) != 2 || rob.atPlace.count() != 1 {
		t.Errorf("%d verifications, at_place was called %d times", len(res.Verifications), rob.atPlace.count())
	}
}
