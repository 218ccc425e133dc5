package action

import (
	"errors"
	"fmt"
)

// Errors of goals; what is returned wraps them and says more.
var (
	// ErrEnded: the goal has a terminal state already; exactly one wins.
	ErrEnded = errors.New("action: goal has ended")
	// ErrIllegal: the goal cannot go from its state to that one.
	ErrIllegal = errors.New("action: illegal transition")
	// ErrServerLost: the server vanished while the goal was not known to have ended.
	ErrServerLost = errors.New("action: server lost")
	// ErrGoalForgotten: a server answers, but does not know the goal: it restarted, or the result has expired.
	ErrGoalForgotten = errors.New("action: goal forgotten by the server")
	// ErrResultLost: the goal ended as the status topic says, but its result was not sent.
	ErrResultLost = errors.New("action: result lost")
)

// GoalError says what became of a goal whose outcome is not known.
type GoalError struct {
	ID GoalID
	// Status is the last state seen. With ErrResultLost it is the terminal one.
	Status Status
	Err    error
	Detail string
}

func (e *GoalError) Error() string {
	s := fmt.Sprintf("%v: goal %v, last seen %v", e.Err, e.ID, e.Status)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap gives the cause.
func (e *GoalError) Unwrap() error { return e.Err }

// TransitionError says which change of a goal's state was not made.
type TransitionError struct {
	ID       GoalID
	From, To Status
	Err      error
}

func (e *TransitionError) Error() string {
	return fmt.Sprintf("%v: goal %v: %v to %v", e.Err, e.ID, e.From, e.To)
}

// Unwrap gives ErrEnded or ErrIllegal.
func (e *TransitionError) Unwrap() error { return e.Err }

// CancelError is a server's refusal to cancel.
type CancelError struct {
	Action string
	Code   CancelCode
}

func (e *CancelError) Error() string {
	return fmt.Sprintf("action: %s: %v (code %d)", e.Action, e.Code, int8(e.Code))
}
