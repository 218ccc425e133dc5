//go:build ros2

package ros2

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agent_node/pkg/ros"
)

const int64Type = "std_msgs/msg/Int64"

// Entities of every kind are made and closed from several goroutines while messages and calls flow.
func TestEntitiesComeAndGoWhileOthersWork(t *testing.T) {
	types := NewTypes()
	t.Cleanup(func() {
		if n := types.Live(); n != 0 {
			t.Errorf("%d messages left in C memory", n)
		}
	})
	a, b := newNode(t, "a", Options{Types: types}), newNode(t, "b", Options{Types: types})
	ctx, stop := context.WithCancel(t.Context())
	var got atomic.Int64
	if _, err := b.CreateSubscription("steady", int64Type, ros.DefaultQoS(), func(ros.Received) { got.Add(1) }); err != nil {
		t.Fatal(err)
	}
	steady, err := a.CreatePublisher("steady", int64Type, ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateService("echo", "test_msgs/srv/BasicTypes", echo); err != nil {
		t.Fatal(err)
	}
	caller, err := b.CreateClient("echo", "test_msgs/srv/BasicTypes")
	if err != nil {
		t.Fatal(err)
	}
	if err := caller.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	rounds := 25
	if os.Getenv("PROOF") != "" {
		rounds = 1000
	}
	var flows, churn sync.WaitGroup
	sent, calls := 0, 0
	flows.Go(func() {
		for m := ros.New(steady.Type()); ctx.Err() == nil; sent++ {
			if err := steady.Publish(m); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(100 * time.Microsecond) // a rate, not a wait for anything
		}
	})
	flows.Go(func() {
		for ; ctx.Err() == nil; calls++ {
			want := int64(calls)
			if r, err := caller.Call(ctx, ros.New(caller.Type().Request).With("int64_value", want)); ctx.Err() == nil && (err != nil || r.Int("int64_value") != want) {
				t.Errorf("call %d: %v", calls, err)
				return
			}
		}
	})
	for _, n := range []*Node{a, b} {
		for g := range 2 {
			churn.Go(func() {
				for i := range rounds {
					if err := comeAndGo(n, fmt.Sprintf("churn%d", (g+i)%3)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	churn.Wait()
	before := got.Load()
	eventually(t, "the steady flow goes on", func() bool { return got.Load() > before+10 })
	stop()
	flows.Wait()
	t.Logf("%d sent, %d received, %d calls", sent, got.Load(), calls)
}

func echo(_ context.Context, r *ros.Message) (*ros.Message, error) {
	m, err := ros.FromMap(echoType.Response, map[string]any{"int64_value": r.Int("int64_value")})
	return m, err
}

var echoType = func() *ros.ServiceType {
	t, err := NewTypes().Service("test_msgs/srv/BasicTypes")
	if err != nil {
		panic(err)
	}
	return t
}()

func comeAndGo(n *Node, name string) error {
	s, err := n.CreateSubscription(name, int64Type, ros.DefaultQoS(), func(ros.Received) {})
	if err != nil {
		return err
	}
	p, err := n.CreatePublisher(name, int64Type, ros.DefaultQoS())
	if err != nil {
		return err
	}
	srv, err := n.CreateService(name, "std_srvs/srv/Trigger", func(context.Context, *ros.Message) (*ros.Message, error) {
		return nil, fmt.Errorf("nobody asks")
	})
	if err != nil {
		return err
	}
	c, err := n.CreateClient(name, "std_srvs/srv/Trigger")
	if err != nil {
		return err
	}
	if err := p.Publish(ros.New(p.Type())); err != nil {
		return err
	}
	c.Ready()
	if _, err := n.Graph().Topics(); err != nil {
		return err
	}
	for _, e := range []interface{ Close() error }{s, c, srv, p} {
		if err := e.Close(); err != nil {
			return err
		}
	}
	return nil
}

// What a node takes from the system, it gives back.
func TestClosedNodesLeaveNothing(t *testing.T) {
	round := func() {
		types := NewTypes()
		n := newNode(t, "short_lived", Options{Types: types})
		for i := range 5 {
			if _, err := n.CreateSubscription(fmt.Sprintf("s%d", i), "sensor_msgs/msg/LaserScan", ros.SensorQoS(), func(ros.Received) {}); err != nil {
				t.Fatal(err)
			}
			if _, err := n.CreateService(fmt.Sprintf("v%d", i), "std_srvs/srv/Trigger", nil); err != nil {
				t.Fatal(err)
			}
		}
		if types.Live() == 0 {
			t.Error("no messages in C memory while entities are open")
		}
		begun := time.Now()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begun); d > 5*time.Second {
			t.Errorf("closing took %v", d)
		}
		if n := types.Live(); n != 0 {
			t.Errorf("%d messages left in C memory", n)
		}
	}
	round() // the middleware keeps some for the process
	descriptors, threads := entries(t, "/proc/self/fd"), entries(t, "/proc/self/task")
	for range 8 {
		round()
	}
	// Threads of Go's own may have been added for C calls that overlapped.
	if d, th := entries(t, "/proc/self/fd"), entries(t, "/proc/self/task"); d > descriptors || th > threads+4 {
		t.Errorf("%d descriptors and %d threads, there were %d and %d", d, th, descriptors, threads)
	}
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// A message that the middleware tells nobody of is found by the sweep.
func TestUntoldMessagesAreFound(t *testing.T) {
	n := newNode(t, "untold", Options{})
	got := make(chan int64, 1)
	sub, err := n.CreateSubscription("untold", int64Type, ros.DefaultQoS(), func(r ros.Received) { got <- r.Message.Int("data") })
	if err != nil {
		t.Fatal(err)
	}
	if err := sub.(*subscription).reader.set(nil); err != nil {
		t.Fatal(err)
	}
	pub, err := n.CreatePublisher("untold", int64Type, ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a match", func() bool { return pub.SubscriptionCount() == 1 })
	if err := pub.Publish(ros.New(pub.Type()).With("data", 7)); err != nil {
		t.Fatal(err)
	}
	select {
	case i := <-got:
		if i != 7 {
			t.Errorf("got %d", i)
		}
	case <-time.After(within):
		t.Error("the message was never found")
	}
}

// A closed node's methods say so; nothing touches freed memory.
func TestEntitiesOutliveTheirNodeSafely(t *testing.T) {
	n := newNode(t, "gone", Options{})
	s, err := n.CreateSubscription("x", int64Type, ros.DefaultQoS(), func(ros.Received) {})
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.CreatePublisher("x", int64Type, ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.CreateClient("x", "std_srvs/srv/Trigger")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if s.PublisherCount() != 0 || p.SubscriptionCount() != 0 || c.Ready() {
		t.Error("a closed node's entities still count")
	}
	for _, e := range []interface{ Close() error }{s, p, c, n} {
		if err := e.Close(); err != nil {
			t.Errorf("closing again: %v", err)
		}
	}
	if _, err := n.Graph().Nodes(); err == nil {
		t.Error("a closed node still sees the graph")
	}
}

// BenchmarkIdleNode measures what a node costs that nobody talks to: 60 entities, one operation is 100 ms.
func BenchmarkIdleNode(b *testing.B) {
	n := newNode(b, "idle", Options{})
	for i := range 20 {
		if _, err := n.CreateSubscription(fmt.Sprintf("s%d", i), int64Type, ros.DefaultQoS(), func(ros.Received) {}); err != nil {
			b.Fatal(err)
		}
		if _, err := n.CreateService(fmt.Sprintf("v%d", i), "std_srvs/srv/Trigger", nil); err != nil {
			b.Fatal(err)
		}
		if _, err := n.CreateClient(fmt.Sprintf("c%d", i), "std_srvs/srv/Trigger"); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(time.Second) // let discovery settle
	before := cpu(b)
	b.ResetTimer()
	for range b.N {
		time.Sleep(100 * time.Millisecond)
	}
	b.ReportMetric(100*float64(cpu(b)-before)/float64(b.Elapsed()), "cpu%")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
