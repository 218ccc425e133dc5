//go:build ros2

package ros2

import (
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/conformance"
)

// The two nodes have a context each, as two processes would.
func TestConformance(t *testing.T) {
	types := NewTypes()
	t.Cleanup(func() {
		if n := types.Live(); n != 0 {
			t.Errorf("%d messages left in C memory", n)
		}
	})
	open := func(t *testing.T, s conformance.Spec) ros.Node {
		parsed, err := args.Parse(s.Argv)
		if err != nil {
			t.Fatal(err)
		}
		return newNode(t, s.Name, Options{Namespace: s.Namespace, Args: parsed, Types: types})
	}
	conformance.Run(t, func(t *testing.T) (a, b ros.Node) {
		return open(t, conformance.A()), open(t, conformance.B())
	})
}
