package draft_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/param"
	"agent_node/pkg/shell/draft"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a graph that a test furnishes.
type stage struct {
	t     *testing.T
	bus   *mem.Bus
	nodes map[string]*mem.Node
	beat  []func()
	ends  []func() error
}

// drafted furnishes a graph, drafts a profile of it and loads that.
func drafted(t *testing.T, furnish func(s *stage)) (d *draft.Draft, p *robottools.Profile, text string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, bus: mem.NewBus(), nodes: map[string]*mem.Node{}}
		furnish(s)
		visit := s.node("/visitor") // before the beat, which looks nodes up
		over, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				for _, b := range s.beat {
					b()
				}
				select {
				case <-over:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		}()
		seen, err := draft.Gather(t.Context(), visit, 2*time.Second)
		s.must(err)
		d = seen.Decide("")
		close(over)
		<-done
		for _, end := range s.ends {
			s.must(end())
		}
		s.must(s.bus.Close())
	})
	text = d.YAML()
	if d.Empty() {
		return d, nil, text
	}
	p, err := robottools.Load("draft", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d, p, text
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// node of a full name; its parameters are served.
func (s *stage) node(full string) *mem.Node {
	s.t.Helper()
	if n := s.nodes[full]; n != nil {
		return n
	}
	at := strings.LastIndexByte(full, '/')
	n, err := s.bus.NewNode(full[at+1:], mem.Options{Namespace: "/" + strings.Trim(full[:at], "/"), Logger: slog.New(slog.DiscardHandler)})
	s.must(err)
	s.nodes[full] = n
	return n
}

// params of a node.
func (s *stage) params(node string, values map[string]any) {
	s.t.Helper()
	server, err := param.New(s.node(node), param.Config{})
	s.must(err)
	s.ends = append(s.ends, server.Close)
	for name, v := range values {
		_, err := server.Declare(param.Descriptor{Name: name}, v)
		s.must(err)
	}
}

// tell publishes a message over and over, or once and kept.
func (s *stage) tell(node, topic, typeName string, latched bool, fill func(m *ros.Message, now ros.Time)) {
	s.t.Helper()
	n := s.node(node)
	qos := ros.DefaultQoS()
	if latched {
		qos = ros.LatchedQoS()
	}
	p, err := n.CreatePublisher(topic, typeName, qos)
	s.must(err)
	send := func() {
		m := ros.New(p.Type())
		if fill != nil {
			fill(m, n.Clock().Now())
		}
		if err := p.Publish(m); err != nil {
			s.t.Error(err)
		}
	}
	if latched {
		send()
		return
	}
	s.beat = append(s.beat, send)
}

// hear subscribes.
func (s *stage) hear(node, topic, typeName string) {
	s.t.Helper()
	_, err := s.node(node).CreateSubscription(topic, typeName, ros.DefaultQoS(), func(ros.Received) {})
	s.must(err)
}

// serve an action that rejects all.
func (s *stage) serve(node, name, typeName string) {
	s.t.Helper()
	server, err := action.NewServer(s.node(node), action.ServerConfig{Name: name, Type: typeName, Goal: func(action.GoalID, *ros.Message) bool { return false }, Accepted: func(*action.Handle) {}})
	s.must(err)
	s.ends = append(s.ends, func() error { return server.Close(s.t.Context()) })
}

func odometry(frame, child string) func(*ros.Message, ros.Time) {
	return func(m *ros.Message, now ros.Time) {
		m.With("header.frame_id", frame).With("child_frame_id", child).With("pose.pose.orientation.w", 1.0)
		m.SetStamp("header.stamp", now)
	}
}

func joints(names ...string) func(*ros.Message, ros.Time) {
	return func(m *ros.Message, now ros.Time) {
		m.With("name", names).With("position", make([]float64, len(names)))
		m.SetStamp("header.stamp", now)
	}
}

func described(text string) func(*ros.Message, ros.Time) {
	return func(m *ros.Message, _ ros.Time) { m.With("data", text) }
}
