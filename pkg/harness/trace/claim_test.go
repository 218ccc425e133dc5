package trace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/pkg/harness/trace"
)

// Every sink that remembers claims does so alike: one at a time, given back by its holder alone, and free for the next one then.
func TestClaims(t *testing.T) {
	dir := t.TempDir()
	files, err := trace.NewFiles(trace.FileOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(trace.Event) {}
	for name, sink := range map[string]trace.Sink{
		"memory": &trace.Memory{}, "files": files, "shown memory": trace.Tee(&trace.Memory{}, nothing),
	} {
		c := sink.(trace.Claimer)
		if err := c.Release("a", "b"); err != nil {
			t.Errorf("%s: what nobody claims is given back: %v", name, err)
		}
		if err := c.Claim("a", "b"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, who := range []string{"b", "c"} {
			if err := c.Claim("a", who); !errors.Is(err, trace.ErrClaimed) || !strings.Contains(err.Error(), "session b goes on with a") {
				t.Errorf("%s: claimed by %s, too: %v", name, who, err)
			}
		}
		if err := c.Release("a", "c"); !errors.Is(err, trace.ErrClaimed) {
			t.Errorf("%s: given back by another: %v", name, err)
		}
		if err := c.Claim("other", "c"); err != nil {
			t.Errorf("%s: another record: %v", name, err)
		}
		for _, do := range []func() error{func() error { return c.Release("a", "b") }, func() error { return c.Claim("a", "c") }} {
			if err := do(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	c := files.(trace.Claimer)
	if err := errors.Join(c.Claim("../a", "b")); err == nil {
		t.Error("a path is claimed")
	}
	if err := c.Release("../a", "b"); err == nil {
		t.Error("a path is given back")
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.resumed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.Release("folder", "b"); err == nil || errors.Is(err, trace.ErrClaimed) {
		t.Errorf("a claim that cannot be read: %v", err)
	}
}

// A sink without claims gives none, and its tee neither.
func TestTeeOfASinkWithoutClaims(t *testing.T) {
	c := trace.Tee(struct{ trace.Sink }{&trace.Memory{}}, func(trace.Event) {}).(trace.Claimer)
	for range 2 {
		if err := errors.Join(c.Claim("a", "b"), c.Release("a", "c")); err != nil {
			t.Error(err)
		}
	}
}
