package robottools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/digest"
)

// lookTool is a query of the graph itself.
type lookTool struct {
	spec tool.Spec
	look func(ctx context.Context, args map[string]any) (any, error)
	max  int
}

// Spec implements tool.Tool.
func (t *lookTool) Spec() tool.Spec { return t.spec }

// Predict implements tool.Predictor: looking changes nothing.
func (t *lookTool) Predict(context.Context, tool.Call, any) tool.Prediction { return tool.Prediction{} }

// Call implements tool.Tool.
func (t *lookTool) Call(ctx context.Context, call tool.Call) tool.Result {
	fail := func(kind tool.ErrorKind, err error) tool.Result {
		return tool.Result{ErrorKind: kind, Content: t.spec.Name + ": " + err.Error(), Source: t.spec.Source}
	}
	args, err := decodeArgs(call.Arguments)
	if err != nil {
		return fail(tool.Failed, err)
	}
	v, err := t.look(ctx, args)
	var absent *absentError
	switch {
	case errors.As(err, &absent):
		return fail(tool.PreconditionFailed, err)
	case err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fail(tool.Timeout, err)
	case err != nil && ctx.Err() != nil:
		return fail(tool.Canceled, err)
	case errors.Is(err, ros.ErrNotReady):
		return fail(tool.ServerUnavailable, err)
	case err != nil:
		return fail(tool.Failed, err)
	}
	data, err := marshalValue(v)
	if err != nil {
		return fail(tool.Failed, err)
	}
	return tool.Result{OK: true, Content: string(data), Source: t.spec.Source}
}

// absentError says that what was asked for is not there, or not to be shown; which of the two is not told.
type absentError struct{ what, name, hint string }

func (e *absentError) Error() string {
	text := fmt.Sprintf("there is no %s %s", e.what, e.name)
	if e.hint != "" {
		text += ": " + e.hint
	}
	return text
}

// Bounds of what a model may ask for.
const (
	sampleTime   = 5 * time.Second
	mostRateTime = 10.0 // s
	rateTime     = 2.0  // s, where it is not said
	lookTime     = 15 * time.Second
)

// newDiscovery makes the query tools of the graph.
func (r *Robot) newDiscovery() ([]tool.Tool, error) {
	d := r.profile.Discovery
	if d == nil {
		return nil, nil
	}
	deny, err := deniedOf(d.Deny)
	if err != nil {
		return nil, r.profile.source.errorf("discovery/deny", "%v", err)
	}
	g := &graphLook{r: r, deny: deny, max: d.bytesOf()}
	const contains = `"contains":{"type":"string","description":"only names that contain this text"}`
	object := func(required string, properties ...string) json.RawMessage {
		text := `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"additionalProperties":false`
		if required != "" {
			text += `,"required":["` + strings.ReplaceAll(required, " ", `","`) + `"]`
		}
		return json.RawMessage(text + "}")
	}
	const topic = `"topic":{"type":"string","minLength":1,"maxLength":256,"description":"its full name, such as /odom"}`
	const node = `"node":{"type":"string","minLength":1,"maxLength":256,"description":"its full name, such as /controller_server"}`
	var tools []tool.Tool
	for _, x := range []struct {
		name, description string
		parameters        json.RawMessage
		look              func(context.Context, map[string]any) (any, error)
	}{
		{toolListTopics, "The topics that are there, with their types.", object("", contains), g.topics},
		{toolListServices, "The services that are there, with their types; those of parameters and of actions are left out.", object("", contains), g.services},
		{toolListActions, "The actions that are there, with their types.", object("", contains), g.actions},
		{toolListNodes, "The nodes that are there.", object("", contains), g.nodes},
		{
			toolShowInterface, "The definition of a message, service or action type.",
			object("type", `"type":{"type":"string","minLength":1,"maxLength":256,"description":"such as nav_msgs/msg/Odometry"}`), g.definition,
		},
		{toolSampleTopic, "The next message on a topic (or the one that was kept). Large arrays are told by shape and statistics, images by size and a thumbnail, clouds by their bounds.", object("topic", topic), g.sample},
		{
			toolTopicRate, "How often a topic's messages come, measured for some seconds.",
			object("topic", topic, `"seconds":{"type":"number","minimum":0.5,"maximum":10}`), g.rate,
		},
		{toolListParameters, "The names of a node's parameters.", object("node", node, contains), g.parameters},
		{toolGetParameter, "The value of a node's parameter.", object("node name", node, `"name":{"type":"string","minLength":1,"maxLength":256}`), g.parameter},
	} {
		tools = append(tools, &lookTool{
			spec: tool.Spec{
				Name: x.name, Class: tool.Query, Description: x.description, Parameters: x.parameters,
				Binding: "the graph", Source: "graph", TimeLimit: lookTime,
			},
			look: x.look, max: g.max,
		})
	}
	return tools, nil
}

