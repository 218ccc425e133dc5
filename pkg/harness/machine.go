package harness

import (
	"fmt"
	"slices"

	"agent_node/pkg/harness/trace"
)

// Kind of a trace event. docs/trace.md describes the data of each.
type Kind string

// Kinds that are transitions of the loop.
const (
	KindSession     Kind = "session"     // a goal begins: everything that its requests are made from
	KindRequest     Kind = "request"     // a request is assembled and its worst case reserved
	KindResponse    Kind = "response"    // the model answered, or failed to
	KindParsed      Kind = "parsed"      // what the answer is: calls with their checks, a final answer, or unusable
	KindAsked       Kind = "asked"       // a person is asked
	KindAnswered    Kind = "answered"    // a person answered, or did not
	KindCall        Kind = "call"        // a call is carried out; on the disk before a skill begins
	KindObservation Kind = "observation" // the one result of a call
	KindVerdict     Kind = "verdict"     // acceptance judged a final answer
	KindDecision    Kind = "decision"    // the loop goes on
	KindStopping    Kind = "stopping"    // the session ends, and why
	KindRest        Kind = "rest"        // rest was measured, or was not
	KindEnd         Kind = trace.KindEnd // the result
)

// Kinds that change no phase.
const (
	KindVerification Kind = "verification"     // one criterion was checked
	KindStage        Kind = "stage"            // a plan's stage begins
	KindPlan         Kind = "plan"             // a decomposition's plan with what is predicted of its steps
	KindNote         Kind = "note"             // words of the harness to the model
	KindSummarize    Kind = "summarize"        // the model is asked to sum up what a compaction takes away; its worst case is reserved
	KindSummary      Kind = "summary"          // what it answered, or why it did not
	KindCompaction   Kind = "compaction"       // the history was made shorter
	KindModel        Kind = "model"            // a model adapter's retries and the like
	KindWhole        Kind = trace.KindWhole    // where the uncut content of an observation is that is cut in the next event
	KindImages       Kind = "images"           // the pictures that belong to an observation
	KindRecorder     Kind = trace.KindRecorder // the disk did not take records for a while
	KindLate         Kind = "late_result"      // what an abandoned call observed in the end; ignored
	KindCheck        Kind = "check"            // what the harness itself called a tool for, and what that observed
	KindSettle       Kind = "settle"           // rest was measured, or was not, before something was checked
	KindInterrupt    Kind = "interrupt"        // what ends the session from outside was noticed
	KindLimited      Kind = "limited"          // a call came too early for its tool's rate
	KindResumed      Kind = "resumed"          // from here on the session goes on in another process
	KindStop         Kind = "stop"             // everything was stopped because a skill panicked or hung
	KindFault        Kind = "fault"            // an error inside the harness, or of an observer
	KindTool         Kind = "tool."            // prefix of what tools record under their call
)

// transitions of the loop: in this phase, this event leads to one of these phases. It is the source of the code's
// checks, of the tests and of docs/trace.md.
var transitions = map[Phase]map[Kind][]Phase{
	PhaseIdle: {
		KindSession: {PhaseAssemble},
	},
	PhaseAssemble: {
		KindRequest:  {PhaseSample},
		KindStopping: {PhaseStop},
	},
	PhaseSample: {
		KindResponse: {PhaseParse},
		KindStopping: {PhaseStop},
	},
	PhaseParse: {
		KindParsed:   {PhaseDispatch, PhaseAccept, PhaseDecide},
		KindStopping: {PhaseStop},
	},
	PhaseDispatch: {
		KindAsked:       {PhaseDispatch},
		KindAnswered:    {PhaseDispatch},
		KindCall:        {PhaseObserve, PhaseAccept},
		KindObservation: {PhaseDispatch, PhaseDecide}, // of a call that was refused
		KindStopping:    {PhaseStop},
	},
	PhaseObserve: {
		KindCall:        {PhaseObserve}, // beside others
		KindAsked:       {PhaseObserve}, // ask_person
		KindAnswered:    {PhaseObserve},
		KindObservation: {PhaseObserve, PhaseDispatch, PhaseDecide},
		KindStopping:    {PhaseStop},
	},
	PhaseAccept: {
		KindAsked:    {PhaseAccept},
		KindAnswered: {PhaseAccept},
		KindVerdict:  {PhaseObserve, PhaseDecide},
		KindStopping: {PhaseStop},
	},
	PhaseDecide: {
		KindAsked:    {PhaseDecide}, // a gate of a plan
		KindAnswered: {PhaseDecide},
		KindDecision: {PhaseAssemble},
		KindStopping: {PhaseStop},
	},
	PhaseStop: {
		KindObservation: {PhaseStop}, // of calls that an internal error left without one
		KindRest:        {PhaseStop},
		KindEnd:         {PhaseEnd},
	},
}

// TransitionError is an event that its phase does not allow.
type TransitionError struct {
	From, To Phase
	Kind     Kind
}

// Error implements error.
func (e *TransitionError) Error() string {
	return fmt.Sprintf("illegal transition: event %s from %s to %s", e.Kind, e.From, e.To)
}

// CheckTransition says whether an event may lead from one phase to another.
func CheckTransition(from Phase, kind Kind, to Phase) error {
	if slices.Contains(transitions[from][kind], to) {
		return nil
	}
	return &TransitionError{From: from, To: to, Kind: kind}
}

// stateIn is the session's state in a phase, as long as it has not ended and nobody is asked.
func stateIn(p Phase) State {
	switch p {
	case PhaseIdle:
		return StateIdle
	case PhaseAssemble, PhaseSample, PhaseParse, PhaseDecide:
		return StateSampling
	case PhaseDispatch, PhaseObserve, PhaseAccept, PhaseStop:
		return StateAwaitingTool
	case PhaseEnd:
		return StateFailed
	}
	return 0
}

// stateAtEnd is the session's last state: a budget's or an interrupt's end shows as failed.
func stateAtEnd(o Outcome) State {
	switch o {
	case Done:
		return StateDone
	case Unverified:
		return StateUnverified
	case Failed, BudgetExhausted, Interrupted:
		return StateFailed
	}
	return StateFailed
}
