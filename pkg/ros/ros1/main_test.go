package ros1_test

import (
	"log/slog"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/msgdef"
	"agent_node/pkg/ros/ros1"
)

func TestMain(m *testing.M) {
	for _, v := range []string{"ROS_MASTER_URI", "ROS_IP", "ROS_HOSTNAME", "ROS_NAMESPACE", "ROS_PACKAGE_PATH"} {
		os.Unsetenv(v)
	}
	goleak.VerifyTestMain(m)
}

// types have test_msgs, too: between them they have every kind of field.
var types = ros1.NewTypes(msgdef.Tree{FS: os.DirFS("../msgdef/testdata")})

// newNode is a node that is closed with the test.
func newNode(t testing.TB, master, name string, o ros1.Options) *ros1.Node {
	t.Helper()
	o.Master = master
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	}
	if o.Types == nil {
		o.Types = types
	}
	n, err := ros1.NewNode(name, o)
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

func arguments(t testing.TB, argv ...string) *args.Args {
	t.Helper()
	a, err := args.Parse(argv)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(b []byte) (int, error) {
	w.t.Helper()
	w.t.Logf("%s", b)
	return len(b), nil
}

// within is how long what must happen may take on a busy machine.
const within = 20 * time.Second

func receive[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(within):
		t.Fatalf("not within %v: %s", within, what)
	}
	panic("not reached")
}

func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}
