//go:build ros2

package ros2

import (
	"testing"
	"time"

	"agent_node/pkg/ros"
)

// Messages that may wait for others come all the same, in order, none lost, and say when they truly came.
func TestMessagesThatMayWaitAllCome(t *testing.T) {
	a, b := newNode(t, "a", Options{}), newNode(t, "b", Options{})
	const depth = 20
	got := make(chan ros.Received, 10*depth)
	sub, err := b.CreateSubscription("chatter", "std_msgs/msg/Int64", ros.QoS{Depth: depth}, func(r ros.Received) { got <- r })
	if err != nil {
		t.Fatal(err)
	}
	pub, err := a.CreatePublisher("chatter", "std_msgs/msg/Int64", ros.QoS{Depth: depth})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a match", func() bool { return pub.SubscriptionCount() == 1 && sub.PublisherCount() == 1 })
	next, last := int64(0), time.Time{}
	for _, waits := range []bool{true, true, false, true} {
		sub.(ros.Unhurried).LetWait(waits)
		for _, burst := range []int{1, 3, depth/2 - 1, depth / 2, depth} {
			before := time.Now()
			for i := range burst {
				if err := pub.Publish(ros.New(pub.Type()).With("data", next+int64(i))); err != nil {
					t.Fatal(err)
				}
			}
			for range burst {
				r := <-got
				if r.Message.Int("data") != next {
					t.Fatalf("waits %v: got %d, want %d", waits, r.Message.Int("data"), next)
				}
				// Two clocks are compared: the middleware's has wall time.
				if now := time.Now(); r.Arrived.After(now) || r.Arrived.Before(before.Add(-5*time.Millisecond)) {
					t.Errorf("waits %v: came at %v, sent after %v, handed on before %v", waits, r.Arrived, before, now)
				}
				if r.Arrived.Before(last.Add(-5 * time.Millisecond)) {
					t.Errorf("waits %v: came %v before the message before it", waits, last.Sub(r.Arrived))
				}
				next, last = next+1, r.Arrived
			}
		}
	}
}

func TestAMessageCameWhenTheMiddlewareSays(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		what     string
		received int64
		want     time.Time
	}{
		{"nothing is said", 0, now},
		{"30 ms ago", now.Add(-30 * time.Millisecond).UnixNano(), now.Add(-30 * time.Millisecond)},
		{"the clock was put back", now.Add(time.Minute).UnixNano(), now},
		{"the clock was put forward", now.Add(-time.Hour).UnixNano(), now},
	} {
		if got := arrival(now, c.received); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.what, got.Sub(now), c.want.Sub(now))
		}
	}
}
