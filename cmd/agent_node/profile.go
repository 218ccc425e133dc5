package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"agent_node/pkg/shell"
)

type profileCmd struct {
	Init   profileInitCmd   `cmd:"" help:"Draft a commented profile from the robot that is there."`
	Policy profilePolicyCmd `cmd:"" help:"List the topics, services and actions that the node uses with a profile, as a basis for an SROS 2 policy."`
	Check  profileCheckCmd  `cmd:"" help:"Is a profile sound, and does it fit the robot that is there? Faults come with file and line, then a table of what each part relies on."`
}

type profilePolicyCmd struct {
	File    string `arg:"" optional:"" help:"Profile file, or the name of a shipped one. Default: the built-in robot's."`
	Enclave string `default:"/" help:"The enclave that the node is started in."`
	JSON    bool   `name:"json" help:"As JSON, with the types."`
}

// Run lists what the node would open.
func (c *profilePolicyCmd) Run(e *env) error {
	a, err := e.parsed()
	if err != nil {
		return err
	}
	all, err := shell.AccessesOf(e.ctx, c.File, a, e.types())
	if err != nil {
		return err
	}
	return shell.PrintPolicy(all, c.Enclave, c.JSON, e.out)
}

type profileInitCmd struct {
	Output   string        `short:"o" type:"path" help:"Write it to this file. Default: print it."`
	Force    bool          `help:"Replace a file that is there."`
	Name     string        `help:"The robot's name. Default: the description's."`
	Patience time.Duration `default:"5s" help:"How long is looked and listened."`
	JSON     bool          `name:"json" help:"As JSON, with the profile's text and the remarks."`
}

// Run drafts a profile.
func (c *profileInitCmd) Run(e *env) error {
	host, closeHost, err := e.visit("init")
	if err != nil {
		return err
	}
	i := shell.Init{Output: c.Output, Force: c.Force, Name: c.Name, Patience: c.Patience, JSON: c.JSON}
	return errors.Join(shell.InitProfile(e.ctx, host, i, e.out, os.Stderr), closeHost())
}

type profileCheckCmd struct {
	File     string        `arg:"" help:"Profile file, or the name of a shipped one."`
	Offline  bool          `help:"Check the file alone."`
	Graph    bool          `help:"Judge the graph even if nothing that the profile names is there."`
	Patience time.Duration `default:"3s" help:"How long what is missing is waited for."`
	JSON     bool          `name:"json" help:"As JSON."`
}

// Run checks a profile.
func (c *profileCheckCmd) Run(e *env) error {
	given, err := e.params()
	if err != nil {
		return err
	}
	check := shell.Check{File: c.File, Look: !c.Offline, Demand: c.Graph, Patience: c.Patience, JSON: c.JSON, Types: e.types()}
	check.Namespace, _ = given["robot_namespace"].(string)
	check.FramePrefix, _ = given["frame_prefix"].(string)
	if c.Offline {
		return shell.CheckProfile(e.ctx, nil, check, e.out)
	}
	host, closeHost, err := e.visit("check")
	if err != nil {
		if c.Graph {
			return err
		}
		fmt.Fprintln(os.Stderr, "agent_node: the file alone is checked:", err)
		return shell.CheckProfile(e.ctx, nil, check, e.out)
	}
	return errors.Join(shell.CheckProfile(e.ctx, host, check, e.out), closeHost())
}
