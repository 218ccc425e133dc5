package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
)

// stopPatience bounds how long ~/stop and ~/reset wait for measured rest.
const stopPatience = 15 * time.Second

// serve advertises the services that are there in every lifecycle state.
func (n *Node) serve() error {
	for _, s := range []struct {
		name, typeName string
		handler        ros.ServiceHandler
	}{
		{"~/stop", "std_srvs/srv/Trigger", trigger(n.stop)},
		{"~/reset", "std_srvs/srv/Trigger", trigger(n.reset)},
		{"~/pause", "std_srvs/srv/Trigger", trigger(n.pause)},
		{"~/resume", "std_srvs/srv/Trigger", trigger(n.resume)},
		{"~/list_tools", "agent_msgs/srv/ListTools", n.listTools},
		{"~/respond", "agent_msgs/srv/Respond", n.respond},
		{"~/validate_command", "agent_msgs/srv/ValidateCommand", n.validateCommand},
	} {
		st, err := n.ros.Types().Service(s.typeName)
		if err != nil {
			return fmt.Errorf("node: %s: %w", s.name, err)
		}
		handler := s.handler
		srv, err := n.ros.CreateService(s.name, s.typeName, func(ctx context.Context, req *ros.Message) (*ros.Message, error) {
			return handler(context.WithValue(ctx, responseKey{}, st.Response), req)
		})
		if err != nil {
			return fmt.Errorf("node: %s: %w", s.name, err)
		}
		n.own(srv)
	}
	return nil
}

type responseKey struct{}

// response is an empty response of the service being served.
func response(ctx context.Context) *ros.Message {
	t, _ := ctx.Value(responseKey{}).(*ros.Type)
	return ros.New(t)
}

// trigger adapts a function to std_srvs/srv/Trigger.
func trigger(f func(ctx context.Context) (string, error)) ros.ServiceHandler {
	return func(ctx context.Context, _ *ros.Message) (*ros.Message, error) {
		message, err := f(ctx)
		if err != nil {
			message = err.Error()
		}
		return response(ctx).With("success", err == nil).With("message", message), nil
	}
}

var errNotConfigured = errors.New("the node is not configured: no actuator is under its command")

// stop ends every goal and answers when rest is measured, or says that it is not.
func (n *Node) stop(context.Context) (string, error) {
	n.log.Warn("stop requested")
	n.goals.interrupt(harness.Interrupt{Reason: harness.ReasonOperatorStop, Message: "by ~/stop"})
	// The stop's own context: that of the request may end before the robot rests.
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	var err error
	if w := n.work.Load(); w != nil {
		defer w.robot.Attend()()
		err = w.robot.Guard().StopAll(ctx, string(harness.ReasonOperatorStop))
	} else {
		err = n.bareStop(ctx)
	}
	if err != nil {
		n.log.Error("stop", "error", err)
		return "", err
	}
	return "every actuator is measured at rest", nil
}

// bareStop brings the robot to rest while nothing is configured: with actuators made of the profile for the time of the stop.
// Somebody else may be moving them, and whoever asks for a stop does not ask for the node's state.
func (n *Node) bareStop(ctx context.Context) error {
	n.bare.Lock()
	defer n.bare.Unlock()
	profile, err := n.loadProfile()
	if err != nil {
		return fmt.Errorf("no actuator is known: %w", err)
	}
	r, err := robottools.New(robottools.Config{Node: n.ros, Profile: profile, Namespace: n.params.robotNamespace.Get(), FramePrefix: n.params.framePrefix.Get(), Clock: n.options.GuardClock, OnReport: n.guardReport, ActuatorsOnly: true})
	if err != nil {
		return fmt.Errorf("no actuator is known: %w", err)
	}
	running, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(running) }()
	err = r.Guard().StopAll(ctx, string(harness.ReasonOperatorStop))
	end()
	ended := <-done // bounded by the actuators' deadlines
	if err == nil {
		err = ended // else it says what StopAll has said
	}
	return errors.Join(err, r.Close())
}

// reset acknowledges faults and opens the emergency stop's latch if its inputs are false.
func (n *Node) reset(context.Context) (string, error) {
	w := n.work.Load()
	if w == nil {
		return "", errNotConfigured
	}
	n.estop.forgive()
	defer w.robot.Attend()()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	if err := w.robot.Guard().Reset(ctx); err != nil {
		if pressed := n.estop.pressed(); len(pressed) > 0 {
			err = fmt.Errorf("%w: %s", err, strings.Join(pressed, "; "))
		}
		return "", err
	}
	return "reset; every actuator is measured at rest", nil
}

func (n *Node) pause(context.Context) (string, error) {
	w := n.work.Load()
	if w == nil {
		return "", errNotConfigured
	}
	w.robot.Guard().Pause(guard.SourceOperator)
	return "paused; resume with ~/resume", nil
}

func (n *Node) resume(context.Context) (string, error) {
	w := n.work.Load()
	if w == nil {
		return "", errNotConfigured
	}
	w.robot.Guard().Resume(guard.SourceOperator)
	return "resumed", nil
}

func (n *Node) listTools(ctx context.Context, _ *ros.Message) (*ros.Message, error) {
	resp := response(ctx)
	w := n.work.Load()
	if w == nil {
		return resp, nil
	}
	var list []*ros.Message
	for _, s := range w.table.Specs() {
		permission, _ := w.policy.Decide(s)
		list = append(list, ros.New(n.types.toolInfo).With("name", s.Name).With("tool_class", uint8(s.Class)).
			With("description", s.Description).With("parameters_schema_json", string(s.Parameters)).
			With("permission", string(permission)).With("binding", s.Binding))
	}
	return resp.With("tools", list), nil
}

func (n *Node) respond(ctx context.Context, req *ros.Message) (*ros.Message, error) {
	accepted, message := n.approvals.respond(req.Str("request_id"), req.Bool("approved"), req.Str("text"))
	n.log.Info("answer of a person", "request", req.Str("request_id"), "approved", req.Bool("approved"), "accepted", accepted)
	return response(ctx).With("accepted", accepted).With("message", message), nil
}

func (n *Node) validateCommand(ctx context.Context, req *ros.Message) (*ros.Message, error) {
	resp := response(ctx)
	w := n.work.Load()
	if w == nil {
		return resp.With("findings", n.types.findingMsgs([]geometry.Finding{{Rule: geometry.RuleActuator, Index: -1, Message: errNotConfigured.Error()}})), nil
	}
	v := w.robot.ValidateCommand(ctx, robottools.RawCommand{
		Type: req.Str("interface_type"), JSON: req.Str("message_json"), Actuator: req.Str("actuator"),
	})
	return resp.With("valid", len(v.Findings) == 0).With("findings", n.types.findingMsgs(v.Findings)).With("nearest_valid_json", v.NearestJSON), nil
}
