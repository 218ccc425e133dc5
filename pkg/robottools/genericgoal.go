package robottools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// sendSkill sends goals that a model writes.
type sendSkill struct {
	spec    tool.Spec
	entries map[string]*sendEntry
}

type sendEntry struct {
	*bound
	client     *action.Client
	reader     *commandReader // what judges its goals; nil: nothing
	act        *actuator      // nil: it moves nothing that is known
	publishers []string
	limit      time.Duration
}

// goalTime bounds a goal where the profile does not.
const goalTime = 5 * time.Minute

func (c genericCompiler) send(list []GenericAction) (tool.Tool, error) {
	t := &sendSkill{entries: map[string]*sendEntry{}}
	var names, types, actuators []string
	for i, e := range list {
		b, err := c.entry("send_action_goal", i, toolSendGoal, e.Actuator, e.Name, e.Requires)
		if err != nil {
			return nil, err
		}
		client, err := action.NewClient(c.r.node, e.Name, e.Type)
		if err != nil {
			return nil, c.r.profile.source.errorf(fmt.Sprintf("generic/send_action_goal/%d", i), "%v", err)
		}
		c.r.own(client)
		b.spec.Binding = "action " + e.Name + " " + e.Type
		s := &sendEntry{bound: b, client: client, act: c.r.actuator(e.Actuator), publishers: e.Publishers, limit: goalTime}
		if e.TimeLimit > 0 {
			s.limit = seconds(e.TimeLimit)
		}
		if e.Judged(c.r.profile) {
			reader := readers[e.Type]
			s.reader = &reader
		}
		t.entries[e.Name] = s
		names, types, actuators = append(names, e.Name), append(types, e.Type), append(actuators, e.Actuator)
	}
	var err error
	t.spec, err = c.spec(toolSendGoal, "Send a goal to one of the actions "+listed(names, types)+" and wait for its end. Fields that are left out are zero.", map[string]any{
		"action": map[string]any{"type": "string", "enum": names},
		"goal":   map[string]any{"type": "object", "description": "the goal as JSON; show_interface tells its fields"},
	}, "action", "goal")
	t.spec.Actuators = actuatorsOf(actuators)
	return t, err
}

// Spec implements tool.Tool.
func (t *sendSkill) Spec() tool.Spec { return t.spec }

func (t *sendSkill) prepare(call tool.Call) (e *sendEntry, goal *ros.Message, bad *tool.Result) {
	var a struct {
		Action string          `json:"action"`
		Goal   json.RawMessage `json:"goal"`
	}
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return nil, nil, &tool.Result{ErrorKind: tool.InvalidArguments, Content: t.spec.Name + ": " + err.Error(), Source: t.spec.Source}
	}
	e, ok := t.entries[a.Action]
	if !ok {
		r := unlisted(t.spec, a.Action, sortedNames(t.entries))
		return nil, nil, &r
	}
	goal, bad = e.decode(e.client.Type().Goal, a.Goal)
	return e, goal, bad
}

// judge asks the geometry layer about the goal, where it can tell.
func (e *sendEntry) judge(ctx context.Context, goal *ros.Message) *tool.Result {
	if e.reader == nil {
		return nil
	}
	v := e.robot.judge(ctx, e.def.Actuator, *e.reader, goal)
	if len(v.Findings) == 0 {
		return nil
	}
	texts := make([]string, len(v.Findings))
	for i, f := range v.Findings {
		texts[i] = fmt.Sprintf("rule %s: %s", f.Rule, f)
	}
	text := strings.Join(texts, "; ")
	if v.NearestJSON != "" {
		short, _ := tool.Cut(v.NearestJSON, 600, "shortened")
		text += "; nearest valid: " + short
	}
	return e.fail(refusalKind(v.Findings), "%s", text)
}

// Call implements tool.Tool.
func (t *sendSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	e, goal, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	if bad := e.robot.awaitServer(ctx, e.bound, e.client.WaitReady); bad != nil {
		return *bad
	}
	if e.act == nil {
		return e.plain(ctx, goal)
	}
	lease, err := e.act.guard.Acquire(ctx, owner(call))
	if err != nil {
		return *e.leaseFailure(ctx, err)
	}
	defer lease.Release()
	if bad := e.interlocked(ctx, call, e.robot.live()); bad != nil {
		return *bad
	}
	if bad := e.judge(ctx, goal); bad != nil {
		return *bad
	}
	run := &actionRun{b: e.bound, act: e.act, client: e.client, goal: goal, call: call, publishers: e.publishers}
	cmd := guard.Command{
		Tool: e.name, CallID: call.ID, Allowance: e.robot.allowance(e.limit, call.Deadline),
		Revalidate: func(ctx context.Context) error {
			if bad := e.judge(ctx, goal); bad != nil {
				return errors.New(bad.Content)
			}
			return nil
		},
	}
	if base, ok := e.robot.actuators[e.def.Actuator]; ok {
		cmd.Check = e.robot.world.inFlight(base)
	}
	out := run.execute(ctx, lease, cmd)
	if bad := e.motionFailure(ctx, out, run.accepted()); bad != nil {
		return *bad
	}
	seen := took(out)
	seen["action"] = e.spec.Source
	return e.told(seen, run.result(), "result")
}

