package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/robot"
)

// Sim says how run --sim sets its world up.
type Sim struct {
	Args  *args.Args // parameters and remaps of the node
	Robot []string   // parameters of the built-in robot, "name=value" or "name:=value" each
	Seed  uint64
	Rate  float64 // simulated seconds per real one; 0: 1
	// Clock has everything go by simulated time at a rate of 1 too: no more of it passes than the node has heard of, however busy the machine is.
	Clock  bool
	Record io.Writer
	Logger *slog.Logger
}

// shutdownPatience bounds the way down: rest first.
const shutdownPatience = 30 * time.Second

// heldUp is how long a listener may hold up simulated time: one that waits for something itself must not stop it for good.
const heldUp = 50 * time.Millisecond

// RunSim runs one task with the built-in robot and the node in this process, with no ROS at all.
func RunSim(ctx context.Context, s Sim, t Task, out io.Writer) (int, error) {
	return inSim(ctx, s, func(person ros.Node, agent string) (int, error) {
		t.Action = agent + "/execute_task"
		if t.Resume != "" {
			t.Action = agent + "/resume_task"
		}
		return Run(ctx, person, t, out)
	})
}

// PlanSim asks for one plan in the same way.
func PlanSim(ctx context.Context, s Sim, t PlanTask, out io.Writer) (int, error) {
	return inSim(ctx, s, func(person ros.Node, agent string) (int, error) {
		t.Action = agent + "/decompose"
		return Plan(ctx, person, t, out)
	})
}

// inSim starts the built-in robot and the node, and lets a person (a node of its own) ask the agent, whose full name it is told.
func inSim(ctx context.Context, s Sim, ask func(person ros.Node, agent string) (int, error)) (code int, err error) {
	bus := mem.NewBus()
	defer func() { err = errors.Join(err, bus.Close()) }()
	if s.Rate == 0 {
		s.Rate = 1
	}
	simulated := s.Clock || s.Rate != 1

	given, err := robotArgs(s.Robot)
	if err != nil {
		return ExitUsage, err
	}
	body, err := bus.NewNode("sim_robot", mem.Options{Args: given, Logger: s.Logger})
	if err != nil {
		return ExitFailed, err
	}
	var bot *robot.Robot
	clock := robottools.NewSimClock(func() time.Duration { return bot.Elapsed() })
	world := robot.Options{Seed: s.Seed, Rate: s.Rate, Clock: simulated, Record: s.Record}
	if simulated {
		world.Hold = func() {
			bus.Drain(heldUp)
			clock.Advance(heldUp)
		}
	}
	bot, err = robot.New(body, world)
	if err != nil {
		return ExitFailed, err
	}
	if unknown := bot.UnknownParameters(); len(unknown) > 0 {
		return ExitUsage, errors.Join(fmt.Errorf("the robot has no parameter %s", strings.Join(unknown, ", ")), bot.Close())
	}
	robotCtx, stopRobot := context.WithCancel(context.Background())
	robotDone := make(chan error, 1)
	go func() { robotDone <- bot.Run(robotCtx) }()
	defer func() {
		stopRobot()
		err = errors.Join(err, <-robotDone)
	}()

	ours := s.Args
	if simulated {
		ours = withSimTime(s.Args)
	}
	host, err := bus.NewNode("agent_node", mem.Options{Args: ours, Logger: s.Logger})
	if err != nil {
		return ExitFailed, err
	}
	var options node.Options
	if simulated {
		options.GuardClock = clock
	}
	agent, err := node.New(host, options)
	if err != nil {
		return ExitFailed, err
	}
	defer func() {
		down, cancel := context.WithTimeout(context.Background(), shutdownPatience)
		defer cancel()
		err = errors.Join(err, agent.Shutdown(down))
	}()
	if err := agent.Start(ctx); err != nil {
		return ExitFailed, err
	}
	person, err := bus.NewNode("shell", mem.Options{Logger: s.Logger})
	if err != nil {
		return ExitFailed, err
	}
	if err := person.UseSimTime(simulated); err != nil {
		return ExitFailed, err
	}
	name := host.Namespace() + "/" + host.Name()
	if host.Namespace() == "/" {
		name = "/" + host.Name()
	}
	return ask(person, name)
}

// robotArgs are the robot's parameters as a command line would give them: each value is YAML.
func robotArgs(list []string) (*args.Args, error) {
	argv := []string{"--ros-args"}
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		name = strings.TrimSuffix(name, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("robot parameter %q: name=value is wanted, such as fault.gripper_slip=true", p)
		}
		if name == "rate" || name == "publish_clock" {
			return nil, fmt.Errorf("robot parameter %q: the node must be told, too: use --rate", name)
		}
		argv = append(argv, "-p", name+":="+value)
	}
	return args.Parse(argv)
}

// withSimTime are the arguments with use_sim_time on: the node's own parameter decides.
func withSimTime(a *args.Args) *args.Args {
	out := args.Args{}
	if a != nil {
		out = *a
	}
	out.Params = append(out.Params[:len(out.Params):len(out.Params)], args.Param{Pattern: "/**", Name: "use_sim_time", Value: true})
	return &out
}
