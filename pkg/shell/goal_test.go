package shell_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
)

// Nobody serves the action: that is said after the time that was allowed, and an interrupt before it is one.
func TestWaitForTheServerEnds(t *testing.T) {
	for _, x := range []struct {
		name string
		send func(ctx context.Context, node *mem.Node, out *bytes.Buffer) (int, error)
	}{
		{"run", func(ctx context.Context, node *mem.Node, out *bytes.Buffer) (int, error) {
			return shell.Run(ctx, node, shell.Task{Action: "/a/execute_task", Task: "wait", WaitServer: 10 * time.Second}, out)
		}},
		{"plan", func(ctx context.Context, node *mem.Node, out *bytes.Buffer) (int, error) {
			return shell.Plan(ctx, node, shell.PlanTask{Action: "/a/decompose", Task: "wait", WaitServer: 10 * time.Second}, out)
		}},
	} {
		for _, interrupted := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				node, err := mem.NewBus().NewNode("person", mem.Options{})
				fatal(t, err)
				defer func() { fatal(t, node.Close()) }()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if interrupted {
					time.AfterFunc(3*time.Second, cancel)
				}
				var out bytes.Buffer
				begin := time.Now()
				code, err := x.send(ctx, node, &out)
				took := time.Since(begin)
				switch {
				case code != shell.ExitFailed || err == nil || out.Len() > 0:
					t.Errorf("%s: %d, %v, printed %q", x.name, code, err, &out)
				case interrupted && (!errors.Is(err, context.Canceled) || took > 4*time.Second):
					t.Errorf("%s, interrupted: %v after %v", x.name, err, took)
				case !interrupted && (!strings.Contains(err.Error(), "no action server /a/") || took < 9*time.Second || took > 11*time.Second):
					t.Errorf("%s: %v after %v", x.name, err, took)
				}
			})
		}
	}
}
