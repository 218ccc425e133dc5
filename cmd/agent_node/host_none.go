//go:build !ros2

package main

import (
	"errors"
	"log/slog"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// openHost: this binary was built without ROS 2.
func openHost(string, *args.Args, *slog.Logger) (node.Host, func() error, error) {
	return nil, nil, errors.New("built without ROS 2: 'make build' builds with it; '--ros1' works on ROS 1, 'run --sim' needs none")
}

// installedTypes: none are known without ROS 2.
func installedTypes() ros.TypeSource { return nil }