// cancelTime is how long a goal that moves nothing known may take to end after a cancel.
const cancelTime = 5 * time.Second

// plain sends a goal that moves nothing that is known, and waits for its end.
func (e *sendEntry) plain(ctx context.Context, goal *ros.Message) tool.Result {
	limited, cancel := context.WithTimeout(ctx, e.limit)
	defer cancel()
	g, err := e.client.Send(limited, goal, action.GoalOptions{})
	if errors.Is(err, ros.ErrRejected) {
		return *e.fail(tool.ServerRejected, "%s rejected the goal", e.spec.Source)
	}
	if err != nil {
		return *e.goalFailure(ctx, limited, err)
	}
	out, err := g.Result(limited)
	if err != nil && limited.Err() != nil {
		// It is not left running: what it does is not known here.
		after, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer stop()
		if _, cancelErr := g.Cancel(after); cancelErr == nil {
			_, _ = g.Result(after)
		}
		return *e.goalFailure(ctx, limited, err)
	}
	if err != nil {
		return *e.goalFailure(ctx, limited, err)
	}
	r := e.told(map[string]any{"action": e.spec.Source, "status": out.Status.String()}, out.Result, "result")
	if out.Status != action.StatusSucceeded {
		r.OK, r.ErrorKind = false, tool.ServerFailed
	}
	return r
}

func (e *sendEntry) goalFailure(ctx, limited context.Context, err error) *tool.Result {
	switch {
	case ctx.Err() != nil:
		return e.fail(tool.Canceled, "%v", context.Cause(ctx))
	case limited.Err() != nil:
		return e.fail(tool.Timeout, "%s did not end within %v; it was canceled", e.spec.Source, e.limit)
	}
	r := e.fail(tool.ServerFailed, "%s: %v", e.spec.Source, err)
	r.DependencyLost = true
	return r
}

// DryRun implements tool.DryRunner.
func (t *sendSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	e, goal, bad := t.prepare(call)
	if bad == nil {
		bad = e.judge(ctx, goal)
	}
	if bad != nil {
		return *bad
	}
	return e.wouldSend(goal, e.spec.Source)
}

// Predict implements tool.Predictor.
func (t *sendSkill) Predict(_ context.Context, call tool.Call, _ any) tool.Prediction {
	if _, _, bad := t.prepare(call); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{Unknown: true}
}

// setSkill sets parameters of other nodes.
type setSkill struct {
	robot   *Robot
	spec    tool.Spec
	entries map[string]GenericParameter
}

func (c genericCompiler) set(list []GenericParameter) (tool.Tool, error) {
	t := &setSkill{robot: c.r, entries: map[string]GenericParameter{}}
	var nodes, names, told []string
	for _, e := range list {
		t.entries[e.key()] = e
		nodes, names = append(nodes, e.Node), append(names, e.Name)
		text := e.key()
		switch {
		case len(e.OneOf) > 0:
			text += fmt.Sprintf(" (one of %v)", e.OneOf)
		case e.Min != nil && e.Max != nil:
			text += fmt.Sprintf(" (%g to %g)", *e.Min, *e.Max)
		case e.Min != nil:
			text += fmt.Sprintf(" (at least %g)", *e.Min)
		case e.Max != nil:
			text += fmt.Sprintf(" (at most %g)", *e.Max)
		}
		told = append(told, text)
	}
	var err error
	t.spec, err = c.spec(toolSetParameter, "Set a parameter of a node, one of "+strings.Join(told, ", ")+".", map[string]any{
		"node":  map[string]any{"type": "string", "enum": once(nodes)},
		"name":  map[string]any{"type": "string", "enum": once(names)},
		"value": map[string]any{"type": []string{"boolean", "number", "string"}},
	}, "node", "name", "value")
	t.spec.TimeLimit = lookTime
	return t, err
}

// once: each of some names once, in their order.
func once(names []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// Spec implements tool.Tool.
func (t *setSkill) Spec() tool.Spec { return t.spec }

func (t *setSkill) fail(kind tool.ErrorKind, format string, args ...any) *tool.Result {
	return &tool.Result{ErrorKind: kind, Content: t.spec.Name + ": " + fmt.Sprintf(format, args...), Source: t.spec.Source}
}

type setArgs struct {
	Node  string `json:"node"`
	Name  string `json:"name"`
	Value any    `json:"value"`
}

func (t *setSkill) prepare(call tool.Call) (setArgs, *tool.Result) {
	var a setArgs
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return a, t.fail(tool.InvalidArguments, "%v", err)
	}
	e, ok := t.entries[a.Node+":"+a.Name]
	if !ok {
		r := unlisted(t.spec, a.Node+":"+a.Name, sortedNames(t.entries))
		return a, &r
	}
	return a, t.bounds(e, a.Value)
}

