package mem_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/msgdef"
)

const (
	int64Type   = "std_msgs/msg/Int64"
	triggerType = "std_srvs/srv/Trigger"
)

func node(t *testing.T, bus *mem.Bus, name string, o mem.Options) *mem.Node {
	t.Helper()
	n, err := bus.NewNode(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func publish(t *testing.T, p ros.Publisher, i int) {
	t.Helper()
	if err := p.Publish(ros.New(p.Type()).With("data", i)); err != nil {
		t.Fatal(err)
	}
}

// collect subscribes and keeps what comes; read it after synctest.Wait.
func collect(t *testing.T, n ros.Node, topic string, qos ros.QoS) *[]int64 {
	t.Helper()
	var got []int64
	must(n.CreateSubscription(topic, int64Type, qos, func(r ros.Received) { got = append(got, r.Message.Int("data")) }))(t)
	return &got
}

func TestLifespan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a, b := node(t, bus, "a", mem.Options{}), node(t, bus, "b", mem.Options{})
		p := must(a.CreatePublisher("x", int64Type, ros.QoS{Depth: 10, Durability: ros.TransientLocal, Lifespan: time.Second}))(t)
		publish(t, p, 1)
		time.Sleep(600 * time.Millisecond)
		publish(t, p, 2)
		time.Sleep(600 * time.Millisecond)
		late := collect(t, b, "x", ros.QoS{Durability: ros.TransientLocal})
		synctest.Wait()
		if fmt.Sprint(*late) != "[2]" {
			t.Errorf("1.2 s and 0.6 s old with a lifespan of 1 s: %v, want [2]", *late)
		}

		// A message that has waited too long behind a slow callback is not delivered either.
		release, slow := make(chan struct{}), []int64{}
		must(b.CreateSubscription("x", int64Type, ros.DefaultQoS(), func(r ros.Received) {
			slow = append(slow, r.Message.Int("data"))
			<-release
		}))(t)
		publish(t, p, 3)
		synctest.Wait()
		publish(t, p, 4)
		time.Sleep(2 * time.Second)
		publish(t, p, 5)
		close(release)
		synctest.Wait()
		if fmt.Sprint(slow) != "[3 5]" {
			t.Errorf("delivered %v, want [3 5]", slow)
		}
	})
}

func TestReplayOfSeveralPublishersIsInOrderOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a := node(t, bus, "a", mem.Options{})
		qos := ros.QoS{Depth: 2, Durability: ros.TransientLocal}
		one, two := must(a.CreatePublisher("x", int64Type, qos))(t), must(a.CreatePublisher("x", int64Type, qos))(t)
		for i := range 6 {
			p := one
			if i%2 == 1 {
				p = two
			}
			publish(t, p, i)
			time.Sleep(time.Millisecond)
		}
		late := collect(t, a, "x", ros.QoS{Depth: 10, Durability: ros.TransientLocal})
		synctest.Wait()
		if fmt.Sprint(*late) != "[2 3 4 5]" {
			t.Errorf("replayed %v, want the last two of each: [2 3 4 5]", *late)
		}
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		after := collect(t, a, "x", ros.QoS{Depth: 10, Durability: ros.TransientLocal})
		synctest.Wait()
		if fmt.Sprint(*after) != "[3 5]" {
			t.Errorf("replayed %v after one publisher closed, want [3 5]", *after)
		}
	})
}

func TestArrivalTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a := node(t, bus, "a", mem.Options{})
		var got []ros.Received
		bus.SetHooks(mem.Hooks{Deliver: func(string, string, string, *ros.Message) bool { time.Sleep(time.Second); return true }})
		must(a.CreateSubscription("x", int64Type, ros.DefaultQoS(), func(r ros.Received) { got = append(got, r) }))(t)
		p := must(a.CreatePublisher("x", int64Type, ros.DefaultQoS()))(t)
		start := time.Now()
		publish(t, p, 1)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(got) != 1 || !got[0].Arrived.Equal(start) || !got[0].SourceTimestamp.Equal(start) || got[0].Publisher != p.ID() || p.ID() == "" {
			t.Errorf("got %+v, sent at %v by %s", got, start, p.ID())
		}
	})
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a, b := node(t, bus, "a", mem.Options{}), node(t, bus, "b", mem.Options{Namespace: "ns"})
		lost := collect(t, b, "/x", ros.DefaultQoS())
		kept := collect(t, a, "/x", ros.DefaultQoS())
		p := must(a.CreatePublisher("/x", int64Type, ros.DefaultQoS()))(t)
		served := 0
		typ := must(a.Types().Service(triggerType))(t)
		must(b.CreateService("/s", triggerType, func(context.Context, *ros.Message) (*ros.Message, error) {
			served++
			return ros.New(typ.Response), nil
		}))(t)
		c := must(a.CreateClient("/s", triggerType))(t)
		call := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := c.Call(ctx, ros.New(typ.Request))
			synctest.Wait()
			return err
		}

		var seen []string
		bus.SetHooks(mem.Hooks{
			Deliver: func(topic, from, to string, m *ros.Message) bool {
				return to != "/ns/b" || m.Int("data") != 2
			},
			Request: func(service, client, server string, _ *ros.Message) bool {
				seen = append(seen, service+client+server)
				return len(seen) > 1
			},
			Response: func(service, server, client string, _ *ros.Message) bool {
				seen = append(seen, service+server+client)
				return len(seen) > 3
			},
		})
		for i := 1; i <= 3; i++ {
			publish(t, p, i)
		}
		synctest.Wait()
		if fmt.Sprint(*lost) != "[1 3]" || fmt.Sprint(*kept) != "[1 2 3]" {
			t.Errorf("delivered %v and %v, want [1 3] and [1 2 3]", *lost, *kept)
		}
		for i, want := range []struct {
			err    error
			served int
		}{{context.DeadlineExceeded, 0}, {context.DeadlineExceeded, 1}, {nil, 2}} {
			if err := call(); !errors.Is(err, want.err) || served != want.served {
				t.Errorf("call %d: %v, served %d", i, err, served)
			}
		}
		if seen[0] != "/s/a/ns/b" || seen[2] != "/s/ns/b/a" {
			t.Errorf("hooks saw %v", seen)
		}
	})
}

func TestPanicEndsOneCallOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		bus := mem.NewBus()
		n := node(t, bus, "n", mem.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		var got []int64
		must(n.CreateSubscription("x", int64Type, ros.DefaultQoS(), func(r ros.Received) {
			if r.Message.Int("data") == 1 {
				panic("first")
			}
			got = append(got, r.Message.Int("data"))
		}))(t)
		typ := must(n.Types().Service(triggerType))(t)
		must(n.CreateService("s", triggerType, func(context.Context, *ros.Message) (*ros.Message, error) { panic("served") }))(t)
		p := must(n.CreatePublisher("x", int64Type, ros.DefaultQoS()))(t)
		publish(t, p, 1)
		publish(t, p, 2)
		c := must(n.CreateClient("s", triggerType))(t)
		for range 40 { // more often than there are places: a panic gives its place back
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := c.Call(ctx, ros.New(typ.Request)); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("a handler that panics answered: %v", err)
			}
			cancel()
		}
		synctest.Wait()
		if fmt.Sprint(got) != "[2]" {
			t.Errorf("got %v, want [2]", got)
		}
		for _, want := range []string{"panic=first", "panic=served", "stack=", "node=/n", "bus_test.go"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log lacks %q", want)
			}
		}
	})
}

func TestRequestsAtOnceAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		n := node(t, bus, "n", mem.Options{Requests: 3})
		typ := must(n.Types().Service(triggerType))(t)
		var mu sync.Mutex
		now, most := 0, 0
		must(n.CreateService("s", triggerType, func(context.Context, *ros.Message) (*ros.Message, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return ros.New(typ.Response), nil
		}))(t)
		c := must(n.CreateClient("s", triggerType))(t)
		var wg sync.WaitGroup
		start := time.Now()
		for range 9 {
			wg.Go(func() {
				if _, err := c.Call(t.Context(), ros.New(typ.Request)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most != 3 || time.Since(start) != 3*time.Second {
			t.Errorf("%d at once, %v in all; want 3 and 3 s", most, time.Since(start))
		}
	})
}

func TestOptions(t *testing.T) {
	bus := mem.NewBus()
	parsed := must(args.Parse([]string{"--ros-args", "-p", "use_sim_time:=true", "-p", "rate:=5", "-r", "__node:=m"}))(t)
	n := node(t, bus, "n", mem.Options{Namespace: "ns", Args: parsed})
	if n.Name() != "m" || n.Namespace() != "/ns" || n.Params()["rate"] != int64(5) || !n.Clock().Simulated() {
		t.Errorf("%s in %s, %v, simulated time %v", n.Name(), n.Namespace(), n.Params(), n.Clock().Simulated())
	}
	for name, o := range map[string]mem.Options{"": {}, "n/": {}, "a": {Namespace: "/x//y"}} {
		if _, err := bus.NewNode(name, o); !errors.Is(err, ros.ErrInvalidName) {
			t.Errorf("node %q in %q: %v", name, o.Namespace, err)
		}
	}
	// A source of types that lacks /clock's: the node is not left half made.
	none := msgdef.NewSource()
	if _, err := bus.NewNode("x", mem.Options{Args: parsed, Types: none}); !errors.Is(err, ros.ErrUnknownType) {
		t.Errorf("simulated time without its type: %v", err)
	}
	nodes, err := n.Graph().Nodes()
	if err != nil || fmt.Sprint(nodes) != "[/ns/m]" {
		t.Errorf("nodes %v, %v", nodes, err)
	}
}

// Two nodes may have types from two sources: what counts is the name.
func TestTypesOfTwoSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a, b := node(t, bus, "a", mem.Options{Types: msgdef.Embedded()}), node(t, bus, "b", mem.Options{Types: msgdef.Embedded()})
		var got []*ros.Message
		const name = "nav_msgs/msg/Odometry"
		s := must(b.CreateSubscription("/x", name, ros.DefaultQoS(), func(r ros.Received) { got = append(got, r.Message) }))(t)
		p := must(a.CreatePublisher("/x", name, ros.DefaultQoS()))(t)
		sent := ros.New(p.Type()).With("pose.pose.position.x", 1.5)
		if err := p.Publish(sent); err != nil {
			t.Fatal(err)
		}
		if err := p.Publish(ros.New(s.Type())); err != nil {
			t.Errorf("publishing the same type of another source: %v", err)
		}
		synctest.Wait()
		if len(got) != 2 || got[0].Type != s.Type() || got[0].Type == p.Type() || !ros.Equal(got[0], sent) {
			t.Errorf("got %v", got)
		}
		typ := must(b.Types().Service(triggerType))(t)
		must(b.CreateService("/s", triggerType, func(_ context.Context, q *ros.Message) (*ros.Message, error) {
			if q.Type != typ.Request {
				t.Error("the request has the client's type")
			}
			return ros.New(typ.Response).With("message", "yes"), nil
		}))(t)
		c := must(a.CreateClient("/s", triggerType))(t)
		if r, err := c.Call(t.Context(), ros.New(c.Type().Request)); err != nil || r.Type != c.Type().Response || r.Str("message") != "yes" {
			t.Errorf("response %v, %v", r, err)
		}
	})
}

