package action

import (
	"encoding/hex"

	"agent_node/pkg/ros"
)

// GoalID identifies a goal (a UUID).
type GoalID [16]byte

// String is the id in lower-case hex, without dashes.
func (id GoalID) String() string { return hex.EncodeToString(id[:]) }

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

// CancelCode is action_msgs/srv/CancelGoal's return code.
type CancelCode int8

// Cancel return codes.
const (
	CancelNone           CancelCode = 0
	CancelRejected       CancelCode = 1
	CancelUnknownGoal    CancelCode = 2
	CancelGoalTerminated CancelCode = 3
)

// Outcome is how a goal ended at its server.
type Outcome struct {
	Status Status
	Result *ros.Message
}

// The functions and types of this room (signatures fixed for its callers):
//
//	type ServerConfig struct {
//		Name, Type    string
//		ResultTimeout time.Duration            // 0: 15 min, as rcl_action's
//		Goal     func(id GoalID, goal *ros.Message) bool // accept? called once per new id; must not block
//		Accepted func(h *Handle)              // runs in a goroutine of its own, after the response was sent and ACCEPTED published;
//		                                      // when it returns without a terminal call, or panics, the goal is aborted
//		Cancel   func(h *Handle) bool         // accept the cancel? nil: always. Must not block
//	}
//	func NewServer(node ros.Node, cfg ServerConfig) (*Server, error)
//	func (s *Server) Close(ctx context.Context) error   // refuses new goals, cancels every handle's context, waits for the handlers
//	                                                    // until ctx ends, aborts what is left, then takes the interfaces down
//	func (h *Handle) ID() GoalID; Goal() *ros.Message; AcceptedAt() ros.Time
//	func (h *Handle) Context() context.Context // ends when the server closes; not on cancel
//	func (h *Handle) Canceling() <-chan struct{} // closed when a cancel was accepted
//	func (h *Handle) Execute()                 // ACCEPTED -> EXECUTING
//	func (h *Handle) Feedback(m *ros.Message) error
//	func (h *Handle) Succeed(result *ros.Message) error; Abort(...); Canceled(...) // exactly one wins, the others return an error
//	func (h *Handle) Status() Status
//
//	func NewClient(node ros.Node, name, typeName string) (*Client, error)
//	func (c *Client) Type() *ros.ActionType
//	func (c *Client) Ready() bool; WaitReady(ctx) error; Close() error
//	type GoalOptions struct{ Feedback func(*ros.Message); Status func(Status) }
//	func (c *Client) Send(ctx context.Context, goal *ros.Message, o GoalOptions) (*Goal, error)
//	    // waits for the answer: ErrRejected; when ctx ends first, the goal is remembered and canceled as soon as
//	    // its acceptance arrives (no orphan), and ctx's error is returned
//	func (g *Goal) ID() GoalID
//	func (g *Goal) Cancel(ctx) (CancelCode, error)
//	func (g *Goal) Result(ctx) (Outcome, error)   // the terminal outcome. When the status topic says terminal but get_result is not
//	                                              // answered within 5 s, or the server vanished or forgot the goal (status 0), a typed error
//	func (g *Goal) Done() <-chan struct{}
//	func CancelAll(ctx, node, name) error
