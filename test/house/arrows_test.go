package house_test

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "agent_node"

// data rooms hold files and no logic: everybody may read them, and they import nothing of the module.
var data = []string{"config", "msgs", "sim/interfaces"}

// arrows say what each room of this module may import of it: prefixes of import paths below the module. The first rule
// whose room matches counts. What a room may import of others is said in thirdParty.
var arrows = []struct {
	room string
	may  []string
}{
	{"cmd/", []string{""}},
	{"pkg/node", []string{"pkg/node", "pkg/watchdog", "pkg/robottools", "pkg/harness", "pkg/ros", "pkg/guard", "pkg/geometry"}},
	{"pkg/shell", []string{"pkg/", "sim/"}}, // what the subcommands do, --sim too
	{"pkg/watchdog", []string{"pkg/watchdog", "pkg/robottools", "pkg/harness/trace", "pkg/ros", "pkg/guard"}},
	{"test/", []string{""}},
	{"examples/", []string{""}},
	{"tools/loop-peers", []string{"pkg/harness"}}, // measures the loop
	{"pkg/harness", []string{"pkg/harness"}},
	{"pkg/geometry", []string{"pkg/geometry"}},
	{"pkg/guard", []string{"pkg/guard", "pkg/geometry"}},
	{"pkg/ros", []string{"pkg/ros"}},
	{"pkg/robottools", []string{"pkg/robottools", "pkg/harness/tool", "pkg/ros", "pkg/guard", "pkg/geometry"}},
	{"sim/", []string{"sim/", "pkg/ros", "pkg/geometry"}},
}

// thirdParty says what a room may take from outside the standard library and this module: nothing where it lists nothing. The first
// rule whose room matches counts.
var thirdParty = []struct {
	room string
	may  []string
}{
	{"cmd/", []string{"github.com/alecthomas/kong"}},
	{"pkg/harness/tool", []string{"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text"}},
	{"pkg/harness/criteria", []string{"cel.dev/cel-go"}},
	{"pkg/harness/policy", []string{"cel.dev/cel-go"}},
	{"pkg/harness/model/scripted", []string{"go.yaml.in/yaml/v4"}},
	{"pkg/harness/model/openai", []string{"github.com/sashabaranov/go-openai"}},
	{"pkg/harness", nil},
	{"pkg/guard", nil},
	{"pkg/geometry/limits", []string{"gonum.org/v1/gonum", "go.yaml.in/yaml/v4"}},
	{"pkg/geometry", []string{"gonum.org/v1/gonum"}},
	{"pkg/robottools", []string{"cel.dev/cel-go", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text", "go.yaml.in/yaml/v4", "gonum.org/v1/gonum"}},
	{"pkg/ros/ros2", []string{"github.com/tiiuae/rclgo"}},
	{"pkg/ros/ros1", []string{"github.com/bluenviron/goroslib/v2", "github.com/google/uuid"}},
	{"pkg/ros/args", []string{"go.yaml.in/yaml/v4"}},
	{"pkg/ros/param", []string{"go.yaml.in/yaml/v4"}},
	{"pkg/ros/action", []string{"github.com/google/uuid"}},
	{"pkg/ros", nil},
	{"pkg/watchdog", nil},
	{"pkg/node", []string{"github.com/google/uuid", "gonum.org/v1/gonum"}},
	{"pkg/shell", []string{"cel.dev/cel-go", "go.yaml.in/yaml/v4", "gonum.org/v1/gonum", "github.com/foxglove/mcap/go/mcap"}},
	{"sim/", []string{"gonum.org/v1/gonum"}},
	{"test/", []string{""}},
	{"tools/", []string{""}}, // peers to compare with, modules of their own
	{"examples/", nil},
	{"config", nil},
	{"msgs", nil},
}

// Arrows point one way; a wrong one fails here, whatever its build tags.
func TestImportArrows(t *testing.T) {
	root := filepath.Join("..", "..")
	if b, err := os.ReadFile(filepath.Join(root, "go.mod")); err != nil || !strings.Contains(string(b), "module "+module) {
		t.Fatalf("no module %s in %s: %v", module, root, err)
	}
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "build" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		files++
		checkImports(t, path, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d files found", files)
	}
}

func checkImports(t *testing.T, path, rel string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		t.Errorf("%s: %v", rel, err)
		return
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			if constraint.IsGoBuild(c.Text) {
				if x, err := constraint.Parse(c.Text); err == nil && x.String() == "ignore" {
					return // a generator, part of no package
				}
			}
		}
	}
	dir := filepath.ToSlash(filepath.Dir(rel))
	isTest := strings.HasSuffix(rel, "_test.go")
	for _, spec := range f.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			continue
		}
		if own, ok := strings.CutPrefix(to, module+"/"); ok {
			if !isTest && !allowedOwn(dir, own) {
				t.Errorf("%s: %s must not import %s", rel, dir, own)
			}
			continue
		}
		if !strings.Contains(strings.SplitN(to, "/", 2)[0], ".") || isTest {
			continue // the standard library; tests use what they like
		}
		if !allowedOthers(dir, to) {
			t.Errorf("%s: %s must not import %s", rel, dir, to)
		}
	}
}

