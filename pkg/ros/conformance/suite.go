// Package conformance is the suite that every transport passes: what a program may
// rely on whichever ros.Node it is given.
//
// A transport's test makes two nodes that see each other, with the names and arguments of
// [A] and [B], and calls [Run]. Rooms built over ros.Node (actions, parameters, lifecycle)
// have suites of their own in the same form, a [Part], which a transport's test passes along.
package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"agent_node/pkg/ros"
)

// Spec is how a node for the suite is made.
type Spec struct {
	Name      string
	Namespace string
	Argv      []string // its command line
}

// A is the first node. Its rules are what the suite looks for in its names.
func A() Spec {
	return Spec{Name: "first", Namespace: "/conformance/a", Argv: []string{
		"--ros-args",
		"-r", "from:=to",
		"-r", "other_node:from_other:=never",
		"-r", "first:from_first:=for_first",
		"-r", "~/inside:=/outside",
		"-r", "/conformance/absolute:=relative",
		"-r", "chain:=from",
		"-r", "twice:=one", "-r", "twice:=two",
		"-r", "serve_from:=serve_to",
		"--",
	}}
}

// B is the second node. It is remapped as a whole.
func B() Spec {
	return Spec{Name: "not_this", Namespace: "/conformance/not_this", Argv: []string{
		"--ros-args", "-r", "__node:=second", "-r", "__ns:=/conformance/b",
	}}
}

// Open makes the nodes of A and B. It fails the test if it cannot, and registers their closing with t.Cleanup.
type Open func(t *testing.T) (a, b ros.Node)

// Part is a group of tests over two nodes. It must not close them.
type Part struct {
	Name string
	Run  func(t *testing.T, a, b ros.Node)
}

// Run runs the suite, and further parts after it.
func Run(t *testing.T, open Open, further ...Part) {
	a, b := open(t)
	for _, p := range append(parts(), further...) {
		t.Run(p.Name, func(t *testing.T) { p.Run(t, a, b) })
	}
	t.Run("close", func(t *testing.T) { closing(t, open) })
}

func parts() []Part {
	return []Part{
		{"names", names},
		{"unknown types", unknownTypes},
		{"publish and subscribe", publishSubscribe},
		{"quality of service", qualityOfService},
		{"late joiners", lateJoiners},
		{"slow subscriber", slowSubscriber},
		{"slow callback delays nobody", slowCallback},
		{"entities come and go", comeAndGo},
		{"services", services},
		{"graph", graph},
		{"contents", contents},
		{"simulated time", simulatedTime},
	}
}

// patience is how long the suite waits for what must happen.
const patience = 20 * time.Second

// eventually waits until cond holds. Transports may tell nobody when it does, so it looks again and again.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// short is a time limit for what is expected to time out.
const short = 100 * time.Millisecond

// topicFor is a name of the test's own.
func topicFor(t *testing.T, suffix string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name())
	return "/conformance/t_" + name + "_" + suffix
}

// inbox collects what a subscription gets.
type inbox struct {
	ch  chan ros.Received
	sub ros.Subscription
}

func subscribe(t *testing.T, n ros.Node, topic, typeName string, qos ros.QoS) *inbox {
	t.Helper()
	in := &inbox{ch: make(chan ros.Received, 1024)}
	sub, err := n.CreateSubscription(topic, typeName, qos, func(r ros.Received) { in.ch <- r })
	if err != nil {
		t.Fatal(err)
	}
	in.sub = sub
	closeAfter(t, sub)
	return in
}

func (in *inbox) next(t *testing.T) ros.Received {
	t.Helper()
	return receive(t, in.ch, "message on "+in.sub.Topic())
}

// empty fails if something has come.
func (in *inbox) empty(t *testing.T) {
	t.Helper()
	select {
	case r := <-in.ch:
		t.Fatalf("unexpected message on %s: %v", in.sub.Topic(), r.Message.Map())
	default:
	}
}

func receive[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v, ok := <-ch:
		if !ok {
			t.Fatalf("closed: %s", what)
		}
		return v
	case <-time.After(patience):
		t.Fatalf("not within %s: %s", patience, what)
	}
	panic("not reached")
}

func advertise(t *testing.T, n ros.Node, topic, typeName string, qos ros.QoS) ros.Publisher {
	t.Helper()
	p, err := n.CreatePublisher(topic, typeName, qos)
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, p)
	return p
}

func closeAfter(t *testing.T, c interface{ Close() error }) {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// matched waits until a publisher has that many subscriptions.
func matched(t *testing.T, p ros.Publisher, n int) {
	t.Helper()
	eventually(t, p.Topic()+" has its subscriptions", func() bool { return p.SubscriptionCount() == n })
}

// matchedBy waits until a publisher has that many subscriptions, all of one node.
func matchedBy(t *testing.T, p ros.Publisher, node ros.Node, n int) {
	t.Helper()
	if ros.TraitsOf(node).ByNode {
		n = min(n, 1)
	}
	matched(t, p, n)
}

func publish(t *testing.T, p ros.Publisher, m *ros.Message) {
	t.Helper()
	if err := p.Publish(m); err != nil {
		t.Fatal(err)
	}
}

const (
	int64Type  = "std_msgs/msg/Int64"
	stringType = "std_msgs/msg/String"
)

func integer(p ros.Publisher, i int) *ros.Message { return ros.New(p.Type()).With("data", i) }

func wantError(t *testing.T, err, want error, what string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want one that wraps %q", what, err, want)
	}
}
