// Command agent_node is the robot agent: a ROS 2 node, and a few tools around it.
//
//	agent_node [--ros-args …]        the node (subcommand node is the default)
//	agent_node --ros1 [name:=value …]  the same on ROS 1
//	agent_node run [--sim] "TASK"    one task from the shell
//	agent_node plan [--sim] "TASK"   a plan for a task, looked at and not carried out
//	agent_node tools                 the tools of a profile
//	agent_node profile check FILE    is a profile sound, and does it fit the robot that is there?
//	agent_node doctor                what is wrong here, and what to do about it
//	agent_node trace show|verify|replay|resume|export FILE
//	agent_node eval SUITE            what is unsafe reaches no actuator, what is safe is not refused
//	agent_node watchdog [--ros-args …]
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"

	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/shell"
)

type cli struct {
	ROS1 bool `name:"ros1" env:"AGENT_NODE_ROS1" help:"Work on ROS 1: ROS_MASTER_URI, rosrun's and roslaunch's arguments."`

	Node    nodeCmd    `cmd:"" default:"1" help:"Run the node (the default)."`
	Run     runCmd     `cmd:"" help:"Send one task, show its progress and print the result."`
	Plan    planCmd    `cmd:"" help:"Ask for a plan and print it as a tree, with what is predicted of each step. Nothing moves."`
	Tools   toolsCmd   `cmd:"" help:"List the tools of a profile."`
	Profile profileCmd `cmd:"" help:"Work on robot profiles."`
	Doctor  doctorCmd  `cmd:"" help:"Say what is wrong with prefix, network, graph, clock, profile, endpoint and traces, and what to do."`
	Trace   traceCmd   `cmd:"" help:"Read, check, replay, export and resume sessions' traces."`
	Eval    evalCmd    `cmd:"" help:"Try a suite of scenarios: what is unsafe reaches no actuator, what is safe is not refused. Counted at the robot."`

	Watchdog watchdogCmd `cmd:"" help:"Watch a node from a process of its own: when it dies or hangs, cancel its goals and stop the robot."`
}

// exit ends the program with a code that is no error of its own.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usage is an error of whoever called the program: it ends with shell.ExitUsage.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// env is what the subcommands share.
type env struct {
	ctx     context.Context
	rosArgs []string
	out     io.Writer
	ros1    *ros1.CommandLine // nil: ROS 2
}

func main() { os.Exit(run(os.Args[1:], shell.Screen(os.Stdout), shell.Screen(os.Stderr))) }

func run(argv []string, out, errOut io.Writer) int {
	own, rosArgs := splitRosArgs(argv)
	legacy, err := ros1Arguments(&own)
	if err != nil {
		fmt.Fprintln(errOut, "agent_node:", err)
		return shell.ExitUsage
	}
	var c cli
	code := -1
	parser, err := kong.New(&c, kong.Name("agent_node"),
		kong.Description("The robot agent. Everything behind --ros-args is for ROS: remaps, parameters, log levels."),
		kong.Writers(out, errOut), kong.Exit(func(n int) { code = n }))
	if err != nil {
		fmt.Fprintln(errOut, "agent_node:", err)
		return shell.ExitFailed
	}
	parsed, err := parser.Parse(own)
	if code >= 0 { // --help
		return code
	}
	if err != nil {
		fmt.Fprintln(errOut, "agent_node:", err)
		return shell.ExitUsage
	}
	ctx, stop := untilSignal()
	defer stop()
	e := &env{ctx: ctx, rosArgs: rosArgs, out: out}
	if legacy != nil {
		e.ros1, e.rosArgs = legacy, append(legacy.ROSArgs, rosArgs...)
	}
	err = parsed.Run(e)
	var x exit
	switch {
	case err == nil:
		return shell.ExitDone
	case errors.As(err, &x):
		return int(x)
	}
	if !errors.Is(err, shell.ErrNotInOrder) { // that has been printed
		fmt.Fprintln(errOut, "agent_node:", err)
	}
	if errors.As(err, &usage{}) {
		return shell.ExitUsage
	}
	return shell.ExitFailed
}

// ended is what a subcommand returns that came to a code or an error.
func (e *env) ended(code int, err error) error {
	switch {
	case err == nil:
		return exit(code)
	case errors.Is(err, context.Canceled) && e.ctx.Err() != nil:
		return exit(shell.ExitInterrupted)
	case code == shell.ExitUsage:
		return usage{err}
	}
	return err
}

// splitRosArgs takes what stands between --ros-args and -- out of a command line.
func splitRosArgs(argv []string) (own, rosArgs []string) {
	inside := false
	for _, a := range argv {
		switch {
		case a == "--ros-args":
			inside = true
			rosArgs = append(rosArgs, a)
		case inside && a == "--":
			inside = false
			rosArgs = append(rosArgs, a)
		case inside:
			rosArgs = append(rosArgs, a)
		default:
			own = append(own, a)
		}
	}
	return own, rosArgs
}

// ros1Arguments takes ROS 1's arguments out of a command line that is for ROS 1 by its flag, its environment, or by
// what roslaunch adds. Nil where it is not.
func ros1Arguments(own *[]string) (*ros1.CommandLine, error) {
	set, err := strconv.ParseBool(cmp.Or(os.Getenv("AGENT_NODE_ROS1"), "false"))
	if err != nil {
		return nil, fmt.Errorf("AGENT_NODE_ROS1: %w", err)
	}
	if !set && !slices.Contains(*own, "--ros1") && !ros1.Launched(*own) {
		return nil, nil
	}
	c, err := ros1.Arguments(*own)
	if err != nil {
		return nil, err
	}
	*own = c.Rest
	return &c, nil
}

type toolsCmd struct {
	Profile string `help:"Profile file, or the name of a shipped one. Default: the built-in robot's."`
	JSON    bool   `name:"json" help:"As JSON, with the schemas."`
}

func (c *toolsCmd) Run(e *env) error { return shell.Tools(c.Profile, e.types(), c.JSON, e.out) }
