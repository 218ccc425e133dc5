package robottools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// holder stops an actuator by its action server: it cancels every goal there and then, where something is known to hold by, commands
// that, which replaces whatever goes on.
type holder struct {
	asking
	act    *actuator
	client *action.Client
	name   string
	fields []named
}

const (
	trajectoryType = "control_msgs/action/FollowJointTrajectory"
	gripperType    = "control_msgs/action/GripperCommand"
)

func (r *Robot) newHolder(a *actuator, stop StopBinding) (*holder, error) {
	client, err := action.NewClient(r.node, stop.Action, stop.Type)
	if err != nil {
		return nil, err
	}
	r.own(client)
	fields, err := compileFields(client.Type().Goal, stop.Message)
	if err != nil {
		return nil, err
	}
	return &holder{asking: asking{robot: r}, act: a, client: client, name: stop.Action, fields: fields}, nil
}

func (h *holder) send() error {
	return h.asking.send(func() (func(context.Context) error, error) {
		goal, err := h.goal()
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error { return h.deliver(ctx, goal) }, nil
	})
}

// goal holds where the actuator is; nil where only canceling is known.
func (h *holder) goal() (*ros.Message, error) {
	goal := ros.New(h.client.Type().Goal)
	kind := h.client.Type().Name
	if len(h.fields) > 0 {
		return goal, fill(goal, h.fields, h.robot.stopScope(h.act))
	}
	if kind != trajectoryType && kind != gripperType {
		return nil, nil
	}
	s, ok := h.act.holdable()
	if !ok {
		return nil, fmt.Errorf("robottools: %s: no measured position to hold", h.act.name)
	}
	if kind == gripperType {
		return goal, goal.Set("command.position", s.Position[0])
	}
	point, err := h.robot.node.Types().Message("trajectory_msgs/msg/JointTrajectoryPoint")
	if err != nil {
		return nil, err
	}
	p := ros.New(point).With("positions", append([]float64(nil), s.Position...)).With("velocities", make([]float64, len(s.Position)))
	p.SetDuration("time_from_start", holdTime)
	names := make([]string, len(h.act.axes))
	for i, x := range h.act.axes {
		names[i] = x.Name
	}
	return goal.With("trajectory.joint_names", names).With("trajectory.points", []*ros.Message{p}), nil
}

// holdTime is how long an arm may take to come to the held position.
const holdTime = 500 * time.Millisecond

// deliver cancels what runs, then holds. Both are tried: a server that refuses cancels may still take the hold, and the other
// way round. A goal under way that does not end by either has lost its place to the hold.
func (h *holder) deliver(ctx context.Context, goal *ros.Message) error {
	before := h.act.goalsAt(h.client.FullName())
	cancelErr := action.CancelAll(ctx, h.robot.node, h.name)
	if goal == nil {
		return cancelErr
	}
	if _, err := h.client.Send(ctx, goal, action.GoalOptions{}); err != nil {
		return errors.Join(cancelErr, err)
	}
	for _, epoch := range before {
		h.act.guard.Replaced(epoch)
	}
	return nil
}
