package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors that a *StateError wraps.
var (
	// ErrOwned: another owner holds the lease.
	ErrOwned = errors.New("guard: actuator is owned")
	// ErrEstop: the emergency stop is latched.
	ErrEstop = errors.New("guard: emergency stop is latched")
	// ErrFault: rest could not be reached earlier; an operator has to acknowledge it.
	ErrFault = errors.New("guard: actuator is in fault")
	// ErrUnobservable: there is no fresh, finite measurement.
	ErrUnobservable = errors.New("guard: actuator cannot be observed")
	// ErrBusy: the actuator still moves or settles, or the lease already executes a command.
	ErrBusy = errors.New("guard: actuator is busy")
	// ErrLeaseLost: the lease was released, or revoked by a stop.
	ErrLeaseLost = errors.New("guard: lease is lost")
	// ErrNotRunning: Run has not begun or has ended.
	ErrNotRunning = errors.New("guard: not running")
)

// ErrConfig is a Config that cannot work.
var ErrConfig = errors.New("guard: bad configuration")

// StateError says why an actuator could not be had.
type StateError struct {
	Actuator string
	State    State
	Reason   string // of the state, such as "feedback_lost"
	Owner    string // who holds the lease, if anybody
	Err      error  // one of the errors above
}

// Error names actuator, state, owner and reason.
func (e *StateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %s is %s", e.Err, e.Actuator, e.State)
	if e.Reason != "" {
		fmt.Fprintf(&b, " (%s)", e.Reason)
	}
	if e.Owner != "" {
		fmt.Fprintf(&b, ", owned by %s", e.Owner)
	}
	return b.String()
}

// Unwrap is the sentinel.
func (e *StateError) Unwrap() error { return e.Err }

// NotAtRestError names the actuators for which rest was not measured.
type NotAtRestError struct {
	Actuators []ActuatorState
}

// Error names each actuator with its state and reason.
func (e *NotAtRestError) Error() string {
	parts := make([]string, len(e.Actuators))
	for i, a := range e.Actuators {
		parts[i] = a.Name + " is " + a.State.String()
		if a.Reason != "" {
			parts[i] += " (" + a.Reason + ")"
		}
	}
	said := "guard: not measured at rest: " + strings.Join(parts, ", ")
	if slices.ContainsFunc(e.Actuators, func(a ActuatorState) bool { return a.Standstill }) {
		said += standstill
	}
	return said
}

// standstill is said of what cannot be measured because of it.
const standstill = "; ROS time stands still (source: " + SourceClock + ")"
