package robot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// closeWithin is how long goals have for their end when the robot is closed.
const closeWithin = 2 * time.Second

// actions are the action servers. Those that move something come and go with a fault.
type actions struct {
	r        *Robot
	moving   []*outlet
	plan     *ros.ActionType
	planning *action.Server

	mu     sync.Mutex // guards the servers and links of moving
	dying  sync.WaitGroup
	closed bool
}

// outlet is an action that moves a part of the robot.
type outlet struct {
	name, typeName string
	lane           *lane
	// refuse says why a goal is refused; nil accepts it.
	refuse func(goal *ros.Message) error
	// carryOut carries a goal out and returns how it ended.
	carryOut func(*action.Handle) ending

	types   *ros.ActionType
	counter int
	server  *action.Server // nil: down
	link    *link
}

func (r *Robot) openActions() (err error) {
	a := &r.actions
	a.r = r
	a.moving = []*outlet{
		{name: navigateName, typeName: navigateType, lane: &r.base, refuse: r.acceptNavigation, carryOut: r.navigate},
		{name: armName, typeName: armType, lane: &r.arm, refuse: r.acceptTrajectory, carryOut: r.followTrajectory},
		{name: gripperName, typeName: gripperType, lane: &r.gripper, refuse: r.acceptGrip, carryOut: r.grip},
	}
	if a.plan, err = r.node.Types().Action(planType); err != nil {
		return err
	}
	for _, o := range a.moving {
		if o.types, err = r.node.Types().Action(o.typeName); err != nil {
			return err
		}
		name, err := r.node.ResolveName(o.name)
		if err != nil {
			return err
		}
		o.counter = r.addCounter(name)
	}
	a.planning, err = action.NewServer(r.node, action.ServerConfig{Name: planName, Type: planType, Accepted: r.plan})
	if err != nil {
		return err
	}
	return a.setDown(false)
}

// setDown takes the servers away as if their process had died, or brings them up again with no memory of
// earlier goals.
func (a *actions) setDown(down bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	var errs []error
	for _, o := range a.moving {
		switch {
		case down && o.server != nil:
			server := o.server
			o.server = nil
			errs = append(errs, o.link.cut())
			a.dying.Go(func() { a.bury(o.name, server) })
		case !down && o.server == nil:
			a.dying.Wait()
			errs = append(errs, a.open(o))
		}
	}
	return errors.Join(errs...)
}

// open makes an outlet's server.
func (a *actions) open(o *outlet) error {
	l := newLink(a.r.node, func() time.Duration { return a.arrival(o) })
	server, err := action.NewServer(l, action.ServerConfig{
		Name: o.name, Type: o.typeName,
		Goal: func(id action.GoalID, goal *ros.Message) bool { return a.accept(o, id, goal) },
		Accepted: func(h *action.Handle) {
			h.Execute()
			a.finish(o, h, o.carryOut(h))
		},
		Cancel: a.cancel,
	})
	if err != nil {
		return errors.Join(err, l.cut())
	}
	o.link, o.server = l, server
	return nil
}

// bury ends what is left of a server that nobody can see any more.
func (a *actions) bury(name string, s *action.Server) {
	ctx, stop := context.WithTimeout(context.Background(), closeWithin)
	defer stop()
	if err := s.Close(ctx); err != nil && !errors.Is(err, ros.ErrClosed) {
		a.r.node.Logger().Warn("an action server did not end cleanly", "action", name, "err", err)
	}
}

// arrival is asked when a goal comes in: how long its answer is kept back, in real time.
func (a *actions) arrival(o *outlet) time.Duration {
	a.r.count(o.counter)
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return time.Duration(a.r.faults.slowAccept / a.r.time.rate * float64(time.Second))
}

func (a *actions) accept(o *outlet, id action.GoalID, goal *ros.Message) bool {
	err := o.refuse(goal)
	if err != nil {
		a.r.node.Logger().Warn("goal refused", "action", o.name, "goal", id, "err", err)
	}
	return err == nil
}

func (a *actions) cancel(*action.Handle) bool {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return !a.r.faults.refuseCancel
}

// finish ends a goal.
func (a *actions) finish(o *outlet, h *action.Handle, e ending) {
	result := ros.New(o.types.Result)
	e.write(result)
	var err error
	switch e.status {
	case action.StatusSucceeded:
		err = h.Succeed(result)
	case action.StatusCanceled:
		err = h.Canceled(result)
	default:
		err = h.Abort(result)
	}
	// A server that was taken down has ended its goals already.
	if err != nil && !errors.Is(err, action.ErrEnded) {
		a.r.node.Logger().Error("goal not ended", "action", o.name, "goal", h.ID(), "status", e.status, "err", err)
	}
}

// openFeedback sends the progress of the goals under way.
func (r *Robot) openFeedback() (func(*snapshot), error) {
	messages := map[*lane]*ros.Message{}
	for _, x := range []struct {
		lane     *lane
		typeName string
	}{{&r.base, navigateType}, {&r.arm, armType}, {&r.gripper, gripperType}} {
		t, err := r.node.Types().Action(x.typeName)
		if err != nil {
			return nil, err
		}
		messages[x.lane] = ros.New(t.Feedback)
	}
	return func(s *snapshot) {
		for _, f := range s.feedback {
			m := messages[f.lane]
			f.write(m)
			if err := f.handle.Feedback(m); err != nil && !errors.Is(err, action.ErrEnded) && !errors.Is(err, ros.ErrClosed) {
				r.node.Logger().Warn("no feedback", "goal", f.handle.ID(), "err", err)
			}
		}
	}, nil
}

// close ends all goals.
func (a *actions) close() error {
	a.mu.Lock()
	a.closed = true
	servers := []*action.Server{a.planning}
	for _, o := range a.moving {
		servers = append(servers, o.server)
		o.server = nil
	}
	a.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), closeWithin)
	defer stop()
	errs := make([]error, len(servers))
	var closing sync.WaitGroup
	for i, s := range servers {
		if s == nil {
			continue
		}
		closing.Go(func() {
			if err := s.Close(ctx); err != nil && !errors.Is(err, ros.ErrClosed) {
				errs[i] = fmt.Errorf("robot: action server: %w", err)
			}
		})
	}
	closing.Wait()
	a.dying.Wait()
	return errors.Join(errs...)
}
