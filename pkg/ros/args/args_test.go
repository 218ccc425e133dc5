package args_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse takes a command line as a shell would split it, with files to read by name.
func parse(t *testing.T, line string, files map[string]string) *args.Args {
	t.Helper()
	a, err := args.ParseFiles(strings.Fields(line), reader(files))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func reader(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

func TestRest(t *testing.T) {
	for line, want := range map[string]string{
		"":                     "",
		"run --sim task":       "run --sim task",
		"--ros-args":           "",
		"a --ros-args -r x:=y": "a",
		"--ros-args -r x:=y -- --json b --ros-args -p k:=1 -- c": "--json b c",
		"-- a --ros-args -- -r":                                  "-- a -r",
		"-p x:=1":                                                "-p x:=1", // not ROS's outside of --ros-args
	} {
		if got := strings.Join(parse(t, line, nil).Rest, " "); got != want {
			t.Errorf("%q leaves %q, want %q", line, got, want)
		}
	}
}

func TestBadArguments(t *testing.T) {
	files := map[string]string{"bad.yaml": "n:\n  ros__parameters:\n    k: [1, a]", "empty.yaml": ""}
	for line, want := range map[string]string{
		"-x":                       "unknown ROS argument",
		"task":                     "unknown ROS argument",
		"-r":                       "its value is missing",
		"-r x":                     "want FROM:=TO",
		"-r x=y":                   "want FROM:=TO",
		"-r :=y":                   "empty",
		"-r x:=":                   "empty",
		"-r x:=a//b":               "two slashes",
		"-r /x//y:=z":              "two slashes",
		"-r x/:=y":                 "ends in a word",
		"-r x:=~":                  "ends in a word",
		"-r {node}:=y":             "takes no {}",
		"-p /ns/n:x:=1":            "invalid node name",
		"-r *:=y":                  "only letters",
		"-r x:=a-b":                "only letters",
		"-r 7up:=x":                "begins with a digit",
		"-r a-b:x:=y":              "invalid node name",
		"-r __node:=a/b":           "invalid node name",
		"-r __node:=":              "empty",
		"-r __ns:=relative":        "not absolute",
		"-r __ns:=/a//b":           "two slashes",
		"-r ~x:=y":                 "followed by a slash",
		"-r x:={what}":             "unknown substitution",
		"-p x":                     "want NAME:=VALUE",
		"-p :=1":                   "name is empty",
		"-p n::=1":                 "name is empty",
		"-p :x:=1":                 "node's name is empty",
		"-p x:=":                   "empty",
		"-p x:=[1,a]":              "a list holds one type",
		"-p x:=[1":                 "no YAML",
		"-p a-b:x:=1":              "invalid node name",
		"--params-file":            "its value is missing",
		"--params-file none.yaml":  "file does not exist",
		"--params-file bad.yaml":   "bad.yaml:3:",
		"--params-file empty.yaml": "empty",
		"--log-level loud":         "unknown level",
		"--log-level x:=":          "unknown level",
		"--log-level :=info":       "name is empty",
		"--log-level":              "its value is missing",
		"--enclave":                "its value is missing",
	} {
		_, err := args.ParseFiles(strings.Fields("--ros-args "+line), reader(files))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			continue
		}
		var ae *args.ArgumentError
		if !errors.As(err, &ae) || !errors.Is(err, args.ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", line, err, want)
			continue
		}
		given := strings.Fields(line)
		if ae.Flag != given[0] || len(given) > 1 && ae.Argument != given[1] {
			t.Errorf("%s: the error names %q %q", line, ae.Flag, ae.Argument)
		}
	}
	_, err := args.ParseFiles([]string{"--ros-args", "--params-file", "none.yaml"}, reader(nil))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestLogging(t *testing.T) {
	a := parse(t, "--ros-args --log-level WARN --log-level rcl:=debug --log-level my.node:=Fatal --disable-rosout-logs --enclave /e --log-file-name f --log-config-file c --disable-stdout-logs --enable-stdout-logs --disable-external-lib-logs", nil)
	if *a.LogLevel != slog.LevelWarn || a.Loggers["rcl"] != slog.LevelDebug || a.Loggers["my.node"] != args.LevelFatal {
		t.Errorf("levels %v, %v", a.LogLevel, a.Loggers)
	}
	if !a.NoRosout || a.NoStdout || a.Enclave != "/e" || a.LogPrefix != "f" || a.LogConfig != "c" {
		t.Errorf("%+v", a)
	}
	if b := parse(t, "", nil); b.LogLevel != nil || b.NoRosout {
		t.Errorf("without arguments %+v", b)
	}
}

func TestNodeNames(t *testing.T) {
	for _, c := range []struct{ line, name, ns, want string }{
		{"", "n", "", "/n"},
		{"", "n", "/", "/n"},
		{"", "n", "a/b", "/a/b/n"},
		{"", "n", "/a", "/a/n"},
		{"-r __node:=m", "n", "/a", "/a/m"},
		{"-r __name:=m", "n", "", "/m"},
		{"-r __ns:=/b", "n", "/a", "/b/n"},
		{"-r __ns:=/", "n", "/a", "/n"},
		{"-r n:__node:=m", "n", "", "/m"},
		{"-r o:__node:=m", "n", "", "/n"},
		{"-r n:__ns:=/b", "n", "", "/b/n"},
		{"-r __node:=m -r n:__ns:=/b", "n", "", "/m"}, // rules see the new name
		{"-r __node:=m -r m:__ns:=/b", "n", "", "/b/m"},
		{"-r __node:=one -r __node:=two", "n", "", "/one"}, // the first wins
	} {
		n, err := parse(t, "--ros-args "+c.line, nil).Node(c.name, c.ns)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if n.FullName() != c.want {
			t.Errorf("%s: %s in %q becomes %s, want %s", c.line, c.name, c.ns, n.FullName(), c.want)
		}
	}
	var none *args.Args
	if n, err := none.Node("n", ""); err != nil || n.FullName() != "/n" {
		t.Errorf("no arguments: %+v, %v", n, err)
	}
	for _, c := range []struct{ name, ns string }{{"", ""}, {"7", ""}, {"a b", ""}, {"a/b", ""}, {strings.Repeat("a", 256), ""}, {"n", "/a/"}, {"n", "/7"}, {"n", "a-b"}, {"n", "/" + strings.Repeat("a", 245)}} {
		_, err := none.Node(c.name, c.ns)
		var ne *args.NameError
		if !errors.As(err, &ne) || !errors.Is(err, ros.ErrInvalidName) {
			t.Errorf("node %.20q in %.20q: %v", c.name, c.ns, err)
		}
	}
}

func TestRemapRules(t *testing.T) {
	const line = "--ros-args -r from:=to -r first:own:=mine -r other:own:=theirs -r ~/inside:=/outside -r /abs:=rel -r a:=b -r b:=c " +
		"-r twice:=one -r twice:=two -r /ns/first/in:=~/out -r rostopic://both:=topic -r rosservice://both:=service"
	n, err := parse(t, line, nil).Node("first", "/ns")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string][2]string{
		"from":       {"/ns/to", "/ns/to"},
		"/ns/from":   {"/ns/to", "/ns/to"},
		"/from":      {"/from", "/from"},
		"from/x":     {"/ns/from/x", "/ns/from/x"},
		"own":        {"/ns/mine", "/ns/mine"},
		"~/inside":   {"/outside", "/outside"},
		"~":          {"/ns/first", "/ns/first"},
		"/abs":       {"/ns/rel", "/ns/rel"},
		"a":          {"/ns/b", "/ns/b"}, // rules do not chain
		"twice":      {"/ns/one", "/ns/one"},
		"~/in":       {"/ns/first/out", "/ns/first/out"},
		"both":       {"/ns/topic", "/ns/service"},
		"{node}/in":  {"/ns/first/out", "/ns/first/out"},
		"{ns}/plain": {"/ns/plain", "/ns/plain"},
	} {
		topic, err1 := n.Topic(in)
		service, err2 := n.Service(in)
		if err1 != nil || err2 != nil || topic != want[0] || service != want[1] {
			t.Errorf("%s: topic %s (%v), service %s (%v); want %v", in, topic, err1, service, err2, want)
		}
	}
	root, err := parse(t, "--ros-args -r /x:=/y", nil).Node("n", "/")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{"x": "/y", "~/a": "/n/a", "a": "/a"} {
		if got, err := root.Topic(in); err != nil || got != want {
			t.Errorf("in the root namespace %s becomes %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestNameLength(t *testing.T) {
	var none *args.Args
	n, err := none.Node("n", "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Topic("/" + strings.Repeat("a", 246)); err != nil {
		t.Error(err)
	}
	var ne *args.NameError
	if _, err := n.Topic(strings.Repeat("a", 247)); !errors.As(err, &ne) || !strings.Contains(err.Error(), "248 bytes long, more than 247") {
		t.Errorf("error %v", err)
	}
}

func TestParamValues(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "-5": int64(-5), "+5": int64(5), "0x1F": int64(31), "-0X10": int64(-16), "017": int64(15), "0": int64(0),
		"9223372036854775807": int64(math.MaxInt64), "9223372036854775808": 9223372036854775808.0, "-9223372036854775808": int64(math.MinInt64),
		"1.0": 1.0, "1.": 1.0, ".5": 0.5, "1e3": 1000.0, "08": 8.0, "-.inf": math.Inf(-1), ".Inf": math.Inf(1), "inf": math.Inf(1), "0x1.8p1": 3.0,
		"true": true, "False": false, "yes": true, "off": false, "Y": true, "n": false, "tRue": "tRue",
		"text": "text", "'1'": "1", `"true"`: "true", "!!str 5": "5", "1_000": "1_000", "0b1": "0b1", "0o7": "0o7", "1a": "1a", "0x": "0x", "null": "null", "2026-01-01": "2026-01-01",
		"a: b":  nil, // a map: nested parameters
		"[1,2]": []int64{1, 2}, "[1.5, 2.0]": []float64{1.5, 2}, "[true, no]": []bool{true, false}, "[a, 'b']": []string{"a", "b"}, "[]": []any{}, "''": "",
		"- 1\n- 2": []int64{1, 2},
	} {
		a, err := args.Parse([]string{"--ros-args", "-p", "k:=" + text})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		n, err := a.Node("n", "")
		if err != nil {
			t.Fatal(err)
		}
		if text == "a: b" {
			if n.Params["k.a"] != "b" {
				t.Errorf("%q: %v", text, n.Params)
			}
			continue
		}
		if got := n.Params["k"]; !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %#v, want %#v", text, got, want)
		}
	}
	a, err := args.Parse([]string{"--ros-args", "-p", "k:=.NaN"})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := a.Params[0].Value.(float64); !ok || !math.IsNaN(f) {
		t.Errorf(".NaN is %v", a.Params[0].Value)
	}
}

const paramsYAML = `
/**:
  ros__parameters:
    use_sim_time: true
    rate: 1.5
    common: [1, 2]
agent:
  ros__parameters:
    rate: 2.5
    budget:
      steps: 7
      cost: {limit: 0.5}
/robot:
  agent:
    ros__parameters:
      rate: 3.5
  /deep/agent:
    ros__parameters:
      rate: 4.5
/*/other:
  ros__parameters:
    name: one part
/**/other:
  ros__parameters:
    name: any parts
`

func TestParamsFile(t *testing.T) {
	files := map[string]string{"p.yaml": paramsYAML, "more.yaml": "agent: {ros__parameters: {rate: 9.5, extra: x}}"}
	for _, c := range []struct {
		line, name, ns string
		want           map[string]any
	}{
		{"--params-file p.yaml", "unnamed", "", map[string]any{"use_sim_time": true, "rate": 1.5, "common": []int64{1, 2}}},
		{"--params-file p.yaml", "agent", "", map[string]any{"use_sim_time": true, "rate": 2.5, "common": []int64{1, 2}, "budget.steps": int64(7), "budget.cost.limit": 0.5}},
		{"--params-file p.yaml", "agent", "/robot", map[string]any{"use_sim_time": true, "rate": 3.5, "common": []int64{1, 2}}},
		{"--params-file p.yaml", "agent", "/robot/deep", map[string]any{"use_sim_time": true, "rate": 4.5, "common": []int64{1, 2}}},
		{"--params-file p.yaml", "other", "/x", map[string]any{"use_sim_time": true, "rate": 1.5, "common": []int64{1, 2}, "name": "any parts"}},
		{"--params-file p.yaml -r __node:=agent -r __ns:=/robot", "n", "", map[string]any{"use_sim_time": true, "rate": 3.5, "common": []int64{1, 2}}},
		{"--params-file more.yaml --params-file p.yaml", "agent", "", map[string]any{"use_sim_time": true, "rate": 2.5, "common": []int64{1, 2}, "budget.steps": int64(7), "budget.cost.limit": 0.5, "extra": "x"}},
		{"--params-file more.yaml -p rate:=10.5 -p agent:extra:=why -p other:extra:=z", "agent", "", map[string]any{"rate": 10.5, "extra": "why"}},
		{"-p rate:=10.5 --params-file more.yaml", "agent", "", map[string]any{"rate": 9.5, "extra": "x"}},
		{"-p agent:no:=3 -p yes:=4", "agent", "/ns", map[string]any{"yes": int64(4)}},
	} {
		n, err := parse(t, "--ros-args "+c.line, files).Node(c.name, c.ns)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if !reflect.DeepEqual(n.Params, c.want) {
			t.Errorf("%s: %s has\n%v, want\n%v", c.line, n.FullName(), n.Params, c.want)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, node string
		want          bool
	}{
		{"/**", "/n", true},
		{"/**", "/a/b/n", true},
		{"/*", "/n", true},
		{"/*", "/a/n", false},
		{"/n", "/n", true},
		{"/n", "/a/n", false},
		{"/a/**", "/a/b/c", true},
		{"/a/**", "/a", true},
		{"/a/**", "/b/c", false},
		{"/**/n", "/n", true},
		{"/**/n", "/a/b/n", true},
		{"/**/n", "/a/m", false},
		{"/a/*/n", "/a/b/n", true},
		{"/a/*/n", "/a/n", false},
		{"/**/b/**", "/a/b/c", true},
		{"/**/b/**", "/a/c", false},
		{"/*/*", "/a/b", true},
	} {
		if got := (args.Param{Pattern: c.pattern}).Matches(c.node); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.node, got)
		}
	}
}

func TestParamsFileErrors(t *testing.T) {
	for text, want := range map[string]string{
		"": "f:1: empty", "a": "f:1: want node names", "[1]": "f:1: want node names", "n:\n  k: 1": "f:2: want node names",
		"ros__parameters: {a: 1}":                              "f:1: ros__parameters without a node's name",
		"n:\n  ros__parameters: 5":                             "f:2: want parameters below",
		"n:\n  ros__parameters:\n    a:":                       "f:3: parameter a: no value",
		"n:\n  ros__parameters:\n    a: [1, 2.0]":              "a list holds one type",
		"n:\n  ros__parameters:\n    a: [[1]]":                 "f:3: parameter a: element 0 is no bool",
		"n:\n  ros__parameters:\n    a: [1, ]\n    b: [~, {}]": "element 1 is no bool",
		"n:\n  ros__parameters: {a: &x 1, b: *x}":              "no YAML aliases",
		"n:\n  ros__parameters:\n    '': 1":                    "want a parameter's name",
		"a b:\n  ros__parameters: {}":                          "f:1: ros: invalid node name",
		"\tn: 1":                                               "f: yaml:",
	} {
		_, err := args.ParseParamsFile("f", []byte(text))
		var fe *args.FileError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if p, err := args.ParseParamsFile("f", []byte("n:\n  ros__parameters: {}")); err != nil || len(p) != 0 {
		t.Errorf("no parameters: %v, %v", p, err)
	}
}

func FuzzParamsFile(f *testing.F) {
	f.Add([]byte(paramsYAML))
	f.Add([]byte("n: {ros__parameters: {a: [1, 2], b: 'x', c: !!str 5, d: {e: 0x1f}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		params, err := args.ParseParamsFile("f", data)
		if err != nil {
			var fe *args.FileError
			if !errors.As(err, &fe) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		for _, p := range params {
			switch p.Value.(type) {
			case bool, int64, float64, string, []bool, []int64, []float64, []string, []any:
			default:
				t.Fatalf("parameter %q is a %T", p.Name, p.Value)
			}
			p.Matches("/a/b")
		}
	})
}

// FuzzResolve: a name is refused, or becomes a valid absolute name that stays the same when it is resolved again.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a", "/a/b", "~", "~/x", "{node}", "a//b", "{ns}x"} {
		f.Add(s)
	}
	var none *args.Args
	n, err := none.Node("node", "/ns")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		full, err := n.Topic(name)
		if err != nil {
			if !errors.Is(err, ros.ErrInvalidName) {
				t.Fatalf("%q: untyped error %v", name, err)
			}
			return
		}
		if err := args.ValidateTopicName(full); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if again, err := n.Topic(full); err != nil || again != full {
			t.Fatalf("%q becomes %q, then %q, %v", name, full, again, err)
		}
	})
}
