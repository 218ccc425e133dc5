package manipulate

import (
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"agent_node/test/house"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // every house is small, and collecting them by the default takes a fifth of the time
	goleak.VerifyTestMain(m)
}

// proof: the full size is wanted.
func proof() bool { return os.Getenv("PROOF") != "" }

// in runs a test in a house of its own, in virtual time, beside others.
func in(t *testing.T, o house.Options, f func(t *testing.T, h *house.House)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { f(t, house.Open(t, o)) })
}
