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

	over  context.Context // ends with the call
	letGo context.CancelFunc

	// publishers are nodes that carry the goal out by commanding the actuator, beside the server itself.
	publishers []string

	mu      sync.Mutex
	servers []string // nodes that serve the action, once known
	goals   map[guard.Epoch]*action.Goal
	cancels map[guard.Epoch]context.CancelFunc
	last    *ros.Message
	wg      sync.WaitGroup
}

// cancelAnswer bounds the wait for the answer to a cancel request; the guard judges earlier.
const cancelAnswer = 10 * time.Second

// start sends the goal of an epoch without blocking; answers go to the guard.
func (a *actionRun) start(epoch guard.Epoch) error {
	ctx, cancel := context.WithCancel(a.b.robot.background)
	a.mu.Lock()
	if a.goals == nil {
		a.goals, a.cancels = map[guard.Epoch]*action.Goal{}, map[guard.Epoch]context.CancelFunc{}
	}
	first := len(a.cancels) == 0
	a.cancels[epoch] = cancel
	a.mu.Unlock()
	a.wg.Go(func() { a.follow(ctx, epoch, first) })
	return nil
}

// execute runs the goal under the guard to its end.
func (a *actionRun) execute(ctx context.Context, lease *guard.Lease, cmd guard.Command) guard.Outcome {
	a.over, a.letGo = context.WithCancel(a.b.robot.background)
	defer a.end()
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
	g, err := a.client.Send(ctx, goal, action.GoalOptions{
		Sending: func(sent action.GoalID) {
			id = sent
			a.note("skill.goal_sent", id, nil) // on record before it can move anything: who finds it may have to cancel it
		},
		Feedback: func(*ros.Message) { act.Progress(epoch) },
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
	a.mu.Lock()
	a.goals[epoch] = g
	a.mu.Unlock()
	a.note("skill.goal_accepted", id, nil)
	act.Accepted(epoch)
	out, err := g.Result(ctx)
	if errors.Is(err, action.ErrResultLost) {
		// The status topic told how it ended; whether that is true is for the verification to say.
		a.call.Note("skill.result_lost", map[string]any{"error": err.Error()})
		err = nil
	}
	if err != nil {
		if ctx.Err() == nil {
			a.call.Note("skill.server_lost", map[string]any{"error": err.Error()})
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

// note records what became of a goal.
func (a *actionRun) note(kind string, id action.GoalID, more map[string]any) {
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

// cancel asks for the epoch's goal to be canceled; the answer goes to the guard.
func (a *actionRun) cancel(epoch guard.Epoch) {
	a.mu.Lock()
	g := a.goals[epoch]
	drop := a.cancels[epoch]
	a.mu.Unlock()
	if g == nil {
		// Not accepted yet: the client remembers and cancels as soon as the acceptance arrives.
		if drop != nil {
			drop()
		}
		return
	}
	a.wg.Go(func() {
		// The request goes out at once; its answer is waited for as long as the call lasts.
		ctx, cancel := context.WithTimeout(a.over, cancelAnswer)
		defer cancel()
		code, err := g.Cancel(ctx)
		if err != nil {
			return // silence: the guard's own deadline decides
		}
		a.act.guard.CancelAnswered(epoch, code == action.CancelNone || code == action.CancelGoalTerminated)
	})
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

func (a *actionRun) result() *ros.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// end lets go of what still waits for answers.
func (a *actionRun) end() {
	a.letGo()
	a.mu.Lock()
	for _, c := range a.cancels {
		c()
	}
	a.mu.Unlock()
	a.wg.Wait()
}
