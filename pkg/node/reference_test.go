package node

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/param"
)

var update = flag.Bool("update", false, "write docs/parameters.md from the node's own descriptions")

// docs/parameters.md is what the node itself says of its parameters.
func TestParametersAreDocumented(t *testing.T) {
	bus := mem.NewBus()
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	host, err := bus.NewNode("agent_node", mem.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(host, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	page := parameterPage(t, n.params.server)
	path := filepath.Join("..", "..", "docs", "parameters.md")
	if *update {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != page {
		t.Error("docs/parameters.md is not what the node says of itself: go test ./pkg/node -run TestParametersAreDocumented -update")
	}
}

func parameterPage(t *testing.T, s *param.Server) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Parameters\n\nWritten by a test from the node's own descriptions (`ros2 param describe` tells the same). " +
		"Set them with\n`--ros-args -p NAME:=VALUE` or `--params-file`. A change takes effect at the next configure (`ros2 param set` says so), or at once where that is noted.\n\n" +
		"| parameter | type | default | what |\n|---|---|---|---|\n")
	for _, p := range s.All() {
		d, err := s.Describe(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		if d.Description == "" {
			t.Errorf("parameter %s has no description", p.Name)
		}
		what := d.Description
		switch {
		case d.Int != nil:
			what += fmt.Sprintf(" %d to %d.", d.Int.From, d.Int.To)
		case d.Float != nil:
			what += fmt.Sprintf(" %g to %g.", d.Float.From, d.Float.To)
		case d.Constraints != "":
			what += " " + strings.ToUpper(d.Constraints[:1]) + d.Constraints[1:] + "."
		}
		value := fmt.Sprintf("`%v`", p.Value.Any())
		if value == "``" {
			value = "(empty)"
		}
		if d.Later == "" {
			what += " At once."
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, d.Type, value, strings.ReplaceAll(what, "|", "\\|"))
	}
	return b.String()
}
