//go:build ros2

package main

import (
	"log/slog"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/ros2"
)

// openHost makes a node on ROS 2.
func openHost(name string, a *args.Args, log *slog.Logger) (node.Host, func() error, error) {
	n, err := ros2.NewNode(name, ros2.Options{Args: a, Logger: log, Domain: -1})
	if err != nil {
		return nil, nil, err
	}
	return n, n.Close, nil
}

// installedTypes are those of the prefixes in AMENT_PREFIX_PATH.
func installedTypes() ros.TypeSource { return ros2.NewTypes() }
