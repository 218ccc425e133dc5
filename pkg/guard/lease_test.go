package guard_test

import (
	"errors"
	"testing"

	"agent_node/pkg/guard"
)

func wantStateError(t *testing.T, err error, want error, state guard.State) {
	t.Helper()
	var e *guard.StateError
	if !errors.As(err, &e) || !errors.Is(err, want) || e.State != state {
		t.Errorf("error %v, want %v in state %v", err, want, state)
	}
}
