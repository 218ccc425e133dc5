package robottools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// holder stops an arm or a gripper: it cancels every goal of its action server and then commands the measured
// position, which replaces whatever goes on.
type holder struct {
	robot  *Robot
	act    *jointActuator
	client *action.Client
	name   string

	mu   sync.Mutex
	last time.Time
	err  error // of the newest hold
}

func (r *Robot) newHolder(a *jointActuator, stop StopBinding) (*holder, error) {
	if stop.Action == "" {
		return nil, errors.New("an arm or a gripper is stopped by an action: name it")
	}
	client, err := action.NewClient(r.node, stop.Action, stop.Type)
	if err != nil {
		return nil, err
	}
	r.own(client)
	return &holder{robot: r, act: a, client: client, name: stop.Action}, nil
}

// send does not block; between two holds it reports what became of the last one.
func (h *holder) send() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.last) >= holdEvery {
		h.last = now
		goal, err := h.goal()
		if err != nil {
			return err
		}
		go h.deliver(goal)
	}
	return h.err
}

// goal commands the newest measured position.
func (h *holder) goal() (*ros.Message, error) {
	s, ok := h.act.latest()
	if !ok {
		return nil, fmt.Errorf("robottools: %s: no measured position to hold", h.act.name)
	}
	goal := ros.New(h.client.Type().Goal)
	if h.act.def.Kind == "gripper" {
		if err := goal.Set("command.position", s.Position[0]); err != nil {
			return nil, err
		}
		return goal, nil
	}
	point, err := h.robot.node.Types().Message("trajectory_msgs/msg/JointTrajectoryPoint")
	if err != nil {
		return nil, err
	}
	p := ros.New(point).With("positions", append([]float64(nil), s.Position...)).With("velocities", make([]float64, len(s.Position)))
	p.SetDuration("time_from_start", holdTime)
	return goal.With("trajectory.joint_names", append([]string(nil), h.act.joints...)).With("trajectory.points", []*ros.Message{p}), nil
}

// holdTime is how long an arm may take to come to the held position.
const holdTime = 500 * time.Millisecond

// deliver cancels what runs, then holds. Its context is the robot's own: a stop outlives every call.
func (h *holder) deliver(goal *ros.Message) {
	ctx, cancel := context.WithTimeout(h.robot.background, holdEvery)
	defer cancel()
	// Both are tried: a server that refuses cancels may still take the hold, and the other way round.
	cancelErr := action.CancelAll(ctx, h.robot.node, h.name)
	_, err := h.client.Send(ctx, goal, action.GoalOptions{})
	if err != nil {
		err = errors.Join(cancelErr, err)
	}
	h.mu.Lock()
	h.err = err
	h.mu.Unlock()
}
