package guard

// This file is the state machine: states, events, actions, and the rules that tie them. machine.go carries the rules out,
// conditions.go raises the events that come of time and measurements, and the tests write docs/guard-states.md from it.

// event is what a rule reacts to.
type event uint8

const (
	evNone event = iota
	evFeedback
	evFeedbackLost
	evMotion
	evCommand
	evAccepted
	evLateAccepted
	evRejected
	evRejectedUnsettled
	evAcceptTimeout
	evResult
	evServerLost
	evCommandFailed
	evCheckFailed
	evStalled
	evDeadline
	evHold
	evPause
	evResumed
	evRevalidateFailed
	evPauseFailed
	evPauseCap
	evCancel
	evStop
	evEstop
	evCancelRefused
	evCancelUnanswered
	evCancelUnfinished
	evNothingToCancel
	evStreamToEnd
	evServerGone
	evSettled
	evSettleTimeout
	evStopTimeout
	evReleased
	evOrphan
	nEvents
)

// eventInfo names and explains the events. reason is what a command ends with when the event ends it and brings no reason of its own.
var eventInfo = [nEvents]struct {
	name, meaning string
	reason        Reason
}{
	evFeedback:          {"feedback", "a finite measurement with a newer stamp", ""},
	evFeedbackLost:      {"feedback lost", "no finite measurement with a newer stamp for FeedbackTimeout (1 s)", ReasonFeedbackLost},
	evMotion:            {"motion", "MotionSamples (3) measurements in a row above the thresholds, and nobody commanded it", ""},
	evCommand:           {"command", "a validated command by the owner of the lease, and no pause source", ""},
	evAccepted:          {"accepted", "the server accepted the goal (or sends feedback for it); a stream's first velocity went out", ""},
	evLateAccepted:      {"late acceptance", "the server accepted a goal that has been given up meanwhile", ""},
	evRejected:          {"rejected", "the server refused the goal, or it could not be sent", ReasonRejected},
	evRejectedUnsettled: {"rejected, unsettled", "the same while rest is not measured at this moment", ReasonRejected},
	evAcceptTimeout:     {"accept timeout", "no answer to the goal in AcceptTimeout (2 s)", ReasonNoAnswer},
	evResult:            {"result", "the goal's terminal result; a stream's own end", ReasonServerFailed},
	evServerLost:        {"server lost", "the goal's server is gone or has forgotten it", ReasonServerLost},
	evCommandFailed:     {"command failed", "a stream's Start or Stream returned an error or panicked", ReasonCommandFailed},
	evCheckFailed:       {"check failed", "Command.Check refused a measurement in flight (zones, limits)", ReasonCheck},
	evStalled:           {"stalled", "no measured progress for StallTime (5 s)", ReasonStalled},
	evDeadline:          {"deadline", "the command's allowance is used up; paused time is not counted", ReasonDeadline},
	evHold:              {"hold", "the robot holds by itself: speed scaling 0, protective stop, mode, a clock that stands", ""},
	evPause:             {"pause", "an operator's ~/pause", ""},
	evResumed:           {"resumed", "no pause source left, start state validated afresh; after ~/pause the new epoch accepted", ""},
	evRevalidateFailed:  {"revalidation failed", "the start state no longer fits the command", ReasonCheck},
	evPauseFailed:       {"pause failed", "~/pause did not bring the actuator to rest: cancel refused, unanswered or without result, or no rest in SettleTime", ReasonServerFailed},
	evPauseCap:          {"pause cap", "paused for longer than PauseCap (60 s)", ReasonPauseCap},
	evCancel:            {"cancel", "the command's context ended, or its lease was released", ReasonCanceled},
	evStop:              {"stop", "~/stop, Quiesce, or the end of Run; takes the lease", ReasonStopped},
	evEstop:             {"estop", "an emergency_stop input became true; takes the lease", ReasonEstop},
	evCancelRefused:     {"cancel refused", "the server refused to cancel", ""},
	evCancelUnanswered:  {"cancel unanswered", "no reply to the cancel in CancelAnswer (1 s)", ""},
	evCancelUnfinished:  {"cancel unfinished", "no result in CancelResult (3 s) after the cancel was accepted", ""},
	evNothingToCancel:   {"nothing to cancel", "the goal has ended already", ""},
	evStreamToEnd:       {"stream to end", "the command is a stream: it ends by zeros, not by an answer", ""},
	evServerGone:        {"server gone", "nobody is left to answer: the server is gone, or it said that the goal ended and motion goes on", ""},
	evSettled:           {"settled", "the settled rule holds", ""},
	evSettleTimeout:     {"settle timeout", "not settled in SettleTime (3 s)", ""},
	evStopTimeout:       {"stop timeout", "not settled in max(StopTime (3 s), speed/deceleration + window + 1 s); held still by the stop commands, a goal that is not known to have ended has EndTime (10 s)", ""},
	evReleased:          {"released", "acknowledged by ~/reset (e-stop: its input false), fresh feedback, and settled", ""},
	evOrphan:            {"orphan", "a goal that was given up, or that somebody else has left, is known to run", ""},
}

