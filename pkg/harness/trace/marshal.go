package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// Marshal makes JSON of anything: what encoding/json refuses (non-finite numbers, functions, channels, cycles) becomes
// text. It never fails: a record with a gap in it is better than none.
func Marshal(v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	b, err := marshal(v)
	if err == nil {
		return b
	}
	if b, err = marshal(plain(reflect.ValueOf(v), 0)); err == nil {
		return b
	}
	return AppendString(nil, fmt.Sprintf("%T that is no JSON: %v", v, err))
}

// marshal catches the panics of other people's MarshalJSON.
func marshal(v any) (b []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return json.Marshal(v)
}

const maxPlainDepth = 16

// plain turns a value into what encoding/json accepts.
func plain(v reflect.Value, depth int) any {
	if !v.IsValid() {
		return nil
	}
	if depth > maxPlainDepth {
		return "…"
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		switch f := v.Float(); {
		case math.IsNaN(f):
			return "NaN"
		case math.IsInf(f, 1):
			return "Infinity"
		case math.IsInf(f, -1):
			return "-Infinity"
		default:
			return f
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if e, ok := v.Interface().(error); ok {
			return e.Error()
		}
		return plain(v.Elem(), depth+1)
	case reflect.Struct:
		if v.CanInterface() {
			if m, ok := v.Interface().(json.Marshaler); ok {
				if b, err := marshal(m); err == nil {
					return json.RawMessage(b)
				}
			}
		}
		out := map[string]any{}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			name, opts, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || strings.Contains(opts, "omitempty") && v.Field(i).IsZero() {
				continue
			}
			if name == "" {
				name = field.Name
			}
			out[name] = plain(v.Field(i), depth+1)
		}
		return out
	case reflect.Map:
		out := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			out[fmt.Sprint(it.Key())] = plain(it.Value(), depth+1)
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Bytes()
		}
		fallthrough
	case reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i), depth+1)
		}
		return out
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v)
	default:
		return v.Interface()
	}
}
