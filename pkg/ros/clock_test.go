package ros_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
)

const second = ros.Time(time.Second)

func TestSimClockAdvancing(t *testing.T) {
	var real time.Duration
	c := ros.NewSimClock(func() time.Duration { return real })
	step := func(d time.Duration, now ros.Time, want bool, why string) {
		t.Helper()
		real += d
		if now >= 0 {
			c.Feed(now)
		}
		if got := c.Advancing(); got != want {
			t.Errorf("%s: advancing %v", why, got)
		}
	}
	const none = ros.Time(-1)
	step(0, none, false, "nothing fed")
	step(0, 10*second, true, "the first time")
	step(time.Second, none, true, "a second later")
	step(time.Millisecond, none, false, "more than a second later")
	step(0, 10*second, false, "the same time again")
	step(0, 10*second+1, true, "a nanosecond on")
	step(1500*time.Millisecond, 10*second+1, false, "paused, though messages come")
	step(0, 5*second, true, "a step back is an advance of the clock, and a jump")
	if c.Now() != 5*second || !c.Simulated() {
		t.Errorf("now %d, simulated %v", c.Now(), c.Simulated())
	}
}

func TestJumps(t *testing.T) {
	type jump struct{ from, to ros.Time }
	for _, c := range []struct {
		name string
		feed []ros.Time
		want []jump
	}{
		{"beginning is none", []ros.Time{500 * second}, nil},
		{"a second is none", []ros.Time{10 * second, 11 * second}, nil},
		{"more than a second", []ros.Time{10 * second, 11*second + 1}, []jump{{10 * second, 11*second + 1}}},
		{"back", []ros.Time{10 * second, 10*second - 1, 10 * second}, []jump{{10 * second, 10*second - 1}}},
		{"back to zero", []ros.Time{10 * second, 0, 20 * second}, []jump{{10 * second, 0}}},
		{"still", []ros.Time{10 * second, 10 * second}, nil},
	} {
		sim, manual := ros.NewSimClock(nil), ros.NewManualClock(0)
		var got [3][]jump
		sim.OnJump(func(from, to ros.Time) { got[0] = append(got[0], jump{from, to}) })
		manual.OnJump(func(from, to ros.Time) { got[1] = append(got[1], jump{from, to}) })
		node := ros.NewNodeClock(manual)
		remove := node.OnJump(func(from, to ros.Time) { got[2] = append(got[2], jump{from, to}) })
		for _, at := range c.feed {
			sim.Feed(at)
			manual.Set(at)
		}
		for i, g := range got {
			if !slices.Equal(g, c.want) {
				t.Errorf("%s: clock %d jumped %v, want %v", c.name, i, g, c.want)
			}
		}
		remove()
		manual.Set(1)
		manual.Set(1000 * second)
		if len(got[2]) != len(c.want) {
			t.Errorf("%s: told after it was removed", c.name)
		}
	}
}

func TestJumpFunctionsMayRegisterAndRemove(t *testing.T) {
	c := ros.NewManualClock(10 * second)
	var order []int
	var removeFirst func()
	removeFirst = c.OnJump(func(_, _ ros.Time) {
		order = append(order, 1)
		removeFirst()
		c.OnJump(func(_, _ ros.Time) { order = append(order, 3) })
	})
	c.OnJump(func(_, _ ros.Time) { order = append(order, 2) })
	c.Set(0)
	c.Set(5 * second)
	c.Set(second)
	if want := []int{1, 2, 2, 3}; !slices.Equal(order, want) {
		t.Errorf("called %v, want %v", order, want)
	}
}

func TestManualClock(t *testing.T) {
	c := ros.NewManualClock(3 * second)
	c.OnJump(func(from, to ros.Time) { t.Errorf("jump from %d to %d", from, to) })
	c.Advance(time.Hour)
	if c.Now() != 3603*second || c.Simulated() || !c.Advancing() {
		t.Errorf("now %d, simulated %v, advancing %v", c.Now(), c.Simulated(), c.Advancing())
	}
	c.SetSimulated(true)
	c.SetAdvancing(false)
	if !c.Simulated() || c.Advancing() {
		t.Error("it does not say what it was told")
	}
}

func TestSystemClock(t *testing.T) {
	var c ros.SystemClock
	before := time.Now()
	now := c.Now().Std()
	if now.Before(before.Add(-time.Microsecond)) || now.After(time.Now().Add(time.Microsecond)) || c.Simulated() || !c.Advancing() {
		t.Errorf("%v, simulated %v, advancing %v", now, c.Simulated(), c.Advancing())
	}
	c.OnJump(func(_, _ ros.Time) {})()
}

// With simulated time that stands still, real time goes on.
func TestNodeClockFollowsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		base := ros.NewManualClock(1000 * second)
		n, err := bus.NewNode("n", mem.Options{Clock: base})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		var jumps []ros.Time
		n.Clock().OnJump(func(from, to ros.Time) { jumps = append(jumps, from, to) })
		if err := n.UseSimTime(true); err != nil {
			t.Fatal(err)
		}
		base.Set(0) // no longer anybody's clock
		p, err := n.CreatePublisher("/clock", "rosgraph_msgs/msg/Clock", ros.DefaultQoS())
		if err != nil {
			t.Fatal(err)
		}
		m := ros.New(p.Type())
		m.SetStamp("clock", 5*second)
		if err := p.Publish(m); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n.Clock().Now() != 5*second || !n.Clock().Advancing() {
			t.Errorf("now %d, advancing %v", n.Clock().Now(), n.Clock().Advancing())
		}
		time.Sleep(1001 * time.Millisecond)
		if n.Clock().Now() != 5*second || n.Clock().Advancing() {
			t.Errorf("paused: now %d, advancing %v", n.Clock().Now(), n.Clock().Advancing())
		}
		if len(jumps) != 0 {
			t.Errorf("jumps %v before any", jumps)
		}
		base.Set(70 * second)
		if err := n.UseSimTime(false); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(jumps, []ros.Time{5 * second, 70 * second}) || n.Clock().Now() != 70*second || p.SubscriptionCount() != 0 {
			t.Errorf("back on the base clock: jumps %v, now %d, %d subscriptions", jumps, n.Clock().Now(), p.SubscriptionCount())
		}
		base.Set(60 * second)
		if len(jumps) != 4 {
			t.Errorf("jumps %v, and one of the base clock", jumps)
		}
	})
}
