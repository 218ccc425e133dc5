package node_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/watchdog"
	"agent_node/sim/robot"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

// twin is one more node of the name, not started yet.
func (h *house) twin(bus *mem.Bus, log *slog.Logger) *node.Node {
	h.t.Helper()
	a := must(args.Parse([]string{"--ros-args", "-p", "trace.dir:=" + h.t.TempDir()}))(h.t)
	n := must(node.New(must(bus.NewNode("agent_node", mem.Options{Args: a, Logger: log}))(h.t), node.Options{}))(h.t)
	h.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		check(h.t, n.Shutdown(ctx))
	})
	return n
}

// until something holds.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// diagnosed collects what /diagnostics says of the node, as "level message".
func (h *house) diagnosed() func(parts ...string) bool {
	var mu sync.Mutex
	seen := []string{}
	sub := must(h.peer.CreateSubscription("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS(), func(r ros.Received) {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range r.Message.Msgs("status") {
			if s.Str("name") == "agent_node: node" {
				seen = append(seen, fmt.Sprint(s.Int("level"), " ", s.Str("message")))
			}
		}
	}))(h.t)
	h.t.Cleanup(func() { check(h.t, sub.Close()) })
	return func(parts ...string) bool {
		mu.Lock()
		defer mu.Unlock()
		for _, s := range seen {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(s, p)
			}
			if all {
				return true
			}
		}
		return false
	}
}

// A second node of the name is refused, says why and what to do, and takes over once the first has ended; the first says that there was one.
func TestASecondNodeOfTheNameYields(t *testing.T) {
	t.Parallel()
	bus, log := mem.NewBus(), &logged{}
	h := newHouseOn(t, bus, slog.New(slog.NewTextHandler(log, nil)))
	diagnosed := h.diagnosed()
	second := h.twin(bus, slog.New(slog.DiscardHandler))
	err := second.Start(t.Context())
	if !errors.Is(err, node.ErrTwin) {
		t.Fatalf("the second node of the name started: %v", err)
	}
	for _, word := range []string{"/agent_node", "process", "__node:=", "__ns:=", "Stop one"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %v", word, err)
		}
	}
	h.until("the first one's log", func() bool { return log.has("a second node of the name /agent_node") })
	h.until("diagnostics of the first", func() bool { return diagnosed("2 active", "a second node of the name") })
	h.until("diagnostics of the second", func() bool { return diagnosed("2 unconfigured", "it came first") })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	check(t, h.agent.Shutdown(ctx))
	check(t, second.Start(t.Context()))
}

// Of nodes of one name that start at once exactly one becomes active.
func TestOfNodesThatStartAtOnceOneStays(t *testing.T) {
	t.Parallel()
	const nodes = 4
	bus := mem.NewBus()
	t.Cleanup(func() { check(t, bus.Close()) })
	log := slog.New(slog.DiscardHandler)
	h := &house{t: t}
	h.bot = must(robot.New(must(bus.NewNode("sim_robot", mem.Options{Logger: log}))(t), robot.Options{Seed: 7}))(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.bot.Run(ctx) }()
	t.Cleanup(func() { cancel(); check(t, <-done) })
	results := make(chan error, nodes)
	all := make([]*node.Node, nodes)
	for i := range all {
		all[i] = h.twin(bus, log)
	}
	for _, n := range all {
		go func() { results <- n.Start(t.Context()) }()
	}
	active := 0
	for range all {
		if err := <-results; err == nil {
			active++
		} else if !errors.Is(err, node.ErrTwin) {
			t.Error(err)
		}
	}
	if active != 1 {
		t.Errorf("%d of %d nodes of one name are active, wanted 1", active, nodes)
	}
}

