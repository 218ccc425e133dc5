package main

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Who calls the program wrongly is told so by the exit code, whichever subcommand it is.
func TestWrongUsageHasAnExitCodeOfItsOwn(t *testing.T) {
	for _, x := range []struct{ line, says string }{
		{"fly", "fly"},
		{"run --sim --rate 0 wait", "--rate is 0, must be over 0 and at most 100"},
		{"run --sim -p fault.none=true wait", "no parameter fault.none"},
		{"run wait --ros-args -r", "-r"},
		{"run --sim wait --ros-args -r", "-r"},
		{"plan wait --ros-args -r", "-r"},
		{"plan --sim wait --ros-args -r", "-r"},
		{"eval safety --rate NaN", "--rate is NaN"},
		{"eval safety --only (", "--only: "},
		{"eval nowhere.yaml", "nowhere.yaml"},
		{"eval safety --ros-args -r", "-r"},
		{"eval safety --agent /a --ros-args -r", "-r"},
		{"trace verify nowhere.jsonl", "nowhere.jsonl"},
		{"profile check sim_robot --ros-args -p", "-p"},
		{"profile policy --ros-args -p", "-p"},
		{"profile init --ros-args -p", "-p"},
		{"doctor --ros-args -p", "-p"},
		{"node --ros-args -r", "-r"},
		{"watchdog --ros-args -r", "-r"},
	} {
		t.Run(x.line, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(strings.Fields(x.line), &out, &errOut)
			if code != shell.ExitUsage || !strings.Contains(errOut.String(), x.says) || out.Len() > 0 {
				t.Errorf("exit code %d, printed %q, said %q", code, &out, &errOut)
			}
		})
	}
}

// With --ros1 every subcommand that asks the robot does so on ROS 1.
func TestEverySubcommandGoesToROS1(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	master := "http://" + l.Addr().String()
	if err := l.Close(); err != nil { // nobody is there
		t.Fatal(err)
	}
	t.Setenv("ROS_MASTER_URI", master)
	for _, line := range []string{
		"run wait", "plan wait", "eval safety --agent /agent_node", "profile init", "profile check sim_robot --graph", "node", "watchdog",
	} {
		t.Run(line, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(append([]string{"--ros1"}, strings.Fields(line)...), &out, &errOut)
			if code != shell.ExitFailed || !strings.Contains(errOut.String(), "no master at "+master) {
				t.Errorf("exit code %d, printed %q, said %q", code, &out, &errOut)
			}
		})
	}
}
