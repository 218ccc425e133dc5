package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// Errors of transitions.
var (
	// ErrIllegal is wrapped when a transition does not exist in the node's state.
	ErrIllegal = errors.New("lifecycle: illegal transition")
	// ErrBusy is wrapped when another transition is under way.
	ErrBusy = errors.New("lifecycle: busy")
)

// Error says which transition did not lead where it should.
type Error struct {
	Transition string // its label, or its number where it has none
	From       State
	// State is where the node is now.
	State State
	// Err is what the callback returned, ErrIllegal or ErrBusy.
	Err error
}

func (e *Error) Error() string {
	return fmt.Sprintf("lifecycle: %s from %s: now %s: %v", e.Transition, e.From, e.State, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// failure marks an error as a refusal that leaves the node sound.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// Failure makes a callback end with FAILURE: the transition does not happen, the node goes
// back to where it was, and nothing is broken. Any other error is an ERROR: the Error callback
// runs, and the node is unconfigured or finalized after it.
func Failure(err error) error { return failure{err} }

// Callbacks do the work of transitions. Each may be nil, and then succeeds. A panic
// is an error. ctx ends with the request's time limit or the machine's Close, whichever
// comes first; a callback that brings a robot to rest must not be stopped by that.
type Callbacks struct {
	Configure  func(ctx context.Context) error
	Cleanup    func(ctx context.Context) error
	Activate   func(ctx context.Context) error
	Deactivate func(ctx context.Context) error
	// Shutdown is told the state that the node comes from.
	Shutdown func(ctx context.Context, from State) error
	// Error cleans up after a callback's error: nil leads to unconfigured, an error to finalized.
	// Without it the node is finalized.
	Error func(ctx context.Context, from State, cause error) error
	// Changed, where given, is told of each change of state, in order. It must not block or cause a transition.
	Changed func(from, to State)
}

// Machine is the life cycle of one node. Its methods are safe for concurrent use.
type Machine struct {
	node ros.Node
	cb   Callbacks
	log  *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc

	mu    sync.Mutex
	state State
	// under is closed when the transition under way ends; nil while the node rests.
	under chan struct{}

	remote remote
}

// New starts a node's life cycle, unconfigured, and serves it.
func New(node ros.Node, cb Callbacks) (*Machine, error) {
	m := &Machine{node: node, cb: cb, log: node.Logger(), state: Unconfigured}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	if err := m.remote.start(m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close takes the services down. It makes no transition: shut the node down before.
func (m *Machine) Close() error {
	m.cancel()
	return m.remote.stop()
}

// State is the state now; a transition state while a callback runs.
func (m *Machine) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Configure leads from unconfigured to inactive.
func (m *Machine) Configure(ctx context.Context) error { return m.Trigger(ctx, Configure) }

// Cleanup leads from inactive to unconfigured.
func (m *Machine) Cleanup(ctx context.Context) error { return m.Trigger(ctx, Cleanup) }

// Activate leads from inactive to active.
func (m *Machine) Activate(ctx context.Context) error { return m.Trigger(ctx, Activate) }

// Deactivate leads from active to inactive.
func (m *Machine) Deactivate(ctx context.Context) error { return m.Trigger(ctx, Deactivate) }

// Shutdown leads from any primary state to finalized. It waits for a transition that
// is under way, and does nothing in finalized.
func (m *Machine) Shutdown(ctx context.Context) error {
	for {
		m.mu.Lock()
		state, under := m.state, m.under
		m.mu.Unlock()
		switch {
		case under != nil:
			select {
			case <-under:
			case <-ctx.Done():
				return &Error{Transition: "shutdown", From: state, State: state, Err: errors.Join(ErrBusy, ctx.Err())}
			}
		case state == Finalized:
			return nil
		default:
			if err := m.TriggerLabel(ctx, "shutdown"); !errors.Is(err, ErrBusy) {
				return err
			}
		}
	}
}

// Trigger makes a transition and waits for its callback. A nil error means that the
// node is where the transition leads to.
func (m *Machine) Trigger(ctx context.Context, t Transition) error {
	return m.change(ctx, fmt.Sprintf("%s (%d)", t, t), func(from State) (edge, bool) { return requested(from, t) })
}

// TriggerLabel makes the transition of that label out of the node's state.
func (m *Machine) TriggerLabel(ctx context.Context, label string) error {
	return m.change(ctx, fmt.Sprintf("%q", label), func(from State) (edge, bool) { return labelled(from, label) })
}

func (m *Machine) change(ctx context.Context, what string, find func(State) (edge, bool)) error {
	m.mu.Lock()
	from := m.state
	e, ok := find(from)
	switch {
	case m.under != nil:
		m.mu.Unlock()
		return &Error{Transition: what, From: from, State: from, Err: ErrBusy}
	case !ok:
		m.mu.Unlock()
		return &Error{Transition: what, From: from, State: from, Err: ErrIllegal}
	}
	m.under = make(chan struct{})
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		close(m.under)
		m.under = nil
		m.mu.Unlock()
	}()

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(m.ctx, stop)()

	m.enter(e)
	err := m.run(ctx, e)
	o := outcomeOf(err)
	m.enter(ended(e.to, o))
	if o == errored {
		m.log.Error("lifecycle callback failed", "transition", e.label, "from", from.String(), "error", err)
		m.recover(ctx, from, err)
	}
	if err != nil {
		return &Error{Transition: e.label, From: from, State: m.State(), Err: err}
	}
	return nil
}

// recover runs the Error callback and leaves error processing.
func (m *Machine) recover(ctx context.Context, from State, cause error) {
	o := failed
	if m.cb.Error != nil {
		err := guarded(func() error { return m.cb.Error(ctx, from, cause) })
		o = outcomeOf(err)
		if err != nil {
			m.log.Error("lifecycle error processing failed", "error", err)
		}
	}
	m.enter(ended(ErrorProcessing, o))
}

// run calls the callback that belongs to the transition.
func (m *Machine) run(ctx context.Context, e edge) error {
	var f func(context.Context) error
	switch e.to {
	case Configuring:
		f = m.cb.Configure
	case CleaningUp:
		f = m.cb.Cleanup
	case Activating:
		f = m.cb.Activate
	case Deactivating:
		f = m.cb.Deactivate
	case ShuttingDown:
		if m.cb.Shutdown != nil {
			f = func(ctx context.Context) error { return m.cb.Shutdown(ctx, e.from) }
		}
	case Unknown, Unconfigured, Inactive, Active, Finalized, ErrorProcessing:
	}
	if f == nil {
		return nil
	}
	return guarded(func() error { return f(ctx) })
}

func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("lifecycle: callback panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

func outcomeOf(err error) outcome {
	var refusal failure
	switch {
	case err == nil:
		return success
	case errors.As(err, &refusal):
		return failed
	default:
		return errored
	}
}

// enter moves along the edge and tells everybody. Only the goroutine whose transition is under way calls it.
func (m *Machine) enter(e edge) {
	m.mu.Lock()
	m.state = e.to
	m.mu.Unlock()
	m.remote.publish(m, e, time.Now())
	if m.cb.Changed != nil {
		m.cb.Changed(e.from, e.to)
	}
}
