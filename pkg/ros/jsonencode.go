package ros

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// MarshalJSON is AppendJSON for package encoding/json.
func (m *Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// AppendJSON appends the message as JSON to b: an object with every field, in the
// order of the definition. Numbers are numbers, the shortest text that reads back
// as the same value (float32: as the same float32); 64-bit integers are written
// whole. Numbers that JSON lacks are the strings "NaN", "Infinity" and "-Infinity".
// Arrays are arrays, those of uint8, byte and char included: an array of numbers,
// not base64. A string that is not valid UTF-8, a bound that is exceeded, and a
// value of another Go type than the field's are errors (*FieldError).
func (m *Message) AppendJSON(b []byte) ([]byte, error) {
	b, err := appendMessage(b, m, 0)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func appendMessage(b []byte, m *Message, depth int) ([]byte, *FieldError) {
	t := m.Type
	if depth > MaxNesting {
		return nil, &FieldError{Message: t.Name, Reason: "nested deeper than " + strconv.Itoa(MaxNesting), Offset: -1}
	}
	if len(m.Values) != len(t.Fields) {
		return nil, &FieldError{Message: t.Name, Reason: strconv.Itoa(len(m.Values)) + " values for " + strconv.Itoa(len(t.Fields)) + " fields", Offset: -1}
	}
	l := t.laidOut()
	b = append(b, '{')
	for i := range t.Fields {
		f, v := &t.Fields[i], m.Values[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, l.keys[i]...)
		if err := f.check(t, v); err != nil {
			return nil, err
		}
		if f.Kind == KindMessage {
			var err *FieldError
			if b, err = appendNested(b, t, f, v, depth); err != nil {
				return nil, err
			}
			continue
		}
		n := len(b)
		var bad int
		if b, bad = appendValue(b, v); bad >= 0 {
			err := fieldError(t, f, reasonUTF8, nil)
			if f.Array != Single {
				err.Path += "[" + strconv.Itoa(bad) + "]"
				v = sliceAt(v, bad)
			}
			err.Value = show(v)
			return b[:n], err
		}
	}
	return append(b, '}'), nil
}

const reasonUTF8 = "invalid UTF-8"

func appendNested(b []byte, t *Type, f *Field, v any, depth int) ([]byte, *FieldError) {
	if f.Array == Single {
		b, err := appendMessage(b, v.(*Message), depth+1)
		if err != nil {
			return nil, err.under(t, f.Name)
		}
		return b, nil
	}
	b = append(b, '[')
	for i, e := range v.([]*Message) {
		if i > 0 {
			b = append(b, ',')
		}
		var err *FieldError
		if b, err = appendMessage(b, e, depth+1); err != nil {
			return nil, err.under(t, f.Name+"["+strconv.Itoa(i)+"]")
		}
	}
	return append(b, ']'), nil
}

// appendValue appends a scalar or a slice of them. bad is the index of a string
// that is not valid UTF-8, -1 if there is none.
func appendValue(b []byte, v any) (out []byte, bad int) {
	switch x := v.(type) {
	case bool:
		return strconv.AppendBool(b, x), -1
	case uint8:
		return strconv.AppendUint(b, uint64(x), 10), -1
	case int8:
		return strconv.AppendInt(b, int64(x), 10), -1
	case int16:
		return strconv.AppendInt(b, int64(x), 10), -1
	case uint16:
		return strconv.AppendUint(b, uint64(x), 10), -1
	case int32:
		return strconv.AppendInt(b, int64(x), 10), -1
	case uint32:
		return strconv.AppendUint(b, uint64(x), 10), -1
	case int64:
		return strconv.AppendInt(b, x, 10), -1
	case uint64:
		return strconv.AppendUint(b, x, 10), -1
	case float32:
		return appendFloat(b, float64(x), 32), -1
	case float64:
		return appendFloat(b, x, 64), -1
	case string:
		b, ok := appendString(b, x)
		if !ok {
			return b, 0
		}
		return b, -1
	case []bool:
		return appendArray(b, x, strconv.AppendBool), -1
	case []uint8:
		return appendArray(b, x, appendUint), -1
	case []int8:
		return appendArray(b, x, appendInt), -1
	case []int16:
		return appendArray(b, x, appendInt), -1
	case []uint16:
		return appendArray(b, x, appendUint), -1
	case []int32:
		return appendArray(b, x, appendInt), -1
	case []uint32:
		return appendArray(b, x, appendUint), -1
	case []int64:
		return appendArray(b, x, appendInt), -1
	case []uint64:
		return appendArray(b, x, appendUint), -1
	case []float32:
		return appendArray(b, x, func(b []byte, f float32) []byte { return appendFloat(b, float64(f), 32) }), -1
	case []float64:
		return appendArray(b, x, func(b []byte, f float64) []byte { return appendFloat(b, f, 64) }), -1
	case []string:
		bad = -1
		b = append(b, '[')
		for i, s := range x {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = appendString(b, s); !ok && bad < 0 {
				bad = i
			}
		}
		return append(b, ']'), bad
	}
	return append(b, "null"...), -1 // not reached: check has refused other types
}

func appendArray[T any](b []byte, s []T, one func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, x := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, x)
	}
	return append(b, ']')
}

func appendInt[T int8 | int16 | int32 | int64](b []byte, x T) []byte {
	return strconv.AppendInt(b, int64(x), 10)
}

func appendUint[T uint8 | uint16 | uint32 | uint64](b []byte, x T) []byte {
	return strconv.AppendUint(b, uint64(x), 10)
}

// The strings for the numbers that JSON lacks.
const (
	textNaN    = "NaN"
	textPosInf = "Infinity"
	textNegInf = "-Infinity"
)

func appendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"`+textNaN+`"`...)
	case math.IsInf(f, 1):
		return append(b, `"`+textPosInf+`"`...)
	case math.IsInf(f, -1):
		return append(b, `"`+textNegInf+`"`...)
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, bits)
}

const hexDigits = "0123456789abcdef"

// appendString quotes s; ok is false if it is not valid UTF-8.
func appendString(b []byte, s string) (out []byte, ok bool) {
	b = append(b, '"')
	start, ascii := 0, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			ascii = false
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"'), ascii || utf8.ValidString(s)
}
