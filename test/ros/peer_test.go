//go:build ros2

package ros

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// within is how long the peer may take for anything, on a loaded machine.
const within = 30 * time.Second

// said is one line of the peer.
type said struct {
	Ready   bool
	Got     string          // a message on this topic
	Asked   string          // a request to this service
	Message json.RawMessage // of Got and Asked
	Done    *answer
}

type answer struct {
	Error    string
	Count    int
	Message  json.RawMessage
	Messages []json.RawMessage
}

// peer is a python process that speaks ROS through rclpy (rclpy_echo.py).
type peer struct {
	t    *testing.T
	in   io.WriteCloser
	said chan said
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context())) // the test's own ends before its cleanup
	cmd := exec.CommandContext(ctx, "python3", "rclpy_echo.py")
	cmd.Env = append(os.Environ(), "ROS_DOMAIN_ID="+strconv.Itoa(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		kill()
		t.Fatal(err)
	}
	p := &peer{t: t, in: in, said: make(chan said, 10000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var s said
			if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
				s.Done = &answer{Error: fmt.Sprintf("the peer said %q: %v", lines.Bytes(), err)}
			}
			p.said <- s
		}
	}()
	t.Cleanup(func() {
		defer kill()
		in.Close()
		defer time.AfterFunc(within, kill).Stop()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the peer ended with %v", err)
		}
	})
	p.wait(func(s said) bool { return s.Ready })
	return p
}

// wait skips what the peer says until ok.
func (p *peer) wait(ok func(said) bool) said {
	p.t.Helper()
	timeout := time.After(within)
	for {
		select {
		case s := <-p.said:
			if ok(s) {
				return s
			}
		case <-timeout:
			p.t.Fatal("the peer says nothing of what was expected")
		}
	}
}

// do gives a command and waits for its answer.
func (p *peer) do(what string, with map[string]any) *answer {
	p.t.Helper()
	p.begin(what, with)
	return p.done()
}

func (p *peer) begin(what string, with map[string]any) {
	p.t.Helper()
	command := map[string]any{"do": what}
	for k, v := range with {
		command[k] = v
	}
	line, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) done() *answer {
	p.t.Helper()
	a := p.wait(func(s said) bool { return s.Done != nil }).Done
	if a.Error != "" {
		p.t.Fatal(a.Error)
	}
	return a
}
