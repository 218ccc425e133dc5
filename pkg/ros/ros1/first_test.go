package ros1_test

import (
	"context"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/ros1/ros1test"
)

// A subscriber that sees its publisher misses nothing that is published from then on.
func TestTheFirstMessageArrives(t *testing.T) {
	master := ros1test.NewMaster(t, "0")
	from := newNode(t, master.URI, "from", ros1.Options{})
	to := newNode(t, master.URI, "to", ros1.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pub, err := from.CreatePublisher("/first", "std_msgs/msg/String", ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		heard := make(chan string, 1)
		sub, err := to.CreateSubscription("/first", "std_msgs/msg/String", ros.DefaultQoS(), func(r ros.Received) { heard <- r.Message.Str("data") })
		if err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(50 * time.Microsecond)
		for sub.PublisherCount() == 0 && ctx.Err() == nil {
			<-tick.C
		}
		tick.Stop()
		if err := pub.Publish(ros.New(pub.Type()).With("data", "first")); err != nil {
			t.Fatal(err)
		}
		select {
		case <-heard:
		case <-ctx.Done():
			t.Fatal("the first message did not arrive")
		}
		if err := sub.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
