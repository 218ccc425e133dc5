package mujoco_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"agent_node/sim/mujoco"
	"agent_node/sim/world"
)

func TestCommittedFilesAreUpToDate(t *testing.T) {
	files, err := mujoco.Files(world.Default())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.FromSlash(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what sim/world makes it (%v): go run ./sim/write_models", name, err)
		}
	}
}
