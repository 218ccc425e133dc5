package main

import (
	"context"
	"log/slog"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/ros1"
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
