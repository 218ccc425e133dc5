package trace_test

import (
	"path/filepath"
	"testing"

	"agent_node/pkg/harness/trace"
)

// A record is being written until its log is closed.
func TestWhetherARecordIsBeingWritten(t *testing.T) {
	dir := t.TempDir()
	sink, err := trace.NewFiles(trace.FileOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	log, err := sink.Open("s1")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "s1.jsonl")
	if !trace.Writing(file) {
		t.Error("an open record is not being written")
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if trace.Writing(file) || trace.Writing(filepath.Join(dir, "none.jsonl")) {
		t.Error("a closed record, or none, is being written")
	}
}
