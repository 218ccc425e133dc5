package watchdog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

const (
	// cancelTime bounds the wait for the answer to a cancel.
	cancelTime = time.Second
	// coastTime is how long an actuator whose goals were canceled may take to come to rest by itself before it is stopped
	// another way. Two sources of velocity fight each other; but cancel and stop together have three seconds.
	coastTime = time.Second
)

// Rescuer brings to rest what somebody has left moving.
type Rescuer struct {
	Node  ros.Node
	Robot *robottools.Robot // its guard runs
	Log   *slog.Logger
	// Seen stops only what is measured in motion: for a node that starts, whose robot need not be there yet.
	Seen bool
}

// Rescue cancels the goals that remains names, and stops every actuator that may be moving: one of a goal, one that the trace
// shows moving or under a call without its end, one of busy. What holds still by measurement is sent nothing. It returns nil when
// all of these are measured at rest; the stop of one that is not goes on for as long as the robot's guard runs.
func (r Rescuer) Rescue(ctx context.Context, remains *Remains, busy []string) error {
	if remains == nil {
		remains = &Remains{}
	}
	concerned := r.concerned(remains, busy)
	var all sync.WaitGroup
	errs := make([]error, len(concerned)+1)
	for i, a := range concerned {
		goals := slices.DeleteFunc(slices.Clone(remains.Goals), func(g Goal) bool { return g.Actuator != a.Name() })
		all.Go(func() { errs[i] = r.bringToRest(ctx, a, goals) })
	}
	// Goals of no actuator that is known now: the profile may have been changed.
	all.Go(func() {
		r.cancel(ctx, slices.DeleteFunc(slices.Clone(remains.Goals), func(g Goal) bool {
			return slices.ContainsFunc(concerned, func(a *guard.Actuator) bool { return a.Name() == g.Actuator })
		}))
	})
	all.Wait()
	return errors.Join(errs...)
}

// concerned are the actuators that may be moving.
func (r Rescuer) concerned(remains *Remains, busy []string) []*guard.Actuator {
	names := slices.Concat(busy, remains.Moving)
	for _, g := range remains.Goals {
		names = append(names, g.Actuator)
	}
	everything := false
	for _, t := range remains.Tools {
		def, known := r.Robot.Profile().Tools[t]
		if known && def.Actuator != "" {
			names = append(names, def.Actuator)
			continue
		}
		everything = everything || !known || def.Binding.Sequence != nil // its parts may move anything
	}
	all := r.Robot.Guard().Actuators()
	if everything {
		return all
	}
	return slices.DeleteFunc(all, func(a *guard.Actuator) bool { return !slices.Contains(names, a.Name()) })
}

// bringToRest cancels an actuator's goals, and stops it unless that was enough.
func (r Rescuer) bringToRest(ctx context.Context, a *guard.Actuator, goals []Goal) error {
	for _, g := range goals {
		r.Robot.Adopt(g) // until it is known to have ended there is no rest, and the stop is not let go of
	}
	coast, done := context.WithTimeout(ctx, coastTime)
	defer done()
	obeyed := len(goals) > 0 && r.cancel(coast, goals)
	if (obeyed || r.Seen) && a.AwaitRest(coast) {
		return nil
	}
	if rest, _, _ := a.AtRest(); rest || r.Seen && a.State().State == guard.Unknown {
		return nil
	}
	r.Log.Warn("stopping", "actuator", a.Name())
	return a.Stop(ctx, "watchdog")
}

// cancel cancels goals, all at once; true when every one will end, or has.
func (r Rescuer) cancel(ctx context.Context, goals []Goal) bool {
	ctx, done := context.WithTimeout(ctx, cancelTime)
	defer done()
	var all sync.WaitGroup
	obeyed := make([]bool, len(goals))
	for i, g := range goals {
		all.Go(func() {
			err := action.CancelGoal(ctx, r.Node, g.Action, g.ID)
			var answer *action.CancelError
			ended := errors.As(err, &answer) && answer.Code == action.CancelGoalTerminated
			obeyed[i] = err == nil || ended
			text := "accepted"
			if err != nil {
				text = fmt.Sprint(err)
			}
			r.Log.Warn("goal canceled", "action", g.Action, "goal", g.ID.String(), "actuator", g.Actuator, "answer", text)
		})
	}
	all.Wait()
	return !slices.Contains(obeyed, false)
}
