package robottools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/ros"
)

// stopper sends one stop command of an actuator. It does not block: what takes time reports with a later call what became of it.
type stopper interface{ send() error }

// stopEvery is how often an actuator that is stopped by asking somebody is asking again while it does not come to rest.
const stopEvery = time.Second

// newStop makes the way in which an actuator is stopped.
func (r *Robot) newStop(a *actuator, s StopBinding) (stopper, error) {
	switch {
	case s.Action != "":
		return r.newHolder(a, s)
	case s.Service != "":
		return r.newServiceStop(a, s)
	case s.Topic == "":
		return nil, errors.New("a topic, an action or a service is wanted")
	case len(s.Message) == 0 && (s.Type == twistType || s.Type == twistStampedType):
		v, err := r.velocityOn(s.Topic, s.Type, s.Frame)
		if err != nil {
			return nil, err
		}
		return zeroStop{v}, nil
	case len(s.Message) == 0:
		return nil, fmt.Errorf("what %s says that stops it is not known: give message", s.Type)
	}
	return r.newMessageStop(a, s)
}

// zeroStop sends zero velocities.
type zeroStop struct{ v *velocity }

func (z zeroStop) send() error { return z.v.send(spatial.Twist{}) }

// stopScope is what a stop command's expressions see.
func (r *Robot) stopScope(a *actuator) scope {
	now := r.node.Clock().Now()
	s := scope{
		"constants": r.profile.Constants, "now": nowScope(now),
		"frames": map[string]any{"map": r.profile.Frames.Map, "odom": r.profile.Frames.Odom, "base": r.profile.Frames.Base},
	}
	if held, ok := a.holdable(); ok {
		s["state"] = a.state(held)
	}
	return s
}

func nowScope(now ros.Time) map[string]any {
	return map[string]any{"sec": int64(now) / 1e9, "nanosec": int64(now) % 1e9}
}

// compileFields compiles mapped fields and finds misspelt paths.
func compileFields(t *ros.Type, fields Exprs) ([]named, error) {
	env, err := newEnv()
	if err != nil {
		return nil, err
	}
	if err := checkFields(t, fields); err != nil {
		return nil, err
	}
	out := make([]named, len(fields))
	for i, f := range fields {
		e, err := compile(env, f.CEL)
		if err != nil {
			return nil, fmt.Errorf("message/%s: %w", f.Name, err)
		}
		out[i] = named{f.Name, e}
	}
	return out, nil
}

// messageStop publishes a message that holds or stops: a position topic's measured position, say.
type messageStop struct {
	robot  *Robot
	act    *actuator
	pub    ros.Publisher
	fields []named
}

func (r *Robot) newMessageStop(a *actuator, s StopBinding) (stopper, error) {
	pub, err := r.publisherOn(s.Topic, s.Type)
	if err != nil {
		return nil, err
	}
	fields, err := compileFields(pub.Type(), s.Message)
	if err != nil {
		return nil, err
	}
	return &messageStop{robot: r, act: a, pub: pub, fields: fields}, nil
}

func (s *messageStop) send() error {
	m := ros.New(s.pub.Type())
	if err := fill(m, s.fields, s.robot.stopScope(s.act)); err != nil {
		return err
	}
	return s.pub.Publish(m)
}

// asking is a stop that asks somebody who answers: at most once in stopEvery, in the background, with a context of the robot's own.
type asking struct {
	robot *Robot

	mu   sync.Mutex
	last time.Time
	err  error // of the newest
}

// send asks, unless it has just asking, and says what became of the last time.
func (q *asking) send(prepare func() (ask func(context.Context) error, err error)) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := time.Now(); now.Sub(q.last) >= stopEvery {
		q.last = now
		ask, err := prepare()
		if err != nil {
			return err
		}
		q.robot.stops.Go(func() {
			ctx, cancel := context.WithTimeout(q.robot.background, stopEvery)
			defer cancel()
			err := ask(ctx)
			q.mu.Lock()
			q.err = err
			q.mu.Unlock()
		})
	}
	return q.err
}

// serviceStop calls a service.
type serviceStop struct {
	asking
	act    *actuator
	client ros.Client
	fields []named
}

func (r *Robot) newServiceStop(a *actuator, s StopBinding) (stopper, error) {
	client, err := r.node.CreateClient(s.Service, s.Type)
	if err != nil {
		return nil, err
	}
	r.own(client)
	fields, err := compileFields(client.Type().Request, s.Message)
	if err != nil {
		return nil, err
	}
	return &serviceStop{asking: asking{robot: r}, act: a, client: client, fields: fields}, nil
}

func (s *serviceStop) send() error {
	return s.asking.send(func() (func(context.Context) error, error) {
		req := ros.New(s.client.Type().Request)
		if err := fill(req, s.fields, s.robot.stopScope(s.act)); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			if err := s.client.WaitReady(ctx); err != nil {
				return fmt.Errorf("service %s: %w", s.client.Service(), ros.ErrNotReady)
			}
			resp, err := s.client.Call(ctx, req)
			if err != nil {
				return fmt.Errorf("service %s: %w", s.client.Service(), err)
			}
			// What says of itself that it failed (as Trigger and SetBool do) is taken at its word.
			if resp.Type.FieldIndex("success") >= 0 && !resp.Bool("success") {
				return fmt.Errorf("service %s: %w: %s", s.client.Service(), errServerFailed, resp.Str("message"))
			}
			return nil
		}, nil
	})
}
