package shell_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
	"agent_node/sim/robot"
)

// Two robots of a kind in one domain, their transforms on one /tf: each in its namespace, with its frame prefix. Each node drives
// its own and does not touch the other's.
func TestTwoNodesDriveTwoRobots(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		quiet := slog.New(slog.DiscardHandler)
		given := func(list ...string) *args.Args {
			a, err := args.Parse(append([]string{"--ros-args"}, list...))
			fatal(t, err)
			return a
		}
		var bots [2]*robot.Robot
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error, 2)
		names := [2]string{"r1", "r2"}
		for i, name := range names {
			body, err := bus.NewNode("sim_robot", mem.Options{Args: given("-r", "__ns:=/"+name, "-p", "frame_prefix:="+name+"/"), Logger: quiet})
			fatal(t, err)
			bots[i], err = robot.New(body, robot.Options{Seed: uint64(i + 1)})
			fatal(t, err)
			go func() { done <- bots[i].Run(ctx) }()
		}
		defer func() {
			stop()
			if err := errors.Join(<-done, <-done, bus.Close()); err != nil {
				t.Error(err)
			}
		}()
		for _, name := range names {
			host, err := bus.NewNode("agent_node", mem.Options{
				Args: given("-r", "__ns:=/"+name, "-p", "robot_namespace:=/"+name, "-p", "frame_prefix:="+name+"/", "-p", "trace.dir:="+dir), Logger: quiet,
			})
			fatal(t, err)
			agent, err := node.New(host, node.Options{})
			fatal(t, err)
			defer func() {
				if err := agent.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			fatal(t, agent.Start(ctx))
		}
		person, err := bus.NewNode("person", mem.Options{Logger: quiet})
		fatal(t, err)
		ask := func(name, task string) {
			var out bytes.Buffer
			code, err := shell.Run(ctx, person, shell.Task{Action: "/" + name + "/agent_node/execute_task", Task: task, WaitServer: 10 * time.Second}, &out)
			if err != nil || code != shell.ExitDone {
				t.Errorf("%s: %s: exit %d, %v\n%s", name, task, code, err, &out)
			}
		}

		still := bots[1].Truth().Pose
		before := bots[1].Counters()
		ask("r1", "drive 0.5 m forward")
		if d := bots[1].Truth().Pose.DistanceTo(still); d > 1e-6 {
			t.Errorf("the other robot moved by %g m", d)
		}
		for what, n := range bots[1].Counters() {
			if n != before[what] {
				t.Errorf("the other robot was sent %d of %s", n-before[what], what)
			}
		}

		var both sync.WaitGroup
		both.Go(func() { ask("r1", "go to the kitchen") })
		both.Go(func() { ask("r2", "take the red cube to the kitchen") })
		both.Wait()
		for i, x := range []struct{ x, y float64 }{{1.4, 1.5}, {1.4, 1.5}} {
			if p := bots[i].Truth().Pose; (p.X-x.x)*(p.X-x.x)+(p.Y-x.y)*(p.Y-x.y) > 0.1 {
				t.Errorf("%s stands at %+v", names[i], p)
			}
		}
		foreign(t, person, names)
	})
}

// foreign: no node of one namespace publishes, subscribes or serves anything in the other's.
func foreign(t *testing.T, peer ros.Node, names [2]string) {
	t.Helper()
	topics, err := peer.Graph().Topics()
	fatal(t, err)
	for topic := range topics {
		for i, own := range names {
			other := names[1-i]
			if len(topic) < len(own)+2 || topic[:len(own)+2] != "/"+own+"/" {
				continue
			}
			pubs, err := peer.Graph().Publishers(topic)
			fatal(t, err)
			subs, err := peer.Graph().Subscriptions(topic)
			fatal(t, err)
			for _, e := range append(pubs, subs...) {
				if e.Node == "/"+other+"/agent_node" || e.Node == "/"+other+"/sim_robot" {
					t.Errorf("%s is at %s", e.Node, topic)
				}
			}
		}
	}
}
