package shell_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
)

// A drafted profile is sound, finds all that it names, and the robot does as it is told by it.
func TestInitDraftsAProfileThatDrivesTheRobot(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "drafted.yaml")
	onBus(t, nil, func(t *testing.T, bus *mem.Bus, visit *mem.Node) {
		var out, say bytes.Buffer
		if err := shell.InitProfile(t.Context(), visit, shell.Init{Output: file}, &out, &say); err != nil {
			t.Fatal(err)
		}
		if err := shell.InitProfile(t.Context(), visit, shell.Init{Output: file}, &out, &say); err == nil || !strings.Contains(err.Error(), "--force") {
			t.Errorf("a file that is there: %v", err)
		}
		s, table, err := check(t, visit, shell.Check{File: file, Demand: true})
		if err != nil {
			t.Fatalf("%v\n%s", err, table)
		}
		for _, b := range s.Graph.Bindings {
			if b.Level != "ok" {
				t.Errorf("%s: %+v", b.For, b.Problems)
			}
		}

		a, err := args.Parse([]string{"--ros-args", "-p", "profile:=" + file, "-p", "policy.skill:=allow", "-p", "trace.dir:=" + dir})
		fatal(t, err)
		host, err := bus.NewNode("agent_node", mem.Options{Args: a, Logger: slog.New(slog.DiscardHandler)})
		fatal(t, err)
		agent, err := node.New(host, node.Options{})
		fatal(t, err)
		defer func() {
			if err := agent.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		fatal(t, agent.Start(t.Context()))
		for _, task := range []string{"drive 0.4 m forward", "turn left by 90 degrees", "go to the start", "what is the battery's charge?"} {
			out.Reset()
			code, err := shell.Run(t.Context(), visit, shell.Task{Action: "/agent_node/execute_task", Task: task, WaitServer: 10 * time.Second}, &out)
			if err != nil || code != shell.ExitDone {
				text, _ := os.ReadFile(file)
				t.Errorf("%s: exit %d, %v\n%s\n%s", task, code, err, &out, text)
			}
		}
		end := planned(t, visit, "move_arm", `{"joints":[0.3,-1.6,2.4,-2.3,-1.57,0.1]}`, "gripper", `{"open":false}`)
		if end.Int("outcome") != 1 {
			text, _ := end.MarshalJSON()
			t.Errorf("%s", text)
		}
	})
}

// planned carries out calls in order, tool and arguments, and returns the result.
func planned(t *testing.T, peer ros.Node, calls ...string) *ros.Message {
	t.Helper()
	client, err := action.NewClient(peer, "/agent_node/execute_task", "agent_msgs/action/ExecuteTask")
	fatal(t, err)
	defer client.Close()
	fatal(t, client.WaitReady(t.Context()))
	stepType, err := peer.Types().Message("agent_msgs/msg/PlanStep")
	fatal(t, err)
	var steps []*ros.Message
	for i := 0; i < len(calls); i += 2 {
		step := ros.New(stepType).With("id", calls[i]).With("tool", calls[i]).With("arguments_json", calls[i+1])
		if i > 0 {
			step.With("depends_on", []string{calls[i-2]})
		}
		steps = append(steps, step)
	}
	g, err := client.Send(t.Context(), ros.New(client.Type().Goal).With("plan.steps", steps), action.GoalOptions{})
	fatal(t, err)
	end, err := g.Result(t.Context())
	fatal(t, err)
	return end.Result
}
