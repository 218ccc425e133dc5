package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"agent_node/pkg/watchdog"
)

// lock holds the name on this machine, by a locked file in the trace folder: whether another process has it is known at once, and without
// the middleware, which takes its time on a busy machine. The system lets go of it when the process ends, however that ends. Where the file
// cannot be had or the file system knows no locks, the node goes on without: the heartbeat still tells of others.
func (c *name) lock() error {
	if c.n.options.Graph == "" {
		return nil
	}
	dir, err := TraceDir(c.n.params.traceDir.Get())
	if err != nil {
		return nil // said when the traces are opened
	}
	file := filepath.Join(dir, lockFile(c.full, c.n.options.Graph))
	f, err := openLocked(file)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return c.twin(watchdog.Beat{Process: holderOf(file)})
	}
	if err != nil {
		c.n.logger("heartbeat").Warn("the name cannot be locked on this machine: another node of it is found by its heartbeat alone, and goals that "+
			"an earlier life left are not canceled", "file", file, "error", err)
		return nil
	}
	if err := writeHolder(f, c.own.Process); err != nil {
		c.n.logger("heartbeat").Warn("the lock of the name does not say who has it", "file", file, "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.locked = f
	return nil
}

// unlock lets another process have the name. The file stays: one that is removed could be locked twice.
func (c *name) unlock() {
	c.mu.Lock()
	f := c.locked
	c.locked = nil
	c.mu.Unlock()
	if f == nil {
		return
	}
	if err := f.Close(); err != nil {
		c.n.logger("heartbeat").Warn("the lock of the name", "file", f.Name(), "error", err)
	}
}

// sole says that the name is surely this instance's alone: it holds its lock, or is on a graph that nobody shares; and has heard of no other.
func (c *name) sole() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.own.Claim == watchdog.ClaimHeld && !c.yielding && (c.n.options.Graph == "" || c.locked != nil)
}

// lockFile of a name on a graph. Names of ROS consist of letters, digits, '_' and '/'.
func lockFile(full, graph string) string {
	graph = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, graph)
	return "node" + strings.ReplaceAll(full, "/", ".") + "." + graph + ".lock"
}

// openLocked opens a file and locks it. EWOULDBLOCK: somebody else has it.
func openLocked(file string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node: lock %s: %w", file, err), f.Close())
	}
	return f, nil
}

func writeHolder(f *os.File, p watchdog.Process) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	if _, err := f.WriteAt(append(raw, '\n'), 0); err != nil {
		return fmt.Errorf("node: %w", err)
	}
	return nil
}

// holderOf is the process that a lock's file names: zero where it does not say yet.
func holderOf(file string) (p watchdog.Process) {
	f, err := os.Open(file)
	if err != nil {
		return p
	}
	defer f.Close() // only read
	raw, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return watchdog.Process{}
	}
	return p
}
