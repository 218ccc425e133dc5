package ros1_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bluenviron/goroslib/v2/pkg/apimaster"
	"github.com/bluenviron/goroslib/v2/pkg/apislave"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/ros1/ros1test"
)

func TestNoMasterIsSaid(t *testing.T) {
	_, err := ros1.NewNode("n", ros1.Options{Master: "http://127.0.0.1:1", Types: types})
	if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1") || !strings.Contains(err.Error(), "roscore") {
		t.Errorf("no master: %v", err)
	}
	for _, bad := range []string{"localhost:11311", "http://localhost", "://", "http://:11311/"} {
		if _, err := ros1.NewNode("n", ros1.Options{Master: bad, Types: types}); err == nil || !strings.Contains(err.Error(), "ROS_MASTER_URI") {
			t.Errorf("master %q: %v", bad, err)
		}
	}
}

// An unknown type says where was looked; ROS_PACKAGE_PATH adds types, and its own version of one wins.
func TestTypesComeFromPackagesToo(t *testing.T) {
	_, err := ros1.NewTypes().Message("robot_msgs/msg/Wheel")
	if !errors.Is(err, ros.ErrUnknownType) || !strings.Contains(err.Error(), "robot_msgs/msg/Wheel") || !strings.Contains(err.Error(), "ROS_PACKAGE_PATH") {
		t.Errorf("a type that nobody defines: %v", err)
	}
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("src/stack/folder/package.xml", "<package><name>robot_msgs</name></package>")
	write("src/stack/folder/msg/Wheel.msg", "Header header\nfloat32 Slip # upper case\nduration age\nstring MODE=a # no comment\nbyte LOW=-1\n")
	write("src/stack/folder/action/Roll.action", "float64 far\n---\n---\ntime since\n")
	write("src/std_msgs/package.xml", "<package format=\"2\">\n<name>std_msgs</name></package>")
	write("src/std_msgs/msg/Bool.msg", "bool data\nbool sure\n")
	write("src/ignored/CATKIN_IGNORE", "")
	write("src/ignored/package.xml", "<package><name>ignored_msgs</name></package>")
	write("src/ignored/msg/No.msg", "bool data\n")
	write("src/broken/package.xml", "<package>")
	found := ros1.NewTypes(ros1.PackageTrees(filepath.Join(root, "src"), filepath.Join(root, "missing"))...)
	wheel, err := found.Message("robot_msgs/msg/Wheel")
	if err != nil {
		t.Fatal(err)
	}
	if wheel.FieldIndex("Slip") < 0 || wheel.Constants[0].Value != "a # no comment" || wheel.Constants[1].Value != uint8(255) {
		t.Errorf("wheel %+v", wheel)
	}
	if _, err := found.Action("robot_msgs/action/Roll"); err != nil {
		t.Error(err)
	}
	if b, err := found.Message("std_msgs/msg/Bool"); err != nil || b.FieldIndex("sure") < 0 {
		t.Errorf("the installed version of a type: %v", err)
	}
	if _, err := found.Message("std_msgs/msg/String"); err != nil {
		t.Errorf("what the installed package lacks: %v", err)
	}
	if _, err := found.Message("ignored_msgs/msg/No"); !errors.Is(err, ros.ErrUnknownType) {
		t.Errorf("a package with CATKIN_IGNORE: %v", err)
	}
}

func TestParameters(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	m.SetParam("/ns/robot/model/kind", "scripted")
	m.SetParam("/ns/robot/queue_length", 3)
	m.SetParam("/ns/robot/rate", 2.5)
	m.SetParam("/ns/robot/autostart", false)
	m.SetParam("/ns/robot/policy/tools", []string{"a: allow", "b: deny"})
	m.SetParam("/ns/robot/numbers", []int{1, 2})
	m.SetParam("/ns/robot/mixed", []float64{1.5, 2})
	m.SetParam("/ns/robots", 1) // another name that begins alike
	m.SetParam("/move_base/planner/tolerance", 0.25)
	m.SetParam("/use_sim_time", true)
	n := newNode(t, m.URI, "robot", ros1.Options{Namespace: "/ns", Args: arguments(t, "--ros-args", "-p", "queue_length:=7")})
	want := map[string]any{
		"model.kind": "scripted", "queue_length": int64(7), "rate": 2.5, "autostart": false,
		"policy.tools": []string{"a: allow", "b: deny"}, "numbers": []int64{1, 2}, "mixed": []float64{1.5, 2}, "use_sim_time": true,
	}
	if !reflect.DeepEqual(n.Params(), want) {
		t.Errorf("got %v\nwant %v", n.Params(), want)
	}
	if !n.Clock().Simulated() {
		t.Error("/use_sim_time is true, and the clock is the system's")
	}

	c, err := n.CreateClient("/move_base/get_parameters", "rcl_interfaces/srv/GetParameters")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	r, err := c.Call(ctx, ros.New(c.Type().Request).With("names", []string{"planner.tolerance", "none"}))
	if err != nil {
		t.Fatal(err)
	}
	v := r.Msgs("values")
	if len(v) != 2 || v[0].Int("type") != 3 || v[0].Float("double_value") != 0.25 || v[1].Int("type") != 0 {
		t.Errorf("values %v", r.Map())
	}
}