func allowedOwn(dir, to string) bool {
	if slices.Contains(data, dir) {
		return false
	}
	if slices.Contains(data, to) {
		return true
	}
	for _, r := range arrows {
		if anyPrefix(dir, []string{r.room}) {
			return anyPrefix(to, r.may)
		}
	}
	return false
}

func allowedOthers(dir, to string) bool {
	for _, r := range thirdParty {
		if anyPrefix(dir, []string{r.room}) {
			return anyPrefix(to, r.may)
		}
	}
	return false
}

func anyPrefix(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if p == "" || path == strings.TrimSuffix(p, "/") || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}

// The rules themselves are rules: a wrong arrow is one.
func TestArrowsRefuseWrongOnes(t *testing.T) {
	for _, x := range []struct {
		from, to string
		ok       bool
	}{
		{"pkg/harness", "pkg/harness/tool", true},
		{"pkg/harness", "pkg/ros", false},
		{"pkg/harness/tool", "pkg/robottools", false},
		{"pkg/harnessed", "pkg/harness", false},
		{"pkg/robottools", "config", true},
		{"config", "pkg/ros", false},
		{"pkg/guard", "pkg/geometry", true},
		{"pkg/guard", "pkg/ros", false},
		{"pkg/geometry/tf", "pkg/guard", false},
		{"pkg/ros/mem", "pkg/ros", true},
		{"pkg/ros/mem", "pkg/robottools", false},
		{"pkg/robottools", "pkg/harness/tool", true},
		{"pkg/robottools", "pkg/harness", false},
		{"pkg/robottools", "pkg/harness/model", false},
		{"pkg/node", "pkg/shell", false},
		{"pkg/node", "sim/robot", false},
		{"pkg/node", "cmd/agent_node", false},
		{"pkg/shell", "test/house", false},
		{"cmd/agent_node", "pkg/harness", true},
		{"elsewhere", "pkg/harness", false},
	} {
		if got := allowedOwn(x.from, x.to); got != x.ok {
			t.Errorf("%s -> %s: %t", x.from, x.to, got)
		}
	}
	for _, x := range []struct {
		from, to string
		ok       bool
	}{
		{"pkg/harness/workflow", "go.yaml.in/yaml/v4", false},
		{"pkg/harness/model/openai", "github.com/sashabaranov/go-openai", true},
		{"pkg/harness/model/openai", "cel.dev/cel-go/cel", false},
		{"pkg/guard", "gonum.org/v1/gonum/mat", false},
		{"pkg/ros/mem", "github.com/tiiuae/rclgo/pkg/rclgo", false},
		{"elsewhere", "gonum.org/v1/gonum/mat", false},
	} {
		if got := allowedOthers(x.from, x.to); got != x.ok {
			t.Errorf("%s -> %s: %t", x.from, x.to, got)
		}
	}
}
