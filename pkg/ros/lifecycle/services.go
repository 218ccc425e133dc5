package lifecycle

import (
	"context"
	"errors"
	"time"

	"agent_node/pkg/ros"
)

// remote is the machine's face to other processes.
type remote struct {
	events   ros.Publisher
	services []ros.Service
}

func (r *remote) start(m *Machine) error {
	var err error
	r.events, err = m.node.CreatePublisher("~/transition_event", "lifecycle_msgs/msg/TransitionEvent", ros.DefaultQoS())
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name, typeName string
		serve          func(m *Machine, ctx context.Context, request, response *ros.Message) error
	}{
		{"change_state", "ChangeState", (*Machine).serveChange},
		{"get_state", "GetState", (*Machine).serveState},
		{"get_available_states", "GetAvailableStates", (*Machine).serveStates},
		{"get_available_transitions", "GetAvailableTransitions", (*Machine).serveTransitions},
		{"get_transition_graph", "GetAvailableTransitions", (*Machine).serveGraph},
	} {
		t, err := m.node.Types().Service("lifecycle_msgs/srv/" + x.typeName)
		if err != nil {
			return err
		}
		srv, err := m.node.CreateService("~/"+x.name, t.Name, func(ctx context.Context, request *ros.Message) (*ros.Message, error) {
			response := ros.New(t.Response)
			return response, x.serve(m, ctx, request, response)
		})
		if err != nil {
			return err
		}
		r.services = append(r.services, srv)
	}
	return nil
}

func (r *remote) stop() error {
	var errs []error
	for _, s := range r.services {
		errs = append(errs, s.Close())
	}
	if r.events != nil {
		errs = append(errs, r.events.Close())
	}
	return errors.Join(errs...)
}

func (r *remote) publish(m *Machine, e edge, now time.Time) {
	msg, err := ros.FromMap(r.events.Type(), map[string]any{
		"timestamp": uint64(now.UnixNano()), "transition": e.fields(), "start_state": e.from.fields(), "goal_state": e.to.fields(),
	})
	if err == nil {
		err = r.events.Publish(msg)
	}
	if err != nil && !errors.Is(err, ros.ErrClosed) {
		m.log.Warn("transition event not published", "error", err)
	}
}

func (s State) fields() map[string]any {
	return map[string]any{"id": uint8(s), "label": s.String()}
}

func (e edge) fields() map[string]any {
	return map[string]any{"id": uint8(e.id), "label": e.label}
}

// serveChange takes the label where there is one, else the id, as ROS 2's own nodes do. A transition may
// bring a robot to rest first, so its request gives up its place among those served at once.
func (m *Machine) serveChange(ctx context.Context, request, response *ros.Message) error {
	ros.Waiting(ctx)
	var err error
	if label := request.Str("transition.label"); label != "" {
		err = m.TriggerLabel(ctx, label)
	} else {
		err = m.Trigger(ctx, Transition(request.Int("transition.id")))
	}
	if err != nil {
		m.log.Warn("state not changed", "error", err)
	}
	return response.Set("success", err == nil)
}

func (m *Machine) serveState(_ context.Context, _, response *ros.Message) error {
	return response.Set("current_state", m.State().fields())
}

func (m *Machine) serveStates(_ context.Context, _, response *ros.Message) error {
	out := make([]any, len(states))
	for i := range states {
		out[i] = states[i].id.fields()
	}
	return response.Set("available_states", out)
}

func (m *Machine) serveTransitions(_ context.Context, _, response *ros.Message) error {
	at := m.State()
	return response.Set("available_transitions", descriptions(func(e edge) bool { return e.from == at }))
}

func (m *Machine) serveGraph(_ context.Context, _, response *ros.Message) error {
	return response.Set("available_transitions", descriptions(func(edge) bool { return true }))
}

func descriptions(want func(edge) bool) []any {
	out := make([]any, 0, len(edges))
	for _, e := range edges {
		if want(e) {
			out = append(out, map[string]any{
				"transition": e.fields(), "start_state": e.from.fields(), "goal_state": e.to.fields(),
			})
		}
	}
	return out
}
