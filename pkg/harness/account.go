package harness

import (
	"fmt"
	"strings"

	"agent_node/pkg/harness/tool"
)

// accountOf is what a person reads of an end that was none of the model's choosing: what ended the goal, what was under way, whether all rests,
// what was done and what was not.
func (s *session) accountOf(e *ending, atRest bool) string {
	said := headline(e)
	skills, last := 0, (*Step)(nil)
	for i := range s.steps {
		if s.steps[i].Class == tool.Skill {
			skills++
			last = &s.steps[i]
		}
	}
	if skills == 0 {
		return said + " No motion had begun." + s.notDone()
	}
	if !last.OK {
		said += " The last motion was " + callText(last) + ": " + sentence(inTheEnd(last))
	}
	if atRest {
		said += " Everything rests."
	}
	return said + s.doneSoFar() + s.notDone()
}

// headline says in words what a reason code says, with what is known beyond it.
func headline(e *ending) string {
	h := map[Reason]string{
		ReasonCanceled: "The goal was canceled", ReasonOperatorStop: "A person stopped the robot", ReasonEmergencyStop: "The emergency stop ended the goal",
		ReasonPreempted: "Another goal took over", ReasonClientLost: "The client is gone", ReasonUpstreamTimeout: "The goal's deadline was reached",
		ReasonWatchdog: "The watchdog stopped the robot", ReasonShutdown: "The node shuts down", ReasonStuck: "The task makes no progress",
		ReasonBudgetSteps: "The budget of steps allows no further one", ReasonBudgetToolCalls: "The budget of tool calls allows no further step",
		ReasonBudgetInputTokens: "The budget of input tokens allows no further step", ReasonBudgetOutputTokens: "The budget of output tokens allows no further step",
		ReasonBudgetWallTime: "The time allowed is used up", ReasonBudgetCost: "The budget of money allows no further step",
	}[e.reason]
	switch {
	case h == "":
		return sentence(e.message)
	case e.message == "" || strings.EqualFold(e.message, string(e.reason)):
		return h + "."
	case strings.HasPrefix(e.message, "by "):
		return h + ", " + sentence(e.message)
	}
	return h + ": " + sentence(e.message)
}

// sentence ends with a full stop.
func sentence(text string) string {
	text = strings.TrimRight(text, " :")
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

func callText(s *Step) string {
	inside := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s.Arguments), "{"), "}")
	return s.Tool + "(" + cutTo(inside, mostOfCall) + ")"
}

// inTheEnd is what a step observed, without its tool's name, which stands before it.
func inTheEnd(s *Step) string {
	return cutTo(strings.TrimPrefix(s.Content, s.Tool+": "), mostOfObservation)
}

// Limits of an account, runes and calls.
const (
	mostOfCall        = 120
	mostOfObservation = 300
	mostCalls         = 12
)

func cutTo(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// doneSoFar lists the skills that succeeded.
func (s *session) doneSoFar() string {
	var done []string
	for i := range s.steps {
		if x := &s.steps[i]; x.Class == tool.Skill && x.OK {
			done = append(done, callText(x))
		}
	}
	if len(done) == 0 {
		return " No motion had been completed."
	}
	more := ""
	if n := len(done) - mostCalls; n > 0 {
		done, more = done[:mostCalls], fmt.Sprintf(", and %d more", n)
	}
	return " Done were: " + strings.Join(done, ", ") + more + "."
}

// notDone lists what was not found to hold.
func (s *session) notDone() string {
	unmet := s.unmet()
	more := ""
	if n := len(unmet) - mostCalls; n > 0 {
		unmet, more = unmet[:mostCalls], fmt.Sprintf("; and %d more", n)
	}
	return " Not achieved: " + strings.Join(unmet, "; ") + more + "."
}

// tellsItself: the ending's own words are the whole answer, the model's, the planner's or the harness's about the request.
func tellsItself(r Reason) bool {
	switch r {
	case ReasonAccepted, ReasonUnverified, ReasonDryRun, ReasonInfeasible, ReasonBadRequest:
		return true
	default:
		return false
	}
}
