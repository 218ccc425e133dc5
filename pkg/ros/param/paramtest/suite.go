package paramtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/param"
)

// Connect makes a node of that name which sees all others made for the same test,
// and closes it when the test ends.
type Connect func(t *testing.T, name string) ros.Node

// Case is one thing to show.
type Case struct {
	Name string
	Run  func(t *testing.T, connect Connect)
}

// Run runs every case as a subtest.
func Run(t *testing.T, connect Connect) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, connect) })
	}
}

const limit = 20 * time.Second

// rig is a node with parameters and a client of its services.
type rig struct {
	t      *testing.T
	ctx    context.Context
	node   ros.Node
	s      *param.Server
	client ros.Node
	events chan *ros.Message
}

func newRig(t *testing.T, connect Connect) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r := &rig{t: t, ctx: ctx, node: connect(t, "robot"), client: connect(t, "asker"), events: make(chan *ros.Message, 100)}
	sub, err := r.client.CreateSubscription("/parameter_events", "rcl_interfaces/msg/ParameterEvent", ros.QoS{Depth: 1000},
		func(m ros.Received) {
			if m.Message.Str("node") == "/robot" {
				r.events <- m.Message
			}
		})
	r.must(err)
	t.Cleanup(func() { _ = sub.Close() })
	r.s, err = param.New(r.node, param.Config{})
	r.must(err)
	t.Cleanup(func() { _ = r.s.Close() })
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for sub.PublisherCount() == 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("no publisher of /parameter_events in sight")
		}
	}
	for _, d := range []struct {
		d   param.Descriptor
		def any
	}{
		{param.Descriptor{Name: "speed.max", Description: "Highest speed, m/s.", Float: &param.FloatRange{From: 0, To: 2, Step: 0.25}}, 1.0},
		{param.Descriptor{Name: "speed.axis.count", Int: &param.IntRange{From: 1, To: 6}}, 2},
		{param.Descriptor{Name: "name", ReadOnly: true}, "r1"},
		{param.Descriptor{Name: "any", DynamicTyping: true}, []string{"a"}},
	} {
		_, err := r.s.Declare(d.d, d.def)
		r.must(err)
	}
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// call calls one of the parameter services of /robot.
func (r *rig) call(name, typeName string, request map[string]any) *ros.Message {
	r.t.Helper()
	c, err := r.client.CreateClient("/robot/"+name, "rcl_interfaces/srv/"+typeName)
	r.must(err)
	defer func() { r.must(c.Close()) }()
	r.must(c.WaitReady(r.ctx))
	m, err := ros.FromMap(c.Type().Request, request)
	r.must(err)
	response, err := c.Call(r.ctx, m)
	r.must(err)
	return response
}

// event waits for the event that says something of a parameter.
func (r *rig) event(kind, name string) *ros.Message {
	r.t.Helper()
	for {
		select {
		case e := <-r.events:
			for _, p := range e.Msgs(kind) {
				if p.Str("name") == name {
					return p.Msg("value")
				}
			}
		case <-r.ctx.Done():
			r.t.Fatalf("no event with %s in %s", name, kind)
		}
	}
}

func value(field string, t param.Type, v any) map[string]any {
	return map[string]any{"type": uint8(t), field: v}
}

func parameter(name string, v map[string]any) map[string]any {
	return map[string]any{"name": name, "value": v}
}

func (r *rig) want(name string, want any) {
	r.t.Helper()
	v, err := r.s.Get(name)
	if err != nil || !v.Equal(param.MustValue(want)) {
		r.t.Errorf("%s is %v, %v; want %v", name, v, err, want)
	}
}

