package harness

import (
	"fmt"
	"strings"

	"agent_node/pkg/harness/tool"
)

// standsOnEvidence names, among the verifications, the check of a question's answer.
const standsOnEvidence = "the answer stands on its evidence"

// newest call of a tool: many chat templates hide the ids of calls from the model, which can still name the tool.
func (s *session) newest(name string) (int, bool) {
	for i := len(s.steps) - 1; i >= 0; i-- {
		if s.steps[i].Tool == name {
			return i, true
		}
	}
	return 0, false
}

// evidence checks the answer to a question: each cited call must have succeeded in this session, and every number of
// the answer must stand in one of them or in the task. vacuous: nothing is cited and the answer holds no number.
func (s *session) evidence(answer string, cited []string) (v Verification, vacuous bool) {
	v.Criterion = standsOnEvidence
	sources := []string{s.goal.Task}
	var wrong []string
	for _, id := range cited {
		i, ok := s.ids[id]
		if !ok {
			i, ok = s.newest(id)
		}
		if !ok || i < 0 {
			wrong = append(wrong, fmt.Sprintf("no observation has the id %q (the ids are: %s)", clip(id), s.citable()))
			continue
		}
		step := &s.steps[i]
		switch {
		case !step.OK:
			wrong = append(wrong, fmt.Sprintf("call %s failed (%s)", id, step.ErrorKind))
		case step.Class == tool.Control && step.Tool != tool.AskPerson:
			wrong = append(wrong, fmt.Sprintf("call %s (%s) observes nothing", id, step.Tool))
		default:
			sources = append(sources, step.Content)
		}
	}
	numbers := numbersIn(answer)
	observed := observedIn(sources)
	for _, n := range numbers {
		if !observed.holds(n) {
			wrong = append(wrong, fmt.Sprintf("the number %s stands in no cited observation and not in the task", n.text))
		}
	}
	if len(wrong) > 0 {
		v.Evidence = strings.Join(wrong, "; ")
		return v, false
	}
	v.Passed = true
	v.Evidence = fmt.Sprintf("%d calls cited, %d numbers found in them or in the task", len(cited), len(numbers))
	return v, len(cited) == 0 && len(numbers) == 0
}

// citable ids, the newest eight.
func (s *session) citable() string {
	var ids []string
	for i := len(s.steps) - 1; i >= 0 && len(ids) < 8; i-- {
		if st := &s.steps[i]; st.OK && (st.Class != tool.Control || st.Tool == tool.AskPerson) {
			ids = append(ids, st.CallID)
		}
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
