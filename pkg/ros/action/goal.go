package action

import (
	"context"
	"sync"

	"agent_node/pkg/ros"
)

// Goal is a goal that its server has accepted, seen from its client.
type Goal struct {
	c  *Client
	id GoalID
	o  GoalOptions

	answered  chan struct{} // closed when the server has answered, or cannot any more
	accepted  chan struct{} // closed when the goal is known to be accepted
	abandoned chan struct{} // closed when the sender gave up before the answer
	terminal  chan struct{} // closed when the status topic says that the goal has ended
	done      chan struct{} // closed when the outcome is known

	refusal error // why Send fails; written before answered is closed

	telling sync.Mutex // one status callback at a time

	mu        sync.Mutex
	status    Status
	publisher string // of the status that told of this goal
	outcome   Outcome
	err       error
}

func newGoal(c *Client, id GoalID, o GoalOptions) *Goal {
	return &Goal{
		c: c, id: id, o: o,
		answered: make(chan struct{}), accepted: make(chan struct{}), abandoned: make(chan struct{}),
		terminal: make(chan struct{}), done: make(chan struct{}),
	}
}

// ID is the goal's id.
func (g *Goal) ID() GoalID { return g.id }

// Done is closed when the outcome is known, or that it never will be.
func (g *Goal) Done() <-chan struct{} { return g.done }

// Status is the last state seen.
func (g *Goal) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.status
}

// Cancel asks the server to cancel the goal and waits for its answer. A code other than CancelNone is
// no error: the goal goes on, or has ended, or is canceling already (CancelGoalTerminated).
func (g *Goal) Cancel(ctx context.Context) (CancelCode, error) {
	return g.c.requestCancel(ctx, g.id)
}

// Result waits for the goal's outcome. Without one the error is a *GoalError that wraps
// ErrServerLost, ErrGoalForgotten or ErrResultLost, then with the terminal status in
// the Outcome; or it wraps ros.ErrClosed, or is ctx's.
func (g *Goal) Result(ctx context.Context) (Outcome, error) {
	select {
	case <-g.done:
	default:
		select {
		case <-g.done:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.outcome, g.err
}

// mute reports whether nobody listens any more: the outcome is known or the sender gave up.
func (g *Goal) mute() bool {
	select {
	case <-g.done:
		return true
	case <-g.abandoned:
		return true
	default:
		return false
	}
}

// abandon is called when the sender's time is up; false if the answer came first.
func (g *Goal) abandon() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.answered:
		return false
	default:
	}
	g.c.orphan.add()
	close(g.abandoned)
	return true
}

// answer ends Send's wait: the goal is accepted, or is refused with an error.
func (g *Goal) answer(refusal error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.answered:
		return
	default:
	}
	g.refusal = refusal
	close(g.answered)
}

// seen takes a state from the status topic.
func (g *Goal) seen(s Status, publisher string) {
	g.mu.Lock()
	g.publisher = publisher
	g.mu.Unlock()
	g.tell(s)
}

// tell notes a state and tells the sender. States go forward only: an array that
// was overtaken by a response says nothing new.
func (g *Goal) tell(s Status) {
	g.telling.Lock()
	defer g.telling.Unlock()
	g.mu.Lock()
	if s <= g.status || g.status.Terminal() || s > StatusAborted {
		g.mu.Unlock()
		return
	}
	first := g.status == StatusUnknown
	g.status = s
	g.mu.Unlock()
	if first {
		close(g.accepted)
	}
	if s.Terminal() {
		close(g.terminal)
	}
	if g.o.Status != nil && !g.mute() {
		g.o.Status(s)
	}
}

// finish makes the outcome known.
func (g *Goal) finish(o Outcome, err error) {
	if err == nil {
		g.tell(o.Status)
	}
	g.mu.Lock()
	g.outcome, g.err = o, err
	g.mu.Unlock()
	close(g.done)
}

func (g *Goal) fail(err error, detail string) {
	s := g.Status()
	var o Outcome
	if s.Terminal() {
		o.Status = s
	}
	g.finish(o, &GoalError{ID: g.id, Status: s, Err: err, Detail: detail})
}

// result reads a get_result response.
func (g *Goal) result(response *ros.Message) (Outcome, error) {
	status := Status(response.Int("status"))
	if status == StatusUnknown {
		return Outcome{}, &GoalError{ID: g.id, Status: g.Status(), Err: ErrGoalForgotten}
	}
	if !status.Terminal() {
		return Outcome{}, &GoalError{ID: g.id, Status: g.Status(), Err: ErrResultLost, Detail: "the server's answer is " + status.String()}
	}
	return Outcome{Status: status, Result: response.Msg("result")}, nil
}