// Cases lists the suite.
func Cases() []Case {
	return []Case{
		{"GetAnswersInOrderOrNotAtAll", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			m := r.call("get_parameters", "GetParameters", map[string]any{"names": []string{"speed.max", "use_sim_time", "name"}})
			values := m.Msgs("values")
			if len(values) != 3 || values[0].Float("double_value") != 1 || values[1].Int("type") != int64(param.Bool) || values[2].Str("string_value") != "r1" {
				t.Errorf("%v", m.Map())
			}
			m = r.call("get_parameters", "GetParameters", map[string]any{"names": []string{"name", "nonsense"}})
			if n := len(m.Msgs("values")); n != 0 {
				t.Errorf("%d values with an unknown name", n)
			}
		}},
		{"TypesAndDescriptions", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			m := r.call("get_parameter_types", "GetParameterTypes", map[string]any{"names": []string{"any", "speed.axis.count"}})
			types, err := m.Get("types")
			r.must(err)
			if !slices.Equal(types.([]uint8), []uint8{uint8(param.StringArray), uint8(param.Integer)}) {
				t.Errorf("types %v", types)
			}
			m = r.call("describe_parameters", "DescribeParameters", map[string]any{"names": []string{"speed.max", "speed.axis.count", "name", "any"}})
			d := m.Msgs("descriptors")
			if len(d) != 4 {
				t.Fatalf("%v", m.Map())
			}
			fr, ir := d[0].Msgs("floating_point_range"), d[1].Msgs("integer_range")
			switch {
			case d[0].Str("name") != "speed.max" || d[0].Int("type") != int64(param.Double) || d[0].Str("description") != "Highest speed, m/s.":
				t.Errorf("%v", d[0].Map())
			case len(fr) != 1 || fr[0].Float("from_value") != 0 || fr[0].Float("to_value") != 2 || fr[0].Float("step") != 0.25:
				t.Errorf("range %v", d[0].Map())
			case len(ir) != 1 || ir[0].Int("from_value") != 1 || ir[0].Int("to_value") != 6:
				t.Errorf("range %v", d[1].Map())
			case !d[2].Bool("read_only") || d[0].Bool("read_only") || !d[3].Bool("dynamic_typing") || d[0].Bool("dynamic_typing"):
				t.Errorf("flags %v", m.Map())
			}
		}},
		{"SetJudgesEachAlone", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			r.event("new_parameters", "any")
			m := r.call("set_parameters", "SetParameters", map[string]any{"parameters": []any{
				parameter("speed.max", value("double_value", param.Double, 1.5)),
				parameter("speed.max", value("double_value", param.Double, 2.5)),
				parameter("speed.max", value("double_value", param.Double, 1.1)),
				parameter("speed.max", value("string_value", param.String, "fast")),
				parameter("speed.axis.count", value("integer_value", param.Integer, 7)),
				parameter("name", value("string_value", param.String, "r2")),
				parameter("nonsense", value("bool_value", param.Bool, true)),
				parameter("any", value("integer_array_value", param.IntegerArray, []int64{1, 2})),
			}})
			want := []bool{true, false, false, false, false, false, false, true}
			for i, res := range m.Msgs("results") {
				if res.Bool("successful") != want[i] || (res.Str("reason") == "") != want[i] {
					t.Errorf("result %d: %v", i, res.Map())
				}
			}
			r.want("speed.max", 1.5)
			r.want("any", []int64{1, 2})
			r.want("name", "r1")
			if v := r.event("changed_parameters", "speed.max"); v.Float("double_value") != 1.5 {
				t.Errorf("event %v", v.Map())
			}
			r.event("changed_parameters", "any")
		}},
		{"SetAtomicallyIsAllOrNothing", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			m := r.call("set_parameters_atomically", "SetParametersAtomically", map[string]any{"parameters": []any{
				parameter("speed.max", value("double_value", param.Double, 0.5)), parameter("speed.axis.count", value("integer_value", param.Integer, 0)),
			}})
			if m.Bool("result.successful") || m.Str("result.reason") == "" {
				t.Errorf("%v", m.Map())
			}
			r.want("speed.max", 1.0)
			m = r.call("set_parameters_atomically", "SetParametersAtomically", map[string]any{"parameters": []any{
				parameter("speed.max", value("double_value", param.Double, 0.5)), parameter("speed.axis.count", value("integer_value", param.Integer, 3)),
			}})
			if !m.Bool("result.successful") {
				t.Errorf("%v", m.Map())
			}
			r.want("speed.max", 0.5)
			r.want("speed.axis.count", 3)
			for {
				e := <-r.events
				if n := len(e.Msgs("changed_parameters")); n > 0 {
					if n != 2 || e.Msg("stamp").Int("sec") == 0 && e.Msg("stamp").Int("nanosec") == 0 {
						t.Errorf("event of one atomic set: %v", e.Map())
					}
					break
				}
			}
		}},
		{"NotSetRemovesADynamicParameter", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			none := map[string]any{"type": uint8(param.NotSet)}
			m := r.call("set_parameters", "SetParameters", map[string]any{"parameters": []any{parameter("any", none), parameter("speed.max", none)}})
			if res := m.Msgs("results"); !res[0].Bool("successful") || res[1].Bool("successful") {
				t.Errorf("%v", m.Map())
			}
			if _, err := r.s.Get("any"); err == nil {
				t.Error("still there")
			}
			r.want("speed.max", 1.0)
			r.event("deleted_parameters", "any")
		}},
		{"ListByPrefixAndDepth", func(t *testing.T, connect Connect) {
			r := newRig(t, connect)
			for _, x := range []struct {
				prefixes []string
				depth    uint64
				names    []string
				groups   []string
			}{
				{nil, 0, []string{"any", "name", "speed.axis.count", "speed.max", "use_sim_time"}, []string{"speed.axis", "speed"}},
				{nil, 1, []string{"any", "name", "use_sim_time"}, nil},
				{nil, 2, []string{"any", "name", "speed.max", "use_sim_time"}, []string{"speed"}},
				{[]string{"speed"}, 0, []string{"speed.axis.count", "speed.max"}, []string{"speed.axis", "speed"}},
				{[]string{"speed"}, 1, []string{"speed.max"}, []string{"speed"}},
				{[]string{"speed.axis", "name"}, 1, []string{"name", "speed.axis.count"}, []string{"speed.axis"}},
				{[]string{"spee"}, 0, nil, nil},
			} {
				m := r.call("list_parameters", "ListParameters", map[string]any{"prefixes": x.prefixes, "depth": x.depth})
				if got := m.Msg("result").Strs("names"); !slices.Equal(got, x.names) {
					t.Errorf("below %q to depth %d: names %q, want %q", x.prefixes, x.depth, got, x.names)
				}
				if got := m.Msg("result").Strs("prefixes"); !slices.Equal(got, x.groups) {
					t.Errorf("below %q to depth %d: groups %q, want %q", x.prefixes, x.depth, got, x.groups)
				}
			}
		}},
	}
}
