package ros1_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros/ros1"
)

// rosmaster starts Debian's master on a port of the test's own.
func rosmaster(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("rosmaster")
	if err != nil {
		t.Skip("no rosmaster on this machine (Debian's python3-rosmaster)")
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--core", "-p", strconv.Itoa(port)) //nolint:noctx // ended below, with a look at how
	cmd.Env = append(plainEnvironment(), "ROS_IP=127.0.0.1", "ROS_LOG_DIR="+t.TempDir())
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("rosmaster: %s", out.String())
		}
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	eventually(t, "rosmaster listens", func() bool {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.Background(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// plainEnvironment is without ROS 2's: its Python packages have ROS 1's names.
func plainEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PYTHON") || strings.HasPrefix(v, "LD_LIBRARY_PATH") })
}

func TestConformanceWithRosmaster(t *testing.T) {
	conform(t, rosmaster(t))
}

// ROS 1's own Python classes know the checksum of every type that is compiled in here and installed there.
func TestChecksumsAreDebians(t *testing.T) {
	const ask = `
import importlib, json, pkgutil, sys
sums = {}
for name in "std_msgs std_srvs geometry_msgs sensor_msgs nav_msgs actionlib_msgs actionlib diagnostic_msgs trajectory_msgs rosgraph_msgs tf2_msgs move_base_msgs".split():
    for kind in "msg", "srv":
        try:
            module = importlib.import_module(name + "." + kind)
        except ImportError:
            continue
        for c in vars(module).values():
            if hasattr(c, "_md5sum") and c.__module__.startswith(name):
                if kind == "msg" or hasattr(c, "_request_class"):
                    sums[c._type.replace("/", "/%s/" % kind)] = c._md5sum
json.dump(sums, sys.stdout)
`
	python := "/usr/bin/python3"
	run := func(code string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), python, "-c", code)
		cmd.Env = plainEnvironment()
		return cmd.Output()
	}
	if _, err := run("import std_msgs.msg, genpy"); err != nil {
		t.Skip("no message classes of ROS 1 on this machine (Debian's python3-std-msgs)")
	}
	data, err := run(ask)
	if err != nil {
		t.Fatal(err)
	}
	var sums map[string]string
	if err := json.Unmarshal(data, &sums); err != nil {
		t.Fatal(err)
	}
	types := ros1.NewTypes()
	known := 0
	for name, want := range sums {
		got, err := types.Checksum(name)
		if err != nil {
			if !strings.Contains(name, "Goal") && !strings.Contains(name, "Result") && !strings.Contains(name, "Feedback") && !strings.HasSuffix(name, "Action") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		known++
		if got != want {
			t.Errorf("%s has checksum %s, ROS 1's is %s", name, got, want)
		}
	}
	if known < 100 {
		t.Errorf("only %d types of %d compared", known, len(sums))
	}
}
