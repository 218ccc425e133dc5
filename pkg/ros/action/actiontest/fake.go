package actiontest

import (
	"context"
	"errors"
	"sync"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// Fake is an action server that does what its script says and nothing more: each function
// answers one kind of request. It shows clients what real servers do when they are broken.
type Fake struct {
	// Goal answers send_goal; nil accepts at once. An error sends no answer.
	Goal func(ctx context.Context, id action.GoalID) (accepted bool, err error)
	// Cancel answers cancel_goal; nil accepts. An error sends no answer.
	Cancel func(ctx context.Context, id action.GoalID) (action.CancelCode, error)
	// Result answers get_result; nil never does. An error sends no answer.
	Result func(ctx context.Context, id action.GoalID) (action.Status, error)

	mu       sync.Mutex
	cancels  []action.GoalID
	changed  chan struct{}
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	status   ros.Publisher
	services []ros.Service
	at       *ros.ActionType
}

// Open starts the server.
func (f *Fake) Open(node ros.Node, name, typeName string) (err error) {
	if f.at, err = node.Types().Action(typeName); err != nil {
		return err
	}
	f.changed = make(chan struct{})
	f.ctx, f.stop = context.WithCancel(context.Background())
	if f.status, err = node.CreatePublisher(name+"/_action/status", "action_msgs/msg/GoalStatusArray", ros.LatchedQoS()); err != nil {
		return err
	}
	cancel, err := node.Types().Service("action_msgs/srv/CancelGoal")
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		t    *ros.ServiceType
		f    func(ctx context.Context, request, response *ros.Message) error
	}{
		{"send_goal", f.at.SendGoal, f.serveGoal},
		{"cancel_goal", cancel, f.serveCancel},
		{"get_result", f.at.GetResult, f.serveResult},
	} {
		s, err := node.CreateService(name+"/_action/"+x.name, x.t.Name, func(ctx context.Context, request *ros.Message) (*ros.Message, error) {
			ros.Waiting(ctx)
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			defer context.AfterFunc(f.ctx, stop)()
			response := ros.New(x.t.Response)
			return response, x.f(ctx, request, response)
		})
		if err != nil {
			return errors.Join(err, f.Close())
		}
		f.services = append(f.services, s)
	}
	return nil
}

// Close takes the server down, whatever its goals do. Requests that it has not answered stay
// without an answer.
func (f *Fake) Close() error {
	f.stop()
	var errs []error
	for _, s := range f.services {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, f.status.Close())...)
}

// Publish publishes a status array of one goal.
func (f *Fake) Publish(id action.GoalID, s action.Status) error {
	return f.status.Publish(ros.New(f.status.Type()).With("status_list", []any{
		map[string]any{"goal_info": map[string]any{"goal_id": uuid(id)}, "status": int8(s)},
	}))
}

// Cancels are the goals that cancels were asked for, in order.
func (f *Fake) Cancels() []action.GoalID {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]action.GoalID(nil), f.cancels...)
}

// WaitCancel waits for n cancel requests.
func (f *Fake) WaitCancel(ctx context.Context, n int) error {
	for {
		f.mu.Lock()
		got, changed := len(f.cancels), f.changed
		f.mu.Unlock()
		if got >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Fake) serveGoal(ctx context.Context, request, response *ros.Message) error {
	if f.Goal == nil {
		return response.Set("accepted", true)
	}
	accepted, err := f.Goal(ctx, idOf(request))
	if err != nil {
		return err
	}
	return response.Set("accepted", accepted)
}

func (f *Fake) serveCancel(ctx context.Context, request, response *ros.Message) error {
	id := idOf(request.Msg("goal_info"))
	f.mu.Lock()
	f.cancels = append(f.cancels, id)
	close(f.changed)
	f.changed = make(chan struct{})
	f.mu.Unlock()
	if f.Cancel == nil {
		return response.Set("goals_canceling", []any{map[string]any{"goal_id": uuid(id)}})
	}
	code, err := f.Cancel(ctx, id)
	if err != nil {
		return err
	}
	return response.Set("return_code", int8(code))
}

func (f *Fake) serveResult(ctx context.Context, request, response *ros.Message) error {
	if f.Result == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	s, err := f.Result(ctx, idOf(request))
	if err != nil {
		return err
	}
	return response.Set("status", int8(s))
}
