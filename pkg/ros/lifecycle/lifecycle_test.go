package lifecycle_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle"
	"agent_node/pkg/ros/lifecycle/lifecycletest"
	"agent_node/pkg/ros/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connector() lifecycletest.Connect {
	bus := mem.NewBus()
	return func(t *testing.T, name string) ros.Node {
		t.Helper()
		n, err := bus.NewNode(name, mem.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		})
		return n
	}
}

func TestSuite(t *testing.T) {
	for _, c := range lifecycletest.Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, connector()) })
	}
}

// TestOnlyLegalTransitionsHappen drives random transitions with random outcomes beside a model.
func TestOnlyLegalTransitionsHappen(t *testing.T) {
	node := connector()(t, "managed")
	refusal, fault := errors.New("refusal"), errors.New("fault")
	after := map[lifecycle.State]map[lifecycle.Transition]lifecycle.State{
		lifecycle.Unconfigured: {lifecycle.Configure: lifecycle.Inactive, lifecycle.UnconfiguredShutdown: lifecycle.Finalized},
		lifecycle.Inactive: {
			lifecycle.Cleanup: lifecycle.Unconfigured, lifecycle.Activate: lifecycle.Active, lifecycle.InactiveShutdown: lifecycle.Finalized,
		},
		lifecycle.Active: {lifecycle.Deactivate: lifecycle.Inactive, lifecycle.ActiveShutdown: lifecycle.Finalized},
	}
	rapid.Check(t, func(t *rapid.T) {
		var result, recovery error
		do := func(context.Context) error { return result }
		var seen []lifecycle.State
		m, err := lifecycle.New(node, lifecycle.Callbacks{
			Configure: do, Cleanup: do, Activate: do, Deactivate: do,
			Shutdown: func(context.Context, lifecycle.State) error { return result },
			Error:    func(context.Context, lifecycle.State, error) error { return recovery },
			Changed: func(from, to lifecycle.State) {
				if n := len(seen); n > 0 && seen[n-1] != from {
					t.Fatalf("a change from %v follows one to %v", from, seen[n-1])
				}
				seen = append(seen, to)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			from := m.State()
			tr := lifecycle.Transition(rapid.IntRange(0, 9).Draw(t, "transition"))
			result = rapid.SampledFrom([]error{nil, nil, nil, lifecycle.Failure(refusal), fault}).Draw(t, "result")
			recovery = rapid.SampledFrom([]error{nil, lifecycle.Failure(refusal), fault}).Draw(t, "recovery")
			to, legal := after[from][tr]
			err := m.Trigger(t.Context(), tr)
			want, wantErr := from, error(nil)
			switch {
			case !legal:
				wantErr = lifecycle.ErrIllegal
			case result == nil:
				want = to
			case errors.Is(result, refusal):
				wantErr = refusal
				if to == lifecycle.Finalized {
					want = to // there is no way back from a shutdown
				}
			default:
				wantErr = fault
				want = lifecycle.Finalized
				if recovery == nil {
					want = lifecycle.Unconfigured
				}
			}
			if m.State() != want || !errors.Is(err, wantErr) {
				t.Fatalf("%v from %v with result %v, recovery %v: %v, %v; want %v, %v", tr, from, result, recovery, m.State(), err, want, wantErr)
			}
		}
	})
}
