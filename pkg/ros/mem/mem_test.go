package mem_test

import (
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/conformance"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/msgdef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	// With test_msgs the suite sends every kind of field.
	types := msgdef.NewSource(append(msgdef.EmbeddedTrees(), msgdef.Tree{FS: os.DirFS("../msgdef/testdata")})...)
	conformance.Run(t, func(t *testing.T) (a, b ros.Node) {
		bus := mem.NewBus()
		t.Cleanup(func() {
			if err := bus.Close(); err != nil {
				t.Error(err)
			}
		})
		return specified(t, bus, conformance.A(), types), specified(t, bus, conformance.B(), types)
	})
}

func specified(t *testing.T, bus *mem.Bus, s conformance.Spec, types ros.TypeSource) ros.Node {
	t.Helper()
	parsed, err := args.Parse(s.Argv)
	if err != nil {
		t.Fatal(err)
	}
	n, err := bus.NewNode(s.Name, mem.Options{Namespace: s.Namespace, Args: parsed, Types: types, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
