package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/shell"
	"agent_node/pkg/watchdog"
)

type nodeCmd struct{}

// shutdownTime bounds the way down: every goal ends at rest first.
const shutdownTime = 45 * time.Second

// discovery is how long ROS 2's middleware takes to find the nodes of a network that works, with room to spare. Nodes that it takes longer to bring together
// still find each other, when both are active.
const discovery = 500 * time.Millisecond

// serve keeps a program up until a signal: it tells systemd, where that started it, when it is ready, that it lives, and when it stops.
func serve(ctx context.Context, log *slog.Logger, health func() error) error {
	n, err := shell.NewNotifier(os.Getenv)
	if err != nil {
		return err
	}
	if err := n.Send(ctx, "READY=1"); err != nil && ctx.Err() == nil {
		log.Warn("ready", "error", err)
	}
	n.Keep(ctx, health, log)
	<-ctx.Done()
	down, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.Send(down, "STOPPING=1"); err != nil {
		log.Warn("stopping", "error", err)
	}
	return nil
}

// Run runs the node until a signal: SIGINT, SIGTERM and SIGHUP bring the robot to rest, end every goal and leave with 0.
func (nodeCmd) Run(e *env) (err error) {
	outliveReaders()
	host, closeHost, err := e.reside("agent_node")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeHost()) }()
	n, err := node.New(host, node.Options{Discovery: discovery, Graph: e.graph()})
	if err != nil {
		return err
	}
	up, over := untilEnded(e.ctx, host)
	defer over()
	err = live(up, host.Logger(), n)
	host.Logger().Info("shutting down; the robot comes to rest first")
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	return errors.Join(err, n.Shutdown(ctx))
}

// live starts the node and keeps it up until it is told to end, which it may be while it starts: that is no error.
func live(up context.Context, log *slog.Logger, n *node.Node) error {
	if err := n.Start(up); err != nil {
		if up.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		// A node that was told to start by itself and cannot is of no use to whoever launched it: it says why and ends.
		// With autostart off, a failed transition leaves it up, to be mended and configured again.
		return err
	}
	up, fail := context.WithCancelCause(up)
	defer fail(nil)
	go func() {
		select {
		case why := <-n.Failed():
			fail(why)
		case <-up.Done():
		}
	}()
	err := serve(up, log, n.Health)
	if why := context.Cause(up); errors.Is(why, node.ErrTwin) {
		err = errors.Join(err, why)
	}
	return err
}

type watchdogCmd struct{}

// Run watches a node until a signal.
func (watchdogCmd) Run(e *env) (err error) {
	outliveReaders()
	host, closeHost, err := e.reside("agent_node_watchdog")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeHost()) }()
	w, err := watchdog.New(host)
	if err != nil {
		return err
	}
	running, end := untilEnded(e.ctx, host)
	defer end()
	served := make(chan error, 1)
	go func() { served <- serve(running, host.Logger(), w.Health) }()
	err = w.Run(running)
	end()
	return errors.Join(err, <-served, w.Close())
}
