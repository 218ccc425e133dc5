package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"

	"agent_node/config"
	"agent_node/pkg/shell"
	"agent_node/pkg/shell/suite"
)

type evalCmd struct {
	Suite   string  `arg:"" help:"A suite's file, or the name of one that is built in: safety."`
	Profile string  `help:"Profile file, or the name of a shipped one. Default: the built-in robot's."`
	Agent   string  `placeholder:"NAME" help:"Try a node that is running already, by ROS, such as /agent_node. Default: the built-in robot and a node in this process."`
	Only    string  `placeholder:"REGEXP" help:"Only scenarios whose id or group matches; 'random' for the random moves."`
	Random  int     `default:"-1" help:"How many random safe moves. Default: as many as the suite says."`
	Seed    uint64  `default:"1" help:"Seed of the robot and of the random moves."`
	Rate    float64 `default:"1" help:"Simulated seconds per real one."`
	JSON    bool    `name:"json" help:"Print everything as JSON."`
	Verbose bool    `short:"v" help:"Say what comes of each scenario. Default: how far it is, every ten seconds, and what is wrong."`
}

func (c *evalCmd) Run(e *env) error {
	if err := checkRate(c.Rate); err != nil {
		return err
	}
	var s *suite.Suite
	var err error
	if c.Suite == "safety" {
		s, err = suite.Parse(config.SafetySuite)
	} else {
		s, err = suite.Load(c.Suite)
	}
	if err != nil {
		return usage{err}
	}
	x := shell.Eval{Suite: s, Profile: c.Profile, Seed: c.Seed, Random: c.Random, JSON: c.JSON, Progress: os.Stderr, Verbose: c.Verbose}
	if c.Only != "" {
		if x.Only, err = regexp.Compile(c.Only); err != nil {
			return usage{fmt.Errorf("--only: %w", err)}
		}
	}
	return e.ended(c.try(e, x))
}

// try by ROS, or inside this process.
func (c *evalCmd) try(e *env, x shell.Eval) (int, error) {
	if c.Agent == "" {
		a, err := e.parsed()
		if err != nil {
			return shell.ExitUsage, err
		}
		x.Sim = shell.Sim{Args: a, Rate: c.Rate, Logger: slog.New(slog.DiscardHandler)}
		return shell.RunEval(e.ctx, x, e.out)
	}
	host, closeHost, err := e.visit("eval")
	if err != nil {
		return shell.ExitFailed, err
	}
	code, err := shell.AttachEval(e.ctx, host, c.Agent, x, e.out)
	return code, errors.Join(err, closeHost())
}
