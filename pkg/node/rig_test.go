package node_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/robot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// house is the built-in robot, the node and a peer on the in-process transport.
type house struct {
	t     *testing.T
	bot   *robot.Robot
	agent *node.Node
	peer  ros.Node
}

// newHouse starts all with parameters of the node ("model.kind:=scripted").
func newHouse(t *testing.T, params ...string) *house {
	t.Helper()
	return newHouseOn(t, mem.NewBus(), slog.New(slog.DiscardHandler), params...)
}

// newHouseOn starts it on a bus that somebody watches, with a log that somebody reads.
func newHouseOn(t *testing.T, bus *mem.Bus, log *slog.Logger, params ...string) *house {
	t.Helper()
	list := []string{"--ros-args", "-p", "trace.dir:=" + t.TempDir()}
	for _, p := range params {
		list = append(list, "-p", p)
	}
	a := must(args.Parse(list))(t)
	t.Cleanup(func() { check(t, bus.Close()) })
	h := &house{t: t}
	h.bot = must(robot.New(must(bus.NewNode("sim_robot", mem.Options{Logger: log}))(t), robot.Options{Seed: 7}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.bot.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		check(t, <-done)
	})
	h.agent = must(node.New(must(bus.NewNode("agent_node", mem.Options{Args: a, Logger: log}))(t), node.Options{}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check(t, h.agent.Shutdown(ctx))
	})
	check(t, h.agent.Start(t.Context()))
	h.peer = must(bus.NewNode("peer", mem.Options{Logger: log}))(t)
	return h
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// call a service of the node.
func (h *house) call(name, typeName string, fill func(*ros.Message)) *ros.Message {
	h.t.Helper()
	c := must(h.peer.CreateClient("/agent_node/"+name, typeName))(h.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	check(h.t, c.WaitReady(ctx))
	m := ros.New(c.Type().Request)
	fill(m)
	return must(c.Call(ctx, m))(h.t)
}

// client of an action of the node.
func (h *house) client(name, typeName string) *action.Client {
	h.t.Helper()
	c := must(action.NewClient(h.peer, "/agent_node/"+name, typeName))(h.t)
	h.t.Cleanup(func() { check(h.t, c.Close()) })
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	check(h.t, c.WaitReady(ctx))
	return c
}

// run an action to its end.
func (h *house) run(c *action.Client, fill func(*ros.Message)) action.Outcome {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	m := ros.New(c.Type().Goal)
	fill(m)
	g := must(c.Send(ctx, m, action.GoalOptions{}))(h.t)
	return must(g.Result(ctx))(h.t)
}
