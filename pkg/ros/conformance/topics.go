package conformance

import (
	"testing"

	"agent_node/pkg/ros"
)

func publishSubscribe(t *testing.T, a, b ros.Node) {
	t.Run("in order, each once", func(t *testing.T) {
		const n = 200
		topic := topicFor(t, "order")
		in := subscribe(t, b, topic, int64Type, ros.QoS{Depth: n})
		p := advertise(t, a, topic, int64Type, ros.QoS{Depth: n})
		matched(t, p, 1)
		eventually(t, "the subscription knows its publisher", func() bool { return in.sub.PublisherCount() == 1 })
		m := ros.New(p.Type())
		for i := range n {
			publish(t, p, m.With("data", i)) // one message, reused
		}
		var last ros.Received
		for i := range n {
			r := in.next(t)
			if got := r.Message.Int("data"); got != int64(i) {
				t.Fatalf("message %d carries %d", i, got)
			}
			if r.Arrived.IsZero() || r.Arrived.Before(last.Arrived) {
				t.Fatalf("message %d arrived at %v, the one before at %v", i, r.Arrived, last.Arrived)
			}
			if r.Publisher != "" && r.Publisher != p.ID() {
				t.Fatalf("message %d says its publisher is %q, whose ID is %q", i, r.Publisher, p.ID())
			}
			last = r
		}
		in.empty(t)
	})

	t.Run("both directions, the same node too", func(t *testing.T) {
		topic := topicFor(t, "both")
		inA, inB := subscribe(t, a, topic, int64Type, ros.DefaultQoS()), subscribe(t, b, topic, int64Type, ros.DefaultQoS())
		pA, pB := advertise(t, a, topic, int64Type, ros.DefaultQoS()), advertise(t, b, topic, int64Type, ros.DefaultQoS())
		matched(t, pA, 2)
		matched(t, pB, 2)
		publish(t, pA, integer(pA, 1))
		first := [2]ros.Received{inA.next(t), inB.next(t)}
		publish(t, pB, integer(pB, 2))
		second := [2]ros.Received{inA.next(t), inB.next(t)}
		for i := range first {
			if first[i].Message.Int("data") != 1 || second[i].Message.Int("data") != 2 {
				t.Errorf("node %d got %v and %v", i, first[i].Message.Map(), second[i].Message.Map())
			}
			if first[i].Publisher != "" && first[i].Publisher == second[i].Publisher {
				t.Errorf("two publishers are both called %q", first[i].Publisher)
			}
		}
	})

	t.Run("what arrives is the receiver's own", func(t *testing.T) {
		topic := topicFor(t, "own")
		const typeName = "sensor_msgs/msg/JointState"
		one, two := subscribe(t, b, topic, typeName, ros.DefaultQoS()), subscribe(t, b, topic, typeName, ros.DefaultQoS())
		p := advertise(t, a, topic, typeName, ros.DefaultQoS())
		matchedBy(t, p, b, 2)
		sent := ros.New(p.Type()).With("header.frame_id", "base").With("position", []float64{1, 2, 3})
		publish(t, p, sent)
		sent.With("header.frame_id", "changed").With("position[0]", 9)
		r := one.next(t).Message
		r.With("header.frame_id", "spoiled").With("position[1]", 9)
		if got := two.next(t).Message; got.Str("header.frame_id") != "base" || got.Floats("position")[0] != 1 || got.Floats("position")[1] != 2 {
			t.Errorf("the second subscription got %v", got.Map())
		}
	})

	t.Run("types that differ do not meet", func(t *testing.T) {
		topic := topicFor(t, "types")
		// One type for each node: Fast DDS refuses a second type of a topic within one participant.
		wrong := subscribe(t, b, topic, stringType, ros.DefaultQoS())
		right := subscribe(t, a, topic, int64Type, ros.DefaultQoS())
		p := advertise(t, a, topic, int64Type, ros.DefaultQoS())
		matched(t, p, 1)
		publish(t, p, integer(p, 1))
		right.next(t)
		wrong.empty(t)
	})

	t.Run("a bad message is refused", func(t *testing.T) {
		p := advertise(t, a, topicFor(t, "bad"), int64Type, ros.DefaultQoS())
		other, err := a.Types().Message(stringType)
		if err != nil {
			t.Fatal(err)
		}
		wantError(t, p.Publish(ros.New(other)), ros.ErrInvalidMessage, "a message of another type")
		wantError(t, p.Publish(nil), ros.ErrInvalidMessage, "nil")
		broken := ros.New(p.Type())
		broken.Values[0] = "text"
		wantError(t, p.Publish(broken), ros.ErrInvalidMessage, "a string in an int64")
	})
}

