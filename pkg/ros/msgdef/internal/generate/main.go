// Command generate rewrites the folder std from an installed ROS 2: the definitions of
// the common interface packages, with comments and blank lines taken out, so that only
// the field lists are left.
//
//	go run ./internal/generate <prefix>/share std
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// packages that programs need where no ROS is installed.
var packages = []string{
	"action_msgs", "builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "lifecycle_msgs", "nav_msgs",
	"rcl_interfaces", "rosgraph_msgs", "sensor_msgs", "service_msgs", "std_msgs", "std_srvs", "trajectory_msgs",
	"type_description_interfaces", "unique_identifier_msgs",
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: generate SHARE OUT [PACKAGE…]")
		os.Exit(2)
	}
	which := packages
	if len(os.Args) > 3 {
		which = os.Args[3:]
	}
	if err := generate(os.Args[1], os.Args[2], which); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(share, out string, packages []string) error {
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(share, p, "*", "*.*"))
		if err != nil {
			return err
		}
		found := 0
		for _, file := range files {
			kind := filepath.Base(filepath.Dir(file))
			if kind != "msg" && kind != "srv" && kind != "action" || filepath.Ext(file) != "."+kind {
				continue
			}
			found++
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			to := filepath.Join(out, p, kind, filepath.Base(file))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(to, []byte(strip(string(data))), 0o644); err != nil {
				return err
			}
		}
		if found == 0 {
			return fmt.Errorf("no definitions of %s in %s", p, share)
		}
	}
	return nil
}

// strip takes out comments, blank lines and repeated spaces.
func strip(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		line, _, commented := strings.Cut(line, "#")
		if commented && strings.Count(line, `"`)%2 == 1 {
			panic("a # inside of a string: " + line)
		}
		if strings.ContainsAny(line, `"'`) {
			line = strings.TrimSpace(line)
		} else {
			line = strings.Join(strings.Fields(line), " ")
		}
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
