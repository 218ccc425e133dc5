package harness

// State of a session; the values are agent_msgs/msg/AgentState's.
type State uint8

// States. A budget's or an interrupt's end shows as StateFailed.
const (
	StateIdle         State = 1
	StateSampling     State = 2
	StateAwaitingTool State = 3
	StateAwaitingUser State = 4
	StateUnverified   State = 5
	StateDone         State = 6
	StateFailed       State = 7
)

// String is the contract's name.
func (s State) String() string {
	switch s {
	case StateIdle:
		return "idle"
	case StateSampling:
		return "sampling"
	case StateAwaitingTool:
		return "awaiting_tool"
	case StateAwaitingUser:
		return "awaiting_user"
	case StateUnverified:
		return "unverified"
	case StateDone:
		return "done"
	case StateFailed:
		return "failed"
	}
	return "invalid"
}

// Phase of the loop.
type Phase string

// Phases. Accept checks criteria; stop brings everything to rest before a terminal result.
const (
	PhaseIdle     Phase = "idle"
	PhaseAssemble Phase = "assemble"
	PhaseSample   Phase = "sample"
	PhaseParse    Phase = "parse"
	PhaseDispatch Phase = "dispatch"
	PhaseObserve  Phase = "observe"
	PhaseDecide   Phase = "decide"
	PhaseAccept   Phase = "accept"
	PhaseStop     Phase = "stop"
	PhaseEnd      Phase = "end"
)