// graphLook answers questions about the graph.
type graphLook struct {
	r    *Robot
	deny denied
	max  int
}

// list is names with their types, as many as there is room for.
func (g *graphLook) list(what string, all map[string][]string, args map[string]any) any {
	part, _ := args["contains"].(string)
	rows := []any{}
	room, left, count := g.max-100, 0, 0
	for _, name := range sortedNames(all) {
		if g.deny.has(name) || !strings.Contains(name, part) {
			continue
		}
		count++
		row := map[string]any{"name": name}
		if len(all[name]) == 1 {
			row["type"] = all[name][0]
		} else if len(all[name]) > 1 {
			row["types"] = all[name]
		}
		if room -= digest.Size(row) + 1; room < 0 {
			left++
			continue
		}
		rows = append(rows, row)
	}
	out := map[string]any{what: rows, "count": int64(count)}
	if left > 0 {
		out["left_out"] = int64(left)
		out["note"] = "narrow it with contains"
	}
	return out
}

func (g *graphLook) topics(_ context.Context, args map[string]any) (any, error) {
	all, err := g.r.node.Graph().Topics()
	if err != nil {
		return nil, err
	}
	for name := range all {
		if hiddenName(name) {
			delete(all, name)
		}
	}
	return g.list("topics", all, args), nil
}

// parameterServices are every node's, and of no news.
var parameterServices = []string{
	"/describe_parameters", "/get_parameter_types", "/get_parameters", "/list_parameters", "/set_parameters", "/set_parameters_atomically", "/get_type_description",
}

func (g *graphLook) services(_ context.Context, args map[string]any) (any, error) {
	all, err := g.r.node.Graph().Services()
	if err != nil {
		return nil, err
	}
	for name := range all {
		if hiddenName(name) || slices.ContainsFunc(parameterServices, func(s string) bool { return strings.HasSuffix(name, s) }) {
			delete(all, name)
		}
	}
	return g.list("services", all, args), nil
}

func (g *graphLook) actions(_ context.Context, args map[string]any) (any, error) {
	all, err := g.r.node.Graph().Services()
	if err != nil {
		return nil, err
	}
	actions := map[string][]string{}
	for name, types := range all {
		action, ok := strings.CutSuffix(name, "/_action/send_goal")
		if !ok {
			continue
		}
		for _, t := range types {
			actions[action] = append(actions[action], strings.TrimSuffix(t, "_SendGoal"))
		}
	}
	return g.list("actions", actions, args), nil
}

func (g *graphLook) nodes(_ context.Context, args map[string]any) (any, error) {
	names, err := g.r.node.Graph().Nodes()
	if err != nil {
		return nil, err
	}
	all := make(map[string][]string, len(names))
	for _, n := range names {
		all[n] = nil
	}
	return g.list("nodes", all, args), nil
}

func (g *graphLook) definition(_ context.Context, args map[string]any) (any, error) {
	name, _ := args["type"].(string)
	text, err := Definition(g.r.node.Types(), name)
	if errors.Is(err, ros.ErrUnknownType) {
		return nil, &absentError{"type", name, "it is not installed here, or misspelt (package/msg/Name)"}
	}
	if err != nil {
		return nil, err
	}
	short, _ := tool.Cut(text, g.max, "ask for the types that it is made of")
	return map[string]any{"type": name, "definition": short}, nil
}

// typeOf a topic that somebody publishes and that may be shown.
func (g *graphLook) typeOf(topic string) (string, error) {
	all, err := g.r.node.Graph().Topics()
	if err != nil {
		return "", err
	}
	types := all[topic]
	switch {
	case len(types) == 0 || g.deny.has(topic):
		return "", &absentError{"topic", topic, "list_topics tells those that are there"}
	case len(types) > 1:
		return "", fmt.Errorf("the topic %s has several types (%s): it cannot be read", topic, strings.Join(types, ", "))
	}
	return types[0], nil
}

func (g *graphLook) sample(ctx context.Context, args map[string]any) (any, error) {
	topic := absolute(args["topic"].(string))
	typeName, err := g.typeOf(topic)
	if err != nil {
		return nil, err
	}
	l, err := listen(g.r.node, topic, typeName, nil)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	wait, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	for {
		got, changed := l.get()
		if got.msg != nil {
			v, whole := digest.Of(got.msg, g.max-200)
			out := map[string]any{"topic": topic, "type": typeName, "message": v}
			if !whole {
				out["note"] = "shortened"
			}
			return out, nil
		}
		select {
		case <-changed:
		case <-wait.Done():
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, fmt.Errorf("no message on %s within %.0f s (%d publishers)", topic, sampleTime.Seconds(), l.publishers())
		}
	}
}

