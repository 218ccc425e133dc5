package robottools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/digest"
)

// readTool is a query or verify tool: it reads one source and selects or judges.
type readTool struct {
	*bound
	// read puts what was seen into the scope and returns it whole.
	read func(ctx context.Context, call tool.Call, s scope) (any, error)
}

// readPatience is how long a read waits beyond the age limit for a fresh message.
const readPatience = 2 * time.Second

// Call implements tool.Tool.
func (t *readTool) Call(ctx context.Context, call tool.Call) tool.Result {
	t.robot.letHear(ctx)
	s, err := t.scope(call)
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	whole, err := t.read(ctx, call, s)
	if err != nil {
		return *t.readFailure(ctx, err)
	}
	if s, err = t.asRead(ctx, call, s); err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	if t.fresh != nil {
		ok, err := t.fresh.bool(s)
		if err != nil {
			return *t.fail(tool.Failed, "fresh: %v", err)
		}
		if !ok {
			seen := t.observation(s, whole)
			return *t.fail(tool.StaleState, "nothing fresh to judge by (%s): %s", t.fresh.text, seen.Content)
		}
	}
	return t.observation(s, whole)
}

// asRead is the scope with what was read, and with what else is known by then: what is told of joints and objects is no
// older than the message.
func (t *readTool) asRead(ctx context.Context, call tool.Call, read scope) (scope, error) {
	t.robot.letHear(ctx)
	s, err := t.scope(call)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"msg", "response", "value"} {
		if v, ok := read[name]; ok {
			s[name] = v
		}
	}
	return s, t.evalWhere(s)
}

func (t *readTool) readFailure(ctx context.Context, err error) *tool.Result {
	var stale *StaleError
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return t.fail(tool.Timeout, "%v", err)
	case ctx.Err() != nil:
		return t.fail(tool.Canceled, "%v", err)
	case errors.As(err, &stale):
		r := t.fail(tool.StaleState, "%v", err)
		r.DependencyLost = stale.Publishers == 0
		return r
	case errors.Is(err, ros.ErrNotReady):
		r := t.fail(tool.ServerUnavailable, "%v", err)
		r.DependencyLost = true
		return r
	case errors.Is(err, ros.ErrRejected): // a service of ROS 1 can fail
		return t.fail(tool.ServerFailed, "%v", err)
	case errors.Is(err, errStaleTransform):
		return t.fail(tool.StaleState, "%v", err)
	}
	return t.fail(tool.Failed, "%v", err)
}

// notBefore is the time after which a verify tool's source must be stamped.
func (t *readTool) notBefore(call tool.Call) time.Time {
	if t.spec.Class == tool.Verify {
		return call.NotBefore
	}
	return time.Time{}
}

func (r *Robot) newTopicRead(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Topic
	if c.err != nil {
		return nil, c.err
	}
	var l listened
	var err error
	if heavy[def.Type] {
		_, err = r.node.Types().Message(def.Type)
		o := &occasional{robot: r, topic: def.Name, typeName: def.Type}
		r.own(o)
		l = o
	} else {
		l, err = r.listen(def.Name, def.Type)
	}
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/topic"), "%v", err)
	}
	b.spec.Binding, b.spec.Source = fmt.Sprintf("topic %s %s", def.Name, def.Type), def.Name
	maxAge := seconds(def.MaxAge)
	if def.Type == imageType || def.Type == compressedImageType {
		return &camera{bound: b, l: l, maxAge: maxAge}, nil
	}
	return &readTool{b, func(ctx context.Context, call tool.Call, s scope) (any, error) {
		wait, cancel := context.WithTimeout(ctx, maxAge+readPatience)
		defer cancel()
		got, err := l.fresh(wait, maxAge, b.asVerify().notBefore(call))
		if err != nil {
			return nil, err
		}
		m := got.msg.Map()
		s["msg"] = m
		if b.result == nil {
			// Nothing is selected: what is large is told by what matters of it.
			short, _ := digest.Of(got.msg, r.profile.Discovery.bytesOf())
			return short, nil
		}
		return m, nil
	}}, nil
}

// asVerify lends the read tool's rules to closures that have only the bound part.
func (b *bound) asVerify() *readTool { return &readTool{bound: b} }

func (r *Robot) newTransformRead(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Transform
	b.spec.Binding = fmt.Sprintf("transform %s -> %s", def.Target, def.Source)
	b.spec.Source = "/tf"
	maxAge := seconds(def.MaxAge)
	return &readTool{b, func(ctx context.Context, call tool.Call, s scope) (any, error) {
		wait, cancel := context.WithTimeout(ctx, maxAge+readPatience)
		defer cancel()
		m, err := r.world.transform(wait, def.Target, def.Source, maxAge, b.asVerify().notBefore(call))
		if err != nil {
			return nil, err
		}
		s["msg"] = m
		return m, nil
	}}, c.err
}

