package msgdef_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/msgdef"
	"agent_node/pkg/ros/typedesc"
)

// names are the full names of every definition in a tree.
func names(t *testing.T, tree msgdef.Tree) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(tree.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		kind := strings.TrimPrefix(filepath.Ext(path), ".")
		full := strings.TrimSuffix(path, "."+kind)
		if tree.Package != "" {
			full = tree.Package + "/" + full
		}
		parts := strings.Split(full, "/")
		if !d.IsDir() && len(parts) == 3 && parts[1] == kind && (kind == "msg" || kind == "srv" || kind == "action") {
			all = append(all, full)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// messages are the messages that an interface consists of.
func messages(t *testing.T, s *msgdef.Source, full string) []*ros.Type {
	t.Helper()
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch strings.Split(full, "/")[1] {
	case "msg":
		m, err := s.Message(full)
		fatal(err)
		return []*ros.Type{m}
	case "srv":
		v, err := s.Service(full)
		fatal(err)
		return []*ros.Type{v.Request, v.Response}
	default:
		a, err := s.Action(full)
		fatal(err)
		return []*ros.Type{a.Goal, a.Result, a.Feedback, a.SendGoal.Request, a.SendGoal.Response, a.GetResult.Request, a.GetResult.Response, a.FeedbackMessage}
	}
}

func TestEveryEmbeddedDefinition(t *testing.T) {
	source := msgdef.Embedded()
	packages := map[string]int{}
	for _, tree := range msgdef.EmbeddedTrees() {
		for _, full := range names(t, tree) {
			packages[strings.Split(full, "/")[0]]++
			for _, typ := range messages(t, source, full) {
				if err := ros.New(typ).Validate(); err != nil {
					t.Errorf("%s: %v", typ.Name, err)
				}
				if again, err := source.Message(typ.Name); err != nil || again != typ {
					t.Errorf("%s is not found by its name: %v", typ.Name, err)
				}
			}
		}
	}
	for _, p := range []string{
		"action_msgs", "agent_msgs", "builtin_interfaces", "control_msgs", "diagnostic_msgs", "geometry_msgs", "lifecycle_msgs", "nav2_msgs",
		"nav_msgs", "rcl_interfaces", "rosgraph_msgs", "sensor_msgs", "service_msgs", "std_msgs", "std_srvs", "tf2_msgs",
		"trajectory_msgs", "type_description_interfaces", "unique_identifier_msgs", "vision_msgs",
	} {
		if packages[p] == 0 {
			t.Errorf("package %s is not embedded", p)
		}
	}
}

// TestTypeHashes compares every type, the derived ones included, with the hashes
// that rosidl computed: names, order, types, bounds and nesting are then the same.
func TestTypeHashes(t *testing.T) {
	file, err := os.Open("testdata/hashes.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	source := typedesc.FromTypes(withTestMsgs())
	compared := 0
	for scan := bufio.NewScanner(file); scan.Scan(); {
		name, want, ok := strings.Cut(scan.Text(), " ")
		if !ok || name == "#" {
			continue
		}
		d, err := source.Describe(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Hash != want {
			t.Errorf("%s: %s, recorded %s", name, d.Hash, want)
		}
		compared++
	}
	if compared < 300 {
		t.Errorf("only %d hashes compared", compared)
	}
}

// Hashes do not see default values and constants.
func TestDefaultsOfTestMessages(t *testing.T) {
	source := withTestMsgs()
	get := func(name string) *ros.Message {
		typ, err := source.Message("test_msgs/msg/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return ros.New(typ)
	}
	d := get("Defaults")
	for field, want := range map[string]any{
		"bool_value": true, "byte_value": uint8(50), "char_value": uint8(100), "float32_value": float32(1.125), "float64_value": 1.125,
		"int8_value": int8(-50), "uint8_value": uint8(200), "int16_value": int16(-1000), "uint16_value": uint16(2000), "int32_value": int32(-30000),
		"uint32_value": uint32(60000), "int64_value": int64(-40000000), "uint64_value": uint64(50000000),
	} {
		if got, err := d.Get(field); err != nil || got != want {
			t.Errorf("%s is %v (%T), want %v", field, got, got, want)
		}
	}
	s := get("Strings")
	for i, want := range []string{"Hello world!", "Hello'world!", `Hello"world!`, "Hello'world!", `Hello"world!`} {
		for _, field := range []string{"string_value_default", "bounded_string_value_default"} {
			if got := s.Str(field + string(rune('1'+i))); got != want {
				t.Errorf("%s%d is %q, want %q", field, i+1, got, want)
			}
		}
	}
	if got := get("WStrings").Str("wstring_value_default3"); got != "ハローワールド" {
		t.Errorf("wstring default %q", got)
	}
	a := get("Arrays")
	if got, err := a.Get("string_values_default"); err != nil || !reflect.DeepEqual(got, []string{"", "max value", "min value"}) {
		t.Errorf("string array default %q", got)
	}
	if got, err := a.Get("uint64_values_default"); err != nil || !reflect.DeepEqual(got, []uint64{0, 1, 18446744073709551615}) {
		t.Errorf("uint64 array default %v", got)
	}
	c := get("Constants").Type.Constants
	if len(c) != 13 || c[0].Name != "BOOL_CONST" || c[0].Value != true || c[11].Value != int64(-40000000) {
		t.Errorf("constants %+v", c)
	}
}

func TestDerivedActionTypes(t *testing.T) {
	source := msgdef.Embedded()
	a, err := source.Action("nav2_msgs/action/NavigateToPose")
	if err != nil {
		t.Fatal(err)
	}
	for typ, want := range map[*ros.Type]string{
		a.SendGoal.Request:  "goal_id unique_identifier_msgs/msg/UUID, goal nav2_msgs/action/NavigateToPose_Goal",
		a.SendGoal.Response: "accepted bool, stamp builtin_interfaces/msg/Time",
		a.GetResult.Request: "goal_id unique_identifier_msgs/msg/UUID", a.GetResult.Response: "status int8, result nav2_msgs/action/NavigateToPose_Result",
		a.FeedbackMessage: "goal_id unique_identifier_msgs/msg/UUID, feedback nav2_msgs/action/NavigateToPose_Feedback",
	} {
		fields := make([]string, len(typ.Fields))
		for i := range typ.Fields {
			fields[i] = typ.Fields[i].Name + " " + typ.Fields[i].TypeString()
		}
		if got := strings.Join(fields, ", "); got != want {
			t.Errorf("%s: %s, want %s", typ.Name, got, want)
		}
	}
	if s, err := source.Service("nav2_msgs/action/NavigateToPose_SendGoal"); err != nil || s != a.SendGoal {
		t.Errorf("the goal service by name: %v", err)
	}
	fresh := msgdef.Embedded() // the parts first
	m, err := fresh.Message("nav2_msgs/action/NavigateToPose_FeedbackMessage")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fresh.Action("nav2_msgs/action/NavigateToPose"); err != nil || b.FeedbackMessage != m || b.Feedback != m.Fields[1].Type {
		t.Errorf("the action after its part: %v", err)
	}
}

func TestUnknownNames(t *testing.T) {
	source := msgdef.Embedded()
	for _, name := range []string{
		"", "/", "//", "String", "std_msgs/String", "std_msgs/msg/", "std_msgs/msg/string", "std_msgs/msg/Nothing", "std_msgs/srv/String",
		"std_msgs/msg/String_Request", "std_srvs/srv/Trigger_Goal", "std_srvs/srv/Trigger_", "std_srvs/msg/Trigger", "../msg/String", "std_msgs/msg/../String",
		"std_msgs/../msg", "std_msgs/msg/String/x", "nav2_msgs/action/Spin_SendGoal", "nav2_msgs/action/Spin", "STD/msg/String", "std_msgs/msg/String ",
	} {
		if _, err := source.Message(name); !errors.Is(err, ros.ErrUnknownType) {
			t.Errorf("message %q: %v", name, err)
		}
		if strings.HasPrefix(name, "nav2_msgs") {
			continue
		}
		if _, err := source.Service(name); !errors.Is(err, ros.ErrUnknownType) {
			t.Errorf("service %q: %v", name, err)
		}
		if _, err := source.Action(name); !errors.Is(err, ros.ErrUnknownType) {
			t.Errorf("action %q: %v", name, err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	source := msgdef.Embedded()
	got := make([]*ros.Type, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			typ, err := source.Message("nav_msgs/msg/Odometry")
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = typ
			if err := ros.New(typ).Validate(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, typ := range got {
		if typ != got[0] {
			t.Fatal("one name, two types")
		}
	}
}

// TestInstalledDefinitions reads everything that an installed ROS has, and compares
// it with what is embedded of the same name.
func TestInstalledDefinitions(t *testing.T) {
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	if len(prefixes) == 0 {
		t.Skip("AMENT_PREFIX_PATH is not set")
	}
	var trees []msgdef.Tree
	for _, p := range prefixes {
		trees = append(trees, msgdef.Tree{FS: os.DirFS(filepath.Join(p, "share"))})
	}
	installed, embedded := msgdef.NewSource(trees...), msgdef.Embedded()
	read, same := 0, 0
	for _, tree := range trees {
		for _, full := range names(t, tree) {
			for _, typ := range messages(t, installed, full) {
				read++
				mine, err := embedded.Message(typ.Name)
				if errors.Is(err, ros.ErrUnknownType) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				same++
				if !reflect.DeepEqual(typ.Constants, mine.Constants) && (len(typ.Constants) > 0 || len(mine.Constants) > 0) {
					t.Errorf("%s: constants differ:\n%+v\n%+v", typ.Name, typ.Constants, mine.Constants)
				}
				if len(typ.Fields) != len(mine.Fields) {
					t.Errorf("%s: %d fields, embedded %d", typ.Name, len(typ.Fields), len(mine.Fields))
					continue
				}
				for i := range typ.Fields {
					x, y := typ.Fields[i], mine.Fields[i]
					if x.Name != y.Name || x.TypeString() != y.TypeString() || !reflect.DeepEqual(x.Default, y.Default) {
						t.Errorf("%s: %s %s = %v, embedded %s %s = %v", typ.Name, x.TypeString(), x.Name, x.Default, y.TypeString(), y.Name, y.Default)
					}
				}
			}
		}
	}
	t.Logf("%d messages read, %d compared", read, same)
	if read == 0 || same == 0 {
		t.Error("nothing compared")
	}
}
