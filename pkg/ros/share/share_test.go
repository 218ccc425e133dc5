package share_test

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/ros/share"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a node whose subscriptions are shared, and a peer that talks.
type stage struct {
	t    *testing.T
	node *share.Node
	peer *mem.Node

	mu    sync.Mutex
	heard map[string][]string // by listener
}

func on(t *testing.T, test func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		quiet := mem.Options{Logger: slog.New(slog.DiscardHandler)}
		host, err := bus.NewNode("host", quiet)
		must(t, err)
		peer, err := bus.NewNode("peer", quiet)
		must(t, err)
		s := &stage{t: t, node: share.Of(host), peer: peer, heard: map[string][]string{}}
		test(s)
		must(t, s.node.Close())
		must(t, bus.Close())
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stage) listen(who, topic string, qos ros.QoS) ros.Subscription {
	s.t.Helper()
	sub, err := s.node.CreateSubscription(topic, "std_msgs/msg/String", qos, func(r ros.Received) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.heard[who] = append(s.heard[who], r.Message.Str("data"))
	})
	must(s.t, err)
	return sub
}

func (s *stage) talker(topic string, qos ros.QoS) func(string) {
	s.t.Helper()
	p, err := s.peer.CreatePublisher(topic, "std_msgs/msg/String", qos)
	must(s.t, err)
	return func(text string) {
		must(s.t, p.Publish(ros.New(p.Type()).With("data", text)))
		synctest.Wait()
	}
}

func (s *stage) said(who string, want ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.heard[who], want) {
		s.t.Errorf("%s heard %q, want %q", who, s.heard[who], want)
	}
}

// subscriptions of the topic in the graph.
func (s *stage) subscriptions(topic string) int {
	s.t.Helper()
	list, err := s.peer.Graph().Subscriptions(topic)
	must(s.t, err)
	return len(list)
}

func TestListenersShareASubscription(t *testing.T) {
	on(t, func(s *stage) {
		say := s.talker("/talk", ros.DefaultQoS())
		a := s.listen("a", "/talk", ros.SensorQoS())
		b := s.listen("b", "talk", ros.QoS{Depth: 20, Reliability: ros.BestEffort})
		s.listen("reliable", "/talk", ros.DefaultQoS())
		if n := s.subscriptions("/talk"); n != 2 {
			t.Errorf("%d subscriptions, want one of each quality of service", n)
		}
		say("one")
		must(t, a.Close())
		must(t, a.Close())
		say("two")
		must(t, b.Close())
		say("three")
		s.said("a", "one")
		s.said("b", "one", "two")
		s.said("reliable", "one", "two", "three")
		if n := s.subscriptions("/talk"); n != 1 {
			t.Errorf("%d subscriptions are left, want 1", n)
		}
		s.listen("c", "/talk", ros.SensorQoS())
		say("four")
		s.said("c", "four")
	})
}

func TestANewcomerHearsWhatWasKept(t *testing.T) {
	on(t, func(s *stage) {
		say := s.talker("/map", ros.LatchedQoS())
		say("old")
		say("new")
		s.listen("first", "/map", ros.LatchedQoS())
		s.said("first", "new")
		s.listen("second", "/map", ros.LatchedQoS())
		s.said("second", "new")
		say("newer")
		s.said("first", "new", "newer")
		s.said("second", "new", "newer")
		if n := s.subscriptions("/map"); n != 1 {
			t.Errorf("%d subscriptions", n)
		}
	})
}

func TestAPanicIsOnesOwn(t *testing.T) {
	on(t, func(s *stage) {
		say := s.talker("/talk", ros.DefaultQoS())
		_, err := s.node.CreateSubscription("/talk", "std_msgs/msg/String", ros.DefaultQoS(), func(ros.Received) { panic("mine") })
		must(t, err)
		s.listen("other", "/talk", ros.DefaultQoS())
		say("one")
		say("two")
		s.said("other", "one", "two")
	})
}

// A callback may subscribe and unsubscribe, itself included.
func TestACallbackMayChangeWhoListens(t *testing.T) {
	on(t, func(s *stage) {
		say := s.talker("/talk", ros.DefaultQoS())
		var self ros.Subscription
		var err error
		self, err = s.node.CreateSubscription("/talk", "std_msgs/msg/String", ros.DefaultQoS(), func(ros.Received) {
			must(t, self.Close())
			s.listen("late", "/talk", ros.DefaultQoS())
		})
		must(t, err)
		say("one")
		say("two")
		s.said("late", "two")
	})
}

// Deep subscriptions stay as deep as they were asked for.
func TestADeepSubscriptionIsItsOwn(t *testing.T) {
	on(t, func(s *stage) {
		s.listen("a", "/talk", ros.QoS{Depth: 5})
		s.listen("b", "/talk", ros.QoS{Depth: 100})
		if n := s.subscriptions("/talk"); n != 2 {
			t.Errorf("%d subscriptions, want 2", n)
		}
	})
}

// unhurried makes subscriptions that can let messages wait, and notes whether they do.
type unhurried struct {
	ros.Node
	waits map[string]bool
}

type waiting struct {
	ros.Subscription
	u *unhurried
}

func (u *unhurried) CreateSubscription(topic, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	sub, err := u.Node.CreateSubscription(topic, typeName, qos, callback)
	return waiting{sub, u}, err
}

func (w waiting) LetWait(on bool) { w.u.waits[w.Topic()] = on }

// What several hear waits only while all of them let it.
func TestMessagesWaitWhereEveryListenerLetsThem(t *testing.T) {
	on(t, func(s *stage) {
		u := &unhurried{s.node.Node, map[string]bool{}}
		n := share.Of(u)
		defer func() { must(t, n.Close()) }()
		join := func() ros.Subscription {
			l, err := n.CreateSubscription("/odom", "std_msgs/msg/String", ros.SensorQoS(), func(ros.Received) {})
			must(t, err)
			return l
		}
		want := func(what string, waits bool) {
			t.Helper()
			if u.waits["/odom"] != waits {
				t.Errorf("%s: messages wait is %v, want %v", what, !waits, waits)
			}
		}
		let := func(l ros.Subscription, on bool) { l.(ros.Unhurried).LetWait(on) }
		a := join()
		want("one in a hurry", false)
		let(a, true)
		want("one that lets them", true)
		b := join()
		want("a second one in a hurry", false)
		let(b, true)
		let(b, true)
		want("both let them", true)
		let(a, false)
		want("the first in a hurry again", false)
		must(t, a.Close())
		let(a, true)
		want("the first is gone", true)
		c := join()
		want("a third one in a hurry", false)
		must(t, c.Close())
		want("it is gone", true)
		must(t, b.Close())
	})
}
