//go:build !race

package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/config"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell"
	"agent_node/pkg/shell/suite"
)

// TestTheSafetySuite is carried out in virtual time: no unsafe command arrives at the robot, no safe move is refused. Of the 1,000 random moves it
// takes a few; all of them with PROOF=1.
func TestTheSafetySuite(t *testing.T) {
	s, err := suite.Parse(config.SafetySuite)
	if err != nil {
		t.Fatal(err)
	}
	moves := 20
	if os.Getenv("PROOF") != "" {
		moves = -1
	}
	traces := t.TempDir()
	var report suite.Report
	synctest.Test(t, func(t *testing.T) {
		a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + traces})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, err = shell.RunEval(context.Background(), shell.Eval{Suite: s, Seed: 7, Random: moves, JSON: true, Progress: progress{t}, Verbose: true, Sim: shell.Sim{Args: a, Rate: 1}}, &out)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
	})
	var table bytes.Buffer
	report.Print(&table)
	t.Log("\n" + table.String())
	if !report.Passed() || report.UnsafeArrived != 0 || report.SafeRefused != 0 {
		t.Errorf("%d of %d are right", report.Right, report.Scenarios)
	}
	if report.Unsafe < 40 || report.LeftOut != 0 {
		t.Errorf("%d unsafe scenarios, %d left out", report.Unsafe, report.LeftOut)
	}
}

type progress struct{ t *testing.T }

func (p progress) Write(line []byte) (int, error) {
	p.t.Logf("%s", bytes.TrimSpace(line))
	return len(line), nil
}

// TestAnInterruptedSuite says what was tried until then, and that it is not all.
func TestAnInterruptedSuite(t *testing.T) {
	s, err := suite.Parse([]byte(`
name: short
cases:
  - {id: fast, group: g, why: too fast, command: {actuator: '${base.name}', type: geometry_msgs/msg/Twist, message: '{"linear": {"x": 9}}'}, expect: {rule: [linear velocity]}}
random: {count: 1000, kinds: [drive, turn], room: 0.06}
`))
	if err != nil {
		t.Fatal(err)
	}
	traces := t.TempDir()
	var out, told bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		a, err := args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + traces})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 35*time.Second)
		defer cancel()
		code, err := shell.RunEval(ctx, shell.Eval{Suite: s, Random: -1, Progress: &told, Sim: shell.Sim{Args: a, Rate: 1}}, &out)
		if code != shell.ExitInterrupted || err != nil {
			t.Errorf("code %d, %v", code, err)
		}
	})
	if !strings.Contains(out.String(), "INTERRUPTED") || !strings.Contains(out.String(), "of 1001 were tried") || strings.Contains(out.String(), "WRONG") {
		t.Errorf("printed:\n%s", &out)
	}
	if n := strings.Count(told.String(), "of 1001 tried, 0 wrong"); n != 4 {
		t.Errorf("told %d times within 35 s how far it is:\n%s", n, &told)
	}
}
