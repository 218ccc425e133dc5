package msgdef

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"agent_node/pkg/ros"
)

// defaultValue reads a field's default.
func (f *field) defaultValue(text string) (any, error) {
	switch {
	case f.Kind == ros.KindMessage:
		return nil, fmt.Errorf("field %s: a message has no default", f.Name)
	case f.Array == ros.Single:
		return f.primitive(text)
	}
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, fmt.Errorf("field %s: want a default in [ ]", f.Name)
	}
	parts, err := split(text[1 : len(text)-1])
	if err != nil {
		return nil, fmt.Errorf("field %s: %w", f.Name, err)
	}
	switch {
	case f.Array == ros.FixedArray && len(parts) != f.Size:
		return nil, fmt.Errorf("field %s: a default of %d elements for %d", f.Name, len(parts), f.Size)
	case f.Array == ros.BoundedSequence && len(parts) > f.Size:
		return nil, fmt.Errorf("field %s: a default of %d elements for at most %d", f.Name, len(parts), f.Size)
	}
	values := make([]any, len(parts))
	for i, p := range parts {
		if values[i], err = f.primitive(p); err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return sliceOf(f.Kind, values), nil
}

// split cuts the elements of an array's default apart; commas inside of quotes stay.
func split(s string) ([]string, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var parts []string
	var quote byte
	start := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == ',':
			parts = append(parts, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote that does not end")
	}
	return append(parts, strings.TrimSpace(s[start:])), nil
}

var widths = map[ros.Kind]int{
	ros.KindByte: 8, ros.KindChar: 8, ros.KindUint8: 8, ros.KindUint16: 16, ros.KindUint32: 32, ros.KindUint64: 64,
	ros.KindInt8: 8, ros.KindInt16: 16, ros.KindInt32: 32, ros.KindInt64: 64,
}

// primitive reads one value of the field's kind.
func (f *field) primitive(text string) (any, error) {
	bad := func(reason string) error { return fmt.Errorf("%q is no %s: %s", text, f.Kind, reason) }
	switch f.Kind { //nolint:exhaustive // the numbers that are left follow below
	case ros.KindBool:
		switch strings.ToLower(text) {
		case "true", "1":
			return true, nil
		case "false", "0":
			return false, nil
		}
		return nil, bad("want true or false")
	case ros.KindString, ros.KindWString:
		s, err := unquote(text)
		if err != nil {
			return nil, bad(err.Error())
		}
		if n := stringLength(f.Kind, s); f.StringBound > 0 && n > f.StringBound {
			return nil, bad(fmt.Sprintf("%d long, more than %d", n, f.StringBound))
		}
		return s, nil
	case ros.KindFloat32:
		x, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return nil, bad("not a number in range")
		}
		return float32(x), nil
	case ros.KindFloat64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, bad("not a number in range")
		}
		return x, nil
	}
	base, digits := 10, text
	if t := strings.TrimLeft(text, "+-"); len(t) > 1 && t[0] == '0' && strings.ContainsRune("xXoObB", rune(t[1])) {
		base = 0
	}
	width := widths[f.Kind]
	if signed(f.Kind) {
		i, err := strconv.ParseInt(digits, base, width)
		if err != nil {
			return nil, bad("not an integer in range")
		}
		return sized(f.Kind, i, 0), nil
	}
	u, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), base, width)
	if err != nil {
		return nil, bad("not an integer in range")
	}
	return sized(f.Kind, 0, u), nil
}

func stringLength(k ros.Kind, s string) int {
	if k == ros.KindString {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

func signed(k ros.Kind) bool {
	switch k {
	case ros.KindInt8, ros.KindInt16, ros.KindInt32, ros.KindInt64:
		return true
	default:
		return false
	}
}

func sized(k ros.Kind, i int64, u uint64) any {
	switch k {
	case ros.KindInt8:
		return int8(i)
	case ros.KindInt16:
		return int16(i)
	case ros.KindInt32:
		return int32(i)
	case ros.KindInt64:
		return i
	case ros.KindUint16:
		return uint16(u)
	case ros.KindUint32:
		return uint32(u)
	case ros.KindUint64:
		return u
	default:
		return uint8(u & math.MaxUint8)
	}
}

// unquote takes the quotes off a string, single or double; without quotes the text is the string.
func unquote(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, nil
	}
	quote := s[0]
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == quote:
			b.WriteByte(quote)
			i++
		case c == quote && i == len(s)-1:
			return b.String(), nil
		case c == quote:
			return "", errors.New("text after the closing quote")
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a quote that does not end")
}

func sliceOf(k ros.Kind, values []any) any {
	switch k {
	case ros.KindBool:
		return typed[bool](values)
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return typed[uint8](values)
	case ros.KindInt8:
		return typed[int8](values)
	case ros.KindInt16:
		return typed[int16](values)
	case ros.KindUint16:
		return typed[uint16](values)
	case ros.KindInt32:
		return typed[int32](values)
	case ros.KindUint32:
		return typed[uint32](values)
	case ros.KindInt64:
		return typed[int64](values)
	case ros.KindUint64:
		return typed[uint64](values)
	case ros.KindFloat32:
		return typed[float32](values)
	case ros.KindFloat64:
		return typed[float64](values)
	default:
		return typed[string](values)
	}
}

func typed[T any](values []any) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = v.(T)
	}
	return out
}
