//go:build ros2

package main

import (
	"log/slog"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/ros2"
)

func newNode(a *args.Args, log *slog.Logger) (ros.Node, error) {
	n, err := ros2.NewNode("sim_robot", ros2.Options{Args: a, Domain: ros2.DomainFromEnvironment, Logger: log})
	if err != nil {
		return nil, err
	}
	return n, nil
}
