package node_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/watchdog"
)

// Where a watchdog is required, one counts that could stop the robot: by the profile that the node has, though only by the name it is shipped
// under; not one that cannot use its profile.
func TestARequiredWatchdogMustBeAbleToStandIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own    string // the watchdog's own profile
		reason string
	}{
		"by the node's shipped profile": {"", "accepted"},
		"with a profile that is none":   {"/nowhere/robot.yaml", "watchdog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				bus, log := mem.NewBus(), slog.New(slog.DiscardHandler)
				h := newHouseOn(t, bus, log, "profile:=sim_robot", "watchdog.required:=true")
				list := []string{"--ros-args"}
				if c.own != "" {
					list = append(list, "-p", "profile:="+c.own)
				}
				a := must(args.Parse(list))(t)
				w := must(watchdog.New(must(bus.NewNode("agent_node_watchdog", mem.Options{Args: a, Logger: log}))(t)))(t)
				ctx, stop := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() { done <- w.Run(ctx) }()
				t.Cleanup(func() {
					stop()
					check(t, <-done)
					check(t, w.Close())
				})
				var says atomic.Pointer[watchdog.Status]
				sub := must(h.peer.CreateSubscription("/agent_node/watchdog", watchdog.MessageType, ros.LatchedQoS(), func(r ros.Received) {
					s := watchdog.ReadStatus(r.Message)
					says.Store(&s)
				}))(t)
				defer sub.Close()
				h.until("the watchdog to say whether it watches", func() bool {
					s := says.Load()
					return s != nil && (s.Watching && c.own == "" || strings.Contains(s.Text, "cannot stand in"))
				})
				// Longer than watchdog.timeout: what was granted at the start is used up meanwhile.
				got := h.run(h.client("execute_task", "agent_msgs/action/ExecuteTask"), func(m *ros.Message) { m.With("task", "drive 1.5 m forward") }).Result
				if got.Str("reason_code") != c.reason {
					t.Errorf("the goal ended as %s, want %s: %s", got.Str("reason_code"), c.reason, got.Str("answer"))
				}
			})
		})
	}
}