func (r *Robot) newProfileRead(b *bound, c *compiler) (tool.Tool, error) {
	b.spec.Binding, b.spec.Source = "profile "+b.def.Binding.Profile, "profile"
	return &readTool{b, func(_ context.Context, _ tool.Call, s scope) (any, error) {
		return s[b.def.Binding.Profile], nil
	}}, c.err
}

// serviceWait bounds the wait for a service server.
const serviceWait = 2 * time.Second

// newService binds a service; for queries and verifies it reads, for skills without an actuator it acts.
func (r *Robot) newService(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Service
	request := c.all("binding/service/request", def.Request)
	success := c.one("binding/service/success", def.Success)
	if c.err != nil {
		return nil, c.err
	}
	client, err := r.node.CreateClient(def.Name, def.Type)
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/service"), "%v", err)
	}
	r.own(client)
	b.spec.Binding, b.spec.Source = fmt.Sprintf("service %s %s", def.Name, def.Type), def.Name
	call := func(ctx context.Context, _ tool.Call, s scope) (any, error) {
		req := ros.New(client.Type().Request)
		if err := fill(req, request, s); err != nil {
			return nil, err
		}
		ready, cancel := context.WithTimeout(ctx, serviceWait)
		defer cancel()
		if err := client.WaitReady(ready); err != nil {
			return nil, fmt.Errorf("service %s: %w", def.Name, ros.ErrNotReady)
		}
		resp, err := client.Call(ctx, req)
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", def.Name, err)
		}
		m := resp.Map()
		s["response"] = m
		if success != nil {
			ok, err := success.bool(s)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fmt.Errorf("service %s answered %v: %w", def.Name, m, errServerFailed)
			}
		}
		return m, nil
	}
	if b.spec.Class == tool.Skill && b.def.Actuator != "" {
		until := c.one("binding/service/until", def.Until)
		always := c.one("binding/service/until", "true") // the response is the end
		if until == nil {
			until = always
		}
		return r.newConditionSkill(b, c, until, nil, func() mover {
			return &serviceMover{robot: r, client: client, fields: request, success: success}
		})
	}
	if b.spec.Class == tool.Skill {
		return &serviceSkill{bound: b, call: call}, nil
	}
	return &readTool{b, call}, nil
}

var errServerFailed = errors.New("robottools: the server reports failure")

// serviceSkill has an effect through a service.
type serviceSkill struct {
	*bound
	call func(context.Context, tool.Call, scope) (any, error)
}

// Call implements tool.Tool.
func (t *serviceSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	s, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	whole, err := t.call(ctx, call, s)
	if err != nil {
		r := (&readTool{bound: t.bound}).readFailure(ctx, err)
		if errors.Is(err, errServerFailed) {
			r.ErrorKind = tool.ServerFailed
		}
		return *r
	}
	return t.observation(s, whole)
}

// DryRun implements tool.DryRunner.
func (t *serviceSkill) DryRun(_ context.Context, call tool.Call) tool.Result {
	if _, bad := t.prepare(call); bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: "would call " + t.spec.Binding, Source: t.spec.Source}
}

// newParameterRead reads a parameter of another node by its get_parameters service.
func (r *Robot) newParameterRead(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Parameter
	name := def.Node + "/get_parameters"
	client, err := r.node.CreateClient(name, "rcl_interfaces/srv/GetParameters")
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/parameter"), "%v", err)
	}
	r.own(client)
	b.spec.Binding, b.spec.Source = fmt.Sprintf("parameter %s of %s", def.Name, def.Node), name
	return &readTool{b, func(ctx context.Context, _ tool.Call, s scope) (any, error) {
		ready, cancel := context.WithTimeout(ctx, serviceWait)
		defer cancel()
		if err := client.WaitReady(ready); err != nil {
			return nil, fmt.Errorf("node %s: %w", def.Node, ros.ErrNotReady)
		}
		resp, err := client.Call(ctx, ros.New(client.Type().Request).With("names", []string{def.Name}))
		if err != nil {
			return nil, fmt.Errorf("parameter %s of %s: %w", def.Name, def.Node, err)
		}
		values := resp.Msgs("values")
		if len(values) != 1 {
			return nil, fmt.Errorf("parameter %s of %s: %d values in the answer, wanted 1", def.Name, def.Node, len(values))
		}
		v, err := parameterValue(values[0])
		if err != nil {
			return nil, fmt.Errorf("parameter %s of %s: %w", def.Name, def.Node, err)
		}
		s["value"] = v
		return v, nil
	}}, c.err
}

// parameterValue is what an rcl_interfaces/msg/ParameterValue holds.
func parameterValue(m *ros.Message) (any, error) {
	fields := []string{
		"", "bool_value", "integer_value", "double_value", "string_value", "byte_array_value",
		"bool_array_value", "integer_array_value", "double_array_value", "string_array_value",
	}
	kind := int(m.Int("type"))
	if kind <= 0 || kind >= len(fields) {
		return nil, errors.New("not set")
	}
	return m.Get(fields[kind])
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Predict implements tool.Predictor: reading changes nothing.
func (t *readTool) Predict(context.Context, tool.Call, any) tool.Prediction { return tool.Prediction{} }
