package robottools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/digest"
)

// newGeneric makes the generic skills that have entries.
func (r *Robot) newGeneric() ([]tool.Tool, error) {
	g, compile := r.profile.Generic, genericCompiler{r}
	var (
		tools []tool.Tool
		errs  []error
	)
	add := func(t tool.Tool, err error) {
		if err != nil {
			errs = append(errs, err)
			return
		}
		tools = append(tools, t)
	}
	if len(g.PublishTopic) > 0 {
		add(compile.publish(g.PublishTopic))
	}
	if len(g.CallService) > 0 {
		add(compile.call(g.CallService))
	}
	if len(g.SendActionGoal) > 0 {
		add(compile.send(g.SendActionGoal))
	}
	if len(g.SetParameter) > 0 {
		add(compile.set(g.SetParameter))
	}
	return tools, errors.Join(errs...)
}

// genericCompiler makes generic skills.
type genericCompiler struct{ r *Robot }

// spec of a generic skill. What nothing validates of its entries is asked about by the policy's conditions, see
// [Profile.Unvalidated]: the skill as a whole counts as validated.
func (c genericCompiler) spec(name, description string, parameters map[string]any, required ...string) (tool.Spec, error) {
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": parameters, "required": required, "additionalProperties": false})
	if err != nil {
		return tool.Spec{}, err
	}
	return tool.Spec{
		Name: name, Class: tool.Skill, Description: description, Parameters: schema, Validated: true,
		Binding: "generic", Source: name,
	}, nil
}

// entry binds one entry of the lists: a bound of its own with its conditions.
func (c genericCompiler) entry(list string, i int, name, actuator, source string, requires Exprs) (*bound, error) {
	b, compiled := c.r.newBound(name, Tool{Class: "skill", Actuator: actuator, Requires: nil})
	compiled.at = fmt.Sprintf("generic/%s/%d", list, i)
	b.requires = compiled.all("requires", requires)
	b.spec.Source = source
	return b, compiled.err
}

// listed are names with their types, for a description.
func listed(names, types []string) string {
	out := make([]string, len(names))
	for i := range names {
		out[i] = names[i] + " (" + types[i] + ")"
	}
	return strings.Join(out, ", ")
}

// holds checks an entry's conditions over what would be sent.
func (b *bound) holds(s scope) *tool.Result {
	for _, q := range b.requires {
		ok, err := q.bool(s)
		if err != nil {
			return b.fail(tool.PreconditionFailed, "%s: %v", q.name, err)
		}
		if !ok {
			return b.fail(tool.GeometryRefused, "%s (rule: %s)", q.name, q.text)
		}
	}
	return nil
}

// decode what a model wrote into a message, and check the entry's conditions. Numbers that are none are refused by name.
func (b *bound) decode(t *ros.Type, raw json.RawMessage) (*ros.Message, *tool.Result) {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if at := tooDeep(string(raw)); at >= 0 {
		return nil, b.fail(tool.InvalidArguments, "nested deeper than %d at offset %d", maxJSONDepth, at)
	}
	m, err := ros.DecodeJSON(t, raw)
	if err != nil {
		return nil, b.fail(tool.InvalidArguments, "%v", err)
	}
	if path := notFinite(m); path != "" {
		return nil, b.fail(tool.GeometryRefused, "rule finite: %s is no finite number", path)
	}
	return m, b.holds(b.robot.constants().with("msg", m.Map()))
}

// notFinite is the path of a number that is none; empty where there is none.
func notFinite(m *ros.Message) string {
	for i, v := range m.Values {
		name := m.Type.Fields[i].Name
		bad := func(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }
		switch x := v.(type) {
		case float64:
			if bad(x) {
				return name
			}
		case float32:
			if bad(float64(x)) {
				return name
			}
		case []float64:
			if k := slices.IndexFunc(x, bad); k >= 0 {
				return fmt.Sprintf("%s.%d", name, k)
			}
		case []float32:
			if k := slices.IndexFunc(x, func(f float32) bool { return bad(float64(f)) }); k >= 0 {
				return fmt.Sprintf("%s.%d", name, k)
			}
		case *ros.Message:
			if p := notFinite(x); p != "" {
				return name + "." + p
			}
		case []*ros.Message:
			for k, e := range x {
				if p := notFinite(e); p != "" {
					return fmt.Sprintf("%s.%d.%s", name, k, p)
				}
			}
		}
	}
	return ""
}

