//go:build !race

package peers

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full reports whether the comparisons take their full size.
func full() bool { return os.Getenv("PROOF") != "" }

// size is how many cases a test takes.
func size(sample, whole int) int {
	if full() {
		return whole
	}
	return sample
}

// installed says once why there is no environment, nil where there is one.
var installed = sync.OnceValue(func() error {
	args := []string{"--install"}
	if full() {
		args = append([]string{"--all"}, args...)
	}
	out, err := exec.Command("../../tools/peers", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("tools/peers --install: %w: %s", err, out)
	}
	return nil
})

// peer is the other side.
type peer struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// open starts one, or skips the test.
func open(t *testing.T) *peer {
	t.Helper()
	if err := installed(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 75 {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	args := []string{"peer.py"}
	if full() {
		args = append([]string{"--all"}, args...)
	}
	cmd := exec.CommandContext(context.Background(), "../../tools/peers", args...) // it ends with its input
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	fatal(t, err)
	out, err := cmd.StdoutPipe()
	fatal(t, err)
	fatal(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("peer: %v", err)
		}
	})
	return &peer{t, in, bufio.NewReaderSize(out, 1<<20)}
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// question has a field op and whatever the operation needs.
type question map[string]any

// ask one question; the answer's head is read into head, its numbers are returned.
func (p *peer) ask(op string, q question, data []float64, head any) []float64 {
	p.t.Helper()
	if q == nil {
		q = question{}
	}
	q["op"], q["n"] = op, len(data)
	line, err := json.Marshal(q)
	fatal(p.t, err)
	_, err = p.in.Write(append(line, '\n'))
	fatal(p.t, err)
	fatal(p.t, binary.Write(p.in, binary.LittleEndian, data))
	line, err = p.out.ReadBytes('\n')
	fatal(p.t, err)
	var h struct {
		N     int
		Error string
	}
	fatal(p.t, json.Unmarshal(line, &h))
	if h.Error != "" {
		p.t.Fatalf("peer: %s: %s", op, h.Error)
	}
	if head != nil {
		fatal(p.t, json.Unmarshal(line, head))
	}
	raw := make([]byte, 8*h.N)
	_, err = io.ReadFull(p.out, raw)
	fatal(p.t, err)
	out := make([]float64, h.N)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return out
}

func abs(t *testing.T, path string) string {
	t.Helper()
	a, err := filepath.Abs(path)
	fatal(t, err)
	return a
}
