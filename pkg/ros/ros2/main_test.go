//go:build ros2

package ros2

import (
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// domain keeps this run's nodes to themselves: DOMAIN, or one of 1 to 99 by process.
var domain = func() int {
	if d, err := strconv.Atoi(os.Getenv("DOMAIN")); err == nil {
		return d
	}
	return 1 + os.Getpid()%99
}()

func TestMain(m *testing.M) {
	os.Setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
	goleak.VerifyTestMain(m)
}

// within is how long discovery and a loaded machine may take.
const within = 20 * time.Second

// newNode is a node in this run's domain, closed at the test's end.
func newNode(t testing.TB, name string, o Options) *Node {
	t.Helper()
	o.Domain = domain
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	}
	n, err := NewNode(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	})
	return n
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Helper()
	w.t.Logf("%s", b)
	return len(b), nil
}

// eventually polls until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
