package action_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/action/actiontest"
	"agent_node/pkg/ros/mem"
)

// busRig is a server and a client with hooks between them.
func busRig(t *testing.T, types ros.TypeSource, cfg action.ServerConfig) (*mem.Bus, *action.Server, *action.Client) {
	t.Helper()
	bus := mem.NewBus()
	t.Cleanup(func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	})
	options := mem.Options{Types: types, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	sn, err := bus.NewNode("server", options)
	if err != nil {
		t.Fatal(err)
	}
	cn, err := bus.NewNode("client", options)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Name, cfg.Type = "a", actiontest.Type
	s, err := action.NewServer(sn, cfg)
	if err != nil {
		t.Fatal(err)
	}
	c, err := action.NewClient(cn, "a", actiontest.Type)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return bus, s, c
}

// TestAcceptResponseLeavesBeforeAcceptedIsPublished holds the response back and looks.
func TestAcceptResponseLeavesBeforeAcceptedIsPublished(t *testing.T) {
	types := actiontest.Types()
	synctest.Test(t, func(t *testing.T) {
		started := make(chan struct{})
		bus, _, c := busRig(t, types, action.ServerConfig{Accepted: func(h *action.Handle) {
			close(started)
			if err := h.Succeed(nil); err != nil {
				t.Error(err)
			}
		}})
		var mu sync.Mutex
		var events []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, s)
		}
		release := make(chan struct{})
		bus.SetHooks(mem.Hooks{
			Response: func(service, _, _ string, _ *ros.Message) bool {
				if strings.HasSuffix(service, "send_goal") {
					<-release
					note("response")
				}
				return true
			},
			Deliver: func(topic, _, _ string, _ *ros.Message) bool {
				if strings.HasSuffix(topic, "status") {
					note("status")
				}
				return true
			},
		})
		sent := make(chan error, 1)
		go func() {
			_, err := c.Send(t.Context(), ros.New(c.Type().Goal), action.GoalOptions{})
			sent <- err
		}()
		synctest.Wait()
		mu.Lock()
		if len(events) > 0 {
			t.Errorf("before the response has left: %v", events)
		}
		mu.Unlock()
		select {
		case <-started:
			t.Error("the goal began before its response had left")
		default:
		}
		close(release)
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		<-started
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(events) < 2 || events[0] != "response" {
			t.Errorf("events %v, want the response first", events)
		}
	})
}

// TestFifteenMinutesIsHowLongResultsAreKept looks at both sides of the default limit.
func TestFifteenMinutesIsHowLongResultsAreKept(t *testing.T) {
	types := actiontest.Types()
	synctest.Test(t, func(t *testing.T) {
		_, _, c := busRig(t, types, action.ServerConfig{Accepted: func(h *action.Handle) {
			if err := h.Succeed(nil); err != nil {
				t.Error(err)
			}
		}})
		g, err := c.Send(t.Context(), ros.New(c.Type().Goal), action.GoalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Result(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			wait time.Duration
			code action.CancelCode
		}{
			{action.DefaultResultTimeout - time.Millisecond, action.CancelGoalTerminated},
			{2 * time.Millisecond, action.CancelUnknownGoal},
		} {
			time.Sleep(x.wait) // the bubble's time
			synctest.Wait()
			if code, err := g.Cancel(t.Context()); err != nil || code != x.code {
				t.Errorf("after %v more: %v %v, want %v", x.wait, code, err, x.code)
			}
		}
	})
}

// TestLossIsToldInTime checks the client's limits against the bubble's clock.
func TestLossIsToldInTime(t *testing.T) {
	types := actiontest.Types()
	for _, x := range []struct {
		name   string
		after  func(f *actiontest.Fake, id action.GoalID) error
		want   error
		within time.Duration
	}{
		{"server vanished", func(f *actiontest.Fake, _ action.GoalID) error { return f.Close() }, action.ErrServerLost, 1500 * time.Millisecond},
		{"result never sent", func(f *actiontest.Fake, id action.GoalID) error { return f.Publish(id, action.StatusCanceled) }, action.ErrResultLost, 3 * time.Second},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := connect(types)
				f := &actiontest.Fake{}
				if err := f.Open(nodes(t, "server"), "a", actiontest.Type); err != nil {
					t.Fatal(err)
				}
				c, err := action.NewClient(nodes(t, "client"), "a", actiontest.Type)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				}()
				g, err := c.Send(t.Context(), ros.New(c.Type().Goal), action.GoalOptions{})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				if err := x.after(f, g.ID()); err != nil {
					t.Fatal(err)
				}
				_, err = g.Result(t.Context())
				if took := time.Since(start); !errors.Is(err, x.want) || took > x.within {
					t.Errorf("%v after %v, want %v within %v", err, took, x.want, x.within)
				}
			})
		})
	}
}
