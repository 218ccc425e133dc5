package ros1_test

import (
	"log/slog"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle/lifecycletest"
	"agent_node/pkg/ros/param/paramtest"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/ros1/ros1test"
)

// What is written once over ros.Node works here, too: parameters and the managed node's life.
func TestRoomsOverTheNode(t *testing.T) {
	connect := func(t *testing.T) func(t *testing.T, name string) ros.Node {
		master := ros1test.NewMaster(t, "0")
		return func(t *testing.T, name string) ros.Node {
			return newNode(t, master.URI, name, ros1.Options{Logger: slog.New(slog.DiscardHandler)})
		}
	}
	for _, c := range paramtest.Cases() {
		t.Run("parameters/"+c.Name, func(t *testing.T) { c.Run(t, connect(t)) })
	}
	for _, c := range lifecycletest.Cases() {
		t.Run("lifecycle/"+c.Name, func(t *testing.T) { c.Run(t, connect(t)) })
	}
}
