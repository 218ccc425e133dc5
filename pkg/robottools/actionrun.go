package robottools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// actionRun is one call's goal, or goals: after an operator's pause a new one is sent in a new epoch.
type actionRun struct {
	b      *bound
	act    *actuator
	client *action.Client
	goal   *ros.Message
	call   tool.Call
	// again makes the goal of a later epoch; nil: the same goal is sent again.
	again func() (*ros.Message, error)

	// publishers are nodes that carry the goal out by commanding the actuator, beside the server itself.
	publishers []string

	mu      sync.Mutex
	servers []string // nodes that serve the action, once known
	begun   bool
	taken   bool      // the server accepted a goal
	heard   time.Time // when feedback last came
	over    bool      // the call has returned; a goal of its may go on
	last    *ros.Message
}

// cancelAnswer bounds the wait for the answer to a cancel request; the guard judges earlier.
const cancelAnswer = 10 * time.Second

// start sends the goal of an epoch without blocking; answers go to the guard. It is followed until it is known to have ended, also
// when the call has returned before that: as long as it lives, the guard does not let go of the actuator.
func (a *actionRun) start(epoch guard.Epoch) error {
	a.mu.Lock()
	first := !a.begun
	a.begun = true
	a.mu.Unlock()
	a.b.robot.stops.Go(func() { a.follow(a.b.robot.background, epoch, first) })
	return nil
}

// execute runs the goal under the guard to its end.
func (a *actionRun) execute(ctx context.Context, lease *guard.Lease, cmd guard.Command) guard.Outcome {
	defer func() {
		a.mu.Lock()
		a.over = true
		a.mu.Unlock()
	}()
	cmd.Start = a.start
	a.act.begin(a)
	defer a.act.end(a)
	return lease.Execute(ctx, cmd)
}

// follow drives one epoch from sending to its end.
func (a *actionRun) follow(ctx context.Context, epoch guard.Epoch, first bool) {
	act := a.act.guard
	goal := a.goal
	if !first && a.again != nil {
		var err error
		if goal, err = a.again(); err != nil {
			act.Rejected(epoch, err)
			return
		}
	}
	var id action.GoalID
	defer a.act.ended(epoch)
	g, err := a.client.Send(ctx, goal, action.GoalOptions{
		Sending: func(sent action.GoalID) {
			id = sent
			a.note("skill.goal_sent", id, nil) // on record before it can move anything: who finds it may have to cancel it
			a.lives(epoch, id, nil)
		},
		Feedback: func(*ros.Message) {
			a.mu.Lock()
			a.heard = time.Now()
			a.mu.Unlock()
			act.Progress(epoch)
		},
	})
	switch {
	case errors.Is(err, ros.ErrRejected):
		a.note("skill.goal_rejected", id, nil)
		act.Rejected(epoch, err)
		return
	case err != nil:
		if ctx.Err() == nil {
			act.ServerLost(epoch)
		}
		return
	}
	a.lives(epoch, id, g)
	a.mu.Lock()
	a.taken = true
	a.mu.Unlock()
	a.note("skill.goal_accepted", id, nil)
	act.Accepted(epoch)
	out, err := g.Result(ctx)
	if err != nil && !out.Status.Terminal() && !errors.Is(err, action.ErrServerLost) && !errors.Is(err, action.ErrGoalForgotten) && ctx.Err() == nil {
		// Its server is there, and does not say how it ended. It cannot be followed, so it is ended.
		a.note("skill.result_unknown", id, map[string]any{"error": err.Error()})
		out.Status, err = action.Finish(ctx, a.b.robot.node, a.client.FullName(), id)
	}
	if errors.Is(err, action.ErrResultLost) {
		// The status topic told how it ended; whether that is true is for the verification to say.
		a.note("skill.result_lost", id, map[string]any{"error": err.Error()})
		err = nil
	}
	if err != nil {
		if ctx.Err() == nil {
			a.note("skill.server_lost", id, map[string]any{"error": err.Error()})
			act.ServerLost(epoch)
		}
		return
	}
	a.mu.Lock()
	a.last = out.Result
	a.mu.Unlock()
	a.note("skill.goal_ended", id, map[string]any{"status": int(out.Status)})
	switch out.Status {
	case action.StatusSucceeded:
		act.Finished(epoch, guard.ReasonSucceeded, nil)
	case action.StatusCanceled:
		act.Finished(epoch, guard.ReasonCanceled, nil)
	default:
		act.Finished(epoch, guard.ReasonServerFailed, fmt.Errorf("the server aborted the goal%s", whatFailed(out.Result)))
	}
}

// note records what became of a goal: in the trace or, once the call is over, in the log.
func (a *actionRun) note(kind string, id action.GoalID, more map[string]any) {
	a.mu.Lock()
	over := a.over
	a.mu.Unlock()
	if over {
		a.b.robot.node.Logger().Warn("a goal that was given up", "event", kind, "goal", id.String(), "action", a.client.FullName(), "actuator", a.act.name, "more", more)
		return
	}
	data := map[string]any{"goal": id.String(), "action": a.client.FullName(), "actuator": a.act.name}
	maps.Copy(data, more)
	a.call.Note(kind, data)
}

// whatFailed quotes the error fields that results of Nav2 and ros2_control have.
func whatFailed(m *ros.Message) string {
	text := ""
	if m == nil {
		return text
	}
	for _, f := range []string{"error_code", "error_msg", "error_string"} {
		if v, err := m.Get(f); err == nil && fmt.Sprint(v) != "" && fmt.Sprint(v) != "0" {
			text += fmt.Sprintf(", %s %v", f, v)
		}
	}
	return text
}

// lives notes the goal of an epoch: from when it is sent, with its handle from when it is accepted. Before that it cannot be canceled; the
// guard remembers that it wants to.
func (a *actionRun) lives(epoch guard.Epoch, id action.GoalID, g *action.Goal) {
	a.act.lives(epoch, livingGoal{
		LiveGoal: LiveGoal{Action: a.client.FullName(), ID: id},
		cancel: func() {
			if g != nil {
				a.b.robot.stops.Go(func() { a.cancel(epoch, g) })
			}
		},
	})
}

// cancel asks for a goal to be canceled; the answer goes to the guard.
func (a *actionRun) cancel(epoch guard.Epoch, g *action.Goal) {
	ctx, cancel := context.WithTimeout(a.b.robot.background, cancelAnswer)
	defer cancel()
	code, err := g.Cancel(ctx)
	switch {
	case err != nil: // silence: the guard's own deadline decides
	case code == action.CancelUnknownGoal && !a.speaks(): // and it had accepted it
		a.act.guard.ServerLost(epoch)
	default:
		a.act.guard.CancelAnswered(epoch, code == action.CancelNone || code == action.CancelGoalTerminated)
	}
}

// speaks: feedback comes. A server that sends it and says that it does not know the goal is not taken at its word.
func (a *actionRun) speaks() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.heard) < time.Second
}

// carriedOutBy implements goalRun: the action's server itself, and whom the profile names.
func (a *actionRun) carriedOutBy(node string) bool {
	if slices.Contains(a.publishers, node) {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.servers == nil {
		nodes, err := a.client.Servers()
		if err != nil {
			return false
		}
		a.servers = nodes
	}
	return slices.Contains(a.servers, node)
}

// accepted says that the server took a goal: something may have moved, also where the goal of a later epoch was rejected.
func (a *actionRun) accepted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.taken
}

func (a *actionRun) result() *ros.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}
