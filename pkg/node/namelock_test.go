package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/watchdog"
)

// With one trace folder and on one graph a name is held once, though the nodes do not hear each other: the second fails at once and names the
// process. On another graph, with another folder, under another name, and once the first has ended, it is free.
func TestANameIsLockedInTheTraceFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := func(name, dir, graph string) *node.Node {
		bus := mem.NewBus() // each its own: they cannot hear each other
		t.Cleanup(func() { check(t, bus.Close()) })
		a := must(args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + dir}))(t)
		host := must(bus.NewNode(name, mem.Options{Args: a, Logger: slog.New(slog.DiscardHandler)}))(t)
		n := must(node.New(host, node.Options{Graph: graph}))(t)
		t.Cleanup(func() { down(t, n) })
		return n
	}
	first := made("agent_node", dir, "ros2 7")
	check(t, first.Start(t.Context()))
	second := made("agent_node", dir, "ros2 7")
	err := second.Start(t.Context())
	if !errors.Is(err, node.ErrTwin) || !strings.Contains(err.Error(), fmt.Sprintf("process %d of this machine", os.Getpid())) {
		t.Errorf("the second of the name: %v", err)
	}
	check(t, made("agent_node", dir, "ros2 8").Start(t.Context()))
	check(t, made("agent_node", t.TempDir(), "ros2 7").Start(t.Context()))
	check(t, made("other", dir, "ros2 7").Start(t.Context()))
	down(t, first)
	check(t, second.Start(t.Context()))
}

func down(t *testing.T, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	start := time.Now()
	if err := n.Shutdown(ctx); err != nil {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}

// A node that yields with no goal under way sends the robot nothing, though that moves: it is the other one that moves it.
func TestAnIdleNodeThatYieldsStopsNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	pub := must(h.peer.CreatePublisher("/cmd_vel", "geometry_msgs/msg/Twist", ros.QoS{Depth: 10}))(t)
	defer pub.Close()
	var zeros atomic.Int64
	sub := must(h.peer.CreateSubscription("/cmd_vel", "geometry_msgs/msg/Twist", ros.QoS{Depth: 100}, func(r ros.Received) {
		if r.Message.Float("angular.z") == 0 {
			zeros.Add(1)
		}
	}))(t)
	defer sub.Close()
	var turning atomic.Bool
	odom := must(h.peer.CreateSubscription("/odom", "nav_msgs/msg/Odometry", ros.DefaultQoS(), func(r ros.Received) {
		if r.Message.Float("twist.twist.angular.z") > 0.2 {
			turning.Store(true)
		}
		m := ros.New(pub.Type())
		m.Msg("angular").With("z", 0.3)
		check(t, pub.Publish(m))
	}))(t)
	defer odom.Close()
	h.until("the robot to turn", turning.Load)
	before := zeros.Load()
	h.foreign(watchdog.Beat{Claim: watchdog.ClaimHeld, Since: 1, Instance: "another", Process: watchdog.Process{PID: 4242}})
	if err := <-h.agent.Failed(); !errors.Is(err, node.ErrTwin) {
		t.Error(err)
	}
	if sent := zeros.Load() - before; sent != 0 {
		t.Errorf("it sent %d stop commands", sent)
	}
}
