package shell_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell"
)

// lockstep runs a task with robot and node in a bubble whose time passes only when all of them wait: nothing depends on how fast
// the machine is. It returns the exit code, what was printed and the record of the truth.
func lockstep(t *testing.T, seed uint64, rate float64, task string, robot ...string) (code int, out, record string) {
	t.Helper()
	traces := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + traces})
		if err != nil {
			t.Fatal(err)
		}
		var printed, truth bytes.Buffer
		code, err = shell.RunSim(context.Background(),
			shell.Sim{Args: a, Robot: robot, Seed: seed, Rate: rate, Record: &truth, Logger: slog.New(slog.DiscardHandler)},
			shell.Task{Task: task, WaitServer: 10 * time.Second, JSON: true}, &printed)
		if err != nil {
			t.Error(err)
		}
		out, record = printed.String(), truth.String()
	})
	return code, out, record
}

func TestParametersOfTheRobotAreItsOwn(t *testing.T) {
	for given, says := range map[string]string{
		"rate=5": "use --rate", "publish_clock:=true": "use --rate", "start.rndom=true": "start.rndom", "start.x": "name=value is wanted", "=1": "name=value is wanted", "start.x=wall": "start.x", "start.x=0": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			_, err = shell.RunSim(context.Background(), shell.Sim{Args: a, Robot: []string{given}, Logger: slog.New(slog.DiscardHandler)},
				shell.Task{Task: "where are you?", WaitServer: 10 * time.Second, JSON: true}, &out)
			if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v; wanted %q", given, err, says)
			}
			if says == "" && !strings.Contains(out.String(), "x 0 m") {
				t.Errorf("it does not stand where it was put: %s", out.String())
			}
		})
	}
}

// Checks read sources stamped after rest, and rest is measured on the guard's clock: faster than real time as well.
func TestAnErrandIsDoneAtAnyRate(t *testing.T) {
	for _, rate := range []float64{0.5, 8, 50, 100} {
		if code, out, _ := lockstep(t, 5, rate, "take the red cube to the kitchen"); code != shell.ExitDone {
			t.Errorf("rate %g: exit code %d: %s", rate, code, out)
		}
	}
}