// told is what came back, as an observation.
func (b *bound) told(out map[string]any, m *ros.Message, as string) tool.Result {
	if m != nil {
		v, whole := digest.Of(m, b.robot.profile.Discovery.bytesOf())
		out[as] = v
		if !whole {
			out["note"] = "shortened"
		}
	}
	data, err := marshalValue(out)
	if err != nil {
		return *b.fail(tool.Failed, "%v", err)
	}
	return tool.Result{OK: true, Content: string(data), Source: b.spec.Source}
}

// wouldSend is the observation of a dry run.
func (b *bound) wouldSend(m *ros.Message, to string) tool.Result {
	data, err := m.MarshalJSON()
	if err != nil {
		return *b.fail(tool.Failed, "%v", err)
	}
	short, _ := tool.Cut(string(data), b.robot.profile.Discovery.bytesOf(), "shortened")
	return tool.Result{OK: true, Content: fmt.Sprintf("nothing was sent; to %s would go %s", to, short), Source: b.spec.Source}
}

// unlisted: the schema's enum lets no other name through; this is for whoever calls without it.
func unlisted(s tool.Spec, name string, listed []string) tool.Result {
	return tool.Result{ErrorKind: tool.PermissionDenied, Content: fmt.Sprintf("%s: %s is not on the profile's list: %s", s.Name, name, strings.Join(listed, ", ")), Source: s.Source}
}

// publishSkill publishes what a model writes.
type publishSkill struct {
	spec    tool.Spec
	entries map[string]*publishEntry
}

type publishEntry struct {
	*bound
	typ    *ros.Type
	pub    ros.Publisher
	stream *streamSkill // of an actuator's velocities
}

// mostStream is how long velocities may be streamed by one call, s.
const mostStream = 10.0

func (c genericCompiler) publish(list []GenericTopic) (tool.Tool, error) {
	t := &publishSkill{entries: map[string]*publishEntry{}}
	var names, types, moving []string
	for i, e := range list {
		b, err := c.entry("publish_topic", i, toolPublish, e.Actuator, e.Name, e.Requires)
		if err != nil {
			return nil, err
		}
		fault := func(err error) error {
			return c.r.profile.source.errorf(fmt.Sprintf("generic/publish_topic/%d", i), "%v", err)
		}
		p := &publishEntry{bound: b}
		if p.typ, err = c.r.node.Types().Message(e.Type); err != nil {
			return nil, fault(err)
		}
		if e.Actuator == "" {
			p.pub, err = c.r.publisherOn(e.Name, e.Type)
		} else {
			p.stream, err = c.stream(e)
			moving = append(moving, e.Name)
		}
		if err != nil {
			return nil, fault(err)
		}
		t.entries[e.Name] = p
		names, types = append(names, e.Name), append(types, e.Type)
	}
	description := "Publish a message on one of the topics " + listed(names, types) + ". Fields that are left out are zero."
	parameters := map[string]any{
		"topic":   map[string]any{"type": "string", "enum": names},
		"message": map[string]any{"type": "object", "description": "the message as JSON; show_interface tells its fields"},
	}
	if len(moving) > 0 {
		description += " On " + strings.Join(moving, ", ") + " velocities are sent for so many seconds, then zero; seconds must be given there, and nowhere else."
		parameters["seconds"] = map[string]any{"type": "number", "exclusiveMinimum": 0, "maximum": mostStream}
	}
	var err error
	t.spec, err = c.spec(toolPublish, description, parameters, "topic", "message")
	return t, err
}

// stream is the skill that drives a base by velocities that a model gives.
func (c genericCompiler) stream(e GenericTopic) (*streamSkill, error) {
	b, compiled := c.r.newBound(toolPublish, Tool{
		Class: "skill", Actuator: e.Actuator, Validators: []string{"motion", "twist", "in_flight"}, TimeLimit: fixedLimit(3 * mostStream),
		Binding: Binding{Publish: &PublishBinding{
			Name: e.Name, Type: e.Type, Message: Exprs{{"linear.x", "args.linear"}, {"angular.z", "args.angular"}}, For: "args.seconds",
			// A straight drive and a turn in place are judged the whole way beforehand; an arc as it goes.
			Distance: "args.angular == 0.0 ? args.linear * args.seconds : 0.0", Angle: "args.linear == 0.0 ? args.angular * args.seconds : 0.0",
		}},
	})
	made, err := c.r.newStream(b, compiled)
	if err != nil {
		return nil, err
	}
	return made.(*streamSkill), nil
}

