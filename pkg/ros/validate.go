package ros

import "strconv"

// Validate checks that every value has its field's Go type, that fixed arrays have
// their length and bounds are kept, in nested messages too. What New, Set, FromMap
// and DecodeJSON make is valid; code that writes to Values itself may not be. The error is a *FieldError.
func (m *Message) Validate() error {
	if m == nil || m.Type == nil {
		return &FieldError{Message: "message", Reason: "nil", Offset: -1}
	}
	if err := m.validate(0); err != nil {
		return err
	}
	return nil
}

func (m *Message) validate(depth int) *FieldError {
	t := m.Type
	if depth > MaxNesting {
		return &FieldError{Message: t.Name, Reason: "nested deeper than " + strconv.Itoa(MaxNesting), Offset: -1}
	}
	if len(m.Values) != len(t.Fields) {
		return &FieldError{Message: t.Name, Reason: strconv.Itoa(len(m.Values)) + " values for " + strconv.Itoa(len(t.Fields)) + " fields", Offset: -1}
	}
	for i := range t.Fields {
		f, v := &t.Fields[i], m.Values[i]
		if err := f.check(t, v); err != nil {
			return err
		}
		switch x := v.(type) {
		case *Message:
			if err := x.validate(depth + 1); err != nil {
				return err.under(t, f.Name)
			}
		case []*Message:
			for j, e := range x {
				if err := e.validate(depth + 1); err != nil {
					return err.under(t, f.Name+"["+strconv.Itoa(j)+"]")
				}
			}
		}
	}
	return nil
}

// check is the part of validation that looks at one field's value, not into nested messages.
func (f *Field) check(t *Type, v any) *FieldError {
	if f.Array == Single {
		switch {
		case !f.singleType(v):
			return fieldError(t, f, "wrong Go type", v)
		case f.StringBound > 0 && !f.stringFits(v.(string)):
			return fieldError(t, f, reasonBound, v)
		}
		return nil
	}
	if !f.sliceType(v) {
		return fieldError(t, f, "wrong Go type", v)
	}
	if f.Array != UnboundedSequence && !f.lengthFits(sliceLen(v)) {
		return fieldError(t, f, reasonLength, v)
	}
	switch {
	case f.Kind == KindMessage:
		for i, e := range v.([]*Message) {
			if e == nil || e.Type != f.Type {
				err := fieldError(t, f, "wrong Go type", e)
				err.Path += "[" + strconv.Itoa(i) + "]"
				return err
			}
		}
	case f.StringBound > 0:
		for i, s := range v.([]string) {
			if !f.stringFits(s) {
				err := fieldError(t, f, reasonBound, s)
				err.Path += "[" + strconv.Itoa(i) + "]"
				return err
			}
		}
	}
	return nil
}

func (f *Field) singleType(v any) bool {
	ok := false
	switch f.Kind {
	case KindBool:
		_, ok = v.(bool)
	case KindByte, KindChar, KindUint8:
		_, ok = v.(uint8)
	case KindInt8:
		_, ok = v.(int8)
	case KindInt16:
		_, ok = v.(int16)
	case KindUint16:
		_, ok = v.(uint16)
	case KindInt32:
		_, ok = v.(int32)
	case KindUint32:
		_, ok = v.(uint32)
	case KindInt64:
		_, ok = v.(int64)
	case KindUint64:
		_, ok = v.(uint64)
	case KindFloat32:
		_, ok = v.(float32)
	case KindFloat64:
		_, ok = v.(float64)
	case KindString, KindWString:
		_, ok = v.(string)
	case KindMessage:
		m, is := v.(*Message)
		ok = is && m != nil && m.Type == f.Type
	case KindInvalid:
	}
	return ok
}
