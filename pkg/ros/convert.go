package ros

import (
	"reflect"
	"strconv"
	"time"
	"unicode/utf16"
)

// convert makes a value of the field's Go type from v, without loss, sharing
// nothing with v that can be written to.
func (f *Field) convert(t *Type, v any) (any, *FieldError) {
	if f.Array == Single {
		if f.Kind == KindMessage {
			m, err := toMessage(f.Type, v)
			if err != nil {
				return nil, err.under(t, f.Name)
			}
			return m, nil
		}
		x, reason := f.scalar(v)
		if reason != "" {
			return nil, fieldError(t, f, reason, v)
		}
		return x, nil
	}
	n := sliceLen(v)
	list, isList := v.([]any)
	var r reflect.Value
	switch {
	case isList:
		n = len(list)
	case n < 0:
		r = reflect.ValueOf(v)
		if v == nil || r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
			return nil, fieldError(t, f, reasonType, v)
		}
		n = r.Len()
	}
	if !f.lengthFits(n) {
		return nil, fieldError(t, f, reasonLength, strconv.Itoa(n)+" elements")
	}
	if f.Kind != KindMessage && f.StringBound == 0 && f.sliceType(v) {
		return cloneSlice(v), nil
	}
	out, e := f.makeSlice(n), f.element()
	for i := range n {
		var x any
		switch {
		case isList:
			x = list[i]
		case r.IsValid():
			x = r.Index(i).Interface()
		default:
			x = sliceAt(v, i)
		}
		c, err := e.convert(t, x)
		if err != nil {
			// The element calls itself by the field's name; its index belongs behind it.
			err.Path = f.Name + "[" + strconv.Itoa(i) + "]" + err.Path[len(f.Name):]
			return nil, err
		}
		setAt(out, i, c)
	}
	return out, nil
}

const (
	reasonLength = "wrong array length"
	reasonBound  = "string too long"
)

func (f *Field) lengthFits(n int) bool {
	switch f.Array {
	case FixedArray:
		return n == f.Size
	case BoundedSequence:
		return n <= f.Size
	case Single, UnboundedSequence:
	}
	return true
}

// scalar converts one element that is not a message; the reason is empty on success.
func (f *Field) scalar(v any) (any, string) {
	switch f.Kind {
	case KindBool:
		if b, ok := v.(bool); ok {
			return b, ""
		}
		if r := reflect.ValueOf(v); v != nil && r.Kind() == reflect.Bool {
			return r.Bool(), ""
		}
		return nil, reasonType
	case KindString, KindWString:
		s, ok := v.(string)
		if !ok {
			r := reflect.ValueOf(v)
			if v == nil || r.Kind() != reflect.String {
				return nil, reasonType
			}
			s = r.String()
		}
		if !f.stringFits(s) {
			return nil, reasonBound
		}
		return s, ""
	case KindInvalid, KindMessage:
		return nil, reasonType
	default:
		n, ok := numberOf(v)
		if !ok {
			return nil, reasonType
		}
		return n.as(f.Kind)
	}
}

// stringFits checks a string's bound: bytes of a string, UTF-16 units of a wstring.
func (f *Field) stringFits(s string) bool {
	if f.StringBound == 0 || len(s) <= f.StringBound {
		return true
	}
	if f.Kind == KindString {
		return false
	}
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n <= f.StringBound
}

// as is the number in the Go type of a kind.
func (n number) as(k Kind) (any, string) {
	switch k {
	case KindByte, KindChar, KindUint8:
		u, reason := n.unsigned(8)
		return uint8(u), reason
	case KindUint16:
		u, reason := n.unsigned(16)
		return uint16(u), reason
	case KindUint32:
		u, reason := n.unsigned(32)
		return uint32(u), reason
	case KindUint64:
		u, reason := n.unsigned(64)
		return u, reason
	case KindInt8:
		i, reason := n.signed(8)
		return int8(i), reason
	case KindInt16:
		i, reason := n.signed(16)
		return int16(i), reason
	case KindInt32:
		i, reason := n.signed(32)
		return int32(i), reason
	case KindInt64:
		i, reason := n.signed(64)
		return i, reason
	case KindFloat32:
		x, reason := n.float32()
		return x, reason
	case KindFloat64:
		x, reason := n.float64()
		return x, reason
	case KindInvalid, KindBool, KindString, KindWString, KindMessage:
	}
	return nil, reasonType
}

// toMessage makes a message of type t from a message, a map, or a time or
// duration where t is builtin_interfaces' Time or Duration.
func toMessage(t *Type, v any) (*Message, *FieldError) {
	switch x := v.(type) {
	case *Message:
		switch {
		case x == nil:
		case x.Type == t:
			return x.Clone(), nil
		case x.Type.Name == t.Name: // the same interface from another TypeSource
			return fromMap(t, x.Map())
		}
	case map[string]any:
		return fromMap(t, x)
	case Time:
		if t.Name == timeType {
			return stampMessage(t, int64(x)), nil
		}
	case time.Time:
		if t.Name == timeType {
			return stampMessage(t, x.UnixNano()), nil
		}
	case time.Duration:
		if t.Name == durationType {
			return stampMessage(t, int64(x)), nil
		}
	default:
		r := reflect.ValueOf(v)
		if v == nil || r.Kind() != reflect.Map || r.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, r.Len())
		for it := r.MapRange(); it.Next(); {
			m[it.Key().String()] = it.Value().Interface()
		}
		return fromMap(t, m)
	}
	return nil, &FieldError{Message: t.Name, Want: t.Name, Reason: reasonType, Value: show(v), Offset: -1}
}

// sliceType reports whether v is a slice of the field's Go type.
func (f *Field) sliceType(v any) bool {
	ok := false
	switch f.Kind {
	case KindBool:
		_, ok = v.([]bool)
	case KindByte, KindChar, KindUint8:
		_, ok = v.([]uint8)
	case KindInt8:
		_, ok = v.([]int8)
	case KindInt16:
		_, ok = v.([]int16)
	case KindUint16:
		_, ok = v.([]uint16)
	case KindInt32:
		_, ok = v.([]int32)
	case KindUint32:
		_, ok = v.([]uint32)
	case KindInt64:
		_, ok = v.([]int64)
	case KindUint64:
		_, ok = v.([]uint64)
	case KindFloat32:
		_, ok = v.([]float32)
	case KindFloat64:
		_, ok = v.([]float64)
	case KindString, KindWString:
		_, ok = v.([]string)
	case KindMessage:
		_, ok = v.([]*Message)
	case KindInvalid:
	}
	return ok
}

// makeSlice makes a slice of the field's Go type.
func (f *Field) makeSlice(n int) any {
	if f.Kind == KindMessage {
		return make([]*Message, n)
	}
	sized := Field{Kind: f.Kind, Array: FixedArray, Size: n}
	return sized.zero()
}
