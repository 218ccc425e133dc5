package ros1

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/bluenviron/goroslib/v2/pkg/xmlrpc"

	"agent_node/pkg/ros"
)

const (
	getParameters = "rcl_interfaces/srv/GetParameters"
	useSimTime    = "/use_sim_time"
)

// readParameters takes the node's initial parameters from the parameter server: what stands below its name, and
// /use_sim_time. Arguments win.
func (n *Node) readParameters() error {
	names, err := n.values.GetParamNames()
	if err != nil {
		return fmt.Errorf("ros1: the parameters' names: %w", err)
	}
	given := maps.Clone(n.names.Params)
	for _, name := range names {
		local, own := strings.CutPrefix(name, n.names.FullName()+"/")
		if !own && name != useSimTime {
			continue
		}
		if !own {
			local = useSimTime[1:]
		}
		v, err := n.parameter(n.ctx, name)
		if err != nil {
			return fmt.Errorf("ros1: parameter %s: %w", name, err)
		}
		n.names.Params[strings.ReplaceAll(local, "/", ".")] = v
	}
	maps.Copy(n.names.Params, given)
	return nil
}

// parameter reads one value: a bool, int64, float64, string, or a slice of one of them.
func (n *Node) parameter(ctx context.Context, name string) (any, error) {
	c := xmlrpc.NewClient(n.masterAddress, n.webFor(ctx))
	request := struct{ CallerID, Key string }{n.names.FullName(), name}
	var one struct {
		Code          int
		StatusMessage string
		Value         any
	}
	err := c.Do("getParam", request, &one)
	if err == nil && one.Code != 1 {
		return nil, fmt.Errorf("%s", one.StatusMessage)
	}
	if err == nil {
		return scalar(one.Value), nil
	}
	// goroslib decodes an array only where one is asked for.
	var many struct {
		Code          int
		StatusMessage string
		Values        []any
	}
	if err := c.Do("getParam", request, &many); err != nil {
		return nil, fmt.Errorf("neither a value nor a list of values: %w", err)
	}
	return list(many.Values)
}

func scalar(v any) any {
	if i, ok := v.(int); ok {
		return int64(i)
	}
	return v
}

// list is a typed slice: all of one kind, or integers and floats mixed.
func list(values []any) (any, error) {
	if len(values) == 0 {
		return []any{}, nil
	}
	floats := false
	for _, v := range values {
		_, f := v.(float64)
		floats = floats || f
	}
	switch values[0].(type) {
	case string:
		return listOf[string](values)
	case bool:
		return listOf[bool](values)
	case int, float64:
		out := make([]float64, len(values))
		whole := make([]int64, len(values))
		for i, v := range values {
			switch x := v.(type) {
			case int:
				out[i], whole[i] = float64(x), int64(x)
			case float64:
				out[i] = x
			default:
				return nil, fmt.Errorf("a list of numbers with a %T at %d", v, i)
			}
		}
		if floats {
			return out, nil
		}
		return whole, nil
	}
	return nil, fmt.Errorf("a list of %T", values[0])
}

func listOf[T any](values []any) (any, error) {
	out := make([]T, len(values))
	for i, v := range values {
		x, ok := v.(T)
		if !ok {
			return nil, fmt.Errorf("a list of %T with a %T at %d", out[0], v, i)
		}
		out[i] = x
	}
	return out, nil
}

// parameterClient reads parameters of a node that has no parameter service: from the parameter server, below the node's name.
type parameterClient struct {
	*client
	owner string
}

// Ready is true as long as the client is open: the parameter server is the master.
func (c *parameterClient) Ready() bool { return c.ctx.Err() == nil }

// WaitReady returns at once.
func (c *parameterClient) WaitReady(context.Context) error {
	if c.ctx.Err() != nil {
		return c.closedError()
	}
	return nil
}

// Call asks the node's own service where there is one, else the parameter server.
func (c *parameterClient) Call(ctx context.Context, m *ros.Message) (*ros.Message, error) {
	if c.client.Ready() {
		return c.client.Call(ctx, m)
	}
	request, err := own(c.wire.typ.Request, m)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.name, err)
	}
	if c.ctx.Err() != nil {
		return nil, c.closedError()
	}
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	var values []any
	for _, name := range request.Strs("names") {
		v, err := c.value(both, c.owner+"/"+strings.ReplaceAll(name, ".", "/"))
		if err != nil {
			return nil, fmt.Errorf("call %s: parameter %s: %w", c.name, name, err)
		}
		values = append(values, v)
	}
	return ros.New(c.wire.typ.Response).With("values", values), nil
}

// value is an rcl_interfaces/msg/ParameterValue; type 0 where there is no such parameter.
func (c *parameterClient) value(ctx context.Context, name string) (map[string]any, error) {
	known, err := c.node.values.HasParam(name)
	if err != nil || !known {
		return map[string]any{"type": 0}, err
	}
	v, err := c.node.parameter(ctx, name)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case bool:
		return map[string]any{"type": 1, "bool_value": v}, nil
	case int64:
		return map[string]any{"type": 2, "integer_value": v}, nil
	case float64:
		return map[string]any{"type": 3, "double_value": v}, nil
	case string:
		return map[string]any{"type": 4, "string_value": v}, nil
	case []bool:
		return map[string]any{"type": 6, "bool_array_value": v}, nil
	case []int64:
		return map[string]any{"type": 7, "integer_array_value": v}, nil
	case []float64:
		return map[string]any{"type": 8, "double_array_value": v}, nil
	case []string, []any:
		return map[string]any{"type": 9, "string_array_value": v}, nil
	}
	return nil, fmt.Errorf("%T is no parameter's value", v)
}
