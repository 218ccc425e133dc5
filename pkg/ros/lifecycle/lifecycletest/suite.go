package lifecycletest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/lifecycle"
)

// Connect makes a node of that name which sees all others made for the same test,
// and closes it when the test ends.
type Connect func(t *testing.T, name string) ros.Node

// Case is one thing to show.
type Case struct {
	Name string
	Run  func(t *testing.T, connect Connect)
}

// Run runs every case as a subtest.
func Run(t *testing.T, connect Connect) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, connect) })
	}
}

const limit = 20 * time.Second

// rig is a managed node and a client of its services.
type rig struct {
	t      *testing.T
	ctx    context.Context
	m      *lifecycle.Machine
	client ros.Node
	events chan string
}

func newRig(t *testing.T, connect Connect, cb lifecycle.Callbacks) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx, client: connect(t, "manager"), events: make(chan string, 100)}
	sub, err := r.client.CreateSubscription("/managed/transition_event", "lifecycle_msgs/msg/TransitionEvent", ros.QoS{Depth: 100},
		func(m ros.Received) {
			if m.Message.Uint("timestamp") == 0 {
				t.Error("an event without a time")
			}
			r.events <- m.Message.Str("start_state.label") + " -" + m.Message.Str("transition.label") + "-> " + m.Message.Str("goal_state.label")
		})
	r.must(err)
	t.Cleanup(func() { _ = sub.Close() })
	r.m, err = lifecycle.New(connect(t, "managed"), cb)
	r.must(err)
	t.Cleanup(func() {
		if err := r.m.Close(); err != nil {
			t.Error(err)
		}
	})
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for sub.PublisherCount() == 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("no publisher of transition events in sight")
		}
	}
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) call(name, typeName string, request map[string]any) *ros.Message {
	r.t.Helper()
	c, err := r.client.CreateClient("/managed/"+name, "lifecycle_msgs/srv/"+typeName)
	r.must(err)
	defer func() { r.must(c.Close()) }()
	r.must(c.WaitReady(r.ctx))
	m, err := ros.FromMap(c.Type().Request, request)
	r.must(err)
	response, err := c.Call(r.ctx, m)
	r.must(err)
	return response
}

// change asks for a transition by id or label.
func (r *rig) change(id lifecycle.Transition, label string) bool {
	r.t.Helper()
	m := r.call("change_state", "ChangeState", map[string]any{"transition": map[string]any{"id": uint8(id), "label": label}})
	return m.Bool("success")
}

func (r *rig) wantState(want lifecycle.State) {
	r.t.Helper()
	m := r.call("get_state", "GetState", nil)
	if got := lifecycle.State(m.Int("current_state.id")); got != want || m.Str("current_state.label") != want.String() || r.m.State() != want {
		r.t.Errorf("state %v %q, in the process %v; want %v", got, m.Str("current_state.label"), r.m.State(), want)
	}
}

