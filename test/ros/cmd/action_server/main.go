//go:build ros2

// Program action_server serves the action /fibonacci for tests. The goal's order says what to do; see
// the constants. SIGTERM, SIGINT or the end of stdin closes the server and the node.
package main

import (
	"context"
	"flag"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/test/ros/cmd/internal/peer"
)

// Orders with a meaning of their own; negative ones are refused, the others computed.
const (
	untilCanceled  = 100 // runs until it is canceled, then ends CANCELED with what it has
	refusesCancel  = 101 // refuses cancels, and succeeds after a second and a half
	abortsWith     = 102 // aborts with the result [7]
	abortsOnCancel = 103 // runs until it is canceled, then aborts with the result [8]
	atOnce         = 104 // succeeds at once
	panics         = 105
)

const tick = 20 * time.Millisecond

func main() {
	timeout := flag.Duration("result-timeout", 0, "how long results are kept")
	flag.Parse()
	node := peer.Node("go_server", "", nil)
	server, err := action.NewServer(node, action.ServerConfig{
		Name: "fibonacci", Type: "test_msgs/action/Fibonacci", ResultTimeout: *timeout,
		Goal:     func(_ action.GoalID, goal *ros.Message) bool { return goal.Int("order") >= 0 },
		Cancel:   func(h *action.Handle) bool { return h.Goal().Int("order") != refusesCancel },
		Accepted: func(h *action.Handle) { carryOut(node, h) },
	})
	if err != nil {
		peer.Fail(err)
	}
	peer.Say(map[string]any{"event": "ready"})
	peer.Commands(func(struct{}) {})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		peer.Fail(err)
	}
	if err := node.Close(); err != nil {
		peer.Fail(err)
	}
	peer.Say(map[string]any{"event": "closed"})
}

func carryOut(node ros.Node, h *action.Handle) {
	at, err := node.Types().Action("test_msgs/action/Fibonacci")
	if err != nil {
		peer.Fail(err)
	}
	result := func(numbers ...int32) *ros.Message { return ros.New(at.Result).With("sequence", numbers) }
	end := func(err error) {
		if err != nil {
			peer.Say(map[string]any{"event": "error", "error": err.Error()})
		}
	}
	order := h.Goal().Int("order")
	h.Execute()
	switch order {
	case atOnce:
		end(h.Succeed(result(0)))
		return
	case abortsWith:
		end(h.Abort(result(7)))
		return
	case panics:
		panic("as the test wants")
	}
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	sequence := []int32{0, 1}
	for i := int64(0); ; i++ {
		switch {
		case order < untilCanceled && i >= order, order == refusesCancel && i >= 75:
			end(h.Succeed(result(sequence[:min(int(order), len(sequence))]...)))
			return
		}
		select {
		case <-ticker.C:
		case <-h.Canceling():
			// As a robot that comes to rest first.
			time.Sleep(5 * tick)
			if order == abortsOnCancel {
				end(h.Abort(result(8)))
			} else {
				end(h.Canceled(result(sequence...)))
			}
			return
		case <-h.Context().Done():
			end(h.Abort(result(9)))
			return
		}
		if len(sequence) < 40 {
			sequence = append(sequence, sequence[len(sequence)-1]+sequence[len(sequence)-2])
		}
		end(h.Feedback(ros.New(at.Feedback).With("sequence", sequence)))
	}
}