type publishArgs struct {
	Topic   string          `json:"topic"`
	Message json.RawMessage `json:"message"`
	Seconds *float64        `json:"seconds"`
}

// Spec implements tool.Tool.
func (t *publishSkill) Spec() tool.Spec { return t.spec }

// prepare what would be published; inner is the call of the stream for an actuator's topic.
func (t *publishSkill) prepare(call tool.Call) (e *publishEntry, m *ros.Message, inner tool.Call, bad *tool.Result) {
	var a publishArgs
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return nil, nil, call, &tool.Result{ErrorKind: tool.InvalidArguments, Content: t.spec.Name + ": " + err.Error(), Source: t.spec.Source}
	}
	e, ok := t.entries[a.Topic]
	if !ok {
		r := unlisted(t.spec, a.Topic, sortedNames(t.entries))
		return nil, nil, call, &r
	}
	if m, bad = e.decode(e.typ, a.Message); bad != nil {
		return nil, nil, call, bad
	}
	switch {
	case e.stream == nil && a.Seconds != nil:
		return nil, nil, call, e.fail(tool.InvalidArguments, "seconds are for topics that move something: %s is none", a.Topic)
	case e.stream == nil:
		return e, m, call, nil
	case a.Seconds == nil:
		return nil, nil, call, e.fail(tool.InvalidArguments, "%s moves %s: say for how many seconds", a.Topic, e.def.Actuator)
	}
	v, w, bad := e.velocity(m)
	if bad != nil {
		return nil, nil, call, bad
	}
	data, err := json.Marshal(map[string]float64{"linear": v, "angular": w, "seconds": *a.Seconds})
	if err != nil {
		return nil, nil, call, e.fail(tool.Failed, "%v", err)
	}
	inner = call
	inner.Arguments = data
	return e, m, inner, nil
}

// velocity of a message that moves a base in the plane: forward and turning, and nothing else.
func (e *publishEntry) velocity(m *ros.Message) (linear, angular float64, bad *tool.Result) {
	t := m
	if m.Type.Name == twistStampedType {
		t = m.Msg("twist")
		if frame := m.Str("header.frame_id"); frame != "" && frame != e.robot.profile.Frames.Base {
			return 0, 0, e.fail(tool.GeometryRefused, "rule frame: header.frame_id is %q, must be %q", frame, e.robot.profile.Frames.Base)
		}
	}
	for _, p := range []string{"linear.y", "linear.z", "angular.x", "angular.y"} {
		if v := t.Float(p); v != 0 {
			return 0, 0, e.fail(tool.GeometryRefused, "rule range: %s is %g, must be 0: the base drives forward and turns", p, v)
		}
	}
	return t.Float("linear.x"), t.Float("angular.z"), nil
}

// Call implements tool.Tool.
func (t *publishSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	e, m, inner, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	if e.stream != nil {
		return e.stream.Call(ctx, inner)
	}
	wait, cancel := context.WithTimeout(ctx, e.robot.wait)
	defer cancel()
	if err := e.robot.waitSubscriber(wait, e.pub); err != nil {
		if ctx.Err() != nil {
			return *e.fail(tool.Canceled, "%v", context.Cause(ctx))
		}
		r := e.fail(tool.ServerUnavailable, "nobody listens to %s", e.pub.Topic())
		r.DependencyLost = true
		return *r
	}
	if err := e.pub.Publish(m); err != nil {
		return *e.fail(tool.Failed, "%v", err)
	}
	return e.told(map[string]any{"published_on": e.pub.Topic(), "subscribers": int64(e.pub.SubscriptionCount())}, nil, "")
}

// DryRun implements tool.DryRunner.
func (t *publishSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	e, m, inner, bad := t.prepare(call)
	switch {
	case bad != nil:
		return *bad
	case e.stream != nil:
		return e.stream.DryRun(ctx, inner)
	}
	return e.wouldSend(m, e.spec.Source)
}

