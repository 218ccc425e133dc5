package tool

import (
	"context"
	"encoding/json"
	"time"

	"agent_node/pkg/harness/budget"
)

// Class of a tool; the values are agent_msgs/msg/Step's. It comes from the tool table, never from a model.
type Class uint8

// Classes.
const (
	Control Class = 0 // built in: finish, ask_person, declare_criteria
	Query   Class = 1 // reads state, no side effect
	Skill   Class = 2 // causes motion or another effect
	Verify  Class = 3 // reads and judges
)

// String is the class's lower-case name.
func (c Class) String() string {
	switch c {
	case Control:
		return "control"
	case Query:
		return "query"
	case Skill:
		return "skill"
	case Verify:
		return "verify"
	}
	return "invalid"
}

// ErrorKind says how a call failed. The strings are the contract's.
type ErrorKind string

// Error kinds.
const (
	UnknownTool         ErrorKind = "unknown_tool"
	InvalidArguments    ErrorKind = "invalid_arguments"
	PermissionDenied    ErrorKind = "permission_denied"
	GeometryRefused     ErrorKind = "geometry_refused"
	GuardRefused        ErrorKind = "guard_refused"
	Timeout             ErrorKind = "timeout"
	Canceled            ErrorKind = "canceled"
	ServerUnavailable   ErrorKind = "server_unavailable"
	ServerRejected      ErrorKind = "server_rejected"
	ServerFailed        ErrorKind = "server_failed"
	NotAtRest           ErrorKind = "not_at_rest"
	StaleState          ErrorKind = "stale_state"
	Failed              ErrorKind = "tool_error"
	DuplicateCall       ErrorKind = "duplicate_call"
	PreconditionFailed  ErrorKind = "precondition_failed"
	PostconditionFailed ErrorKind = "postcondition_failed"
)

// Spec describes a tool.
type Spec struct {
	Name        string
	Class       Class
	Description string
	// Parameters is the JSON Schema (draft 2020-12) of the arguments object; property order is the argument order of criteria.
	Parameters json.RawMessage
	// Binding says what it is bound to, for people ("action /navigate_to_pose nav2_msgs/action/NavigateToPose").
	Binding string
	// Source names where observations come from (a topic, a service …).
	Source string
	// TimeLimit bounds one call; 0: none beyond the budget's. Paused time of a motion is not counted by the tool itself.
	TimeLimit time.Duration
	// Actuators that the skill moves. A skill without any runs alone.
	Actuators []string
	// Alongside are other actuators that may move while this skill does; a skill of theirs may then run at the same time.
	Alongside []string
	// Repeatable: carried out again after an interruption it leads to the same (drive to a place, not by half a metre). What reads
	// always is.
	Repeatable bool
	// Validated: its command is checked by the geometry layer or by rules (skills without are refused outside simulation).
	Validated bool
}

// Limits of a budget.
type Limits = budget.Limits

// Call is one accepted call: schema-valid arguments, permission given.
type Call struct {
	ID        string // unique in the session
	Session   string
	Arguments json.RawMessage // the bytes that were validated, always an object
	// Deadline is the monotonic time by which a motion must be over (budget less stop reserve); zero: none.
	Deadline time.Time
	// Left of the goal's budget: all that another agent may use that is asked by this call. Zero in a field: no limit.
	Left Limits
	// NotBefore: verify tools read a source stamped after this (set to when rest was measured); zero: none.
	NotBefore time.Time
	// Note records something in the trace under this call (validation, guard transitions, clamps).
	Note func(kind string, data any)
}

// Result is what a call observed. Content is JSON or plain text, valid UTF-8.
type Result struct {
	OK        bool
	ErrorKind ErrorKind // when not OK
	Content   string
	Source    string
	// Passed is a verify tool's verdict, meaningful when OK.
	Passed bool
	// Postconditions are criteria that should hold after this skill ("at_place(kitchen)").
	Postconditions []string
	// Interrupt, when set, ends the session with this reason code after the observation is recorded
	// ("actuator_fault", "dependency_lost", "emergency_stop", "operator_stop").
	Interrupt string
	// Begun, of a failed skill: something was sent, so that something may have moved, whatever the kind of failure says. A command that
	// geometry ends on its way has begun; one that it refuses beforehand has not.
	Begun bool
	// DependencyLost counts towards that end: the server behind the tool is gone.
	DependencyLost bool
	// Images that belong to the observation, sized for a model.
	Images []Image
}

// Image is one picture that a tool took.
type Image struct {
	MediaType     string // image/jpeg or image/png
	Data          []byte // encoded so
	Width, Height int    // pixels
}

// Tool is one entry of the tool table. Call may be given a ctx that ends: a skill then brings its
// actuator to rest before it returns. Panics are caught by the dispatcher.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, c Call) Result
}

// DryRunner is implemented by skills that can validate a call without publishing anything.
type DryRunner interface {
	DryRun(ctx context.Context, c Call) Result
}

// Finding is one rule that a predicted call breaks (agent_msgs/msg/Finding).
type Finding struct {
	Rule    string
	Subject string
	Index   int
	Value   float64
	Limit   float64
	Unit    string
	Message string
}

// Prediction of a call that is not made.
type Prediction struct {
	// Refused: the call would be refused in this state; Findings say why.
	Refused  bool
	Findings []Finding
	// Unknown: what the call does cannot be told beforehand; State is then not to be relied on.
	Unknown bool
	// State after the call, for the next prediction; nil: as before. It is the tools' own.
	State any
}

// Predictor is implemented by tools that can say what a call would do, without doing it. state is what an earlier
// prediction returned; nil: the robot as it is measured now.
type Predictor interface {
	Predict(ctx context.Context, c Call, state any) Prediction
}
