//go:build ros2

package ros2

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A library in one prefix needs one in another, and neither is on the loader's path.
func TestLibrariesAreOpenedWithWhatTheyNeed(t *testing.T) {
	outer, inner := t.TempDir(), t.TempDir()
	// Libraries stay open for the process: each run has its own.
	innerName := fmt.Sprintf("agent_test_inner%d", time.Now().UnixNano())
	outerName := fmt.Sprintf("agent_test_outer%d", time.Now().UnixNano())
	build := func(prefix, name, source string, with ...string) string {
		t.Helper()
		lib := filepath.Join(prefix, "lib")
		if err := os.MkdirAll(lib, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(lib, "lib"+name+".so")
		c := filepath.Join(prefix, name+".c")
		if err := os.WriteFile(c, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-shared", "-fPIC", "-Wl,-soname,lib" + name + ".so", "-o", file, c}, with...)
		if out, err := exec.CommandContext(t.Context(), "cc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return file
	}
	build(inner, innerName, "int agent_test_inner(void) { return 1; }")
	file := build(outer, outerName, "int agent_test_inner(void); int agent_test_outer(void) { return agent_test_inner(); }",
		"-L"+filepath.Join(inner, "lib"), "-l"+innerName)

	if _, err := openLibrary([]string{outer}, file); err == nil || !strings.Contains(err.Error(), "lib"+innerName+".so") {
		t.Errorf("without the prefix of what it needs: %v", err)
	}
	handle, err := openLibrary([]string{outer, inner}, file)
	if err != nil {
		t.Fatal(err)
	}
	if symbol(handle, "agent_test_outer") == nil || symbol(handle, "agent_test_nothing") != nil {
		t.Error("the library's functions are not found, or others are")
	}
	if _, err := openLibrary([]string{outer, inner}, filepath.Join(outer, "lib", "libagent_test_no.so")); err == nil {
		t.Error("a library that is not there was opened")
	}
}
