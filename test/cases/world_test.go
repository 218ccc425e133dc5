//go:build !race

package cases

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/physics"
	"agent_node/sim/robot"
)

// house is a robot, a node and a caller of their own.
type house struct {
	t      *testing.T
	bot    *robot.Robot
	client *action.Client
	path   []physics.Truth // twenty times a second
}

func open(t *testing.T, battery float64) *house {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	bus := mem.NewBus()
	t.Cleanup(func() { check(t, bus.Close()) })
	body, err := bus.NewNode("sim_robot", mem.Options{Logger: log})
	fatal(t, err)
	bot, err := robot.New(body, robot.Options{Seed: 11})
	fatal(t, err)
	if battery > 0 {
		fatal(t, bot.SetParameter("sim.charge", battery))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	t.Cleanup(func() { cancel(); check(t, <-done) })
	a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + t.TempDir()})
	fatal(t, err)
	host, err := bus.NewNode("agent_node", mem.Options{Args: a, Logger: log})
	fatal(t, err)
	agent, err := node.New(host, node.Options{})
	fatal(t, err)
	t.Cleanup(func() {
		down, stop := context.WithTimeout(context.Background(), 30*time.Second)
		defer stop()
		check(t, agent.Shutdown(down))
	})
	fatal(t, agent.Start(context.Background()))
	caller, err := bus.NewNode("caller", mem.Options{Logger: log})
	fatal(t, err)
	client, err := action.NewClient(caller, "/agent_node/execute_task", "agent_msgs/action/ExecuteTask")
	fatal(t, err)
	t.Cleanup(func() { check(t, client.Close()) })
	wait, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	fatal(t, client.WaitReady(wait))
	time.Sleep(1500 * time.Millisecond) // until odometry and joints are seen at rest
	return &house{t: t, bot: bot, client: client}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run sends a task and waits for its result, watching the truth.
func (h *house) run(task string) *ros.Message {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	watch, stop := context.WithCancel(ctx)
	seen := make(chan []physics.Truth, 1)
	go func() {
		var path []physics.Truth
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			path = append(path, h.bot.Truth())
			select {
			case <-tick.C:
			case <-watch.Done():
				seen <- append(path, h.bot.Truth())
				return
			}
		}
	}()
	goal := ros.New(h.client.Type().Goal).With("task", task)
	g, err := h.client.Send(ctx, goal, action.GoalOptions{})
	fatal(h.t, err)
	out, err := g.Result(ctx)
	fatal(h.t, err)
	stop()
	h.path = <-seen
	return out.Result
}
