package node_test

import (
	"context"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// A client that has a result in hand sends the next goal at once: under the reject policy, too, the place is free by then.
func TestGoalsInARowAreAllAccepted(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	client := must(action.NewClient(h.peer, "/agent_node/execute_task", "agent_msgs/action/ExecuteTask"))(t)
	t.Cleanup(func() { check(t, client.Close()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check(t, client.WaitReady(ctx))
	for i := range 200 {
		goal := ros.New(client.Type().Goal).With("task", "what is the battery level?").With("dry_run", true)
		sent, err := client.Send(ctx, goal, action.GoalOptions{})
		if err != nil {
			t.Fatalf("goal %d: %v", i, err)
		}
		if _, err := sent.Result(ctx); err != nil {
			t.Fatalf("result %d: %v", i, err)
		}
	}
}
