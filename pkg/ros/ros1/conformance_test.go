package ros1_test

import (
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/conformance"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/ros1/ros1test"
)

func TestConformance(t *testing.T) {
	conform(t, ros1test.NewMaster(t, "0").URI)
}

func conform(t *testing.T, master string) {
	open := func(t *testing.T, s conformance.Spec) ros.Node {
		return newNode(t, master, s.Name, ros1.Options{Namespace: s.Namespace, Args: arguments(t, s.Argv...)})
	}
	conformance.Run(t, func(t *testing.T) (a, b ros.Node) {
		return open(t, conformance.A()), open(t, conformance.B())
	})
}
