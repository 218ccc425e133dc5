package typedesc_test

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/msgdef"
	"agent_node/pkg/ros/typedesc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestHashesAreROSs compares with the hashes that ROS 2 Jazzy's own packages were installed with.
func TestHashesAreROSs(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "jazzy_hashes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	source := typedesc.FromTypes(msgdef.Embedded())
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		name, hash, _ := strings.Cut(s.Text(), " ")
		d, err := source.Describe(name)
		if errors.Is(err, ros.ErrUnknownType) {
			continue // not every installed type is embedded
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n++
		if d.Hash != hash {
			t.Errorf("%s: hash %s, ROS has %s", name, d.Hash, hash)
		}
	}
	if n < 200 {
		t.Errorf("only %d types were compared", n)
	}
}

// TestInstalledHashes compares computed and installed descriptions of everything in the prefixes.
func TestInstalledHashes(t *testing.T) {
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	if len(prefixes) == 0 {
		t.Skip("AMENT_PREFIX_PATH is not set")
	}
	computed, installed := typedesc.FromTypes(msgdef.Embedded()), typedesc.FromPrefixes(prefixes...)
	n := 0
	for _, p := range prefixes {
		files, err := filepath.Glob(filepath.Join(p, "share", "*", "*", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			parts := strings.Split(strings.TrimSuffix(f, ".json"), string(filepath.Separator))
			name := strings.Join(parts[len(parts)-3:], "/")
			c, err := computed.Describe(name)
			if errors.Is(err, ros.ErrUnknownType) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			i, err := installed.Describe(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			n++
			if c.Hash != i.Hash {
				t.Errorf("%s: computed %s, installed %s", name, c.Hash, i.Hash)
			}
			if len(i.Texts) != 1+len(i.Description.Referenced) || i.Texts[0].Encoding == "implicit" {
				t.Errorf("%s: texts of %d types", name, len(i.Texts))
			}
		}
	}
	if n == 0 {
		t.Error("nothing was compared")
	}
}

const pair = `{"type_description_msg": {
  "type_description": {"type_name": "demo_msgs/msg/Pair", "fields": [
    {"name": "left", "type": {"type_id": 1, "capacity": 0, "string_capacity": 0, "nested_type_name": "demo_msgs/msg/One"}, "default_value": ""},
    {"name": "n", "type": {"type_id": 6, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}, "default_value": "42"}]},
  "referenced_type_descriptions": [{"type_name": "demo_msgs/msg/One", "fields": [
    {"name": "x", "type": {"type_id": 11, "capacity": 0, "string_capacity": 0, "nested_type_name": ""}, "default_value": ""}]}]},
 "type_hashes": []}`

// prefix makes a ROS prefix with one package.
func prefix(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, "share", "demo_msgs", "msg", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPrefixGivesDefaultsAndTexts(t *testing.T) {
	s := typedesc.FromPrefixes(t.TempDir(), prefix(t, map[string]string{"Pair.json": pair, "Pair.msg": "One left\nint32 n 42\n", "One.idl": "// one"}))
	d, err := s.Describe("demo_msgs/msg/Pair")
	if err != nil {
		t.Fatal(err)
	}
	if d.Description.Main.Fields[1].Default != "42" || len(d.Description.Referenced) != 1 {
		t.Errorf("%+v", d.Description)
	}
	want := []typedesc.Text{
		{TypeName: "demo_msgs/msg/Pair", Encoding: "msg", Contents: "One left\nint32 n 42\n"},
		{TypeName: "demo_msgs/msg/One", Encoding: "idl", Contents: "// one"},
	}
	if !slices.Equal(d.Texts, want) {
		t.Errorf("texts %+v", d.Texts)
	}
	if !strings.HasPrefix(d.Hash, typedesc.HashPrefix) || len(d.Hash) != len(typedesc.HashPrefix)+64 {
		t.Errorf("hash %q", d.Hash)
	}
	// The default value is no part of the structure.
	bare := *d.Description
	bare.Main.Fields = slices.Clone(bare.Main.Fields)
	bare.Main.Fields[1].Default = ""
	if bare.Hash() != d.Hash {
		t.Error("the hash depends on a default value")
	}
	bare.Main.Fields[1].Name = "m"
	if bare.Hash() == d.Hash {
		t.Error("the hash does not depend on a field's name")
	}
}

func TestPrefixErrors(t *testing.T) {
	wrong := strings.Replace(pair, `"type_hashes": []`, `"type_hashes": [{"type_name": "demo_msgs/msg/Pair", "hash_string": "RIHS01_00"}]`, 1)
	s := typedesc.FromPrefixes(prefix(t, map[string]string{"Pair.json": wrong, "Bad.json": "{"}))
	for name, unknown := range map[string]bool{
		"demo_msgs/msg/Pair": false, "demo_msgs/msg/Bad": false, "demo_msgs/msg/None": true, "demo_msgs/None": true,
		"../x/msg/Y": true, "demo_msgs/msg/../Pair": true, "": true,
	} {
		if _, err := s.Describe(name); err == nil || errors.Is(err, ros.ErrUnknownType) != unknown {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestServiceTellsTypes(t *testing.T) {
	bus := mem.NewBus()
	node, err := bus.NewNode("robot", mem.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	source := typedesc.First(typedesc.FromPrefixes(prefix(t, map[string]string{"Pair.json": pair})), typedesc.FromTypes(node.Types()))
	if _, err := typedesc.Serve(node, source); err != nil {
		t.Fatal(err)
	}
	client, err := node.CreateClient("~/get_type_description", "type_description_interfaces/srv/GetTypeDescription")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name, hash string) *ros.Message {
		m, err := client.Call(t.Context(), ros.New(client.Type().Request).With("type_name", name).With("type_hash", hash))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	twist, err := source.Describe("geometry_msgs/msg/Twist")
	if err != nil {
		t.Fatal(err)
	}
	m := ask("geometry_msgs/msg/Twist", twist.Hash)
	if !m.Bool("successful") || m.Str("failure_reason") != "" ||
		m.Str("type_description.type_description.fields[0].name") != "linear" ||
		m.Str("type_description.type_description.fields[0].type.nested_type_name") != "geometry_msgs/msg/Vector3" ||
		len(m.Msgs("type_description.referenced_type_descriptions")) != 1 {
		t.Errorf("%v", m.Map())
	}
	if m := ask("demo_msgs/msg/Pair", ""); !m.Bool("successful") || len(m.Msgs("type_sources")) != 2 {
		t.Errorf("%v", m.Map())
	}
	for _, x := range [][2]string{{"geometry_msgs/msg/Twist", "RIHS01_00"}, {"geometry_msgs/msg/Twits", ""}, {"Twist", ""}} {
		if m := ask(x[0], x[1]); m.Bool("successful") || m.Str("failure_reason") == "" {
			t.Errorf("%q: %v", x, m.Map())
		}
	}
}
