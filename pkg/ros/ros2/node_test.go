//go:build ros2

package ros2

import (
	"context"
	"testing"
	"time"

	"agent_node/pkg/ros"
)

func TestMessagesArriveWithTheirPublishersID(t *testing.T) {
	a, b := newNode(t, "a", Options{}), newNode(t, "b", Options{})
	got := make(chan ros.Received, 10)
	sub, err := b.CreateSubscription("chatter", "geometry_msgs/msg/Twist", ros.DefaultQoS(), func(r ros.Received) { got <- r })
	if err != nil {
		t.Fatal(err)
	}
	pub, err := a.CreatePublisher("/chatter", "geometry_msgs/msg/Twist", ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a match", func() bool { return pub.SubscriptionCount() == 1 && sub.PublisherCount() == 1 })
	m := ros.New(pub.Type()).With("linear.x", 0.5).With("angular.z", -0.25)
	before := time.Now()
	if err := pub.Publish(m); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.Message.Float("linear.x") != 0.5 || r.Message.Float("angular.z") != -0.25 {
		t.Errorf("got %v", r.Message.Map())
	}
	if r.Publisher != pub.ID() || pub.ID() == "" {
		t.Errorf("from publisher %q, want %q", r.Publisher, pub.ID())
	}
	if d := r.SourceTimestamp.Sub(before); d < -time.Second || d > time.Minute {
		t.Errorf("source timestamp %v, sent about %v", r.SourceTimestamp, before)
	}
	eventually(t, "the publisher in the graph under its node's name and its id", func() bool {
		infos, err := b.Graph().Publishers("chatter")
		return err == nil && len(infos) == 1 && infos[0].Node == "/a" && infos[0].Publisher == pub.ID()
	})
}

func TestCallsAreAnswered(t *testing.T) {
	a, b := newNode(t, "server", Options{}), newNode(t, "client", Options{})
	srv, err := a.CreateService("~/twice", "test_msgs/srv/BasicTypes", func(_ context.Context, r *ros.Message) (*ros.Message, error) {
		st, _ := a.Types().Service("test_msgs/srv/BasicTypes")
		return ros.New(st.Response).With("int32_value", 2*r.Int("int32_value")), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	cli, err := b.CreateClient(srv.Service(), "test_msgs/srv/BasicTypes")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := cli.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 20)
	for i := range 20 {
		go func() {
			r, err := cli.Call(ctx, ros.New(cli.Type().Request).With("int32_value", i))
			if err == nil && r.Int("int32_value") != int64(2*i) {
				t.Errorf("%d: got %d", i, r.Int("int32_value"))
			}
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
