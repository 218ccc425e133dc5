package robottools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros/action"
)

// LiveGoal is an action goal that moves an actuator, or may: it was sent, and is not known to have ended.
type LiveGoal struct {
	Action   string // full name
	ID       action.GoalID
	Actuator string
}

// livingGoal is one of an actuator's, by its epoch.
type livingGoal struct {
	LiveGoal
	cancel func() // asks for its end, and does not block
}

// lives notes a goal that is being sent; ended forgets it.
func (a *actuator) lives(epoch guard.Epoch, g livingGoal) {
	g.Actuator = a.name
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.living == nil {
		a.living = map[guard.Epoch]livingGoal{}
	}
	a.living[epoch] = g
}

func (a *actuator) ended(epoch guard.Epoch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.living, epoch)
}

// goalsAt are the epochs of those at one action's server.
func (a *actuator) goalsAt(name string) (all []guard.Epoch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for e, g := range a.living {
		if g.Action == name {
			all = append(all, e)
		}
	}
	return all
}

// LiveGoals are those of all actuators, by what this robot was told.
func (r *Robot) LiveGoals() (all []LiveGoal) {
	for _, a := range r.all {
		a.mu.Lock()
		for _, e := range slices.Sorted(maps.Keys(a.living)) {
			all = append(all, a.living[e].LiveGoal)
		}
		a.mu.Unlock()
	}
	return all
}

// Adopt takes over a goal that somebody else has left to an actuator of this robot: it is canceled again and again, and until it is known
// to have ended the guard claims no rest and lets go of no stop. It does not wait. False: there is no such actuator.
func (r *Robot) Adopt(g LiveGoal) bool {
	a := r.actuator(g.Actuator)
	if a == nil {
		return false
	}
	epoch := a.guard.Adopt()
	a.lives(epoch, livingGoal{LiveGoal: g, cancel: func() {}}) // Finish insists by itself
	r.stops.Go(func() {
		defer a.ended(epoch)
		status, err := action.Finish(r.background, r.node, g.Action, g.ID)
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			a.guard.ServerLost(epoch)
		default:
			a.guard.Finished(epoch, guard.ReasonCanceled, fmt.Errorf("it ended as %v", status))
		}
	})
	return true
}
