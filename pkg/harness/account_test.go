package harness

import (
	"strings"
	"testing"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// Every reason code that ends a goal from outside, or by its budget, has words of its own, and nothing is said twice.
func TestHeadlinesAreSentences(t *testing.T) {
	for r, want := range map[Reason]string{
		ReasonCanceled: "canceled, by a client.", ReasonOperatorStop: "stopped the robot", ReasonEmergencyStop: "emergency stop", ReasonPreempted: "took over",
		ReasonClientLost: "client is gone", ReasonUpstreamTimeout: "deadline", ReasonWatchdog: "watchdog", ReasonShutdown: "shuts down", ReasonStuck: "no progress",
		ReasonBudgetSteps: "steps", ReasonBudgetToolCalls: "tool calls", ReasonBudgetInputTokens: "input tokens", ReasonBudgetOutputTokens: "output tokens",
		ReasonBudgetWallTime: "time", ReasonBudgetCost: "money",
	} {
		got := headline(&ending{r, "by a client"})
		if !strings.Contains(got, want) || !strings.HasSuffix(got, ", by a client.") {
			t.Errorf("%s reads %q", r, got)
		}
		if bare := headline(&ending{r, string(r)}); strings.Contains(bare, string(r)+".") && strings.Contains(bare, ":") || !strings.HasSuffix(bare, ".") {
			t.Errorf("%s alone reads %q", r, bare)
		}
	}
	if got := headline(&ending{ReasonModelError, "the model declines: no"}); got != "the model declines: no." {
		t.Errorf("%q", got)
	}
}

// An account names the last motion and what came of it, what was done before, and what was not.
func TestAnAccountTellsWhatWasDone(t *testing.T) {
	s := &session{h: &Harness{redact: trace.NewRedactor(nil)}, goal: Goal{Task: "take it there"}}
	e := &ending{ReasonCanceled, "by a client"}
	if got := s.accountOf(e, true); got != "The goal was canceled, by a client. No motion had begun. Not achieved: take it there." {
		t.Errorf("%q", got)
	}
	s.steps = []Step{
		{Tool: "list_objects", Class: tool.Query, OK: true, Arguments: "{}"},
		{Tool: "navigate_to", Class: tool.Skill, OK: true, Arguments: `{"place":"table"}`},
		{Tool: "pick", Class: tool.Skill, Arguments: `{"object":"red cube"}`, ErrorKind: tool.Canceled, Content: "pick: canceled: by a client; it rests"},
	}
	want := `The goal was canceled, by a client. The last motion was pick("object":"red cube"): canceled: by a client; it rests. Everything rests. ` +
		`Done were: navigate_to("place":"table"). Not achieved: take it there.`
	if got := s.accountOf(e, true); got != want {
		t.Errorf("%q", got)
	}
	if got := s.accountOf(&ending{ReasonActuatorFault, "rest was not measured (no odometry)"}, false); strings.Contains(got, "Everything rests") {
		t.Errorf("it claims rest: %q", got)
	}
	for range 40 {
		s.steps = append(s.steps, Step{Tool: "turn", Class: tool.Skill, OK: true, Arguments: "{" + strings.Repeat("x", 500) + "}"})
	}
	if got := s.accountOf(e, true); !strings.Contains(got, "and 29 more") || len(got) > 3000 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
