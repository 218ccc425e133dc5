//go:build ros2

package lifecycle_test

import (
	"io"
	"log/slog"
	"os"
	"strconv"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle/lifecycletest"
	"agent_node/pkg/ros/ros2"
)

// TestSuiteOverROS2 runs the suite between nodes with an rcl context each, as in several processes.
func TestSuiteOverROS2(t *testing.T) {
	t.Setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
	domain := 1 + os.Getpid()%99
	if d, err := strconv.Atoi(os.Getenv("DOMAIN")); err == nil {
		domain = d
	}
	types := ros2.NewTypes()
	for _, c := range lifecycletest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			c.Run(t, func(t *testing.T, name string) ros.Node {
				t.Helper()
				n, err := ros2.NewNode(name, ros2.Options{Domain: domain, Types: types, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := n.Close(); err != nil {
						t.Errorf("close node: %v", err)
					}
				})
				return n
			})
		})
	}
}
