package nav

import "fmt"

// Code is an error code as nav2_msgs has it in its results.
type Code uint16

// Codes of ComputePathToPose (2xx) and FollowPath (1xx).
const (
	None                 Code = 0
	FollowerUnknown      Code = 100 // the base was taken away
	FailedToMakeProgress Code = 105
	PlannerUnknown       Code = 200
	InvalidPlanner       Code = 201
	TFError              Code = 202
	StartOutsideMap      Code = 203
	GoalOutsideMap       Code = 204
	StartOccupied        Code = 205
	GoalOccupied         Code = 206
	NoValidPath          Code = 208
)

var codeNames = map[Code]string{
	None: "NONE", FollowerUnknown: "UNKNOWN", FailedToMakeProgress: "FAILED_TO_MAKE_PROGRESS",
	PlannerUnknown: "UNKNOWN", InvalidPlanner: "INVALID_PLANNER", TFError: "TF_ERROR",
	StartOutsideMap: "START_OUTSIDE_MAP", GoalOutsideMap: "GOAL_OUTSIDE_MAP",
	StartOccupied: "START_OCCUPIED", GoalOccupied: "GOAL_OCCUPIED", NoValidPath: "NO_VALID_PATH",
}

// String is the code's name in nav2_msgs.
func (c Code) String() string {
	if n, ok := codeNames[c]; ok {
		return n
	}
	return fmt.Sprintf("code %d", uint16(c))
}

// Error is a failure of the planner or the follower.
type Error struct {
	Code    Code
	Message string
}

// Error says code and message.
func (e *Error) Error() string { return fmt.Sprintf("nav: %s: %s", e.Code, e.Message) }

func failure(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}
