//go:build !ros2

package main

import (
	"errors"
	"log/slog"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

func newNode(*args.Args, *slog.Logger) (ros.Node, error) {
	return nil, errors.New("this program was built without ROS 2: build it with `make build`, " +
		"or run the robot inside the agent with `agent_node run --sim TASK`")
}
