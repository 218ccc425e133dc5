package harness_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"agent_node/pkg/harness"
)

var (
	allPhases = []harness.Phase{
		harness.PhaseIdle, harness.PhaseAssemble, harness.PhaseSample, harness.PhaseParse, harness.PhaseDispatch, harness.PhaseObserve,
		harness.PhaseDecide, harness.PhaseAccept, harness.PhaseStop, harness.PhaseEnd,
	}
	transitionKinds = []harness.Kind{
		harness.KindSession, harness.KindRequest, harness.KindResponse, harness.KindParsed, harness.KindAsked, harness.KindAnswered, harness.KindCall,
		harness.KindObservation, harness.KindVerdict, harness.KindDecision, harness.KindStopping, harness.KindRest, harness.KindEnd,
	}
	otherKinds = []harness.Kind{
		harness.KindVerification, harness.KindNote, harness.KindCompaction, harness.KindModel, harness.KindWhole, harness.KindImages, harness.KindCheck, harness.KindSettle, harness.KindInterrupt, harness.KindLimited, harness.KindResumed, harness.KindRecorder, harness.KindLate, harness.KindStop, harness.KindFault, harness.KindTool,
	}
)

// The table: every phase can be reached and left, only the end is final, and every phase of work can be stopped.
func TestTransitions(t *testing.T) {
	reached := map[harness.Phase]bool{harness.PhaseIdle: true}
	used := map[harness.Kind]bool{}
	for range allPhases {
		for _, from := range allPhases {
			for _, k := range transitionKinds {
				for _, to := range allPhases {
					if reached[from] && harness.CheckTransition(from, k, to) == nil {
						reached[to], used[k] = true, true
					}
				}
			}
		}
	}
	for _, p := range allPhases {
		if !reached[p] {
			t.Errorf("phase %s is never reached", p)
		}
		var out []harness.Kind
		for _, k := range transitionKinds {
			for _, to := range allPhases {
				if harness.CheckTransition(p, k, to) == nil {
					out = append(out, k)
				}
			}
		}
		if (len(out) == 0) != (p == harness.PhaseEnd) {
			t.Errorf("phase %s is left by %q", p, out)
		}
		work := p != harness.PhaseIdle && p != harness.PhaseStop && p != harness.PhaseEnd
		if slices.Contains(out, harness.KindStopping) != work {
			t.Errorf("phase %s: stopping allowed: %t", p, !work)
		}
	}
	for _, k := range transitionKinds {
		if !used[k] {
			t.Errorf("event %s leads nowhere", k)
		}
	}
}

func TestIllegalTransitionIsAnError(t *testing.T) {
	for _, x := range []struct {
		from harness.Phase
		kind harness.Kind
		to   harness.Phase
	}{
		{harness.PhaseAssemble, harness.KindCall, harness.PhaseObserve}, // no call without an answer
		{harness.PhaseParse, harness.KindObservation, harness.PhaseDecide},
		{harness.PhaseSample, harness.KindResponse, harness.PhaseDispatch}, // no call without its checks
		{harness.PhaseDecide, harness.KindEnd, harness.PhaseEnd},           // no end without rest
		{harness.PhaseEnd, harness.KindSession, harness.PhaseAssemble},
	} {
		err := harness.CheckTransition(x.from, x.kind, x.to)
		if err == nil || !strings.Contains(err.Error(), string(x.from)) {
			t.Errorf("%s -%s-> %s: %v", x.from, x.kind, x.to, err)
		}
	}
}

// docs/trace.md describes every kind of event and every phase.
func TestTraceIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range append(slices.Clone(transitionKinds), otherKinds...) {
		if !strings.Contains(string(b), "`"+string(k)) {
			t.Errorf("docs/trace.md does not describe %s", k)
		}
	}
	for _, from := range allPhases {
		for _, k := range transitionKinds {
			for _, to := range allPhases {
				row := "| " + string(from) + " | " + string(k) + " | "
				if harness.CheckTransition(from, k, to) == nil && !strings.Contains(string(b), row) {
					t.Errorf("docs/trace.md lacks the row %q", row)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	for i, want := range []string{"invalid", "idle", "sampling", "awaiting_tool", "awaiting_user", "unverified", "done", "failed", "invalid"} {
		if got := harness.State(i).String(); got != want {
			t.Errorf("state %d is %q, want %q", i, got, want)
		}
	}
	for i, want := range []string{"INVALID", "DONE", "UNVERIFIED", "FAILED", "BUDGET_EXHAUSTED", "INTERRUPTED", "INVALID"} {
		if got := harness.Outcome(i).String(); got != want {
			t.Errorf("outcome %d is %q, want %q", i, got, want)
		}
	}
}
