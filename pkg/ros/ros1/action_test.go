package ros1_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/ros/action/actiontest"
	"agent_node/pkg/ros/ros1"
	"agent_node/pkg/ros/ros1/ros1test"
)

// unsaid are the cases of the suite that ask for what actionlib does not say, each with what it is.
var unsaid = map[string]string{
	"CancelUpToAStamp":                            "stamps are the clients', not those of acceptance",
	"CancelAllByZeroIDAndStamp":                   "a goal may overtake a cancel that was sent before it, on another topic",
	"RefusedCancelLeavesTheGoalRunning":           "a refusal is silence",
	"TwentyCancelsFromFourClientsTakeEffectOnce":  "nobody is told whose cancel it was",
	"ResultExpires":                               "an ended goal is told of for five seconds, whatever its timeout",
	"HundredsOfWaitingResultRequestsStarveNobody": "that a goal is unknown shows after a second without it, not at once",
	"GoalGivenUpBeforeItsAcceptanceIsCanceled":    "a goal that waits for its acceptance is told of as pending",
	"LostAnswerToGetResultIsAskedForAgain":        "a result is told once",
}

// TestActions runs the suite of package action between two nodes: client and server speak actionlib.
func TestActions(t *testing.T) {
	types := ros1.NewTypes(actiontest.Tree())
	var ran []string
	for _, c := range actiontest.Cases() {
		ran = append(ran, c.Name)
		if unsaid[c.Name] != "" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			master := ros1test.NewMaster(t, "0")
			c.Run(t, func(t *testing.T, name string) ros.Node {
				return newNode(t, master.URI, name, ros1.Options{Types: types, Logger: slog.New(slog.DiscardHandler)})
			})
		})
	}
	for name := range unsaid {
		if !slices.Contains(ran, name) {
			t.Errorf("no case %s", name)
		}
	}
}

// rig is a server of the suite's action, and who speaks actionlib to it by hand.
type rig struct {
	t       *testing.T
	master  *ros1test.Master
	person  *ros1.Node
	robot   *ros1.Node
	server  *action.Server
	handles chan *action.Handle
	goal    ros.Publisher
	cancel  ros.Publisher
	results chan *ros.Message
	states  chan *ros.Message
}

func actionRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t: t, master: ros1test.NewMaster(t, "0"), handles: make(chan *action.Handle, 10),
		results: make(chan *ros.Message, 10), states: make(chan *ros.Message, 1000),
	}
	types := ros1.NewTypes(actiontest.Tree())
	r.robot = newNode(t, r.master.URI, "robot", ros1.Options{Types: types})
	r.person = newNode(t, r.master.URI, "person", ros1.Options{Types: types})
	var err error
	r.server, err = action.NewServer(r.robot, action.ServerConfig{
		Name: "count", Type: actiontest.Type, Accepted: func(h *action.Handle) { r.handles <- h; <-h.Done() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, stop := context.WithCancel(context.Background())
		stop()
		_ = r.server.Close(ctx)
	})
	subscribe := func(topic, typeName string, to chan *ros.Message) ros.Subscription {
		s, err := r.person.CreateSubscription(topic, typeName, ros.QoS{Depth: 100}, func(m ros.Received) { to <- m.Message })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	advertise := func(topic, typeName string) ros.Publisher {
		p, err := r.person.CreatePublisher(topic, typeName, ros.DefaultQoS())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	states := subscribe("/count/status", "actionlib_msgs/msg/GoalStatusArray", r.states)
	results := subscribe("/count/result", "test_msgs/msg/FibonacciActionResult", r.results)
	r.goal, r.cancel = advertise("/count/goal", "test_msgs/msg/FibonacciActionGoal"), advertise("/count/cancel", "actionlib_msgs/msg/GoalID")
	eventually(t, "all are connected", func() bool {
		return states.PublisherCount()*results.PublisherCount()*r.goal.SubscriptionCount()*r.cancel.SubscriptionCount() == 1
	})
	return r
}

func (r *rig) send(id string, stamp ros.Time) {
	r.t.Helper()
	m := ros.New(r.goal.Type()).With("goal_id.id", id).With("goal.order", 3)
	m.SetStamp("goal_id.stamp", stamp)
	if err := r.goal.Publish(m); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) sendCancel(id string, stamp ros.Time) {
	r.t.Helper()
	m := ros.New(r.cancel.Type()).With("id", id)
	m.SetStamp("stamp", stamp)
	if err := r.cancel.Publish(m); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) handle() *action.Handle {
	r.t.Helper()
	return receive(r.t, r.handles, "the goal begins")
}

// wantResult takes the next result.
func (r *rig) wantResult(id string, state int64) *ros.Message {
	r.t.Helper()
	m := receive(r.t, r.results, "the result of "+id)
	if m.Str("status.goal_id.id") != id || m.Int("status.status") != state {
		r.t.Fatalf("result %v, want state %d of %s", m.Map(), state, id)
	}
	return m
}

// wantState waits for a state of a goal on the status topic.
func (r *rig) wantState(id string, state int64) {
	r.t.Helper()
	for {
		for _, s := range receive(r.t, r.states, "state of "+id).Msgs("status_list") {
			if s.Str("goal_id.id") == id && s.Int("status") == state {
				return
			}
		}
	}
}

const (
	active, preempted, succeeded, recalled = 1, 2, 3, 8
	now                                    = ros.Time(1_700_000_000_000_000_000)
)

func TestGoalsWithActionlibsOwnIDs(t *testing.T) {
	r := actionRig(t)
	r.send("/client-1-1700000000.5", now)
	h := r.handle()
	if h.Goal().Int("order") != 3 {
		t.Errorf("goal %v", h.Goal().Map())
	}
	h.Execute()
	r.wantState("/client-1-1700000000.5", active)
	r.send("/client-1-1700000000.5", now) // twice the same: ignored
	r.send("", 0)                         // neither id nor stamp: the server gives both
	second := r.handle()
	if second.ID() == h.ID() {
		t.Error("two goals have one id")
	}
	if err := h.Succeed(ros.New(h.Goal().Type)); err == nil {
		t.Error("a goal is no result")
	}
	if err := h.Succeed(nil); err != nil {
		t.Fatal(err)
	}
	r.wantResult("/client-1-1700000000.5", succeeded)
	r.sendCancel("", 0) // all
	receive(t, second.Canceling(), "the other goal is canceled")
	if err := second.Canceled(nil); err != nil {
		t.Fatal(err)
	}
	if m := receive(t, r.results, "its result"); m.Str("status.goal_id.id") == "" || m.Stamp("status.goal_id.stamp").IsZero() {
		t.Errorf("result %v has no id or stamp", m.Map())
	}
	if len(r.handles) != 0 {
		t.Error("a repeated goal began")
	}
}

func TestCancelsByStampAndBeforeTheirGoals(t *testing.T) {
	r := actionRig(t)
	r.send("early", now)
	early := r.handle()
	early.Execute()
	r.send("late", now.Add(time.Second))
	late := r.handle()
	late.Execute()
	r.sendCancel("", now.Add(time.Millisecond))
	receive(t, early.Canceling(), "the earlier goal is canceled")
	if err := early.Canceled(nil); err != nil {
		t.Fatal(err)
	}
	r.wantResult("early", preempted)
	select {
	case <-late.Canceling():
		t.Error("the later goal is canceled, too")
	default:
	}
	// A goal that is older than the stamp and comes after it, and one whose cancel has overtaken it.
	r.send("delayed", now)
	r.wantResult("delayed", recalled)
	r.sendCancel("overtaken", 0)
	r.sendCancel("late", 0) // in order behind it
	receive(t, late.Canceling(), "the later goal is canceled")
	r.send("overtaken", now.Add(2*time.Second))
	r.wantResult("overtaken", recalled)
	if err := late.Canceled(nil); err != nil {
		t.Fatal(err)
	}
	r.wantResult("late", preempted)
	if len(r.handles) != 0 {
		t.Error("a canceled goal began")
	}
}

// With simulated time that has not begun every stamp is zero; that is no reason to take a goal for canceled.
func TestGoalsBeforeTimeBegins(t *testing.T) {
	r := actionRig(t)
	for _, n := range []ros.SimTimeSetter{r.person, r.robot} {
		if err := n.UseSimTime(true); err != nil {
			t.Fatal(err)
		}
	}
	r.send("timeless", 0)
	if err := r.handle().Succeed(nil); err != nil {
		t.Fatal(err)
	}
	r.wantResult("timeless", succeeded)
}
