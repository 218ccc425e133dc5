package action

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"agent_node/pkg/ros"
)

// GoalID identifies a goal (a UUID).
type GoalID [16]byte

// String is the id in lower-case hex, without dashes.
func (id GoalID) String() string { return hex.EncodeToString(id[:]) }

// ParseGoalID reads what String writes.
func ParseGoalID(text string) (id GoalID, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return GoalID{}, fmt.Errorf("action: goal id %q: %d hex digits are wanted", text, 2*len(id))
	}
	return GoalID(b), nil
}

// IsZero reports whether the id is all zeros, which names no goal.
func (id GoalID) IsZero() bool { return id == GoalID{} }

// Status is action_msgs/msg/GoalStatus's.
type Status int8

// Goal states.
const (
	StatusUnknown   Status = 0
	StatusAccepted  Status = 1
	StatusExecuting Status = 2
	StatusCanceling Status = 3
	StatusSucceeded Status = 4
	StatusCanceled  Status = 5
	StatusAborted   Status = 6
)

// Terminal reports whether a goal in this state has ended.
func (s Status) Terminal() bool { return s >= StatusSucceeded }

// String is the state's name.
func (s Status) String() string {
	switch s {
	case StatusUnknown:
		return "unknown"
	case StatusAccepted:
		return "accepted"
	case StatusExecuting:
		return "executing"
	case StatusCanceling:
		return "canceling"
	case StatusSucceeded:
		return "succeeded"
	case StatusCanceled:
		return "canceled"
	case StatusAborted:
		return "aborted"
	}
	return "status " + strconv.Itoa(int(s))
}

// CancelCode is action_msgs/srv/CancelGoal's return code.
type CancelCode int8

// Cancel return codes. As in rcl_action, a goal that is already canceling cannot be
// canceled again: it answers CancelGoalTerminated.
const (
	CancelNone           CancelCode = 0
	CancelRejected       CancelCode = 1
	CancelUnknownGoal    CancelCode = 2
	CancelGoalTerminated CancelCode = 3
)

// String is the code's meaning.
func (c CancelCode) String() string {
	switch c {
	case CancelNone:
		return "canceling"
	case CancelRejected:
		return "cancel rejected"
	case CancelUnknownGoal:
		return "unknown goal"
	case CancelGoalTerminated:
		return "goal terminated or canceling already"
	}
	return "cancel code " + strconv.Itoa(int(c))
}

// Outcome is how a goal ended at its server.
type Outcome struct {
	Status Status
	Result *ros.Message
}

// DefaultResultTimeout is how long a server keeps the result of a goal that has ended.
const DefaultResultTimeout = 15 * time.Minute

// names are the absolute names of an action's interfaces.
type names struct{ sendGoal, cancelGoal, getResult, feedback, status string }

// namesOf resolves the action's own name first, so that a remapping of the action's name
// moves all five; each may still be remapped by itself.
func namesOf(node ros.Node, name string) (names, error) {
	n, err := node.ResolveName(name)
	if err != nil {
		return names{}, err
	}
	n += "/_action/"
	return names{n + "send_goal", n + "cancel_goal", n + "get_result", n + "feedback", n + "status"}, nil
}

const (
	cancelType = "action_msgs/srv/CancelGoal"
	statusType = "action_msgs/msg/GoalStatusArray"
)

// feedbackQoS and statusQoS are rcl_action's defaults.
func feedbackQoS() ros.QoS { return ros.QoS{Depth: 10} }
func statusQoS() ros.QoS   { return ros.LatchedQoS() }

// goalID reads the unique_identifier_msgs/msg/UUID at a path.
func goalID(m *ros.Message, path string) (id GoalID) {
	u, err := m.Get(path + ".uuid")
	if b, ok := u.([]uint8); err == nil && ok {
		copy(id[:], b)
	}
	return id
}

func (id GoalID) fields() map[string]any { return map[string]any{"uuid": id[:]} }
