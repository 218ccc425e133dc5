package house

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/sim/physics"
	"agent_node/sim/robot"
)

// Options of a house. The zero value is the default world with seed 0 and the robot at the dock.
type Options struct {
	Seed uint64
	// RandomStart and RandomObjects let the robot stand and the objects lie where the seed says.
	RandomStart, RandomObjects bool
	// Robot are parameters of the robot, set before anything moves.
	Robot map[string]any
	// Node are arguments of the node, as behind --ros-args.
	Node []string
}

// House is a robot, a node and a caller.
type House struct {
	T         *testing.T
	Bot       *robot.Robot
	Execute   *action.Client
	Decompose *action.Client
	// Caller is the node that asks; it may do anything that a node may.
	Caller ros.Node
	// Path is the truth during the last goal, twenty times a second.
	Path []physics.Truth
}

// Open starts everything; the test's end takes it down again. It returns when the robot is seen at rest.
func Open(t *testing.T, o Options) *House {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	bus := mem.NewBus()
	t.Cleanup(func() { check(t, bus.Close()) })
	body, err := bus.NewNode("sim_robot", mem.Options{Logger: log})
	Fatal(t, err)
	bot, err := robot.New(body, robot.Options{Seed: o.Seed, RandomStart: o.RandomStart, RandomObjects: o.RandomObjects})
	Fatal(t, err)
	for _, name := range slices.Sorted(maps.Keys(o.Robot)) {
		Fatal(t, bot.SetParameter(name, o.Robot[name]))
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	t.Cleanup(func() { cancel(); check(t, <-done) })
	a, err := args.Parse(append([]string{"--ros-args", "-p", "trace.dir:=" + t.TempDir()}, o.Node...))
	Fatal(t, err)
	host, err := bus.NewNode("agent_node", mem.Options{Args: a, Logger: log})
	Fatal(t, err)
	agent, err := node.New(host, node.Options{})
	Fatal(t, err)
	t.Cleanup(func() {
		down, stop := context.WithTimeout(context.Background(), 30*time.Second)
		defer stop()
		check(t, agent.Shutdown(down))
	})
	Fatal(t, agent.Start(context.Background()))
	caller, err := bus.NewNode("caller", mem.Options{Logger: log})
	Fatal(t, err)
	h := &House{T: t, Bot: bot, Caller: caller}
	wait, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	for name, into := range map[string]**action.Client{"ExecuteTask": &h.Execute, "Decompose": &h.Decompose} {
		topic := map[string]string{"ExecuteTask": "execute_task", "Decompose": "decompose"}[name]
		client, err := action.NewClient(caller, "/agent_node/"+topic, "agent_msgs/action/"+name)
		Fatal(t, err)
		t.Cleanup(func() { check(t, client.Close()) })
		Fatal(t, client.WaitReady(wait))
		*into = client
	}
	time.Sleep(1500 * time.Millisecond) // until odometry and joints are seen at rest
	return h
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Fatal ends the test where there is an error.
func Fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Longest is how long a goal may take, far more than any errand needs.
const Longest = 6 * time.Minute

// Run sends a task and waits for its result.
func (h *House) Run(task string) *ros.Message {
	h.T.Helper()
	out, _ := h.Send(ros.New(h.Execute.Type().Goal).With("task", task), nil)
	return out.Result
}

// Watch sees the truth twenty times a second while a goal runs. It may change the world, and cancel the goal.
type Watch func(now physics.Truth, cancel func())

// Send sends a goal of execute_task and waits for its result, watching the truth. The time is that from the cancel to the result, 0 without one.
func (h *House) Send(goal *ros.Message, watch Watch) (out action.Outcome, stopped time.Duration) {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Longest)
	defer cancel()
	g, err := h.Execute.Send(ctx, goal, action.GoalOptions{})
	Fatal(h.T, err)
	watching, stop := context.WithCancel(ctx)
	seen := make(chan []physics.Truth, 1)
	var canceled time.Time
	ask := func() {
		if canceled.IsZero() {
			canceled = time.Now()
			if _, err := g.Cancel(ctx); err != nil {
				h.T.Error(err)
			}
		}
	}
	go func() {
		var path []physics.Truth
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			now := h.Bot.Truth()
			path = append(path, now)
			if watch != nil {
				watch(now, ask)
			}
			select {
			case <-tick.C:
			case <-watching.Done():
				seen <- append(path, h.Bot.Truth())
				return
			}
		}
	}()
	out, err = g.Result(ctx)
	ended := time.Now()
	stop()
	h.Path = <-seen
	Fatal(h.T, err)
	if !canceled.IsZero() {
		stopped = ended.Sub(canceled)
	}
	return out, stopped
}

// Ask asks for a plan and returns the result of decompose.
func (h *House) Ask(task string) *ros.Message {
	h.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	g, err := h.Decompose.Send(ctx, ros.New(h.Decompose.Type().Goal).With("task", task), action.GoalOptions{})
	Fatal(h.T, err)
	out, err := g.Result(ctx)
	Fatal(h.T, err)
	return out.Result
}

// Set sets a parameter of the robot: a fault, or where an object is put by hand.
func (h *House) Set(name string, value any) {
	h.T.Helper()
	check(h.T, h.Bot.SetParameter(name, value))
}
