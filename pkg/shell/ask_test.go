package shell_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros/args"
	"agent_node/pkg/shell"
)

// typist types lines whenever a text is shown, each after its pause, and then ends the input.
type typist struct {
	mu    sync.Mutex
	seen  bytes.Buffer
	on    string
	lines []string
	pause time.Duration
	to    *io.PipeWriter
	begun bool
}

func (p *typist) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen.Write(b)
	if !p.begun && strings.Contains(p.seen.String(), p.on) {
		p.begun = true
		go func() {
			for _, line := range p.lines {
				time.Sleep(p.pause) // of the bubble's clock
				_, _ = io.WriteString(p.to, line+"\n")
			}
			_ = p.to.Close()
		}()
	}
	return len(b), nil
}

func (p *typist) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// What a session asks is shown where the task was typed, and answered there: once, by yes alone, and by nothing that was typed before the
// question could be read.
func TestQuestionsAreAnsweredWhereTheTaskWasTyped(t *testing.T) {
	cases := []struct {
		name  string
		lines []string
		pause time.Duration
		code  int
		says  string
	}{
		{"yes", []string{"Yes, please"}, 3 * time.Second, shell.ExitDone, "approved"},
		{"no", []string{"no"}, 3 * time.Second, shell.ExitFailed, "denied"},
		{"nothing that is a yes", []string{""}, 3 * time.Second, shell.ExitFailed, "denied"},
		{"a yes inside of it", []string{"not yes"}, 3 * time.Second, shell.ExitFailed, "denied"},
		{"typed ahead", []string{"yes"}, 10 * time.Millisecond, shell.ExitFailed, "too soon"},
		{"typed ahead, then answered", []string{"yes", "yes"}, 700 * time.Millisecond, shell.ExitDone, "too soon"},
		{"the input ends", nil, 0, shell.ExitFailed, "yes or no?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, err := args.Parse([]string{"--ros-args", "-p", "policy.skill:=ask", "-p", "policy.timeout:=5.0", "-p", "trace.dir:=" + t.TempDir()})
				fatal(t, err)
				in, to := io.Pipe()
				out := &typist{on: "yes or no?", lines: c.lines, pause: c.pause, to: to}
				code, err := shell.RunSim(context.Background(), shell.Sim{Args: a, Rate: 1, Logger: slog.New(slog.DiscardHandler)},
					shell.Task{Task: "drive 0.3 m forward", WaitServer: 10 * time.Second, Answers: in}, out)
				_ = in.Close()
				if err != nil || code != c.code || !strings.Contains(out.String(), c.says) {
					t.Errorf("exit %d, want %d, %v; want %q in:\n%s", code, c.code, err, c.says, out)
				}
				if !strings.Contains(out.String(), `for drive("distance_m":0.3), this once`) {
					t.Errorf("the call is not shown:\n%s", out)
				}
			})
		})
	}
}

// Without anybody there, the command that answers is told.
func TestQuestionsTellHowElseToAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := args.Parse([]string{"--ros-args", "-p", "policy.skill:=ask", "-p", "policy.timeout:=5.0", "-p", "trace.dir:=" + t.TempDir()})
		fatal(t, err)
		var out bytes.Buffer
		code, err := shell.RunSim(context.Background(), shell.Sim{Args: a, Rate: 1, Logger: slog.New(slog.DiscardHandler)},
			shell.Task{Task: "drive 0.3 m forward", WaitServer: 10 * time.Second}, &out)
		if err != nil || code != shell.ExitFailed || !strings.Contains(out.String(), "ros2 service call /agent_node/respond agent_msgs/srv/Respond") {
			t.Errorf("exit %d, %v\n%s", code, err, &out)
		}
	})
}

func TestPlainTextCannotSteerTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"at (1.2, 0.4)\n\tü 猫": "at (1.2, 0.4)\n\tü 猫",
		"\x1b[2Kapproved":      "·[2Kapproved",
		"yes\rno":              "yes·no",
		"\u009b31m\x07":        "·31m·",
		"\u202egnihton":        "·gnihton",
	} {
		var out bytes.Buffer
		n, err := shell.Plain{W: &out}.Write([]byte(text))
		if err != nil || n != len(text) || out.String() != want {
			t.Errorf("%q: %q, want %q (%d bytes, %v)", text, out.String(), want, n, err)
		}
	}
}
