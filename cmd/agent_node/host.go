package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/rosout"
)

// open makes a node on ROS 1 where the command line says so, else on ROS 2.
func (e *env) open(name string, a *args.Args, log *slog.Logger) (node.Host, func() error, error) {
	if e.ros1 == nil {
		return openHost(name, a, log)
	}
	n, err := ros1.NewNode(name, ros1.Options{Args: a, Logger: log, Master: e.ros1.Master, Host: e.ros1.Host})
	if err != nil {
		return nil, nil, err
	}
	return n, n.Close, nil
}

// graph names the graph that a node of this command line is part of, among those of this machine.
func (e *env) graph() string {
	if e.ros1 != nil {
		return "ros1 " + cmp.Or(e.ros1.Master, os.Getenv("ROS_MASTER_URI"))
	}
	return "ros2 " + cmp.Or(os.Getenv("ROS_DOMAIN_ID"), "0")
}

// parsed is what stands behind --ros-args.
func (e *env) parsed() (*args.Args, error) {
	a, err := args.Parse(e.rosArgs)
	if err != nil {
		return nil, usage{err}
	}
	return a, nil
}

// reside is a node for as long as the program lives, which logs to the console and on /rosout.
func (e *env) reside(name string) (node.Host, func() error, error) {
	a, err := e.parsed()
	if err != nil {
		return nil, nil, err
	}
	handler := rosout.New(rosout.FromArgs(a))
	host, closeNode, err := e.open(name, a, slog.New(handler))
	if err != nil {
		return nil, nil, err
	}
	closeHost := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return errors.Join(handler.Close(ctx), closeNode())
	}
	if err := handler.Attach(host); err != nil {
		return nil, nil, errors.Join(err, closeHost())
	}
	return host, closeHost, nil
}

// visit is a node for looking around, under a name of its own.
func (e *env) visit(what string) (node.Host, func() error, error) {
	a, err := e.parsed()
	if err != nil {
		return nil, nil, err
	}
	return e.open(fmt.Sprintf("agent_node_%s_%d", what, os.Getpid()), a.AnyName(), slog.New(slog.DiscardHandler))
}

// params are what the command line says to the agent node.
func (e *env) params() (map[string]any, error) {
	a, err := e.parsed()
	if err != nil {
		return nil, err
	}
	n, err := a.Node("agent_node", "")
	if err != nil {
		return nil, err
	}
	return n.Params, nil
}

// types are ROS 1's interface definitions where the command line is for ROS 1, else nil: the embedded ones.
func (e *env) types() ros.TypeSource {
	if e.ros1 != nil {
		return ros1.TypesFromEnvironment()
	}
	// Those of ROS 2 are whole only where agent_msgs is among them.
	if types := installedTypes(); types != nil {
		if _, err := types.Action("agent_msgs/action/ExecuteTask"); err == nil {
			return types
		}
	}
	return nil
}

// untilEnded is ctx until the graph asks the node to end, as rosnode kill does; not every transport knows such a thing.
func untilEnded(ctx context.Context, host node.Host) (context.Context, context.CancelFunc) {
	up, end := context.WithCancel(ctx)
	if n, ok := host.(interface{ Ended() <-chan struct{} }); ok {
		go func() {
			select {
			case <-n.Ended():
				end()
			case <-up.Done():
			}
		}()
	}
	return up, end
}
