package shell_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell"
)

// lockstep runs a task with robot and node in a bubble whose time passes only when all of them wait: nothing depends on how fast
// the machine is. It returns the exit code, what was printed and the record of the truth.
func lockstep(t *testing.T, seed uint64, rate float64, task string) (code int, out, record string) {
	t.Helper()
	traces := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + traces})
		if err != nil {
			t.Fatal(err)
		}
		var printed, truth bytes.Buffer
		code, err = shell.RunSim(context.Background(),
			shell.Sim{Args: a, Seed: seed, Rate: rate, Record: &truth, Logger: slog.New(slog.DiscardHandler)},
			shell.Task{Task: task, WaitServer: 10 * time.Second, JSON: true}, &printed)
		if err != nil {
			t.Error(err)
		}
		out, record = printed.String(), truth.String()
	})
	return code, out, record
}

func TestTheSameSeedRunsTheSameTask(t *testing.T) {
	const task = "go to the kitchen"
	code, out, first := lockstep(t, 3, 1, task)
	if code != shell.ExitDone || len(first) == 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if _, _, again := lockstep(t, 3, 1, task); again != first {
		t.Error("the same seed gives another run")
	}
	if _, _, other := lockstep(t, 4, 1, task); other == first {
		t.Error("another seed gives the same run")
	}
}

// Checks read sources stamped after rest, and rest is measured on the guard's clock: faster than real time as well.
func TestAnErrandIsDoneAtAnyRate(t *testing.T) {
	for _, rate := range []float64{0.5, 8} {
		if code, out, _ := lockstep(t, 5, rate, "take the red cube to the kitchen"); code != shell.ExitDone {
			t.Errorf("rate %g: exit code %d: %s", rate, code, out)
		}
	}
}