// A master that was restarted knows nobody; the node tells it again what it publishes, subscribes and serves.
func TestMasterRestarts(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	quiet := slog.New(slog.DiscardHandler)
	a := newNode(t, m.URI, "a", ros1.Options{Logger: quiet})
	b := newNode(t, m.URI, "b", ros1.Options{Logger: quiet})
	p, err := a.CreatePublisher("/x", "std_msgs/msg/Int64", ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	typ, err := a.Types().Service("std_srvs/srv/Trigger")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateService("/serve", typ.Name, func(context.Context, *ros.Message) (*ros.Message, error) { return ros.New(typ.Response), nil }); err != nil {
		t.Fatal(err)
	}
	got := make(chan int64, 10)
	if _, err := b.CreateSubscription("/x", "std_msgs/msg/Int64", ros.DefaultQoS(), func(r ros.Received) { got <- r.Message.Int("data") }); err != nil {
		t.Fatal(err)
	}
	eventually(t, "connected", func() bool { return p.SubscriptionCount() == 1 })
	m.Close()
	// Connections outlive the master.
	if err := p.Publish(ros.New(p.Type()).With("data", 1)); err != nil {
		t.Fatal(err)
	}
	if i := receive(t, got, "a message without a master"); i != 1 {
		t.Errorf("got %d", i)
	}
	again := ros1test.NewMaster(t, m.Port())
	eventually(t, "the service is known again", func() bool { return len(again.Services()) == 1 })
	// A subscriber that comes now finds the publisher.
	late := newNode(t, again.URI, "late", ros1.Options{})
	if _, err := late.CreateSubscription("/x", "std_msgs/msg/Int64", ros.DefaultQoS(), func(r ros.Received) { got <- 10 + r.Message.Int("data") }); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the newcomer is connected, the old one still", func() bool { return p.SubscriptionCount() == 2 })
}

// rosnode kill, and a second node of the same name, end a node.
func TestShutdownRequests(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	first := newNode(t, m.URI, "twin", ros1.Options{})
	if _, err := first.CreatePublisher("/x", "std_msgs/msg/Int64", ros.DefaultQoS()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Ended():
		t.Error("ended at once")
	default:
	}
	second := newNode(t, m.URI, "twin", ros1.Options{})
	if _, err := second.CreatePublisher("/y", "std_msgs/msg/Int64", ros.DefaultQoS()); err != nil {
		t.Fatal(err)
	}
	receive(t, first.Ended(), "the first node of the name is told to end")

	u, err := url.Parse(m.URI)
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Client{Timeout: within, Transport: &http.Transport{DisableKeepAlives: true}}
	uri, err := apimaster.NewClient(u.Host, "/test", web).LookupNode("/twin")
	if err != nil {
		t.Fatal(err)
	}
	node, err := url.Parse(uri)
	if err != nil {
		t.Fatal(err)
	}
	if err := apislave.NewClient(node.Host, "/rosnode", web).Shutdown("user request"); err != nil {
		t.Fatal(err)
	}
	receive(t, second.Ended(), "rosnode kill")
}

// What two nodes mean differently by one name is told to both, once, with both sides' versions.
func TestTypesThatDifferAreSaid(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	var mine, theirs syncBuffer
	a := newNode(t, m.URI, "a", ros1.Options{Logger: slog.New(slog.NewTextHandler(&mine, nil))})
	b := newNode(t, m.URI, "b", ros1.Options{Logger: slog.New(slog.NewTextHandler(&theirs, nil))})
	if _, err := a.CreatePublisher("/x", "std_msgs/msg/Int64", ros.DefaultQoS()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateSubscription("/x", "std_msgs/msg/String", ros.DefaultQoS(), func(ros.Received) {}); err != nil {
		t.Fatal(err)
	}
	for _, log := range []*syncBuffer{&mine, &theirs} {
		eventually(t, "the difference is told", func() bool {
			s := log.String()
			return strings.Contains(s, "std_msgs/Int64") && strings.Contains(s, "std_msgs/String") && strings.Contains(s, "/x")
		})
	}
	if _, err := a.CreatePublisher("/x", "std_msgs/msg/String", ros.DefaultQoS()); !errors.Is(err, ros.ErrInvalidMessage) {
		t.Errorf("a second type of a node's topic: %v", err)
	}

	typ, err := a.Types().Service("std_srvs/srv/Trigger")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateService("/s", typ.Name, func(context.Context, *ros.Message) (*ros.Message, error) { return ros.New(typ.Response), nil }); err != nil {
		t.Fatal(err)
	}
	c, err := b.CreateClient("/s", "std_srvs/srv/SetBool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), ros.New(c.Type().Request)); !errors.Is(err, ros.ErrNotReady) || !strings.Contains(err.Error(), "std_srvs/Trigger") {
		t.Errorf("a service of another type: %v", err)
	}
	services, err := b.Graph().Services()
	if err != nil || fmt.Sprint(services["/s"]) != "[std_srvs/srv/Trigger]" {
		t.Errorf("services %v, %v", services, err)
	}
}

// A node that dies without a word stays in the master's books. Nobody waits for it.
func TestTheDeadAreNotWaitedFor(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	n := newNode(t, m.URI, "n", ros1.Options{})
	u, err := url.Parse(m.URI)
	if err != nil {
		t.Fatal(err)
	}
	master := apimaster.NewClient(u.Host, "/ghost", &http.Client{Timeout: within, Transport: &http.Transport{DisableKeepAlives: true}})
	if err := master.RegisterService("/s", "rosrpc://127.0.0.1:1", "http://127.0.0.1:1/"); err != nil {
		t.Fatal(err)
	}
	if _, err := master.RegisterPublisher("/x", "std_msgs/Int64", "http://127.0.0.1:1/"); err != nil {
		t.Fatal(err)
	}
	c, err := n.CreateClient("/s", "std_srvs/srv/Trigger")
	if err != nil {
		t.Fatal(err)
	}
	if c.Ready() {
		t.Error("a dead server is ready")
	}
	if _, err := c.Call(t.Context(), ros.New(c.Type().Request)); !errors.Is(err, ros.ErrNotReady) {
		t.Errorf("calling a dead server: %v", err)
	}
	before, err := n.Graph().Publishers("/x")
	if err != nil || len(before) != 1 || before[0].Node != "/ghost" {
		t.Errorf("publishers before subscribing: %v, %v", before, err)
	}
	s, err := n.CreateSubscription("/x", "std_msgs/msg/Int64", ros.DefaultQoS(), func(ros.Received) {})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the dead publisher is known to be so", func() bool {
		there, err := n.Graph().Publishers("/x")
		return err == nil && len(there) == 0
	})
	if s.PublisherCount() != 0 {
		t.Error("a dead publisher counts")
	}
}

// The last message before the end is what stops a robot.
func TestTheLastMessageIsSentBeforeTheEnd(t *testing.T) {
	m := ros1test.NewMaster(t, "0")
	listener := newNode(t, m.URI, "listener", ros1.Options{})
	got := make(chan int64, 1000)
	if _, err := listener.CreateSubscription("/x", "std_msgs/msg/Int64", ros.QoS{Depth: 1000}, func(r ros.Received) { got <- r.Message.Int("data") }); err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		n := newNode(t, m.URI, "speaker", ros1.Options{})
		p, err := n.CreatePublisher("/x", "std_msgs/msg/Int64", ros.QoS{Depth: 100})
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "connected", func() bool { return p.SubscriptionCount() == 1 })
		for i := range 10 {
			if err := p.Publish(ros.New(p.Type()).With("data", 100*round+i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if d := receive(t, got, "message"); d != int64(100*round+i) {
				t.Fatalf("round %d: got %d, want %d", round, d, 100*round+i)
			}
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
