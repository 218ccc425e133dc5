package gazebo_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/sim/gazebo"
	"agent_node/sim/world"
)

func TestCommittedFilesAreUpToDate(t *testing.T) {
	files, err := gazebo.Files(world.Default())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.FromSlash(name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what sim/world makes it (%v): go run ./sim/write_models", name, err)
		}
	}
}

// checker is a program of SDFormat's: Debian 12's (ignition-tools, sdformat12) or a newer one's.
func checker(t *testing.T) func(path string) (string, error) {
	t.Helper()
	for _, name := range []string{"gz", "ign"} {
		path, err := exec.LookPath(name)
		if err != nil || exec.CommandContext(t.Context(), path, "sdf", "--help").Run() != nil {
			continue
		}
		return func(file string) (string, error) {
			out, err := exec.CommandContext(t.Context(), path, "sdf", "-k", file).CombinedOutput()
			return string(out), err
		}
	}
	t.Skip("no SDFormat checker: apt-get install ignition-tools libsdformat-dev sdformat-sdf")
	return nil
}

func TestSDFIsValid(t *testing.T) {
	check := checker(t)
	for _, file := range []string{"worlds/flat.sdf", "models/sim_robot/model.sdf"} {
		if out, err := check(file); err != nil || !strings.Contains(out, "Valid.") {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
	// The checker is one that finds faults.
	text, err := os.ReadFile("models/sim_robot/model.sdf")
	if err != nil {
		t.Fatal(err)
	}
	whole, broken := []byte("<child>forearm_link</child>"), filepath.Join(t.TempDir(), "model.sdf")
	if !bytes.Contains(text, whole) {
		t.Fatalf("the model has no %s", whole)
	}
	if err := os.WriteFile(broken, bytes.ReplaceAll(text, whole, []byte("<child>no_such_link</child>")), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := check(broken); err == nil {
		t.Errorf("a joint to nowhere passes: %s", out)
	}
}
