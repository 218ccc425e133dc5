package node_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/mem"
)

// caller is a client with a node of its own, as a process has it.
type caller struct {
	node   ros.Node
	client *action.Client
}

func newCaller(t *testing.T, bus *mem.Bus, name string) caller {
	t.Helper()
	n := must(bus.NewNode(name, mem.Options{Logger: slog.New(slog.DiscardHandler)}))(t)
	c := must(action.NewClient(n, "/agent_node/execute_task", "agent_msgs/action/ExecuteTask"))(t)
	check(t, c.WaitReady(t.Context()))
	return caller{n, c}
}

// vanish takes the client and its node away.
func (c caller) vanish(t *testing.T) {
	t.Helper()
	check(t, c.client.Close())
	check(t, c.node.Close())
}

func (c caller) send(t *testing.T, task string, timeout time.Duration) *action.Goal {
	t.Helper()
	m := ros.New(c.client.Type().Goal).With("task", task)
	m.SetDuration("client_timeout", timeout)
	return must(c.client.Send(t.Context(), m, action.GoalOptions{}))(t)
}

// ends hears how sessions end, by id.
type ends struct {
	mu   sync.Mutex
	said map[string]string // reason
	at   map[string]time.Time
}

func hearEnds(t *testing.T, peer ros.Node) *ends {
	t.Helper()
	e := &ends{said: map[string]string{}, at: map[string]time.Time{}}
	must(peer.CreateSubscription("/agent_node/trace", "agent_msgs/msg/TraceEvent", ros.QoS{Depth: 1000}, func(r ros.Received) {
		if r.Message.Str("kind") != "end" {
			return
		}
		var d struct{ Reason string }
		check(t, json.Unmarshal([]byte(r.Message.Str("data_json")), &d))
		e.mu.Lock()
		defer e.mu.Unlock()
		e.said[r.Message.Str("session")], e.at[r.Message.Str("session")] = d.Reason, time.Now()
	}))(t)
	return e
}

func (e *ends) of(id action.GoalID) (reason string, at time.Time) {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.said[id.String()], e.at[id.String()]
}

// watched is a house in virtual time, and who hears how goals end.
func watched(t *testing.T, test func(t *testing.T, bus *mem.Bus, h *house, e *ends), params ...string) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		h := newHouseOn(t, bus, slog.New(slog.DiscardHandler), params...)
		time.Sleep(2 * time.Second) // the robot is measured
		test(t, bus, h, hearEnds(t, h.peer))
	})
}

const limit = 2 * time.Second

func TestAGoalEndsWithItsClient(t *testing.T) {
	watched(t, func(t *testing.T, bus *mem.Bus, h *house, e *ends) {
		stays := newCaller(t, bus, "stays") // somebody else, who is there all the time
		leaves := newCaller(t, bus, "leaves")
		g := leaves.send(t, "go to the kitchen", limit)
		time.Sleep(4 * time.Second)
		left := time.Now()
		leaves.vanish(t)
		time.Sleep(8 * time.Second)
		reason, at := e.of(g.ID())
		if reason != "client_lost" || at.Sub(left) > limit+3*time.Second {
			t.Errorf("ended %q %v after the client left", reason, at.Sub(left))
		}
		if at.Sub(left) < limit {
			t.Errorf("ended %v after the client left: it had %v to come back", at.Sub(left), limit)
		}
		if v := h.bot.Truth().Twist; v.Linear != 0 {
			t.Errorf("moves on: %+v", v)
		}
		stays.vanish(t)
	})
}

func TestAGoalLivesAsLongAsItsClient(t *testing.T) {
	watched(t, func(t *testing.T, bus *mem.Bus, _ *house, _ *ends) {
		mine, other := newCaller(t, bus, "mine"), newCaller(t, bus, "other")
		g := mine.send(t, "go to the kitchen", limit)
		time.Sleep(3 * time.Second)
		other.vanish(t)
		out, err := g.Result(t.Context())
		if err != nil || out.Status != action.StatusSucceeded {
			t.Errorf("%v, %v: %s", out.Status, err, out.Result.Str("answer"))
		}
		mine.vanish(t)
	})
}

func TestAGoalWithoutThatWishOutlivesItsClient(t *testing.T) {
	watched(t, func(t *testing.T, bus *mem.Bus, _ *house, e *ends) {
		c := newCaller(t, bus, "leaves")
		g := c.send(t, "drive 1 m forward", 0)
		time.Sleep(time.Second)
		c.vanish(t)
		time.Sleep(10 * time.Second)
		if reason, _ := e.of(g.ID()); reason != "accepted" {
			t.Errorf("ended %q", reason)
		}
	})
}

func TestAClientLostInTheQueueLosesItsPlace(t *testing.T) {
	watched(t, func(t *testing.T, bus *mem.Bus, _ *house, _ *ends) {
		first, second, third := newCaller(t, bus, "first"), newCaller(t, bus, "second"), newCaller(t, bus, "third")
		a := first.send(t, "go to the kitchen", limit)
		second.send(t, "go to the office", limit)
		c := third.send(t, "where are you?", limit)
		time.Sleep(time.Second)
		second.vanish(t)
		for _, g := range []*action.Goal{a, c} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			out, err := g.Result(ctx)
			cancel()
			if err != nil || out.Status != action.StatusSucceeded {
				t.Errorf("%v, %v", out.Status, err)
			}
		}
		first.vanish(t)
		third.vanish(t)
	}, "queue_policy:=queue")
}

// Somebody who asks by the bare service, and listens to nothing, is lost from the start.
func TestACallerWhoNeverListensIsLost(t *testing.T) {
	watched(t, func(t *testing.T, bus *mem.Bus, h *house, e *ends) {
		n := must(bus.NewNode("bare", mem.Options{Logger: slog.New(slog.DiscardHandler)}))(t)
		kind := must(n.Types().Action("agent_msgs/action/ExecuteTask"))(t)
		c := must(n.CreateClient("/agent_node/execute_task/_action/send_goal", kind.SendGoal.Name))(t)
		req := ros.New(kind.SendGoal.Request)
		id := action.GoalID{1, 2, 3}
		check(t, req.Set("goal_id.uuid", id[:]))
		check(t, req.Set("goal.task", "wait 20 seconds"))
		req.Msg("goal").SetDuration("client_timeout", limit)
		if resp := must(c.Call(t.Context(), req))(t); !resp.Bool("accepted") {
			t.Fatal("refused")
		}
		time.Sleep(13 * time.Second)
		if reason, _ := e.of(id); reason != "client_lost" {
			t.Errorf("ended %q", reason)
		}
		_ = h
		check(t, n.Close())
	})
}
