package main

import (
	"errors"
	"log/slog"
	"time"

	"agent_node/pkg/shell"
)

type planCmd struct {
	Task       string        `arg:"" help:"The task in plain language."`
	Sim        bool          `help:"No ROS at all: the built-in robot and the node in this process."`
	Seed       uint64        `help:"Seed of the built-in robot (with --sim)."`
	Param      []string      `short:"p" sep:"none" placeholder:"NAME=VALUE" help:"A parameter of the built-in robot, such as start.random=true, objects.random=true or fault.gripper_slip=true (with --sim). May be repeated."`
	Context    string        `help:"What else the planner should know; data, without authority."`
	MaxSteps   uint32        `help:"At most so many steps. Default: the node's limit."`
	Action     string        `default:"/agent_node/decompose" help:"The node's action (without --sim)."`
	WaitServer time.Duration `default:"10s" help:"How long to wait for the action server."`
	JSON       bool          `name:"json" help:"Print the result as JSON."`
}

func (c *planCmd) Run(e *env) error {
	return e.ended(c.ask(e, shell.PlanTask{
		Action: c.Action, Task: c.Task, Context: c.Context, MaxSteps: c.MaxSteps, JSON: c.JSON, WaitServer: c.WaitServer,
	}))
}

// ask by ROS, or with --sim inside this process.
func (c *planCmd) ask(e *env, t shell.PlanTask) (int, error) {
	if c.Sim {
		a, err := e.parsed()
		if err != nil {
			return shell.ExitUsage, err
		}
		return shell.PlanSim(e.ctx, shell.Sim{Args: a, Robot: c.Param, Seed: c.Seed, Rate: 1, Logger: slog.New(slog.DiscardHandler)}, t, e.out)
	}
	host, closeHost, err := e.visit("plan")
	if err != nil {
		return shell.ExitFailed, err
	}
	code, err := shell.Plan(e.ctx, host, t, e.out)
	return code, errors.Join(err, closeHost())
}
