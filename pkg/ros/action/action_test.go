package action_test

import (
	"io"
	"log/slog"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action/actiontest"
	"agent_node/pkg/ros/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect makes nodes on a bus of the test's own.
func connect(types ros.TypeSource) actiontest.Connect {
	bus := mem.NewBus()
	return func(t *testing.T, name string) ros.Node {
		t.Helper()
		n, err := bus.NewNode(name, mem.Options{Types: types, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Errorf("close node: %v", err)
			}
		})
		return n
	}
}

// TestSuite runs in bubbles: what takes seconds of grace takes none here, and a
// goroutine or a busy timer that outlives its goal fails the test.
func TestSuite(t *testing.T) {
	types := actiontest.Types()
	for _, c := range actiontest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.Run(t, connect(types)) })
		})
	}
}