// Predict implements tool.Predictor.
func (t *publishSkill) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	e, _, inner, bad := t.prepare(call)
	switch {
	case bad != nil:
		return refusedBy(bad, nil)
	case e.stream != nil:
		return e.stream.Predict(ctx, inner, state)
	}
	return tool.Prediction{Unknown: true}
}

// callSkill calls services with what a model writes.
type callSkill struct {
	spec    tool.Spec
	entries map[string]*callEntry
}

type callEntry struct {
	*bound
	client ros.Client
}

func (c genericCompiler) call(list []GenericService) (tool.Tool, error) {
	t := &callSkill{entries: map[string]*callEntry{}}
	var names, types []string
	for i, e := range list {
		b, err := c.entry("call_service", i, toolCall, "", e.Name, e.Requires)
		if err != nil {
			return nil, err
		}
		client, err := c.r.node.CreateClient(e.Name, e.Type)
		if err != nil {
			return nil, c.r.profile.source.errorf(fmt.Sprintf("generic/call_service/%d", i), "%v", err)
		}
		c.r.own(client)
		t.entries[e.Name] = &callEntry{b, client}
		names, types = append(names, e.Name), append(types, e.Type)
	}
	var err error
	t.spec, err = c.spec(toolCall, "Call one of the services "+listed(names, types)+". Fields that are left out are zero.", map[string]any{
		"service": map[string]any{"type": "string", "enum": names},
		"request": map[string]any{"type": "object", "description": "the request as JSON; show_interface tells its fields"},
	}, "service")
	t.spec.TimeLimit = lookTime
	return t, err
}

// Spec implements tool.Tool.
func (t *callSkill) Spec() tool.Spec { return t.spec }

func (t *callSkill) prepare(call tool.Call) (e *callEntry, m *ros.Message, bad *tool.Result) {
	var a struct {
		Service string          `json:"service"`
		Request json.RawMessage `json:"request"`
	}
	if err := json.Unmarshal(call.Arguments, &a); err != nil {
		return nil, nil, &tool.Result{ErrorKind: tool.InvalidArguments, Content: t.spec.Name + ": " + err.Error(), Source: t.spec.Source}
	}
	e, ok := t.entries[a.Service]
	if !ok {
		r := unlisted(t.spec, a.Service, sortedNames(t.entries))
		return nil, nil, &r
	}
	m, bad = e.decode(e.client.Type().Request, a.Request)
	return e, m, bad
}

// Call implements tool.Tool.
func (t *callSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	e, m, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	ready, cancel := context.WithTimeout(ctx, e.robot.wait)
	defer cancel()
	if err := e.client.WaitReady(ready); err != nil {
		if ctx.Err() != nil {
			return *e.fail(tool.Canceled, "%v", context.Cause(ctx))
		}
		r := e.fail(tool.ServerUnavailable, "nobody serves %s", e.spec.Source)
		r.DependencyLost = true
		return *r
	}
	resp, err := e.client.Call(ctx, m)
	if err != nil {
		failed := (&readTool{bound: e.bound}).readFailure(ctx, err)
		failed.Begun = true // the request may have arrived
		return *failed
	}
	out := e.told(map[string]any{"service": e.spec.Source}, resp, "response")
	// std_srvs and many others say by this field whether it went well.
	if i := resp.Type.FieldIndex("success"); i >= 0 {
		if ok, isBool := resp.Values[i].(bool); isBool && !ok {
			out.OK, out.ErrorKind = false, tool.ServerFailed
		}
	}
	return out
}

// DryRun implements tool.DryRunner.
func (t *callSkill) DryRun(_ context.Context, call tool.Call) tool.Result {
	e, m, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	return e.wouldSend(m, e.spec.Source)
}

// Predict implements tool.Predictor.
func (t *callSkill) Predict(_ context.Context, call tool.Call, _ any) tool.Prediction {
	if _, _, bad := t.prepare(call); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{Unknown: true}
}

// actuatorsOf entries, each once: a skill one of whose entries has none runs alone.
func actuatorsOf(names []string) []string {
	set := map[string]bool{}
	for _, n := range names {
		if n == "" {
			return nil
		}
		set[n] = true
	}
	return slices.Sorted(maps.Keys(set))
}
