package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"agent_node/pkg/shell"
)

type runCmd struct {
	Task       string        `arg:"" help:"The task in plain language."`
	Sim        bool          `help:"No ROS at all: the built-in robot and the node in this process."`
	Seed       uint64        `help:"Seed of the built-in robot (with --sim)."`
	Param      []string      `short:"p" sep:"none" placeholder:"NAME=VALUE" help:"A parameter of the built-in robot, such as start.random=true, objects.random=true or fault.gripper_slip=true (with --sim). May be repeated."`
	Rate       float64       `default:"1" help:"Simulated seconds per real one (with --sim)."`
	Record     string        `type:"path" help:"Write the truth of the run to this file (with --sim)."`
	Criterion  []string      `sep:"none" help:"A criterion that must hold, such as 'at_place(kitchen)'. May be repeated."`
	DryRun     bool          `help:"Validate; publish nothing."`
	Action     string        `default:"/agent_node/execute_task" help:"The node's action (without --sim)."`
	WaitServer time.Duration `default:"10s" help:"How long to wait for the action server."`
	JSON       bool          `name:"json" help:"Print the result as JSON."`
	Verbose    bool          `short:"v" help:"Show the node's log (with --sim)."`
}

func (c *runCmd) Run(e *env) error {
	outliveReaders()
	if err := checkRate(c.Rate); err != nil {
		return err
	}
	t := shell.Task{Action: c.Action, Task: c.Task, Criteria: c.Criterion, DryRun: c.DryRun, JSON: c.JSON, WaitServer: c.WaitServer, Answers: person()}
	return e.ended(c.send(e, t))
}

// send sends a task by ROS, or with --sim inside this process.
func (c *runCmd) send(e *env, t shell.Task) (int, error) {
	if !c.Sim {
		return e.send("run", t)
	}
	a, err := e.parsed()
	if err != nil {
		return shell.ExitUsage, err
	}
	log := slog.New(slog.DiscardHandler)
	if c.Verbose {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	var record io.Writer
	if c.Record != "" {
		f, err := os.Create(c.Record)
		if err != nil {
			return shell.ExitFailed, err
		}
		defer f.Close()
		record = f
	}
	return shell.RunSim(e.ctx, shell.Sim{Args: a, Robot: c.Param, Seed: c.Seed, Rate: c.Rate, Record: record, Logger: log}, t, e.out)
}

// send sends a task by ROS.
func (e *env) send(what string, t shell.Task) (int, error) {
	host, closeHost, err := e.visit(what)
	if err != nil {
		return shell.ExitFailed, err
	}
	code, err := shell.Run(e.ctx, host, t, e.out)
	return code, errors.Join(err, closeHost())
}

// person is where answers are typed, where somebody is there to type them.
func person() io.Reader {
	if !shell.IsTerminal(os.Stdin) {
		return nil
	}
	return os.Stdin
}

// checkRate says what is wrong with a number of simulated seconds per real one.
func checkRate(rate float64) error {
	if !(rate > 0 && rate <= 100) {
		return usage{fmt.Errorf("--rate is %g, must be over 0 and at most 100", rate)}
	}
	return nil
}