func (g *graphLook) rate(ctx context.Context, args map[string]any) (any, error) {
	topic := absolute(args["topic"].(string))
	typeName, err := g.typeOf(topic)
	if err != nil {
		return nil, err
	}
	span := rateTime
	if s, ok := args["seconds"].(float64); ok {
		span = math.Min(s, mostRateTime)
	}
	arrivals := make(chan time.Time, 1<<16)
	sub, err := g.r.node.CreateSubscription(topic, typeName, ros.QoS{Depth: 100, Reliability: ros.BestEffort}, func(m ros.Received) {
		select {
		case arrivals <- m.Arrived:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	defer sub.Close()
	select {
	case <-time.After(seconds(span)):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	out := map[string]any{"topic": topic, "seconds": span, "publishers": int64(sub.PublisherCount())}
	var times []time.Time
	for len(arrivals) > 0 {
		times = append(times, <-arrivals)
	}
	out["messages"] = int64(len(times))
	if n := len(times); n > 1 {
		slowest, fastest := 0.0, math.Inf(1)
		for i := 1; i < n; i++ {
			gap := times[i].Sub(times[i-1]).Seconds()
			slowest, fastest = math.Max(slowest, gap), math.Min(fastest, gap)
		}
		out["rate_hz"] = round(float64(n-1)/math.Max(times[n-1].Sub(times[0]).Seconds(), 1e-6), 2)
		out["longest_gap_s"], out["shortest_gap_s"] = round(slowest, 4), round(fastest, 4)
	}
	return out, nil
}

// askNode calls a service of a node that is there and may be shown.
func (g *graphLook) askNode(ctx context.Context, node, service, typeName string, fill func(*ros.Message)) (*ros.Message, error) {
	names, err := g.r.node.Graph().Nodes()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, node) || g.deny.has(node) {
		return nil, &absentError{"node", node, "list_nodes tells those that are there"}
	}
	return g.r.ask(ctx, node+"/"+service, typeName, fill)
}

// ask calls a service once.
func (r *Robot) ask(ctx context.Context, service, typeName string, fill func(*ros.Message)) (resp *ros.Message, err error) {
	c, err := r.node.CreateClient(service, typeName)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ready, cancel := context.WithTimeout(ctx, serviceWait)
	defer cancel()
	if err := c.WaitReady(ready); err != nil {
		return nil, fmt.Errorf("service %s: %w", service, ros.ErrNotReady)
	}
	req := ros.New(c.Type().Request)
	if fill != nil {
		fill(req)
	}
	ctx, stop := context.WithTimeout(ctx, sampleTime)
	defer stop()
	if resp, err = c.Call(ctx, req); err != nil {
		return nil, fmt.Errorf("service %s: %w", service, err)
	}
	return resp, nil
}

func (g *graphLook) parameters(ctx context.Context, args map[string]any) (any, error) {
	node := absolute(args["node"].(string))
	resp, err := g.askNode(ctx, node, "list_parameters", "rcl_interfaces/srv/ListParameters", nil)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, n := range resp.Strs("result.names") {
		if !g.deny.has(node + ":" + n) {
			all[n] = nil
		}
	}
	return g.list("parameters", all, args), nil
}

func (g *graphLook) parameter(ctx context.Context, args map[string]any) (any, error) {
	node, name := absolute(args["node"].(string)), args["name"].(string)
	out := map[string]any{"node": node, "name": name}
	if g.deny.has(node + ":" + name) {
		return nil, &absentError{"parameter", name, "list_parameters tells those that are there"}
	}
	v, err := g.value(ctx, node, name)
	if err != nil {
		return nil, err
	}
	if secretLike.MatchString(name) {
		out["note"] = "its name says that it is a secret: its value is not shown"
		return out, nil
	}
	if digest.Size(v) > g.max-200 {
		short, _ := tool.Cut(fmt.Sprint(v), g.max-200, "shortened")
		v = short
	}
	out["value"] = v
	return out, nil
}

func (g *graphLook) value(ctx context.Context, node, name string) (any, error) {
	resp, err := g.askNode(ctx, node, "get_parameters", "rcl_interfaces/srv/GetParameters", func(m *ros.Message) { m.With("names", []string{name}) })
	if err != nil {
		return nil, err
	}
	values := resp.Msgs("values")
	if len(values) != 1 || values[0].Int("type") == 0 {
		return nil, &absentError{"parameter", name, "list_parameters tells those that are there"}
	}
	v, err := parameterValue(values[0])
	return ros.Widen(v), err
}
