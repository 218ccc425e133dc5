package mem_test

import (
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

// TestDrain: it ends when all has been heard, callbacks included, waits no longer than it may, and forgets nothing that was dropped or closed.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		a, b := node(t, bus, "a", mem.Options{}), node(t, bus, "b", mem.Options{})
		p := must(a.CreatePublisher("x", int64Type, ros.DefaultQoS()))(t)
		if !bus.Drain(0) {
			t.Error("nothing was sent, and something is left")
		}
		var heard []int64
		release := make(chan struct{}, 10)
		sub := must(b.CreateSubscription("x", int64Type, ros.QoS{Depth: 2}, func(r ros.Received) {
			time.Sleep(10 * time.Millisecond)
			<-release
			heard = append(heard, r.Message.Int("data"))
		}))(t)
		begin := time.Now()
		release <- struct{}{}
		publish(t, p, 1)
		if !bus.Drain(time.Second) || len(heard) != 1 || time.Since(begin) != 10*time.Millisecond {
			t.Errorf("drained after %v, with %v heard", time.Since(begin), heard)
		}
		begin = time.Now()
		for i := range 5 { // one is with the callback, two are queued, the others lost
			publish(t, p, i)
			synctest.Wait()
		}
		if bus.Drain(time.Second) || time.Since(begin) != time.Second {
			t.Errorf("a callback that waits: drained after %v", time.Since(begin))
		}
		close(release)
		if !bus.Drain(time.Second) || len(heard) != 4 {
			t.Errorf("not drained: %v", heard)
		}
		for i := range 3 {
			publish(t, p, i)
		}
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
		if !bus.Drain(time.Second) {
			t.Error("what a closed subscription had queued is still counted")
		}
	})
}
