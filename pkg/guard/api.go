package guard

import (
	"context"
	"time"
)

// State of one actuator; the values are agent_msgs/msg/ActuatorState's.
type State uint8

// States.
const (
	Unknown   State = 0
	Holding   State = 1
	Sent      State = 2
	InFlight  State = 3
	Paused    State = 4
	Canceling State = 5
	Stopping  State = 6
	Settling  State = 7
	Fault     State = 8
	Estop     State = 9
)

// Epoch numbers the commands of one actuator. What answers an older epoch is recorded and never applied.
type Epoch uint64

// Sample is one measurement of an actuator, on its configured axes.
type Sample struct {
	// Stamp is the source's own stamp, Arrived when it came in (monotonic).
	Stamp   time.Time
	Arrived time.Time
	// Position and Velocity have one value per axis (SI units: m, rad, m/s, rad/s). Non-finite values make the actuator unobservable.
	// An empty Velocity is derived from successive positions. Observe copies both: the caller may reuse them. A Sample handed
	// to Stream or Check is the guard's own storage, valid only during that call.
	Position []float64
	Velocity []float64
}

// Driver is how the guard reaches the actuator. Its methods must not block; what they cause comes back as events.
type Driver interface {
	// Stop sends one zero or hold command. It is called at the control rate while the actuator stops, faults or is e-stopped.
	Stop() error
	// Cancel asks for the goal of that epoch to be canceled. The answer comes back by Actuator.CancelAnswered, the end by Finished.
	Cancel(epoch Epoch)
}

// Command is one motion. Its functions are called by the guard's goroutine and must not block.
type Command struct {
	Tool   string
	CallID string
	// Allowance is the motion's time allowance; paused time is not counted. 0: none.
	Allowance time.Duration
	// Start sends the command for this epoch (an action goal; for a stream the first velocity). For action-driven commands the
	// answers come back by Accepted/Rejected/Finished; a stream counts as accepted when Start returns nil. After a pause by
	// ~/pause it is called again with a new epoch, and must then send the rest of the motion.
	Start func(epoch Epoch) error
	// Stream, for velocity-driven commands, is called at the control rate while in flight with the newest sample;
	// it publishes the next velocity and says whether the motion is complete. nil for action-driven ones.
	Stream func(epoch Epoch, now time.Time, latest Sample) (done bool, err error)
	// Resumed, where set, is called when a stream goes on after a pause, before the next Stream. The actuator has come to rest meanwhile, and
	// nothing was commanded: what Stream reckons from one call to the next begins anew.
	Resumed func()
	// Check is called on every sample while in flight (zones, limits ahead of the measured pose). An error cancels the motion.
	Check func(latest Sample) error
	// Revalidate is called before a paused motion resumes; an error cancels it. It runs in a goroutine of its own and may take time up to ctx.
	Revalidate func(ctx context.Context) error
	// MustMove: rest counts only if the measured values changed since the command (or a second source agrees; see Config.MoveTime for
	// commands that end at once). To be set unless the actuator stands at the goal already.
	MustMove bool
}

// String is the state's name as agent_msgs spells its constant, in lower case.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "invalid"
}

var stateNames = [...]string{"unknown", "holding", "sent", "in_flight", "paused", "canceling", "stopping", "settling", "fault", "estop"}

// Outcome is how a command ended, judged at rest (or not: see AtRest).
type Outcome struct {
	Epoch  Epoch
	Reason Reason
	// AtRest: measured rest was reached, and nothing is left that was to move it: the goal has ended. When false, Reason tells why the motion ended and Detail what could not be measured.
	AtRest bool
	// Err is the error of Start, Stream or Check, or the server's failure.
	Err    error
	Detail string
	Paused time.Duration
	Took   time.Duration
}

// Reason a motion ended.
type Reason string

// Reasons.
const (
	ReasonSucceeded    Reason = "succeeded"
	ReasonServerFailed Reason = "server_failed" // aborted by its server
	ReasonRejected     Reason = "rejected"
	ReasonNoAnswer     Reason = "no_answer" // not accepted within 2 s
	ReasonCanceled     Reason = "canceled"  // by ctx or a lost lease
	ReasonStopped      Reason = "stopped"   // by Stop
	ReasonEstop        Reason = "emergency_stop"
	ReasonDeadline     Reason = "deadline"
	ReasonStalled      Reason = "stalled"
	ReasonPauseCap     Reason = "pause_cap"
	ReasonFeedbackLost Reason = "feedback_lost"
	ReasonServerLost   Reason = "server_lost"
	ReasonCheck        Reason = "check_failed"
	// ReasonCommandFailed: Start or Stream of the command returned an error (Outcome.Err) or panicked.
	ReasonCommandFailed Reason = "command_failed"
	// ReasonRefused: the guard did not take the command at all; nothing was sent. Outcome.Err is a *StateError.
	ReasonRefused Reason = "refused"
)

// ReasonGoalLives is ActuatorState.Reason of a fault in which stop commands hold the actuator, because a goal is not known to have ended.
const ReasonGoalLives = "goal_not_ended"
