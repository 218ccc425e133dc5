package actiontest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

const prefix = name + "/_action/"

// raw calls an action's services directly, as a client of any language does.
type raw struct {
	t                               *testing.T
	at                              *ros.ActionType
	sendGoal, getResult, cancelGoal ros.Client
}

func newRaw(ctx context.Context, t *testing.T, node ros.Node, at *ros.ActionType) *raw {
	t.Helper()
	r := &raw{t: t, at: at}
	for _, x := range []struct {
		to             *ros.Client
		name, typeName string
	}{
		{&r.sendGoal, "send_goal", at.SendGoal.Name},
		{&r.getResult, "get_result", at.GetResult.Name},
		{&r.cancelGoal, "cancel_goal", "action_msgs/srv/CancelGoal"},
	} {
		c, err := node.CreateClient(prefix+x.name, x.typeName)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Errorf("close %s: %v", x.name, err)
			}
		})
		if err := c.WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		*x.to = c
	}
	return r
}

func uuid(id action.GoalID) map[string]any { return map[string]any{"uuid": id[:]} }

func (r *raw) send(ctx context.Context, id action.GoalID, order int) (accepted bool, stamp ros.Time) {
	r.t.Helper()
	m, err := r.sendGoal.Call(ctx, ros.New(r.at.SendGoal.Request).With("goal_id", uuid(id)).With("goal.order", order))
	if err != nil {
		r.t.Fatalf("send_goal: %v", err)
	}
	return m.Bool("accepted"), m.Stamp("stamp")
}

func (r *raw) result(ctx context.Context, id action.GoalID) (action.Status, *ros.Message) {
	r.t.Helper()
	m, err := r.getResult.Call(ctx, ros.New(r.at.GetResult.Request).With("goal_id", uuid(id)))
	if err != nil {
		r.t.Errorf("get_result: %v", err)
		return action.StatusUnknown, ros.New(r.at.Result)
	}
	return action.Status(m.Int("status")), m.Msg("result")
}

// cancel returns the code and the ids of the goals that the server says are canceling.
func (r *raw) cancel(ctx context.Context, id action.GoalID, stamp ros.Time) (action.CancelCode, []action.GoalID) {
	r.t.Helper()
	request := ros.New(r.cancelGoal.Type().Request).With("goal_info.goal_id", uuid(id)).With("goal_info.stamp", stamp)
	m, err := r.cancelGoal.Call(ctx, request)
	if err != nil {
		r.t.Errorf("cancel_goal: %v", err)
		return -1, nil
	}
	var ids []action.GoalID
	for _, g := range m.Msgs("goals_canceling") {
		ids = append(ids, idOf(g))
	}
	return action.CancelCode(m.Int("return_code")), ids
}

// idOf reads the id of a GoalInfo.
func idOf(info *ros.Message) (id action.GoalID) {
	b, err := info.Get("goal_id.uuid")
	if err != nil {
		panic(err)
	}
	copy(id[:], b.([]uint8))
	return id
}

// observer listens to the status topic as any subscriber does.
type observer struct {
	t   *testing.T
	sub ros.Subscription

	mu      sync.Mutex
	history map[action.GoalID][]action.Status
	stamps  map[action.GoalID]ros.Time
	latest  map[action.GoalID]action.Status // the last array
	arrays  int
	changed chan struct{}
}

func observe(t *testing.T, node ros.Node) *observer {
	t.Helper()
	o := &observer{
		t: t, history: make(map[action.GoalID][]action.Status), stamps: make(map[action.GoalID]ros.Time), changed: make(chan struct{}),
	}
	var err error
	o.sub, err = node.CreateSubscription(prefix+"status", "action_msgs/msg/GoalStatusArray",
		ros.QoS{Depth: 100, Durability: ros.TransientLocal}, o.take)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.sub.Close(); err != nil {
			t.Errorf("close status subscription: %v", err)
		}
	})
	return o
}

func (o *observer) take(r ros.Received) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.arrays++
	o.latest = make(map[action.GoalID]action.Status)
	for _, m := range r.Message.Msgs("status_list") {
		id, s := idOf(m.Msg("goal_info")), action.Status(m.Int("status"))
		o.latest[id] = s
		o.stamps[id] = m.Stamp("goal_info.stamp")
		if h := o.history[id]; len(h) == 0 || h[len(h)-1] != s {
			o.history[id] = append(h, s)
		}
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// until waits until the condition, which is called with the observer's lock held, holds.
func (o *observer) until(ctx context.Context, what string, holds func() bool) {
	o.t.Helper()
	for {
		o.mu.Lock()
		ok, changed := holds(), o.changed
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			o.mu.Lock()
			defer o.mu.Unlock()
			o.t.Fatalf("status topic: waited for %s; seen %v, last array %v", what, o.history, o.latest)
		}
	}
}

// waitMatched waits until the status publisher is in sight.
func (o *observer) waitMatched(ctx context.Context) {
	o.t.Helper()
	tick := newTicker()
	defer tick.Stop()
	for o.sub.PublisherCount() == 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			o.t.Fatal("no status publisher in sight")
		}
	}
}

func (o *observer) waitFor(ctx context.Context, id action.GoalID, s action.Status) {
	o.t.Helper()
	o.until(ctx, id.String()+" "+s.String(), func() bool { return slices.Contains(o.history[id], s) })
}

// wantHistory compares what was seen of a goal up to its end.
func (o *observer) wantHistory(ctx context.Context, id action.GoalID, want ...action.Status) {
	o.t.Helper()
	o.waitFor(ctx, id, want[len(want)-1])
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := o.history[id]; !slices.Equal(got, want) {
		o.t.Errorf("goal's states on the status topic: %v, want %v", got, want)
	}
}
