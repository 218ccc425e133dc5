package rosout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/rosout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// console is a writer that can be stalled.
type console struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.b.Write(p)
}

func (c *console) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Split(strings.TrimSuffix(c.b.String(), "\n"), "\n")
}

func closeHandler(t *testing.T, h *rosout.Handler) {
	t.Helper()
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestConsoleFormat(t *testing.T) {
	var c console
	h := rosout.New(rosout.Config{Name: "robot", Console: &c, NoRosout: true, Level: slog.LevelDebug})
	r := slog.NewRecord(time.Unix(1700000000, 5_000_000), slog.LevelInfo, "battery low", 0)
	r.Add("percent", 12.5, "note", "two words", "empty", "", slog.Group("at", "x", 1), slog.Attr{})
	if err := h.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	log := slog.New(h)
	log.Debug("d")
	log.Warn("w")
	log.Error("e")
	log.Log(t.Context(), args.LevelFatal, "f")
	log.With("node", "/fleet/arm").With("logger", "guard", "k", 1).WithGroup("g").Info("m", "logger", "not a name here", "err", errors.New("x=1"))
	log.Info("child by record", "logger", "sub")
	closeHandler(t, h)
	want := []string{
		`[INFO] [1700000000.005000000] [robot]: battery low percent=12.5 note="two words" empty="" at.x=1`,
		`[DEBUG] [T] [robot]: d`, `[WARN] [T] [robot]: w`, `[ERROR] [T] [robot]: e`, `[FATAL] [T] [robot]: f`,
		`[INFO] [T] [fleet.arm.guard]: m k=1 g.logger="not a name here" g.err="x=1"`,
		`[INFO] [T] [robot.sub]: child by record`,
	}
	got := c.lines()
	now := regexp.MustCompile(`\[\d{10}\.\d{9}\]`)
	for i := 1; i < len(got); i++ {
		got[i] = now.ReplaceAllString(got[i], "[T]")
	}
	if !slices.Equal(got, want) {
		t.Errorf("console:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLevelsByLogger(t *testing.T) {
	a, err := args.Parse([]string{"--ros-args", "--log-level", "warn", "--log-level", "robot.guard:=debug", "--disable-stdout-logs"})
	if err != nil {
		t.Fatal(err)
	}
	h := rosout.New(rosout.FromArgs(a))
	for _, x := range []struct {
		logger string
		want   slog.Level
	}{
		{"robot", slog.LevelWarn},
		{"robot.guard", slog.LevelDebug},
		{"robot.guard.base", slog.LevelDebug},
		{"robot.guardian", slog.LevelWarn},
		{"", slog.LevelWarn},
	} {
		if got := h.Level(x.logger); got != x.want {
			t.Errorf("level of %q is %v, want %v", x.logger, got, x.want)
		}
	}
	guard := slog.New(h).With("node", "/robot", "logger", "guard")
	if !guard.Enabled(t.Context(), slog.LevelDebug) || slog.New(h).Enabled(t.Context(), slog.LevelInfo) {
		t.Error("Enabled does not follow the levels")
	}
	h.SetLevel("robot.guard", slog.LevelError)
	if guard.Enabled(t.Context(), slog.LevelWarn) {
		t.Error("SetLevel has no effect on a logger that is there")
	}
	if got := h.Names(); !slices.Equal(got, []string{"robot.guard"}) {
		t.Errorf("names %q", got)
	}
	closeHandler(t, h)
}

// stalled is a console that takes nothing until it is released.
type stalled struct {
	release chan struct{}
	console
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.release
	return s.console.Write(p)
}

func TestStalledConsoleDelaysNobody(t *testing.T) {
	s := &stalled{release: make(chan struct{})}
	h := rosout.New(rosout.Config{Name: "robot", Console: s, NoRosout: true})
	log := slog.New(h)
	const n = 5000
	for i := range n { // would hang here
		log.Info("m", "i", i)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("close with a stalled console: %v", err)
	}
	close(s.release)
	closeHandler(t, h)
	lines := s.lines()
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, fmt.Sprintf("i=%d", n-1)) {
		t.Errorf("the newest line is %q", last)
	}
	lost, printed := 0, 0
	for _, l := range lines {
		var k int
		if _, err := fmt.Sscanf(l[strings.Index(l, "]: ")+3:], "%d messages were lost", &k); err == nil {
			lost += k
		} else {
			printed++
		}
	}
	if lost == 0 || lost+printed != n {
		t.Errorf("%d lost and %d printed of %d", lost, printed, n)
	}
}

// topic is a bus with a subscriber of /rosout.
func topic(t *testing.T, h *rosout.Handler) (*mem.Node, chan *ros.Message) {
	t.Helper()
	bus := mem.NewBus()
	node, err := bus.NewNode("robot", mem.Options{Logger: slog.New(h)})
	if err != nil {
		t.Fatal(err)
	}
	other, err := bus.NewNode("screen", mem.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	})
	c := make(chan *ros.Message, 2000)
	_, err = other.CreateSubscription("/rosout", "rcl_interfaces/msg/Log", rosout.QoS(), func(r ros.Received) { c <- r.Message })
	if err != nil {
		t.Fatal(err)
	}
	return node, c
}

func TestRosoutCarriesTheWholeRecord(t *testing.T) {
	h := rosout.New(rosout.Config{NoConsole: true})
	node, out := topic(t, h)
	node.Logger().Info("before the node publishes")
	if err := h.Attach(node); err != nil {
		t.Fatal(err)
	}
	if err := h.Attach(node); err == nil {
		t.Error("attached twice")
	}
	node.Logger().Error("arm", "joint", 3)
	m := <-out
	if m.Str("msg") != "before the node publishes" || m.Str("name") != "robot" || m.Int("level") != 20 {
		t.Errorf("%v", m.Map())
	}
	m = <-out
	if m.Str("msg") != "arm joint=3" || m.Int("level") != 40 || !strings.HasSuffix(m.Str("file"), "rosout_test.go") ||
		!strings.HasSuffix(m.Str("function"), "TestRosoutCarriesTheWholeRecord") || m.Int("line") == 0 || m.Stamp("stamp").IsZero() {
		t.Errorf("%v", m.Map())
	}
	closeHandler(t, h)
	node.Logger().Info("after Close")
	select {
	case m := <-out:
		t.Errorf("published after Close: %v", m.Map())
	default:
	}
}

func TestDisabledRosoutPublishesNothing(t *testing.T) {
	h := rosout.New(rosout.Config{NoConsole: true, NoRosout: true})
	node, _ := topic(t, h)
	if err := h.Attach(node); err != nil {
		t.Fatal(err)
	}
	node.Logger().Info("x")
	pubs, err := node.Graph().Publishers("/rosout")
	if err != nil || len(pubs) != 0 {
		t.Errorf("publishers %v, %v", pubs, err)
	}
	closeHandler(t, h)
}

// chatty is a node whose publisher logs whenever it publishes.
type chatty struct{ ros.Node }

type chattyPublisher struct {
	ros.Publisher
	log *slog.Logger
}

func (c chatty) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	p, err := c.Node.CreatePublisher(topic, typeName, qos)
	return chattyPublisher{p, c.Logger()}, err
}