// String is the event's name in tables and transitions.
func (e event) String() string { return eventInfo[e].name }

// act is one action of a rule, or one done again and again while in a state.
type act uint8

const (
	doStart act = iota
	doCancel
	doCancelOrphans
	doStop
	doZero
	doWatch
	doJudge
	doReport
	doStream
	doCheck
	doStopUnsettled
	doInsist
	nActs
)

var actInfo = [nActs]struct{ name, meaning string }{
	doStart:         {"start", "call Command.Start with a new epoch"},
	doCancel:        {"cancel", "ask the driver to cancel the goal; before its acceptance the wish is remembered, and carried out when the acceptance comes"},
	doCancelOrphans: {"cancel orphans", "ask again to cancel goals that were given up without a result"},
	doStop:          {"stop", "one stop command (Driver.Stop)"},
	doZero:          {"zero", "one stop command where the command is a stream"},
	doWatch:         {"watch", "begin to watch progress from here"},
	doJudge:         {"judge", "give Execute its outcome"},
	doReport:        {"report", "report motion that nobody commanded, if that is what it is"},
	doStream:        {"stream", "call Command.Stream at the control rate"},
	doCheck:         {"check", "call Command.Check on every measurement"},
	doStopUnsettled: {"stop until settled", "one stop command unless settled"},
	doInsist:        {"insist", "ask again, every CancelAnswer (1 s), to cancel goals that are not known to have ended"},
}

// String is the action's name.
func (a act) String() string { return actInfo[a].name }

// stateInfo explains each state; during is repeated at the control rate (doCheck: on every measurement).
var stateInfo = [...]struct {
	meaning string
	during  []act
}{
	Unknown:   {"no fresh, finite feedback", nil},
	Holding:   {"at rest, nothing in flight", nil},
	Sent:      {"a command was sent and not answered yet", nil},
	InFlight:  {"a command is being carried out", []act{doStream, doCheck}},
	Paused:    {"a command is held, by an operator or by the robot; its allowance does not run", []act{doZero}},
	Canceling: {"the goal is being canceled", nil},
	Stopping:  {"stop commands at the control rate until settled, and until no goal is left that may live", []act{doStop, doInsist}},
	Settling:  {"nothing drives it any more; measured until it rests", []act{doZero}},
	Fault:     {"rest could not be measured in time, or a goal did not end; an operator has to acknowledge", []act{doStop, doInsist}},
	Estop:     {"latched emergency stop", []act{doStopUnsettled, doInsist}},
}

// rule is one line of the table: in any of these states, on this event, do this and go there.
type rule struct {
	from []State
	on   event
	to   State
	do   []act
}

func in(s ...State) []State { return s }
func do(a ...act) []act     { return a }

// underWay are the states in which a command may be under way.
var underWay = in(Sent, InFlight, Paused)