// qualityOfService pairs every offer with every request. A subscription that takes
// anything stands by and shows when the message has gone round.
func qualityOfService(t *testing.T, a, b ros.Node) {
	meets := meets
	if ros.TraitsOf(a).NoQoS {
		meets = func(ros.QoS, ros.QoS) bool { return true }
	}
	for _, offered := range everyQoS() {
		t.Run("offered "+qosName(offered), func(t *testing.T) {
			topic := topicFor(t, "qos")
			control := subscribe(t, b, topic, int64Type, ros.QoS{Reliability: ros.BestEffort})
			boxes, fits := make([]*inbox, 0, 4), 1
			for _, requested := range everyQoS() {
				boxes = append(boxes, subscribe(t, b, topic, int64Type, requested))
				if meets(offered, requested) {
					fits++
				}
			}
			p := advertise(t, a, topic, int64Type, offered)
			matchedBy(t, p, b, fits)
			// Best effort may lose a message on a real network: send until all have one.
			got := make([]bool, len(boxes))
			for all := 0; all < fits; {
				publish(t, p, integer(p, 1))
				control.next(t)
				all = 1
				for i, in := range boxes {
					select {
					case <-in.ch:
						got[i] = true
					default:
					}
					if got[i] {
						all++
					}
				}
			}
			for i, requested := range everyQoS() {
				if got[i] != meets(offered, requested) {
					t.Errorf("requested %s: received %v", qosName(requested), got[i])
				}
				if n := boxes[i].sub.PublisherCount(); (n == 1) != meets(offered, requested) {
					t.Errorf("requested %s: %d publishers", qosName(requested), n)
				}
			}
		})
	}
}

func everyQoS() []ros.QoS {
	return []ros.QoS{
		{},
		{Durability: ros.TransientLocal},
		{Reliability: ros.BestEffort},
		{Reliability: ros.BestEffort, Durability: ros.TransientLocal},
	}
}

func qosName(q ros.QoS) string {
	name := "reliable"
	if q.Reliability == ros.BestEffort {
		name = "best effort"
	}
	if q.Durability == ros.TransientLocal {
		return name + " transient local"
	}
	return name + " volatile"
}

// meets is ROS's rule: an offer may be more than the request, not less.
func meets(offered, requested ros.QoS) bool {
	reliability := offered.Reliability == ros.Reliable || requested.Reliability == ros.BestEffort
	durability := offered.Durability == ros.TransientLocal || requested.Durability == ros.Volatile
	return reliability && durability
}

func lateJoiners(t *testing.T, a, b ros.Node) {
	topic := topicFor(t, "latched")
	p := advertise(t, a, topic, int64Type, ros.QoS{Depth: 3, Durability: ros.TransientLocal})
	early := subscribe(t, b, topic, int64Type, ros.QoS{Depth: 10, Durability: ros.TransientLocal})
	matched(t, p, 1)
	for i := range 5 {
		publish(t, p, integer(p, i))
	}
	for i := range 5 {
		if got := early.next(t).Message.Int("data"); got != int64(i) {
			t.Fatalf("early subscription: message %d carries %d", i, got)
		}
	}
	late := subscribe(t, b, topic, int64Type, ros.QoS{Depth: 10, Durability: ros.TransientLocal})
	volatile := subscribe(t, b, topic, int64Type, ros.QoS{Depth: 10})
	one := subscribe(t, b, topic, int64Type, ros.LatchedQoS())
	for i := 2; i < 5; i++ {
		if got := late.next(t).Message.Int("data"); got != int64(i) {
			t.Fatalf("late subscription got %d, want %d", got, i)
		}
	}
	matchedBy(t, p, b, 4)
	publish(t, p, integer(p, 5))
	if got := late.next(t).Message.Int("data"); got != 5 {
		t.Errorf("late subscription then got %d, want 5", got)
	}
	first := int64(5)
	if ros.TraitsOf(a).NoQoS {
		first = 2 // who keeps messages gives them to everybody
	}
	for want := first; want <= 5; want++ {
		if got := volatile.next(t).Message.Int("data"); got != want {
			t.Errorf("a volatile late subscription got %d, want %d to 5", got, first)
		}
	}
	var last int64
	eventually(t, "a late subscription of depth 1 gets the newest", func() bool {
		select {
		case r := <-one.ch:
			if got := r.Message.Int("data"); got <= last || got < 2 {
				t.Fatalf("got %d after %d", got, last)
			} else {
				last = got
			}
		default:
		}
		return last == 5
	})
	// A subscriber of the last word only needs one message, and has it without another publication.
	if got := subscribe(t, b, topic, int64Type, ros.LatchedQoS()).next(t).Message.Int("data"); got < 3 {
		t.Errorf("a late subscription of depth 1 began with %d", got)
	}
}

