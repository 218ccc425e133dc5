//go:build ros2

package ros2

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A library in one prefix needs one in another, and neither is on the loader's path.
func TestLibrariesAreOpenedWithWhatTheyNeed(t *testing.T) {
	outer, inner := t.TempDir(), t.TempDir()
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
	build(inner, "agent_test_inner", "int agent_test_inner(void) { return 1; }")
	file := build(outer, "agent_test_outer", "int agent_test_inner(void); int agent_test_outer(void) { return agent_test_inner(); }",
		"-L"+filepath.Join(inner, "lib"), "-lagent_test_inner")

	if _, err := openLibrary([]string{outer}, file); err == nil || !strings.Contains(err.Error(), "libagent_test_inner.so") {
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