// rules is the whole machine. What it does not list does not apply: answers are recorded, and nothing changes.
var rules = []rule{
	// No feedback, and back.
	{in(Unknown), evFeedback, Settling, nil},
	{in(Holding), evFeedbackLost, Unknown, nil},
	{in(Settling), evFeedbackLost, Unknown, nil}, // only while nothing was commanded and nothing was seen to move
	{in(Holding), evMotion, Settling, do(doReport, doCancelOrphans)},
	{in(Holding), evOrphan, Settling, do(doCancelOrphans)},

	// A command's way.
	{in(Holding), evCommand, Sent, do(doStart)},
	{in(Sent), evAccepted, InFlight, do(doWatch)},
	{in(Sent), evRejected, Holding, do(doJudge)},
	{in(Sent), evRejectedUnsettled, Settling, nil},
	{in(Sent), evAcceptTimeout, Canceling, do(doCancel)},
	{underWay, evResult, Settling, do(doZero)},

	// Pauses.
	{in(InFlight), evHold, Paused, do(doZero)},
	{in(InFlight), evPause, Paused, do(doCancel, doZero)},
	{in(Paused), evPause, Paused, do(doCancel, doZero)}, // an operator's on top of the robot's
	{in(Paused), evResumed, InFlight, do(doWatch)},
	{in(Paused), evRejected, Settling, nil}, // the new epoch
	{in(Paused), evRevalidateFailed, Canceling, do(doCancel)},
	{in(Paused), evAcceptTimeout, Canceling, do(doCancel)}, // the new epoch
	{in(Paused), evPauseFailed, Canceling, nil},
	{in(Paused), evPauseCap, Canceling, do(doCancel)},

	// What ends a motion before its result.
	{in(InFlight), evFeedbackLost, Canceling, do(doCancel)},
	{in(InFlight), evDeadline, Canceling, do(doCancel)},
	{in(InFlight), evStalled, Canceling, do(doCancel)},
	{in(InFlight), evCheckFailed, Canceling, do(doCancel)},
	{underWay, evCommandFailed, Canceling, nil},
	{underWay, evServerLost, Canceling, nil},
	{underWay, evCancel, Canceling, do(doCancel)},
	{underWay, evStop, Canceling, do(doCancel)},

	// The cancel's way.
	{in(Canceling), evResult, Settling, nil},
	{in(Canceling), evRejected, Settling, nil},
	{in(Canceling), evNothingToCancel, Settling, nil},
	{in(Canceling), evStreamToEnd, Stopping, do(doStop)},
	{in(Canceling), evServerGone, Stopping, do(doStop, doCancelOrphans)},
	{in(Canceling), evCancelRefused, Stopping, do(doStop)},
	{in(Canceling), evCancelUnanswered, Stopping, do(doStop, doCancel)},
	{in(Canceling), evCancelUnfinished, Stopping, do(doStop)},
	{in(Canceling), evStop, Stopping, do(doStop, doCancel)},
	{in(Canceling), evLateAccepted, Canceling, do(doCancel)},
	{in(Stopping), evLateAccepted, Stopping, do(doCancel)},
	{in(Estop), evLateAccepted, Estop, do(doCancel)},

	// The stop's way.
	{in(Unknown), evStop, Stopping, do(doStop, doCancelOrphans)},
	{in(Holding), evStop, Stopping, do(doStop, doCancelOrphans)},
	{in(Settling), evStop, Stopping, do(doStop)},
	{in(Settling), evSettleTimeout, Stopping, do(doStop, doReport, doCancelOrphans)},
	{in(Stopping), evSettled, Settling, nil}, // settled already: the outcome is judged in one place
	{in(Stopping), evStopTimeout, Fault, do(doStop, doJudge)},

	// Rest: only now the outcome is judged.
	{in(Settling), evSettled, Holding, do(doJudge)},

	// A command that waits in holding because the actuator is paused.
	{in(Holding), evCancel, Holding, do(doJudge)},
	{in(Holding), evPauseCap, Holding, do(doJudge)},

	// Emergency stop, from any state, and the ways back.
	{in(Unknown, Holding, Settling, Stopping, Fault), evEstop, Estop, do(doStop, doCancelOrphans)},
	{in(Sent, InFlight, Paused, Canceling), evEstop, Estop, do(doStop, doCancel)},
	{in(Estop), evSettled, Estop, do(doJudge)},
	{in(Estop), evStopTimeout, Estop, do(doJudge)},
	{in(Fault), evReleased, Holding, nil},
	{in(Estop), evReleased, Holding, nil},
}

// lookup is the table as an array: the rule's index plus one, 0 where there is none.
var lookup = buildLookup()

func buildLookup() (t [len(stateInfo)][nEvents]uint8) {
	for i, r := range rules {
		for _, s := range r.from {
			t[s][r.on] = uint8(i + 1)
		}
	}
	return t
}

// ruleFor finds the rule of a state and an event.
func ruleFor(s State, e event) (*rule, bool) {
	i := lookup[s][e]
	if i == 0 {
		return nil, false
	}
	return &rules[i-1], true
}
