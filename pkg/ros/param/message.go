package param

import "agent_node/pkg/ros"

// valueField names the field of rcl_interfaces/msg/ParameterValue that holds a type's value.
var valueField = map[Type]string{
	Bool: "bool_value", Integer: "integer_value", Double: "double_value", String: "string_value",
	ByteArray: "byte_array_value", BoolArray: "bool_array_value", IntegerArray: "integer_array_value",
	DoubleArray: "double_array_value", StringArray: "string_array_value",
}

func (v Value) fields() map[string]any {
	m := map[string]any{"type": uint8(v.t)}
	if f, ok := valueField[v.t]; ok {
		m[f] = v.v
	}
	return m
}

func (p Parameter) fields() map[string]any {
	return map[string]any{"name": p.Name, "value": p.Value.fields()}
}

// constraints in words, and when a change takes effect.
func (d *Descriptor) constraints() string {
	if d.Constraints == "" || d.Later == "" {
		return d.Constraints + d.Later
	}
	return d.Constraints + "; " + d.Later
}

func (d *Descriptor) fields() map[string]any {
	m := map[string]any{
		"name": d.Name, "type": uint8(d.Type), "description": d.Description,
		"additional_constraints": d.constraints(), "read_only": d.ReadOnly, "dynamic_typing": d.DynamicTyping,
	}
	if r := d.Float; r != nil {
		m["floating_point_range"] = []any{map[string]any{"from_value": r.From, "to_value": r.To, "step": r.Step}}
	}
	if r := d.Int; r != nil {
		m["integer_range"] = []any{map[string]any{"from_value": r.From, "to_value": r.To, "step": r.Step}}
	}
	return m
}

// valueOf reads a rcl_interfaces/msg/ParameterValue.
func valueOf(m *ros.Message) (Value, error) {
	t := Type(m.Int("type"))
	if t == NotSet {
		return Value{}, nil
	}
	f, ok := valueField[t]
	if !ok {
		return Value{}, failure("", ErrWrongType, "there is no parameter %s", t)
	}
	v, err := m.Get(f)
	if err != nil {
		return Value{}, err
	}
	out, err := ValueOf(v)
	if err != nil {
		return Value{}, err
	}
	return out, nil
}

// parametersOf reads a sequence of rcl_interfaces/msg/Parameter.
func parametersOf(ms []*ros.Message) ([]Parameter, error) {
	out := make([]Parameter, len(ms))
	for i, m := range ms {
		name := m.Str("name")
		v, err := valueOf(m.Msg("value"))
		if err != nil {
			return nil, failure(name, ErrWrongType, "%v", err)
		}
		out[i] = Parameter{Name: name, Value: v}
	}
	return out, nil
}

func fieldsOf(ps []Parameter) []any {
	out := make([]any, len(ps))
	for i := range ps {
		out[i] = ps[i].fields()
	}
	return out
}
