package ros

import (
	"slices"
)

// Map is the message as nested maps, for expressions over it. Values are widened
// to the few types that expressions know, without loss: signed integers and
// unsigned ones up to 32 bits to int64, uint64 stays, floats to float64, string,
// bool. Arrays become []int64, []uint64, []float64, []string, []bool; byte, char and
// uint8 arrays []byte; arrays of messages []any of map[string]any. Nothing is shared with m.
func (m *Message) Map() map[string]any {
	out := make(map[string]any, len(m.Values))
	for i, v := range m.Values {
		out[m.Type.Fields[i].Name] = Widen(v)
	}
	return out
}

// Widen is a field's value in the form that Map gives it.
func Widen(v any) any {
	switch x := v.(type) {
	case uint8:
		return int64(x)
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case uint16:
		return int64(x)
	case int32:
		return int64(x)
	case uint32:
		return int64(x)
	case float32:
		return float64(x)
	case []uint8:
		return append([]byte{}, x...)
	case []int8:
		return widened[int64](x)
	case []int16:
		return widened[int64](x)
	case []uint16:
		return widened[int64](x)
	case []int32:
		return widened[int64](x)
	case []uint32:
		return widened[int64](x)
	case []int64:
		return widened[int64](x)
	case []uint64:
		return widened[uint64](x)
	case []float32:
		return widened[float64](x)
	case []float64:
		return widened[float64](x)
	case []bool:
		return append([]bool{}, x...)
	case []string:
		return append([]string{}, x...)
	case *Message:
		return x.Map()
	case []*Message:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = e.Map()
		}
		return list
	}
	return v
}

func widened[To, From int8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](s []From) []To {
	w := make([]To, len(s))
	for i, x := range s {
		w[i] = To(x)
	}
	return w
}

// FromMap makes a message from nested maps: the inverse of Map. Fields that are
// missing take their interface defaults; an unknown key, null, or a value that does
// not convert without loss (see Set) is a *FieldError.
func FromMap(t *Type, v map[string]any) (*Message, error) {
	m, err := fromMap(t, v)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func fromMap(t *Type, v map[string]any) (*Message, *FieldError) {
	m, known := New(t), 0
	for i := range t.Fields {
		f := &t.Fields[i]
		x, ok := v[f.Name]
		if !ok {
			continue
		}
		known++
		c, err := f.convert(t, x)
		if err != nil {
			return nil, err
		}
		m.Values[i] = c
	}
	if known < len(v) {
		var unknown []string
		for k := range v {
			if t.FieldIndex(k) < 0 {
				unknown = append(unknown, k)
			}
		}
		k := slices.Min(unknown)
		return nil, &FieldError{Message: t.Name, Path: k, Reason: reasonUnknown, Value: show(v[k]), Offset: -1}
	}
	return m, nil
}

const reasonUnknown = "unknown field"
