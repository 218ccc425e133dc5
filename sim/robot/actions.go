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

// actions are the action servers. The one for navigation comes and goes with a fault.
type actions struct {
	r              *Robot
	navigate, plan *ros.ActionType
	planning       *action.Server
	counter        int

	mu     sync.Mutex
	server *action.Server // nil: down
	link   *link
	dying  sync.WaitGroup
	closed bool
}

func (r *Robot) openActions() (err error) {
	a := &r.actions
	a.r = r
	if a.navigate, err = r.node.Types().Action(navigateType); err != nil {
		return err
	}
	if a.plan, err = r.node.Types().Action(planType); err != nil {
		return err
	}
	name, err := r.node.ResolveName(navigateName)
	if err != nil {
		return err
	}
	a.counter = r.addCounter(name)
	a.planning, err = action.NewServer(r.node, action.ServerConfig{Name: planName, Type: planType, Accepted: r.plan})
	if err != nil {
		return err
	}
	return a.setDown(false)
}

// setDown takes the navigation server away as if its process had died, or brings it up
// again with no memory of earlier goals.
func (a *actions) setDown(down bool) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
	case down && a.server != nil:
		server := a.server
		a.server = nil
		err = a.link.cut()
		a.dying.Go(func() { a.bury(server) })
	case !down && a.server == nil:
		a.dying.Wait()
		a.link = newLink(a.r.node, a.arrival)
		server, err := action.NewServer(a.link, action.ServerConfig{
			Name: navigateName, Type: navigateType,
			Goal:     a.accept,
			Accepted: a.r.navigate,
			Cancel:   a.cancel,
		})
		if err != nil {
			return errors.Join(err, a.link.cut())
		}
		a.server = server
	}
	return err
}

// bury ends what is left of a server that nobody can see any more.
func (a *actions) bury(s *action.Server) {
	ctx, stop := context.WithTimeout(context.Background(), closeWithin)
	defer stop()
	if err := s.Close(ctx); err != nil && !errors.Is(err, ros.ErrClosed) {
		a.r.node.Logger().Warn("the navigation server did not end cleanly", "err", err)
	}
}

// arrival is asked when a goal comes in: how long its answer is kept back, in real time.
func (a *actions) arrival() time.Duration {
	a.r.count(a.counter)
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return time.Duration(a.r.faults.slowAccept / a.r.time.rate * float64(time.Second))
}

// accept refuses a behavior tree, as Nav2 does with one that it cannot find.
func (a *actions) accept(id action.GoalID, goal *ros.Message) bool {
	tree := goal.Str("behavior_tree")
	if tree != "" {
		a.r.node.Logger().Warn("goal refused: there are no behavior trees here", "goal", id, "behavior_tree", tree)
	}
	return tree == ""
}

func (a *actions) cancel(*action.Handle) bool {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return !a.r.faults.refuseCancel
}

// close ends all goals.
func (a *actions) close() error {
	a.mu.Lock()
	server := a.server
	a.server, a.closed = nil, true
	a.mu.Unlock()
	ctx, stop := context.WithTimeout(context.Background(), closeWithin)
	defer stop()
	var errs []error
	for _, s := range []*action.Server{server, a.planning} {
		if s != nil {
			if err := s.Close(ctx); err != nil && !errors.Is(err, ros.ErrClosed) {
				errs = append(errs, fmt.Errorf("robot: action server: %w", err))
			}
		}
	}
	a.dying.Wait()
	return errors.Join(errs...)
}
