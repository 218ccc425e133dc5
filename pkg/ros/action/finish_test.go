package action_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/action/actiontest"
	"agent_node/pkg/ros/mem"
)

// TestFinishWaitsForTheGoalsEnd: neither an accepted cancel nor a refused one is the end of a goal, and each is asked for again.
func TestFinishWaitsForTheGoalsEnd(t *testing.T) {
	types := actiontest.Types()
	for name, accepts := range map[string]bool{"accepts and goes on": true, "refuses": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				end := make(chan struct{})
				bus, _, c := busRig(t, types, action.ServerConfig{
					Cancel: func(*action.Handle) bool { asked.Add(1); return accepts },
					Accepted: func(h *action.Handle) {
						<-end
						if err := h.Abort(nil); err != nil {
							t.Error(err)
						}
					},
				})
				other, err := bus.NewNode("other", mem.Options{Types: types, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
				if err != nil {
					t.Fatal(err)
				}
				g, err := c.Send(t.Context(), ros.New(c.Type().Goal), action.GoalOptions{})
				if err != nil {
					t.Fatal(err)
				}
				type ended struct {
					status action.Status
					err    error
				}
				got := make(chan ended, 1)
				go func() {
					s, err := action.Finish(t.Context(), other, "a", g.ID())
					got <- ended{s, err}
				}()
				time.Sleep(10 * time.Second)
				select {
				case e := <-got:
					t.Fatalf("%v, %v, and the goal runs", e.status, e.err)
				default:
				}
				if n := asked.Load(); n < 1 || !accepts && n < 5 {
					t.Errorf("asked %d times", n)
				}
				close(end)
				if e := <-got; e.status != action.StatusAborted || e.err != nil {
					t.Errorf("%v, %v", e.status, e.err)
				}
				if _, err := action.Finish(t.Context(), other, "a", action.GoalID{9}); !errors.Is(err, action.ErrGoalForgotten) {
					t.Errorf("of a goal that the server does not know: %v", err)
				}
				if _, err := action.Finish(t.Context(), other, "nowhere", g.ID()); !errors.Is(err, action.ErrServerLost) {
					t.Errorf("without a server: %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := action.Finish(ctx, other, "nowhere", g.ID()); !errors.Is(err, context.Canceled) {
					t.Errorf("given up: %v", err)
				}
			})
		})
	}
}
