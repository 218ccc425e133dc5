package arm

import "fmt"

// Code is an error code as control_msgs/action/FollowJointTrajectory has it in its result.
type Code int32

// Codes of the result.
const (
	Successful            Code = 0
	InvalidGoal           Code = -1
	InvalidJoints         Code = -2
	OldHeaderTimestamp    Code = -3
	PathToleranceViolated Code = -4
	GoalToleranceViolated Code = -5
)

var codeNames = map[Code]string{
	Successful: "SUCCESSFUL", InvalidGoal: "INVALID_GOAL", InvalidJoints: "INVALID_JOINTS", OldHeaderTimestamp: "OLD_HEADER_TIMESTAMP",
	PathToleranceViolated: "PATH_TOLERANCE_VIOLATED", GoalToleranceViolated: "GOAL_TOLERANCE_VIOLATED",
}

// String is the code's name in control_msgs.
func (c Code) String() string {
	if n, ok := codeNames[c]; ok {
		return n
	}
	return fmt.Sprintf("code %d", int32(c))
}

// Error is a failure of the controller.
type Error struct {
	Code    Code
	Message string
}

// Error says code and message.
func (e *Error) Error() string { return fmt.Sprintf("arm: %s: %s", e.Code, e.Message) }

func failure(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}
