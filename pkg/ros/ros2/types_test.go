//go:build ros2

package ros2

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent_node/pkg/ros"
)

func TestTypesAreReadFromIntrospection(t *testing.T) {
	types := NewTypes()
	odom, err := types.Message("nav_msgs/msg/Odometry")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range odom.Fields {
		got = append(got, f.Name+" "+f.TypeString())
	}
	want := "header std_msgs/msg/Header, child_frame_id string, pose geometry_msgs/msg/PoseWithCovariance, twist geometry_msgs/msg/TwistWithCovariance"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got %s", s)
	}
	if f := odom.Fields[2].Type.Fields[1]; f.Array != ros.FixedArray || f.Size != 36 || f.Kind != ros.KindFloat64 {
		t.Errorf("covariance is %s", f.TypeString())
	}
	pose, err := types.Message("geometry_msgs/msg/PoseWithCovariance")
	if err != nil || pose != odom.Fields[2].Type {
		t.Errorf("a nested type is not the one that its name finds: %v", err)
	}
}

func TestDefaultsAreTheInterfaces(t *testing.T) {
	d, err := NewTypes().Message("test_msgs/msg/Defaults")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"bool_value": true, "byte_value": uint8(50), "float32_value": float32(1.125), "int8_value": int8(-50), "uint64_value": uint64(50000000),
	} {
		if f := d.Fields[d.FieldIndex(name)]; f.Default != want {
			t.Errorf("default of %s is %v, want %v", name, f.Default, want)
		}
	}
	plain, err := NewTypes().Message("test_msgs/msg/BasicTypes")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range plain.Fields {
		if f.Default != nil {
			t.Errorf("%s has the default %v", f.Name, f.Default)
		}
	}
}

func TestServicesAndActionsAreMadeOfMessages(t *testing.T) {
	types := NewTypes()
	srv, err := types.Service("std_srvs/srv/Trigger")
	if err != nil {
		t.Fatal(err)
	}
	if srv.Request.Name != "std_srvs/srv/Trigger_Request" || len(srv.Request.Fields) != 0 || srv.Response.FieldIndex("message") != 1 {
		t.Errorf("got %+v", srv)
	}
	a, err := types.Action("test_msgs/action/Fibonacci")
	if err != nil {
		t.Fatal(err)
	}
	if a.FeedbackMessage.Fields[1].Type != a.Feedback || a.SendGoal.Request.Fields[1].Type != a.Goal || a.GetResult.Response.Fields[1].Type != a.Result {
		t.Errorf("the parts of %s are not one another's", a.Name)
	}
	again, err := types.Action("test_msgs/action/Fibonacci")
	if err != nil || again != a {
		t.Errorf("asked twice, got another type: %v", err)
	}
}

// prefixOf is the prefix that has a package.
func prefixOf(t *testing.T, pkg string) string {
	t.Helper()
	for _, p := range prefixesFromEnvironment() {
		if _, err := os.Stat(filepath.Join(p, "share", pkg)); err == nil {
			return p
		}
	}
	t.Fatalf("no package %s in AMENT_PREFIX_PATH", pkg)
	return ""
}

func TestUnknownTypesSayWhereTheyWereLookedFor(t *testing.T) {
	types := NewTypes()
	message := func(name string) error { _, err := types.Message(name); return err }
	service := func(name string) error { _, err := types.Service(name); return err }
	action := func(name string) error { _, err := types.Action(name); return err }
	prefix := prefixOf(t, "geometry_msgs")
	for name, c := range map[string]struct {
		ask  func(string) error
		says string
	}{
		"no_such_pkg/msg/Thing":     {message, prefix},
		"geometry_msgs/msg/Nothing": {message, prefix},
		"geometry_msgs/Twist":       {message, "want pkg/msg/Name"},
		"../../etc/msg/Passwd":      {message, "want pkg/msg/Name"},
		"":                          {message, "want pkg/msg/Name"},
		"std_srvs/srv/Nothing":      {service, prefix},
		"geometry_msgs/msg/Twist":   {service, "no service"},
		"test_msgs/action/Nothing":  {action, prefix},
		"std_srvs/srv/Trigger":      {action, "pkg/action/Name"},
	} {
		err := c.ask(name)
		if !errors.Is(err, ros.ErrUnknownType) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: got %v, want mention of %s", name, err, c.says)
		}
	}
}

// A prefix is used although the loader does not know its directory: here a copy under another path.
func TestPrefixesNeedNotBeOnTheLoadersPath(t *testing.T) {
	libs, err := filepath.Glob(filepath.Join(prefixOf(t, "visualization_msgs"), "lib", "libvisualization_msgs__*.so"))
	if err != nil || len(libs) == 0 {
		t.Fatalf("no visualization_msgs: %v", err)
	}
	prefix := t.TempDir()
	if err := os.Mkdir(filepath.Join(prefix, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, lib := range libs {
		if err := os.Symlink(lib, filepath.Join(prefix, "lib", filepath.Base(lib))); err != nil {
			t.Fatal(err)
		}
	}
	types := NewTypes(append([]string{prefix}, prefixesFromEnvironment()...)...)
	if _, err := types.messageSupport("visualization_msgs/msg/MarkerArray"); err != nil {
		t.Fatal(err)
	}
	if where := types.packages["visualization_msgs"].where; where != filepath.Join(prefix, "lib") {
		t.Errorf("found in %s", where)
	}
}

func TestTypesMayBeAskedAtOnce(t *testing.T) {
	types := NewTypes()
	var wait sync.WaitGroup
	found := make([]*ros.Type, 8)
	for i := range found {
		wait.Go(func() { found[i], _ = types.Message("sensor_msgs/msg/LaserScan") })
	}
	wait.Wait()
	for _, f := range found {
		if f == nil || f != found[0] {
			t.Fatal("not one type for one name")
		}
	}
}

func TestEveryInstalledInterfaceCanBeRead(t *testing.T) {
	types := NewTypes()
	count := 0
	for _, prefix := range prefixesFromEnvironment() {
		for _, kind := range []string{"msg", "srv", "action"} {
			files, err := filepath.Glob(filepath.Join(prefix, "share", "*", kind, "*."+kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				pkg := filepath.Base(filepath.Dir(filepath.Dir(file)))
				name := pkg + "/" + kind + "/" + strings.TrimSuffix(filepath.Base(file), "."+kind)
				switch kind {
				case "msg":
					_, err = types.Message(name)
				case "srv":
					_, err = types.Service(name)
				case "action":
					_, err = types.Action(name)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				count++
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d interfaces found", count)
	}
}
