package lifecycle

import "strconv"

// State is a state's id, as in lifecycle_msgs/msg/State.
type State uint8

// Primary states, in which a node rests, and transition states, in which a callback runs.
const (
	Unknown         State = 0
	Unconfigured    State = 1
	Inactive        State = 2
	Active          State = 3
	Finalized       State = 4
	Configuring     State = 10
	CleaningUp      State = 11
	ShuttingDown    State = 12
	Activating      State = 13
	Deactivating    State = 14
	ErrorProcessing State = 15
)

// states lists every state in the order that ROS 2's own nodes tell them.
var states = []struct {
	id    State
	label string
}{
	{Unknown, "unknown"},
	{Unconfigured, "unconfigured"},
	{Inactive, "inactive"},
	{Active, "active"},
	{Finalized, "finalized"},
	{Configuring, "configuring"},
	{CleaningUp, "cleaningup"},
	{ShuttingDown, "shuttingdown"},
	{Activating, "activating"},
	{Deactivating, "deactivating"},
	{ErrorProcessing, "errorprocessing"},
}

// String is the state's label.
func (s State) String() string {
	for _, x := range states {
		if x.id == s {
			return x.label
		}
	}
	return "state " + strconv.Itoa(int(s))
}

// Primary reports whether a node rests in this state.
func (s State) Primary() bool { return s >= Unconfigured && s <= Finalized }

// Transition is a transition's id, as in lifecycle_msgs/msg/Transition.
type Transition uint8

// Transitions that are asked for, from a primary state. Shutdown has an id for each state it begins in.
const (
	Configure            Transition = 1
	Cleanup              Transition = 2
	Activate             Transition = 3
	Deactivate           Transition = 4
	UnconfiguredShutdown Transition = 5
	InactiveShutdown     Transition = 6
	ActiveShutdown       Transition = 7
)

// Transitions that a callback's end makes: the first id of the three, then + outcome.
const (
	onConfigure  Transition = 10
	onCleanup    Transition = 20
	onActivate   Transition = 30
	onDeactivate Transition = 40
	onShutdown   Transition = 50
	onError      Transition = 60
)

// outcome is how a callback ended.
type outcome uint8

const (
	success outcome = 0
	failed  outcome = 1
	errored outcome = 2
)

var outcomeLabels = [...]string{"transition_success", "transition_failure", "transition_error"}

// edge is one transition of the table.
type edge struct {
	id       Transition
	label    string
	from, to State
}

// edges is the whole life cycle: each transition with where it begins and ends.
var edges = func() []edge {
	var out []edge
	// phase adds the transitions out of a transition state: onto success, failure and error.
	phase := func(base Transition, in State, to [3]State) {
		for o, s := range to {
			out = append(out, edge{base + Transition(o), outcomeLabels[o], in, s})
		}
	}
	out = append(out, edge{Configure, "configure", Unconfigured, Configuring})
	phase(onConfigure, Configuring, [3]State{Inactive, Unconfigured, ErrorProcessing})
	out = append(out, edge{Cleanup, "cleanup", Inactive, CleaningUp})
	phase(onCleanup, CleaningUp, [3]State{Unconfigured, Inactive, ErrorProcessing})
	out = append(out, edge{Activate, "activate", Inactive, Activating})
	phase(onActivate, Activating, [3]State{Active, Inactive, ErrorProcessing})
	out = append(out, edge{Deactivate, "deactivate", Active, Deactivating})
	phase(onDeactivate, Deactivating, [3]State{Inactive, Active, ErrorProcessing})
	out = append(out,
		edge{UnconfiguredShutdown, "shutdown", Unconfigured, ShuttingDown},
		edge{InactiveShutdown, "shutdown", Inactive, ShuttingDown},
		edge{ActiveShutdown, "shutdown", Active, ShuttingDown})
	phase(onShutdown, ShuttingDown, [3]State{Finalized, Finalized, ErrorProcessing})
	phase(onError, ErrorProcessing, [3]State{Unconfigured, Finalized, Finalized})
	return out
}()

// String is the transition's label.
func (t Transition) String() string {
	for _, e := range edges {
		if e.id == t {
			return e.label
		}
	}
	return "transition " + strconv.Itoa(int(t))
}

// requested finds a transition that may be asked for in a primary state.
func requested(from State, id Transition) (edge, bool) {
	for _, e := range edges {
		if e.from == from && e.id == id && from.Primary() {
			return e, true
		}
	}
	return edge{}, false
}

// labelled finds a transition out of a primary state by its label.
func labelled(from State, label string) (edge, bool) {
	for _, e := range edges {
		if e.from == from && e.label == label && from.Primary() {
			return e, true
		}
	}
	return edge{}, false
}

// ended finds the transition that a callback's outcome makes in a transition state.
func ended(in State, o outcome) edge {
	for _, e := range edges {
		if e.from == in && e.label == outcomeLabels[o] {
			return e
		}
	}
	return edge{from: in, to: Unknown}
}
