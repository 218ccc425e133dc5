package main

import (
	"errors"
	"os"
	"time"

	"agent_node/pkg/shell"
)

type doctorCmd struct {
	Profile  string        `help:"Profile file, or the name of a shipped one. Default: the one of the parameters, or of the node that runs."`
	Patience time.Duration `default:"3s" help:"How long what is missing is waited for."`
	JSON     bool          `name:"json" help:"As JSON."`
}

// Run examines this machine and the robot in sight. Parameters behind --ros-args are taken as the node's.
func (c *doctorCmd) Run(e *env) error {
	given, err := e.params()
	if err != nil {
		return err
	}
	d := shell.Doctor{Profile: c.Profile, Params: given, Getenv: os.Getenv, Patience: c.Patience, JSON: c.JSON, Types: e.types(), ROS1: e.ros1 != nil}
	host, closeHost, err := e.visit("doctor")
	if err != nil {
		d.HostError = err
		return shell.Examine(e.ctx, d, e.out)
	}
	d.Host = host
	return errors.Join(shell.Examine(e.ctx, d, e.out), closeHost())
}