// slowSubscriber: a full queue loses its oldest message, and the publisher never waits.
func slowSubscriber(t *testing.T, a, b ros.Node) {
	const depth, n = 5, 50
	topic := topicFor(t, "slow")
	begun, release, got := make(chan struct{}, 1), make(chan struct{}), make(chan int64, n+1)
	sub, err := b.CreateSubscription(topic, int64Type, ros.QoS{Depth: depth}, func(r ros.Received) {
		select {
		case begun <- struct{}{}:
		default:
		}
		<-release
		got <- r.Message.Int("data")
	})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, sub)
	fast := subscribe(t, b, topic, int64Type, ros.QoS{Depth: n})
	p := advertise(t, a, topic, int64Type, ros.QoS{Depth: n})
	matchedBy(t, p, b, 2)
	publish(t, p, integer(p, 0))
	fast.next(t)
	receive(t, begun, "the slow callback begins")
	for i := 1; i <= n; i++ {
		publish(t, p, integer(p, i))
	}
	for i := 1; i <= n; i++ {
		if got := fast.next(t).Message.Int("data"); got != int64(i) {
			t.Fatalf("the other subscription got %d, want %d", got, i)
		}
	}
	close(release)
	count, last := 0, int64(-1)
	for last < n {
		i := receive(t, got, "the newest message")
		if i <= last {
			t.Fatalf("got %d after %d", i, last)
		}
		count, last = count+1, i
	}
	// The one that was being handled, those that waited, and at most one on the way between.
	if count > depth+2 {
		t.Errorf("a subscription of depth %d kept %d messages", depth, count)
	}
}

func slowCallback(t *testing.T, a, b ros.Node) {
	topic := topicFor(t, "blocked")
	begun, release := make(chan struct{}, 16), make(chan struct{})
	blocked, err := b.CreateSubscription(topic, int64Type, ros.DefaultQoS(), func(ros.Received) {
		begun <- struct{}{}
		<-release
	})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, blocked)
	defer close(release)
	other := subscribe(t, b, topic, int64Type, ros.DefaultQoS())
	p := advertise(t, a, topic, int64Type, ros.DefaultQoS())
	matchedBy(t, p, b, 2)
	publish(t, p, integer(p, 1))
	receive(t, begun, "the slow callback begins")
	other.next(t)
	publish(t, p, integer(p, 2))
	if got := other.next(t).Message.Int("data"); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
	// Services of the node answer, its clients call, and new entities work.
	echo := serveEcho(t, b, topicFor(t, "service"))
	if got := call(t, client(t, a, echo.Service()), "x"); got != "x" {
		t.Errorf("a service beside a slow callback answered %q", got)
	}
	back := subscribe(t, a, topicFor(t, "back"), int64Type, ros.DefaultQoS())
	pb := advertise(t, b, topicFor(t, "back"), int64Type, ros.DefaultQoS())
	matched(t, pb, 1)
	publish(t, pb, integer(pb, 3))
	back.next(t)
	select {
	case <-begun:
		t.Error("two callbacks of one subscription ran at once")
	default:
	}
}

func comeAndGo(t *testing.T, a, b ros.Node) {
	topic := topicFor(t, "go")
	steady := subscribe(t, b, topic, int64Type, ros.QoS{Depth: 100})
	p := advertise(t, a, topic, int64Type, ros.QoS{Depth: 100})
	matched(t, p, 1)
	const rounds = 20
	for i := range rounds {
		in := &inbox{ch: make(chan ros.Received, 8)}
		sub, err := b.CreateSubscription(topic, int64Type, ros.DefaultQoS(), func(r ros.Received) { in.ch <- r })
		if err != nil {
			t.Fatal(err)
		}
		in.sub = sub
		matchedBy(t, p, b, 2)
		publish(t, p, integer(p, i))
		if got := in.next(t).Message.Int("data"); got != int64(i) {
			t.Fatalf("round %d: got %d", i, got)
		}
		if err := sub.Close(); err != nil {
			t.Fatal(err)
		}
		if err := sub.Close(); err != nil {
			t.Fatalf("closing again: %v", err)
		}
		matched(t, p, 1)
		publish(t, p, integer(p, rounds+i))
		if got := steady.next(t).Message.Int("data"); got != int64(i) {
			t.Fatalf("the steady subscription got %d, want %d", got, i)
		}
		if got := steady.next(t).Message.Int("data"); got != int64(rounds+i) {
			t.Fatalf("the steady subscription got %d, want %d", got, rounds+i)
		}
		in.empty(t)
	}

	t.Run("a callback may close its own subscription", func(t *testing.T) {
		topic := topicFor(t, "self")
		ready, closed := make(chan ros.Subscription, 1), make(chan error, 8)
		sub, err := b.CreateSubscription(topic, int64Type, ros.DefaultQoS(), func(ros.Received) {
			s := <-ready
			closed <- s.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		ready <- sub
		p := advertise(t, a, topic, int64Type, ros.DefaultQoS())
		matched(t, p, 1)
		publish(t, p, integer(p, 1))
		if err := receive(t, closed, "the callback closes its subscription"); err != nil {
			t.Error(err)
		}
		matched(t, p, 0)
	})

	t.Run("publishers", func(t *testing.T) {
		topic := topicFor(t, "pub")
		in := subscribe(t, b, topic, int64Type, ros.DefaultQoS())
		for i := range 5 {
			p, err := a.CreatePublisher(topic, int64Type, ros.DefaultQoS())
			if err != nil {
				t.Fatal(err)
			}
			matched(t, p, 1)
			publish(t, p, integer(p, i))
			in.next(t)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			wantError(t, p.Publish(integer(p, i)), ros.ErrClosed, "publishing when closed")
			eventually(t, "the publisher is gone", func() bool { return in.sub.PublisherCount() == 0 })
		}
	})
}
