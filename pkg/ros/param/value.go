package param

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Type is the type of a parameter's value; the numbers are rcl_interfaces/msg/ParameterType's.
type Type uint8

// Parameter types, and the Go type that [Value.Any] returns.
const (
	NotSet       Type = 0 // nil
	Bool         Type = 1 // bool
	Integer      Type = 2 // int64
	Double       Type = 3 // float64
	String       Type = 4 // string
	ByteArray    Type = 5 // []byte
	BoolArray    Type = 6 // []bool
	IntegerArray Type = 7 // []int64
	DoubleArray  Type = 8 // []float64
	StringArray  Type = 9 // []string
)

var typeNames = [...]string{
	"not set", "bool", "integer", "double", "string",
	"byte_array", "bool_array", "integer_array", "double_array", "string_array",
}

// String is the type's name as `ros2 param describe` prints it.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Value is a parameter's value. The zero Value is not set. Values are immutable.
type Value struct {
	t Type
	v any
}

// ValueOf makes a Value of a Go value: nil, bool, any integer, any float, string,
// []byte, []bool, slices of int, int64, float64 and string, or []any of one
// kind (integers among floats become floats). What fits none of them is an error.
func ValueOf(v any) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Value{}, nil
	case Value:
		return v, nil
	case bool:
		return Value{Bool, v}, nil
	case string:
		return Value{String, v}, nil
	case float32:
		return Value{Double, float64(v)}, nil
	case float64:
		return Value{Double, v}, nil
	case []byte:
		return Value{ByteArray, slices.Clone(v)}, nil
	case []bool:
		return Value{BoolArray, slices.Clone(v)}, nil
	case []int64:
		return Value{IntegerArray, slices.Clone(v)}, nil
	case []int:
		out := make([]int64, len(v))
		for i := range v {
			out[i] = int64(v[i])
		}
		return Value{IntegerArray, out}, nil
	case []float64:
		return Value{DoubleArray, slices.Clone(v)}, nil
	case []string:
		return Value{StringArray, slices.Clone(v)}, nil
	case []any:
		return arrayOf(v)
	}
	i, err := integer(v)
	if err != nil {
		return Value{}, err
	}
	return Value{Integer, i}, nil
}

// MustValue is ValueOf for literals: it panics where ValueOf returns an error.
func MustValue(v any) Value {
	out, err := ValueOf(v)
	if err != nil {
		panic(err)
	}
	return out
}

func integer(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int8:
		return int64(v), nil
	case int16:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case int64:
		return v, nil
	case uint8:
		return int64(v), nil
	case uint16:
		return int64(v), nil
	case uint32:
		return int64(v), nil
	case uint:
		return unsigned(uint64(v))
	case uint64:
		return unsigned(v)
	}
	return 0, fmt.Errorf("param: a %T is no parameter value", v)
}

func unsigned(v uint64) (int64, error) {
	if v > math.MaxInt64 {
		return 0, fmt.Errorf("param: integer %d is above the largest one, %d", v, int64(math.MaxInt64))
	}
	return int64(v), nil
}

// arrayOf takes the kind of the array from its elements.
func arrayOf(in []any) (Value, error) {
	if len(in) == 0 {
		// A list without elements tells no type; ROS's own parameter files read it as strings.
		return Value{StringArray, []string{}}, nil
	}
	elems := make([]Value, len(in))
	kind := NotSet
	for i, e := range in {
		v, err := ValueOf(e)
		if err != nil {
			return Value{}, fmt.Errorf("element %d: %w", i, err)
		}
		switch {
		case v.t < Bool || v.t > String:
			return Value{}, fmt.Errorf("param: element %d is a %s: arrays hold bool, integer, double or string", i, v.t)
		case kind == NotSet, kind == Integer && v.t == Double:
			kind = v.t
		case kind == v.t, kind == Double && v.t == Integer:
		default:
			return Value{}, fmt.Errorf("param: element %d is a %s among %ss", i, v.t, kind)
		}
		elems[i] = v
	}
	switch kind {
	case Bool:
		return Value{BoolArray, collect(elems, func(v Value) bool { return v.v.(bool) })}, nil
	case Integer:
		return Value{IntegerArray, collect(elems, func(v Value) int64 { return v.v.(int64) })}, nil
	case Double:
		return Value{DoubleArray, collect(elems, Value.number)}, nil
	default:
		return Value{StringArray, collect(elems, func(v Value) string { return v.v.(string) })}, nil
	}
}

func collect[T any](in []Value, f func(Value) T) []T {
	out := make([]T, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}

// number is a numeric scalar as a float.
func (v Value) number() float64 {
	if i, ok := v.v.(int64); ok {
		return float64(i)
	}
	return v.v.(float64)
}

// Type is the value's type.
func (v Value) Type() Type { return v.t }

// IsSet reports whether there is a value.
func (v Value) IsSet() bool { return v.t != NotSet }

// Any is the value as its Go type (see [Type]); arrays are copies.
func (v Value) Any() any {
	switch x := v.v.(type) {
	case []byte:
		return slices.Clone(x)
	case []bool:
		return slices.Clone(x)
	case []int64:
		return slices.Clone(x)
	case []float64:
		return slices.Clone(x)
	case []string:
		return slices.Clone(x)
	default:
		return x
	}
}

// Equal reports whether two values have the same type and content; NaN equals NaN.
func (v Value) Equal(u Value) bool {
	if v.t != u.t {
		return false
	}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	switch x := v.v.(type) {
	case float64:
		return same(x, u.v.(float64))
	case []byte:
		return slices.Equal(x, u.v.([]byte))
	case []bool:
		return slices.Equal(x, u.v.([]bool))
	case []int64:
		return slices.Equal(x, u.v.([]int64))
	case []float64:
		return slices.EqualFunc(x, u.v.([]float64), same)
	case []string:
		return slices.Equal(x, u.v.([]string))
	default:
		return v.v == u.v
	}
}

// String is the value as a person reads it.
func (v Value) String() string {
	switch x := v.v.(type) {
	case nil:
		return "not set"
	case float64:
		return formatDouble(x)
	case []float64:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = formatDouble(x[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []string:
		return fmt.Sprintf("%q", x)
	default:
		return fmt.Sprint(x)
	}
}

// formatDouble always shows that the number is a double: 1.0, not 1.
func formatDouble(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}