// Nodes, entities and messages all at once, for the race detector; nothing may hang or be left.
func TestEverythingAtOnce(t *testing.T) {
	bus := mem.NewBus()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 0))
			for i := range 30 {
				n, err := bus.NewNode(fmt.Sprintf("n%d", worker), mem.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				var inner sync.WaitGroup
				inner.Go(func() { useNode(t, n, r.Uint64()) })
				inner.Go(func() { useNode(t, n, uint64(i)) })
				if i%2 == 0 {
					inner.Wait()
				}
				if err := n.Close(); err != nil {
					t.Error(err)
				}
				inner.Wait()
			}
		})
	}
	wg.Wait()
	n := node(t, bus, "last", mem.Options{})
	topics, err := n.Graph().Topics()
	if err != nil {
		t.Error(err)
	}
	services, err := n.Graph().Services()
	if err != nil {
		t.Error(err)
	}
	if nodes, err := n.Graph().Nodes(); err != nil || len(nodes) != 1 || len(topics) != 0 || len(services) != 0 {
		t.Errorf("left over: %v, %v, %v", nodes, topics, services)
	}
}

// useNode does a little of everything with a node that may close under its hands.
func useNode(t *testing.T, n *mem.Node, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	closed := func(err error) bool {
		if err != nil && !errors.Is(err, ros.ErrClosed) && !errors.Is(err, ros.ErrNotReady) && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return err != nil
	}
	topic := fmt.Sprintf("/t%d", r.IntN(3))
	p, err := n.CreatePublisher(topic, int64Type, ros.QoS{Depth: 3, Durability: ros.Durability(r.IntN(2))})
	if closed(err) {
		return
	}
	s, err := n.CreateSubscription(topic, int64Type, ros.QoS{Depth: 2, Durability: ros.Durability(r.IntN(2))}, func(ros.Received) {})
	if closed(err) {
		return
	}
	v, err := n.CreateService("/s", triggerType, func(ctx context.Context, _ *ros.Message) (*ros.Message, error) {
		typ, err := n.Types().Service(triggerType)
		if err != nil {
			return nil, err
		}
		return ros.New(typ.Response), nil
	})
	if closed(err) {
		return
	}
	c, err := n.CreateClient("/s", triggerType)
	if closed(err) {
		return
	}
	for i := range 5 {
		if closed(p.Publish(ros.New(p.Type()).With("data", i))) {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // its server may close at any time
		_, err := c.Call(ctx, ros.New(c.Type().Request))
		cancel()
		closed(err)
	}
	for _, e := range []interface{ Close() error }{p, s, v, c}[:r.IntN(5)] {
		closed(e.Close())
	}
}

func BenchmarkPublish(b *testing.B) {
	bus := mem.NewBus()
	n, err := bus.NewNode("n", mem.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	for _, name := range []string{"geometry_msgs/msg/Twist", "nav_msgs/msg/Odometry"} {
		b.Run(name, func(b *testing.B) {
			got := make(chan struct{}, 1)
			s, err := n.CreateSubscription("x", name, ros.DefaultQoS(), func(ros.Received) { got <- struct{}{} })
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			p, err := n.CreatePublisher("x", name, ros.DefaultQoS())
			if err != nil {
				b.Fatal(err)
			}
			defer p.Close()
			m := ros.New(p.Type())
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Publish(m); err != nil {
					b.Fatal(err)
				}
				<-got
			}
		})
	}
}
