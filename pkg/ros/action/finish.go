package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/ros"
)

// insistEvery is how often Finish asks for a cancel.
const insistEvery = time.Second

// unseenAfter is how long a server may take to come into sight.
const unseenAfter = 3 * time.Second

// Finish cancels a goal, whoever sent it, again and again until it is known to have ended, and returns its terminal status. Without
// one the error is a *GoalError that wraps ErrGoalForgotten (the server does not know it) or ErrServerLost (nobody serves the action),
// or it is ctx's. A cancel's answer alone is no end: a goal that is canceling already answers as one that has ended.
func Finish(ctx context.Context, node ros.Node, name string, id GoalID) (status Status, err error) {
	n, err := namesOf(node, name)
	if err != nil {
		return StatusUnknown, err
	}
	client, err := node.CreateClient(n.cancelGoal, cancelType)
	if err != nil {
		return StatusUnknown, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ended := make(chan Status, 1)
	sub, err := node.CreateSubscription(n.status, statusType, clientStatusQoS(), func(r ros.Received) {
		for _, m := range r.Message.Msgs("status_list") {
			if s := Status(m.Int("status")); goalID(m, "goal_info.goal_id") == id && s.Terminal() {
				select {
				case ended <- s:
				default:
				}
			}
		}
	})
	if err != nil {
		return StatusUnknown, err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()

	answers := make(chan error, 1)
	ask := func() {
		go func() {
			attempt, stop := context.WithTimeout(ctx, insistEvery)
			defer stop()
			response, err := client.Call(attempt, ros.New(client.Type().Request).With("goal_info.goal_id", id.fields()))
			if err == nil && CancelCode(response.Int("return_code")) == CancelUnknownGoal {
				err = ErrGoalForgotten
			}
			answers <- err
		}()
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	asking, askedAt, seenAt, limit := false, time.Time{}, time.Now(), unseenAfter
	defer func() {
		if asking {
			if err := <-answers; err != nil {
				node.Logger().Debug("cancel", "action", name, "goal", id, "error", err)
			}
		}
	}()
	for {
		switch now := time.Now(); {
		case client.Ready():
			seenAt, limit = now, lostAfter
			if !asking && now.Sub(askedAt) >= insistEvery {
				asking, askedAt = true, now
				ask()
			}
		case now.Sub(seenAt) >= limit:
			return StatusUnknown, &GoalError{ID: id, Err: ErrServerLost, Detail: fmt.Sprintf("no server of %s for %v", name, limit)}
		}
		select {
		case s := <-ended:
			return s, nil
		case err := <-answers:
			asking = false
			if errors.Is(err, ErrGoalForgotten) {
				return StatusUnknown, &GoalError{ID: id, Err: ErrGoalForgotten}
			}
		case <-look.C:
		case <-ctx.Done():
			return StatusUnknown, ctx.Err()
		}
	}
}
