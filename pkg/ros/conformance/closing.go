package conformance

import (
	"context"
	"testing"

	"agent_node/pkg/ros"
)

// closing has its own pairs of nodes, since it closes them.
func closing(t *testing.T, open Open) {
	t.Run("ends everything", func(t *testing.T) {
		a, b := open(t)
		topic := topicFor(t, "topic")
		in := subscribe(t, a, topic, int64Type, ros.DefaultQoS())
		p := advertise(t, b, topic, int64Type, ros.DefaultQoS())
		matched(t, p, 1)

		// A callback, a handler and a call are under way when the node closes.
		callbackBegun, release := make(chan struct{}, 1), make(chan struct{})
		callbackEnded := make(chan struct{}, 1)
		if _, err := b.CreateSubscription(topicFor(t, "busy"), int64Type, ros.DefaultQoS(), func(ros.Received) {
			callbackBegun <- struct{}{}
			<-release
			callbackEnded <- struct{}{}
		}); err != nil {
			t.Fatal(err)
		}
		busy := advertise(t, a, topicFor(t, "busy"), int64Type, ros.DefaultQoS())
		matched(t, busy, 1)
		publish(t, busy, integer(busy, 1))
		receive(t, callbackBegun, "the callback begins")

		served, ended := make(chan struct{}, 1), make(chan error, 1)
		s := serve(t, b, topicFor(t, "serve"), func(ctx context.Context, _ *ros.ServiceType, _ string) (*ros.Message, error) {
			served <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		fromA := client(t, a, s.Service())
		if err := fromA.WaitReady(soon(t)); err != nil {
			t.Fatal(err)
		}
		ctxA, cancelA := context.WithCancel(soon(t))
		defer cancelA()
		callA := make(chan error, 1)
		go func() {
			_, err := ask(ctxA, fromA, "x")
			callA <- err
		}()
		receive(t, served, "the request is served")

		held := make(chan struct{})
		hold := serve(t, a, topicFor(t, "hold"), func(_ context.Context, typ *ros.ServiceType, text string) (*ros.Message, error) {
			served <- struct{}{}
			<-held
			return echoResponse(typ, text), nil
		})
		defer close(held)
		fromB := client(t, b, hold.Service())
		if err := fromB.WaitReady(soon(t)); err != nil {
			t.Fatal(err)
		}
		ctxB, callB := soon(t), make(chan error, 1)
		go func() {
			_, err := ask(ctxB, fromB, "x")
			callB <- err
		}()
		receive(t, served, "the held request is served")

		closed := make(chan error, 2)
		for range 2 { // at once, and again below: closing is idempotent
			go func() { closed <- b.Close() }()
		}
		wantError(t, receive(t, callB, "the closing node's call ends"), ros.ErrClosed, "a call of a node that closes")
		if err := receive(t, ended, "the handler's context ends"); err == nil {
			t.Error("the handler's context ended without an error")
		}
		select {
		case err := <-closed:
			t.Errorf("closing (%v) did not wait for a callback", err)
		default:
		}
		close(release)
		for range 2 {
			if err := receive(t, closed, "the node closes"); err != nil {
				t.Error(err)
			}
		}
		receive(t, callbackEnded, "the callback ends")
		if err := b.Close(); err != nil {
			t.Errorf("closing a closed node: %v", err)
		}

		_, err := b.CreatePublisher(topic, int64Type, ros.DefaultQoS())
		wantError(t, err, ros.ErrClosed, "a publisher of a closed node")
		_, err = b.CreateSubscription(topic, int64Type, ros.DefaultQoS(), func(ros.Received) {})
		wantError(t, err, ros.ErrClosed, "a subscription of a closed node")
		_, err = b.CreateClient(topic, echoType)
		wantError(t, err, ros.ErrClosed, "a client of a closed node")
		_, err = b.CreateService(topic, echoType, func(context.Context, *ros.Message) (*ros.Message, error) { return nil, nil })
		wantError(t, err, ros.ErrClosed, "a service of a closed node")
		wantError(t, p.Publish(integer(p, 1)), ros.ErrClosed, "publishing from a closed node")
		_, err = ask(soon(t), fromB, "x")
		wantError(t, err, ros.ErrClosed, "calling from a closed node")
		wantError(t, fromB.WaitReady(soon(t)), ros.ErrClosed, "waiting from a closed node")

		// The other node sees it and goes on.
		eventually(t, "the other node sees the end", func() bool { return in.sub.PublisherCount() == 0 && !fromA.Ready() })
		cancelA()
		wantError(t, receive(t, callA, "the call to the closed server ends with its context"), context.Canceled, "a call whose server closed")
		own := advertise(t, a, topic, int64Type, ros.DefaultQoS())
		matched(t, own, 1)
		publish(t, own, integer(own, 3))
		if got := in.next(t).Message.Int("data"); got != 3 {
			t.Errorf("the other node got %d", got)
		}
	})

	t.Run("a name can be used again", func(t *testing.T) {
		a, b := open(t)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a, b = open(t)
		in := subscribe(t, b, topicFor(t, "again"), int64Type, ros.DefaultQoS())
		p := advertise(t, a, topicFor(t, "again"), int64Type, ros.DefaultQoS())
		matched(t, p, 1)
		publish(t, p, integer(p, 1))
		in.next(t)
	})
}

func simulatedTime(t *testing.T, a, b ros.Node) {
	setter, ok := b.(ros.SimTimeSetter)
	if !ok {
		t.Fatalf("%T is no ros.SimTimeSetter", b)
	}
	if b.Clock().Simulated() || !b.Clock().Advancing() || b.Clock().Now().IsZero() {
		t.Errorf("before: simulated %v, advancing %v, now %d", b.Clock().Simulated(), b.Clock().Advancing(), b.Clock().Now())
	}
	if err := setter.UseSimTime(true); err != nil {
		t.Fatal(err)
	}
	if !b.Clock().Simulated() || b.Clock().Advancing() || !b.Clock().Now().IsZero() {
		t.Errorf("simulated time that has not begun: simulated %v, advancing %v, now %d", b.Clock().Simulated(), b.Clock().Advancing(), b.Clock().Now())
	}
	jumps := make(chan [2]ros.Time, 8)
	remove := b.Clock().OnJump(func(from, to ros.Time) { jumps <- [2]ros.Time{from, to} })
	defer remove()
	p := advertise(t, a, "/clock", "rosgraph_msgs/msg/Clock", ros.DefaultQoS())
	matched(t, p, 1)
	tick := func(now ros.Time) {
		m := ros.New(p.Type())
		m.SetStamp("clock", now)
		publish(t, p, m)
		eventually(t, "the clock follows", func() bool { return b.Clock().Now() == now })
	}
	const second = ros.Time(1e9)
	tick(100 * second)
	tick(100*second + second/2)
	if !b.Clock().Advancing() {
		t.Error("the clock moves and says that it does not")
	}
	tick(50 * second)
	if got := receive(t, jumps, "the jump back"); got != [2]ros.Time{100*second + second/2, 50 * second} {
		t.Errorf("jump %v", got)
	}
	tick(60 * second)
	if got := receive(t, jumps, "the jump forwards"); got != [2]ros.Time{50 * second, 60 * second} {
		t.Errorf("jump %v", got)
	}
	if err := setter.UseSimTime(false); err != nil {
		t.Fatal(err)
	}
	if b.Clock().Simulated() || !b.Clock().Advancing() || b.Clock().Now() < 1000*second {
		t.Errorf("after: simulated %v, advancing %v, now %d", b.Clock().Simulated(), b.Clock().Advancing(), b.Clock().Now())
	}
	matched(t, p, 0)
}
