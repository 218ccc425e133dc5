package ros1

import (
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"

	"agent_node/pkg/ros"
)

// Actions. In ROS 2 an action is three services and two topics below <action>/_action/, and package action speaks by
// these. In ROS 1 it is the five topics of actionlib. Here the one is translated into the other: a service or topic of
// such a name, made at a node of this transport, is an end of actionlib's.

// part is one of the interfaces of a ROS 2 action.
type part string

const (
	partNone      part = ""
	partSendGoal  part = "send_goal"
	partCancel    part = "cancel_goal"
	partGetResult part = "get_result"
	partFeedback  part = "feedback"
	partStatus    part = "status"
)

const actionInfix = "/_action/"

// actions are the actions that a node serves and calls.
type actions struct {
	node *Node

	mu      sync.Mutex
	servers map[string]*actionServer
	clients map[string]*actionClient
}

// part says which interface of an action a name is.
func (a *actions) part(name string) part {
	_, rest, ok := strings.Cut(name, actionInfix)
	switch p := part(rest); p {
	case partSendGoal, partCancel, partGetResult, partFeedback, partStatus:
		if ok {
			return p
		}
	case partNone:
	}
	return partNone
}

// actionOf is the action's own name.
func actionOf(name string) string {
	action, _, _ := strings.Cut(name, actionInfix)
	return action
}

// topic is the topic of ROS 1 that stands for one of an action's.
func (a *actions) topic(name string) string {
	switch p := a.part(name); p {
	case partStatus, partFeedback:
		return actionOf(name) + "/" + string(p)
	case partNone, partSendGoal, partCancel, partGetResult:
	}
	return name
}

// typesOf finds the messages of an action by the name of one of its interfaces' types.
func (a *actions) typesOf(typeName string) (*actionlibTypes, error) {
	pkg, kind, base := splitType(typeName)
	if kind != "action" {
		return nil, fmt.Errorf("%w: %s is no interface of an action", ros.ErrUnknownType, typeName)
	}
	base, _, _ = strings.Cut(base, "_")
	at, err := a.node.types.Action(pkg + "/action/" + base)
	if err != nil {
		return nil, err
	}
	return a.node.types.actionlib(at)
}

func splitType(name string) (pkg, kind, base string) {
	pkg, rest, _ := strings.Cut(name, "/")
	kind, base, _ = strings.Cut(rest, "/")
	return pkg, kind, base
}

// wireOf is a message type of actionlib's, by name.
func (a *actions) wireOf(name string) (*wire, error) {
	t, err := a.node.types.Message(name)
	if err != nil {
		return nil, err
	}
	return a.node.types.wires.message(t), nil
}

const (
	goalIDType      = "actionlib_msgs/msg/GoalID"
	statusArrayType = "actionlib_msgs/msg/GoalStatusArray"
)

// goalID is a goal's id in this house.
type goalID [16]byte

func (id goalID) isZero() bool { return id == goalID{} }

// text is the id that goals of this house have at a server of actionlib.
func (id goalID) text() string { return hex.EncodeToString(id[:]) }

// goalIDOf is the id for one of actionlib's: the same where it was made here, else one made from its text.
func goalIDOf(text string) goalID {
	var id goalID
	if b, err := hex.DecodeString(text); err == nil && len(b) == len(id) {
		copy(id[:], b)
		if !id.isZero() {
			return id
		}
	}
	return goalID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("actionlib:"+text)))
}

// idAt reads a unique_identifier_msgs/msg/UUID.
func idAt(m *ros.Message, path string) (id goalID) {
	if b, err := m.Get(path + ".uuid"); err == nil {
		if u, ok := b.([]uint8); ok {
			copy(id[:], u)
		}
	}
	return id
}

func (id goalID) fields() map[string]any { return map[string]any{"uuid": id[:]} }

// States of a goal in actionlib_msgs/msg/GoalStatus.
const (
	statePending    uint8 = 0
	stateActive     uint8 = 1
	statePreempted  uint8 = 2
	stateSucceeded  uint8 = 3
	stateAborted    uint8 = 4
	stateRejected   uint8 = 5
	statePreempting uint8 = 6
	stateRecalling  uint8 = 7
	stateRecalled   uint8 = 8
	stateLost       uint8 = 9
)

func terminal(state uint8) bool {
	switch state {
	case statePreempted, stateSucceeded, stateAborted, stateRejected, stateRecalled, stateLost:
		return true
	}
	return false
}

func canceling(state uint8) bool { return state == statePreempting || state == stateRecalling }

// States in action_msgs/msg/GoalStatus.
const (
	statusUnknown   int8 = 0
	statusAccepted  int8 = 1
	statusExecuting int8 = 2
	statusCanceling int8 = 3
	statusSucceeded int8 = 4
	statusCanceled  int8 = 5
	statusAborted   int8 = 6
)

// statusOf translates a state of actionlib's. A rejected goal was never one: unknown.
func statusOf(state uint8) int8 {
	switch state {
	case statePending:
		return statusAccepted
	case stateActive:
		return statusExecuting
	case statePreempting, stateRecalling:
		return statusCanceling
	case stateSucceeded:
		return statusSucceeded
	case statePreempted, stateRecalled:
		return statusCanceled
	case stateAborted:
		return statusAborted
	}
	return statusUnknown
}

// stateOf translates a state of ROS 2's. Actionlib tells apart whether a goal that is canceled had begun.
func stateOf(status int8, before uint8) uint8 {
	begun := before != statePending && before != stateRecalling
	switch status {
	case statusAccepted:
		return statePending
	case statusExecuting:
		return stateActive
	case statusCanceling:
		if begun {
			return statePreempting
		}
		return stateRecalling
	case statusSucceeded:
		return stateSucceeded
	case statusCanceled:
		if begun {
			return statePreempted
		}
		return stateRecalled
	}
	return stateAborted
}