func (r *rig) wantEvents(want ...string) {
	r.t.Helper()
	for _, w := range want {
		select {
		case got := <-r.events:
			if got != w {
				r.t.Errorf("event %q, want %q", got, w)
			}
		case <-r.ctx.Done():
			r.t.Fatalf("no event %q", w)
		}
	}
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{"WholeLifeByIDAndLabel", func(t *testing.T, connect Connect) {
			var called []string
			note := func(s string) func(context.Context) error {
				return func(context.Context) error { called = append(called, s); return nil }
			}
			r := newRig(t, connect, lifecycle.Callbacks{
				Configure: note("configure"), Cleanup: note("cleanup"), Activate: note("activate"), Deactivate: note("deactivate"),
				Shutdown: func(_ context.Context, from lifecycle.State) error {
					called = append(called, "shutdown from "+from.String())
					return nil
				},
			})
			r.wantState(lifecycle.Unconfigured)
			for _, x := range []struct {
				id    lifecycle.Transition
				label string
				ok    bool
				then  lifecycle.State
			}{
				{lifecycle.Activate, "", false, lifecycle.Unconfigured},
				{lifecycle.Configure, "", true, lifecycle.Inactive},
				{lifecycle.Configure, "", false, lifecycle.Inactive},
				{0, "activate", true, lifecycle.Active},
				{0, "cleanup", false, lifecycle.Active},
				{lifecycle.InactiveShutdown, "", false, lifecycle.Active},
				{lifecycle.ActiveShutdown, "deactivate", true, lifecycle.Inactive}, // a label goes before an id
				{99, "", false, lifecycle.Inactive},
				{0, "nonsense", false, lifecycle.Inactive},
				{10, "", false, lifecycle.Inactive}, // a callback's own transition cannot be asked for
				{0, "transition_success", false, lifecycle.Inactive},
				{lifecycle.Cleanup, "", true, lifecycle.Unconfigured},
				{0, "configure", true, lifecycle.Inactive},
				{0, "shutdown", true, lifecycle.Finalized},
				{0, "shutdown", false, lifecycle.Finalized},
			} {
				if ok := r.change(x.id, x.label); ok != x.ok {
					t.Errorf("transition %d %q: success %v, want %v", x.id, x.label, ok, x.ok)
				}
				r.wantState(x.then)
			}
			want := []string{"configure", "activate", "deactivate", "cleanup", "configure", "shutdown from inactive"}
			if !slices.Equal(called, want) {
				t.Errorf("callbacks %q, want %q", called, want)
			}
			r.wantEvents("unconfigured -configure-> configuring", "configuring -transition_success-> inactive",
				"inactive -activate-> activating", "activating -transition_success-> active",
				"active -deactivate-> deactivating", "deactivating -transition_success-> inactive",
				"inactive -cleanup-> cleaningup", "cleaningup -transition_success-> unconfigured")
		}},
		{"FailureGoesBackAndErrorIsProcessed", func(t *testing.T, connect Connect) {
			var mood error
			var recover error
			r := newRig(t, connect, lifecycle.Callbacks{
				Configure: func(context.Context) error { return mood },
				Activate:  func(context.Context) error { panic("as the test wants") },
				Error:     func(context.Context, lifecycle.State, error) error { return recover },
			})
			mood = lifecycle.Failure(errors.New("not yet"))
			if r.change(lifecycle.Configure, "") {
				t.Error("a failure was a success")
			}
			r.wantState(lifecycle.Unconfigured)
			mood = nil
			if !r.change(lifecycle.Configure, "") {
				t.Error("not configured")
			}
			if r.change(lifecycle.Activate, "") {
				t.Error("a panic was a success")
			}
			r.wantState(lifecycle.Unconfigured)
			mood, recover = errors.New("broken"), errors.New("for good")
			if r.change(lifecycle.Configure, "") {
				t.Error("an error was a success")
			}
			r.wantState(lifecycle.Finalized)
			r.wantEvents("unconfigured -configure-> configuring", "configuring -transition_failure-> unconfigured",
				"unconfigured -configure-> configuring", "configuring -transition_success-> inactive",
				"inactive -activate-> activating", "activating -transition_error-> errorprocessing",
				"errorprocessing -transition_success-> unconfigured",
				"unconfigured -configure-> configuring", "configuring -transition_error-> errorprocessing",
				"errorprocessing -transition_error-> finalized")
		}},
		{"TransitionStateIsSeenAndNothingElseBegins", func(t *testing.T, connect Connect) {
			begun, release := make(chan struct{}), make(chan struct{})
			r := newRig(t, connect, lifecycle.Callbacks{Configure: func(context.Context) error {
				close(begun)
				<-release
				return nil
			}})
			done := make(chan error, 1)
			go func() { done <- r.m.Configure(r.ctx) }()
			<-begun
			r.wantState(lifecycle.Configuring)
			if r.change(0, "shutdown") {
				t.Error("a second transition began")
			}
			if err := r.m.Trigger(r.ctx, lifecycle.Configure); !errors.Is(err, lifecycle.ErrBusy) {
				t.Errorf("%v, want ErrBusy", err)
			}
			stopped := make(chan error, 1)
			go func() { stopped <- r.m.Shutdown(r.ctx) }() // waits for its turn
			close(release)
			r.must(<-done)
			r.must(<-stopped)
			r.wantState(lifecycle.Finalized)
			r.must(r.m.Shutdown(r.ctx))
		}},
		{"StatesAndTransitionsAreTold", func(t *testing.T, connect Connect) {
			r := newRig(t, connect, lifecycle.Callbacks{})
			var states []string
			for _, m := range r.call("get_available_states", "GetAvailableStates", nil).Msgs("available_states") {
				states = append(states, m.Str("label"))
			}
			want := []string{
				"unknown", "unconfigured", "inactive", "active", "finalized",
				"configuring", "cleaningup", "shuttingdown", "activating", "deactivating", "errorprocessing",
			}
			if !slices.Equal(states, want) {
				t.Errorf("states %q", states)
			}
			labels := func(service string) (out []string) {
				for _, m := range r.call(service, "GetAvailableTransitions", nil).Msgs("available_transitions") {
					out = append(out, m.Str("transition.label")+" to "+m.Str("goal_state.label"))
				}
				return out
			}
			if got := labels("get_available_transitions"); !slices.Equal(got, []string{"configure to configuring", "shutdown to shuttingdown"}) {
				t.Errorf("unconfigured: %q", got)
			}
			r.must(r.m.Configure(r.ctx))
			if got := labels("get_available_transitions"); !slices.Equal(got, []string{"cleanup to cleaningup", "activate to activating", "shutdown to shuttingdown"}) {
				t.Errorf("inactive: %q", got)
			}
			if got := labels("get_transition_graph"); len(got) != 25 {
				t.Errorf("the graph has %d transitions: %q", len(got), got)
			}
		}},
	}
}
