package robottools

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// marshalValue is the JSON of plain Go values as the contract writes it: numbers that
// JSON lacks are the strings "NaN", "Infinity" and "-Infinity"; keys are sorted.
func marshalValue(v any) ([]byte, error) { return appendValue(nil, v) }

func appendValue(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case float64:
		return appendFloat(b, x, 64), nil
	case float32:
		return appendFloat(b, float64(x), 32), nil
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			name, err := json.Marshal(k)
			if err != nil {
				return nil, fmt.Errorf("robottools: key %q: %w", k, err)
			}
			b = append(append(b, name...), ':')
			if b, err = appendValue(b, x[k]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Slice {
		b = append(b, '[')
		for i := range rv.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendValue(b, rv.Index(i).Interface()); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("robottools: %T: %w", v, err)
	}
	return append(b, data...), nil
}

func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case f == 0:
		return append(b, '0') // and no "-0"
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, bits)
}