func (p chattyPublisher) Publish(m *ros.Message) error {
	p.log.Info("publishing")
	return p.Publisher.Publish(m)
}

func TestPublishingThatLogsDoesNotRecurse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c console
		h := rosout.New(rosout.Config{Console: &c})
		node, out := topic(t, h)
		if err := h.Attach(chatty{node}); err != nil {
			t.Fatal(err)
		}
		node.Logger().Info("once")
		synctest.Wait()
		if len(out) != 1 || (<-out).Str("msg") != "once" {
			t.Errorf("%d messages on /rosout, want one", len(out)+1)
		}
		if got := len(c.lines()); got != 2 {
			t.Errorf("console has %d lines, want both", got)
		}
		closeHandler(t, h)
	})
}

func TestLateSubscriberGetsTheLog(t *testing.T) {
	h := rosout.New(rosout.Config{NoConsole: true})
	bus := mem.NewBus()
	node, err := bus.NewNode("robot", mem.Options{Logger: slog.New(h)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := bus.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := h.Attach(node); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		node.Logger().Info("m", "i", i)
	}
	got := make(chan string, 10)
	if _, err := node.CreateSubscription("/rosout", "rcl_interfaces/msg/Log", rosout.QoS(), func(r ros.Received) { got <- r.Message.Str("msg") }); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if m := <-got; m != fmt.Sprintf("m i=%d", i) {
			t.Errorf("message %d is %q", i, m)
		}
	}
	closeHandler(t, h)
}