// bounds checks a value against the entry's.
func (t *setSkill) bounds(e GenericParameter, value any) *tool.Result {
	if len(e.OneOf) > 0 {
		for _, v := range e.OneOf {
			if v == value {
				return nil
			}
		}
		return t.fail(tool.GeometryRefused, "rule one_of: value is %v, must be one of %v", value, e.OneOf)
	}
	if e.Min == nil && e.Max == nil {
		return nil
	}
	f, ok := value.(float64)
	switch {
	case !ok:
		return t.fail(tool.InvalidArguments, "value is %v, must be a number", value)
	case e.Min != nil && !(f >= *e.Min):
		return t.fail(tool.GeometryRefused, "rule range: value is %g, must be at least %g", f, *e.Min)
	case e.Max != nil && !(f <= *e.Max):
		return t.fail(tool.GeometryRefused, "rule range: value is %g, must be at most %g", f, *e.Max)
	}
	return nil
}

// Types of rcl_interfaces/msg/ParameterType that can be set.
const (
	paramBool    = 1
	paramInteger = 2
	paramDouble  = 3
	paramString  = 4
)

// Call implements tool.Tool.
func (t *setSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	a, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	now, err := t.robot.ask(ctx, a.Node+"/get_parameters", "rcl_interfaces/srv/GetParameters", func(m *ros.Message) { m.With("names", []string{a.Name}) })
	if err != nil {
		return *t.askFailure(ctx, err)
	}
	values := now.Msgs("values")
	if len(values) != 1 || values[0].Int("type") == 0 {
		return *t.fail(tool.PreconditionFailed, "the node %s has no parameter %s", a.Node, a.Name)
	}
	was, err := parameterValue(values[0])
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	value := values[0].Clone()
	if bad := t.write(value, a); bad != nil {
		return *bad
	}
	pt, err := t.robot.node.Types().Message("rcl_interfaces/msg/Parameter")
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	resp, err := t.robot.ask(ctx, a.Node+"/set_parameters", "rcl_interfaces/srv/SetParameters", func(m *ros.Message) {
		m.With("parameters", []*ros.Message{ros.New(pt).With("name", a.Name).With("value", value)})
	})
	if err != nil {
		failed := t.askFailure(ctx, err)
		failed.Begun = true // the request may have arrived
		return *failed
	}
	results := resp.Msgs("results")
	if len(results) != 1 || !results[0].Bool("successful") {
		reason := "no answer"
		if len(results) == 1 {
			reason = results[0].Str("reason")
		}
		return *t.fail(tool.ServerRejected, "%s refused it: %s", a.Node, reason)
	}
	data, err := marshalValue(map[string]any{"node": a.Node, "name": a.Name, "was": ros.Widen(was), "is": a.Value})
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	return tool.Result{OK: true, Content: string(data), Source: a.Node}
}

// write the value in the type that the parameter has.
func (t *setSkill) write(m *ros.Message, a setArgs) *tool.Result {
	kind := m.Int("type")
	switch v := a.Value.(type) {
	case bool:
		if kind == paramBool {
			m.With("bool_value", v)
			return nil
		}
	case string:
		if kind == paramString {
			m.With("string_value", v)
			return nil
		}
	case float64:
		if kind == paramDouble {
			m.With("double_value", v)
			return nil
		}
		if kind == paramInteger && v == float64(int64(v)) {
			m.With("integer_value", int64(v))
			return nil
		}
	}
	return t.fail(tool.InvalidArguments, "value is %v, and the parameter is %s", a.Value, parameterTypes[kind])
}

var parameterTypes = map[int64]string{
	1: "a bool", 2: "an integer", 3: "a double", 4: "a string", 5: "an array of bytes", 6: "an array of bools", 7: "an array of integers",
	8: "an array of doubles", 9: "an array of strings",
}

func (t *setSkill) askFailure(ctx context.Context, err error) *tool.Result {
	switch {
	case ctx.Err() != nil:
		return t.fail(tool.Canceled, "%v", context.Cause(ctx))
	case errors.Is(err, ros.ErrNotReady):
		r := t.fail(tool.ServerUnavailable, "%v", err)
		r.DependencyLost = true
		return r
	case errors.Is(err, context.DeadlineExceeded):
		return t.fail(tool.Timeout, "%v", err)
	}
	return t.fail(tool.Failed, "%v", err)
}

// DryRun implements tool.DryRunner.
func (t *setSkill) DryRun(_ context.Context, call tool.Call) tool.Result {
	a, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: fmt.Sprintf("nothing was set; %s of %s would become %v", a.Name, a.Node, a.Value), Source: t.spec.Source}
}

// Predict implements tool.Predictor.
func (t *setSkill) Predict(_ context.Context, call tool.Call, _ any) tool.Prediction {
	if _, bad := t.prepare(call); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{Unknown: true}
}