// foreign plays the heartbeat of another instance.
func (h *house) foreign(b watchdog.Beat) {
	h.t.Helper()
	pub := must(h.peer.CreatePublisher("/agent_node/heartbeat", watchdog.MessageType, ros.QoS{Depth: 1}))(h.t)
	h.t.Cleanup(func() { check(h.t, pub.Close()) })
	pair := must(h.peer.Types().Message("diagnostic_msgs/msg/KeyValue"))(h.t)
	check(h.t, pub.Publish(b.Write(ros.New(pub.Type()), "agent_node", pair)))
}

// Two that become active apart find each other later: the one that came later ends its goal, at rest, and lets go of the robot; and only that one.
func TestOfTwoActiveNodesTheLaterYields(t *testing.T) {
	t.Parallel()
	later := time.Now().Add(time.Hour).UnixNano()
	for name, c := range map[string]struct {
		beat   watchdog.Beat
		yields bool
	}{
		"an older holder":       {watchdog.Beat{Claim: watchdog.ClaimHeld, Since: 1}, true},
		"a younger holder":      {watchdog.Beat{Claim: watchdog.ClaimHeld, Since: later}, false},
		"one that only wants":   {watchdog.Beat{Claim: watchdog.ClaimWanted, Since: 1}, false},
		"one that is no holder": {watchdog.Beat{Claim: watchdog.ClaimNone, Since: 1}, false},
		"one that ends":         {watchdog.Beat{Claim: watchdog.ClaimHeld, Since: 1, Bye: true}, false},
		"one that is dead":      {watchdog.Beat{Claim: watchdog.ClaimHeld, Since: 1, Process: dead()}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			diagnosed := h.diagnosed()
			client := h.client("execute_task", "agent_msgs/action/ExecuteTask")
			c.beat.Instance = "another"
			if c.beat.Process.PID == 0 {
				c.beat.Process = watchdog.Process{PID: 4242}
			}
			moving := make(chan struct{})
			var once sync.Once
			sub := must(h.peer.CreateSubscription("/odom", "nav_msgs/msg/Odometry", ros.DefaultQoS(), func(r ros.Received) {
				if r.Message.Float("twist.twist.linear.x") > 0.1 {
					once.Do(func() { close(moving) })
				}
			}))(t)
			defer sub.Close()
			go func() {
				select {
				case <-moving:
					h.foreign(c.beat)
				case <-t.Context().Done():
				}
			}()
			got := h.run(client, func(m *ros.Message) { m.With("task", "drive 0.6 m forward") }).Result
			if !c.yields {
				if got.Int("outcome") != 1 {
					t.Errorf("the goal ended as %s: %s", got.Str("reason_code"), got.Str("answer"))
				}
				return
			}
			if got.Str("reason_code") != "shutdown" || !strings.Contains(got.Str("answer"), "__node:=") {
				t.Errorf("the goal ended as %s: %s", got.Str("reason_code"), got.Str("answer"))
			}
			if err := <-h.agent.Failed(); !errors.Is(err, node.ErrTwin) {
				t.Error(err)
			}
			h.until("it to be unconfigured, and to say so", func() bool { return diagnosed("2 unconfigured", "it came first") })
		})
	}
}

// dead is a process of this machine that has ended.
func dead() watchdog.Process {
	p := watchdog.Self()
	p.Start += "0" // another process had the number
	return p
}

// A node that is told to end while it claims its name has failed in nothing: it logs no error, and it may be started again.
func TestAClaimThatIsGivenUpIsNoError(t *testing.T) {
	t.Parallel()
	bus, log := mem.NewBus(), &logged{}
	t.Cleanup(func() { check(t, bus.Close()) })
	host := must(bus.NewNode("agent_node", mem.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}))(t)
	n := must(node.New(host, node.Options{Discovery: time.Hour}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if err := n.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	if log.has("level=ERROR") || !log.has("given up") {
		t.Error("it says that something is wrong, or nothing at all")
	}
	down, end := context.WithTimeout(t.Context(), patience)
	defer end()
	check(t, n.Shutdown(down))
}
