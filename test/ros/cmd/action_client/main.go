//go:build ros2

// Program action_client sends goals to the action /fibonacci as it is told on stdin, and says what
// becomes of them, one JSON object a line.
package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/test/ros/cmd/internal/peer"
)

// command is one line of stdin.
type command struct {
	Do     string  // wait, send, cancel, cancel_all
	Key    string  // names the goal
	Order  int     // of send
	GiveUp float64 `json:"give_up"` // of send: seconds, 0 for none
}

type program struct {
	node   ros.Node
	client *action.Client

	mu    sync.Mutex
	goals map[string]*action.Goal
	work  sync.WaitGroup
}

// kinds name errors for the test.
var kinds = map[string]error{
	"rejected": ros.ErrRejected, "not_ready": ros.ErrNotReady, "closed": ros.ErrClosed, "server_lost": action.ErrServerLost,
	"forgotten": action.ErrGoalForgotten, "result_lost": action.ErrResultLost, "gave_up": context.DeadlineExceeded,
}

func kind(err error) string {
	for k, e := range kinds {
		if errors.Is(err, e) {
			return k
		}
	}
	return err.Error()
}

func main() {
	node := peer.Node("go_client", "", nil)
	client, err := action.NewClient(node, "fibonacci", "test_msgs/action/Fibonacci")
	if err != nil {
		peer.Fail(err)
	}
	p := &program{node: node, client: client, goals: make(map[string]*action.Goal)}
	peer.Say(map[string]any{"event": "ready"})
	peer.Commands(func(c command) { p.work.Go(func() { p.do(c) }) })
	if err := client.Close(); err != nil {
		peer.Fail(err)
	}
	p.work.Wait()
	if err := node.Close(); err != nil {
		peer.Fail(err)
	}
	peer.Say(map[string]any{"event": "closed"})
}

func (p *program) do(c command) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	say := func(event string, more map[string]any) {
		what := map[string]any{"key": c.Key, "event": event}
		for k, v := range more {
			what[k] = v
		}
		peer.Say(what)
	}
	switch c.Do {
	case "wait":
		if err := p.client.WaitReady(ctx); err != nil {
			peer.Fail(err)
		}
		say("there", nil)
	case "cancel_all":
		if err := action.CancelAll(ctx, p.node, "fibonacci"); err != nil {
			say("error", map[string]any{"error": err.Error()})
			return
		}
		say("canceled_all", nil)
	case "cancel":
		p.mu.Lock()
		g := p.goals[c.Key]
		p.mu.Unlock()
		code, err := g.Cancel(ctx)
		if err != nil {
			say("error", map[string]any{"error": kind(err)})
			return
		}
		say("cancel", map[string]any{"code": int(code)})
	case "send":
		p.send(ctx, c, say)
	default:
		peer.Fail(errors.New("unknown command " + c.Do))
	}
}

func (p *program) send(ctx context.Context, c command, say func(string, map[string]any)) {
	sending := ctx
	if c.GiveUp > 0 {
		var stop context.CancelFunc
		sending, stop = context.WithTimeout(ctx, time.Duration(c.GiveUp*float64(time.Second)))
		defer stop()
	}
	sequence := func(m *ros.Message) any {
		v, err := m.Get("sequence")
		if err != nil {
			peer.Fail(err)
		}
		return v
	}
	g, err := p.client.Send(sending, ros.New(p.client.Type().Goal).With("order", c.Order), action.GoalOptions{
		Feedback: func(m *ros.Message) { say("feedback", map[string]any{"sequence": sequence(m)}) },
		Status:   func(s action.Status) { say("status", map[string]any{"status": int(s)}) },
	})
	if err != nil {
		say("error", map[string]any{"error": kind(err)})
		return
	}
	p.mu.Lock()
	p.goals[c.Key] = g
	p.mu.Unlock()
	say("accepted", map[string]any{"id": g.ID().String()})
	o, err := g.Result(context.Background())
	if err != nil {
		say("error", map[string]any{"error": kind(err), "status": int(o.Status)})
		return
	}
	say("outcome", map[string]any{"status": int(o.Status), "sequence": sequence(o.Result)})
}
