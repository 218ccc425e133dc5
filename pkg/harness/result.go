package harness

import (
	"slices"
	"strings"

	"agent_node/pkg/harness/criteria"
)

// result of a session.
func (s *session) result(e *ending, atRest bool) Result {
	s.now()
	answer := e.message
	if !tellsItself(e.reason) {
		answer = s.accountOf(e, atRest)
	}
	r := Result{
		Outcome: e.reason.Outcome(), Reason: e.reason, Answer: s.h.redact.Text(answer), Steps: s.steps,
		Verifications: s.shownVerifications(), Usage: s.usage(), RestMeasured: atRest,
	}
	if s.log != nil {
		r.Trace = s.log.Name()
	}
	if r.Outcome != Done {
		r.UnmetGoals = s.unmet()
	}
	return r
}

// shownVerifications are the gates of a plan, and what acceptance found. Where nothing was judged since the last skill, what held right
// behind the skills stands for it: an older verdict is about a world that is gone.
func (s *session) shownVerifications() []Verification {
	out := slices.Clone(s.gates)
	if s.stale {
		return append(out, s.claims.held()...)
	}
	return append(out, s.verifications...)
}

// unmet goals: each criterion that was not found to hold; where none is known, the task. What the harness itself understood of the task is
// not known from anybody, and may be a part of it: it stands behind the task, not for it.
func (s *session) unmet() []string {
	var out []string
	add := func(text string, passed map[string]bool) {
		text = s.h.redact.Text(strings.TrimSpace(text))
		if text != standsOnEvidence && !passed[text] && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	gates := verdicts(s.gates)
	for _, v := range s.gates {
		add(v.Criterion, gates)
	}
	judged := map[string]bool{}
	if !s.stale {
		judged = verdicts(s.verifications)
	}
	switch {
	case len(s.goal.Criteria) > 0:
		for _, c := range s.goal.Criteria {
			add(c, judged)
		}
	case s.goal.Plan != nil && len(s.criteria) > 0:
		for _, c := range s.criteria {
			add(c.Text, judged)
		}
	default:
		if s.stale {
			judged = verdicts(s.claims.held())
		}
		addAll := func(set []criteria.Criterion, settled []Verification) {
			for _, c := range set {
				add(c.Text, judged)
			}
			for _, v := range settled {
				add(v.Criterion, verdicts([]Verification{v}))
			}
		}
		addAll(s.claims.pending(s.declared))
		if len(out) == 0 {
			out = append(out, s.inWords())
		}
		addAll(s.standing())
	}
	if len(out) == 0 {
		out = append(out, s.inWords())
	}
	return out
}

// inWords is what the session is to do.
func (s *session) inWords() string {
	switch {
	case strings.TrimSpace(s.goal.Task) != "":
		return Echo(s.h.redact.Text(s.goal.Task))
	case s.goal.Plan != nil && strings.TrimSpace(s.goal.Plan.Task) != "":
		return Echo(s.h.redact.Text(s.goal.Plan.Task))
	case s.goal.Plan != nil:
		return "the plan is executed"
	}
	return "no task was given"
}

// verdicts by criterion; the newest counts.
func verdicts(list []Verification) map[string]bool {
	passed := map[string]bool{}
	for _, v := range list {
		passed[v.Criterion] = v.Passed
	}
	return passed
}
