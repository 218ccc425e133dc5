//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"agent_node/pkg/ros"
)

// encode copies a message to C memory at p, which has been initialised.
func (l *layout) encode(p unsafe.Pointer, m *ros.Message) *ros.FieldError {
	if m == nil {
		return &ros.FieldError{Message: l.typ.Name, Want: l.typ.Name, Value: "nil", Reason: "no message", Offset: -1}
	}
	if m.Type != l.typ && !l.accepts(m.Type) {
		have := "a message without a type"
		if m.Type != nil {
			have = "a " + m.Type.Name
			if m.Type.Name == l.typ.Name {
				have += " with other fields"
			}
		}
		return &ros.FieldError{Message: l.typ.Name, Want: l.typ.Name, Value: have, Reason: "wrong type", Offset: -1}
	}
	if len(m.Values) != len(l.fields) {
		return &ros.FieldError{
			Message: l.typ.Name, Want: strconv.Itoa(len(l.fields)) + " values",
			Value: strconv.Itoa(len(m.Values)), Reason: "wrong number of values", Offset: -1,
		}
	}
	for i := range l.fields {
		f := &l.fields[i]
		if fault := f.store(f, unsafe.Add(p, f.offset), m.Values[i]); fault != nil {
			return fault
		}
	}
	return nil
}

func storeNumber[T any](f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.(T)
	if !ok {
		return f.fault("wrong type", v)
	}
	*(*T)(p) = x
	return nil
}

func storeNumbers[T any](f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]T)
	if !ok {
		return f.fault("wrong type", v)
	}
	if len(x) != f.field.Size {
		return f.fault("wrong array length", v)
	}
	copy(unsafe.Slice((*T)(p), len(x)), x)
	return nil
}

func storeNumberSequence[T any](f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]T)
	if !ok {
		return f.fault("wrong type", v)
	}
	if fault := f.bounded(len(x), v); fault != nil {
		return fault
	}
	s := (*sequence)(p)
	s.reserve(len(x), f.element)
	copy(unsafe.Slice((*T)(s.data), len(x)), x)
	s.size = uintptr(len(x))
	return nil
}

func storeString(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.(string)
	if !ok {
		return f.fault("wrong type", v)
	}
	return f.putString((*sequence)(p), x)
}

func storeStrings(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]string)
	if !ok {
		return f.fault("wrong type", v)
	}
	if len(x) != f.field.Size {
		return f.fault("wrong array length", v)
	}
	return f.putStrings(p, x)
}

func storeStringSequence(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]string)
	if !ok {
		return f.fault("wrong type", v)
	}
	if fault := f.bounded(len(x), v); fault != nil {
		return fault
	}
	s := (*sequence)(p)
	s.reserve(len(x), f.element)
	s.size = uintptr(len(x))
	return f.putStrings(s.data, x)
}

func (f *fieldLayout) putStrings(p unsafe.Pointer, x []string) *ros.FieldError {
	for i := range x {
		if fault := f.putString((*sequence)(unsafe.Add(p, uintptr(i)*f.element)), x[i]); fault != nil {
			fault.Path += "[" + strconv.Itoa(i) + "]"
			return fault
		}
	}
	return nil
}

func (f *fieldLayout) putString(s *sequence, x string) *ros.FieldError {
	if f.field.Kind == ros.KindWString {
		return f.putWString(s, x)
	}
	if bound := f.field.StringBound; bound > 0 && len(x) > bound {
		return f.fault(fmt.Sprintf("%d bytes, longer than the bound of %d", len(x), bound), x)
	}
	if i := strings.IndexByte(x, 0); i >= 0 {
		return f.fault(fmt.Sprintf("a zero byte at %d, where the middleware would end the string", i), x)
	}
	s.reserve(len(x)+1, 1)
	copy(unsafe.Slice((*byte)(s.data), len(x)), x)
	*(*byte)(unsafe.Add(s.data, len(x))) = 0
	s.size = uintptr(len(x))
	return nil
}

func (f *fieldLayout) putWString(s *sequence, x string) *ros.FieldError {
	if !utf8.ValidString(x) {
		return f.fault("not valid UTF-8, cannot be written as UTF-16", x)
	}
	units := 0
	for _, r := range x {
		units++
		if r >= 0x10000 {
			units++
		}
	}
	if bound := f.field.StringBound; bound > 0 && units > bound {
		return f.fault(fmt.Sprintf("%d UTF-16 units, longer than the bound of %d", units, bound), x)
	}
	s.reserve(units+1, 2)
	to := unsafe.Slice((*uint16)(s.data), units+1)
	i := 0
	for _, r := range x {
		if r < 0x10000 {
			to[i] = uint16(r)
			i++
			continue
		}
		r -= 0x10000
		to[i], to[i+1] = uint16(0xd800|r>>10), uint16(0xdc00|r&0x3ff)
		i += 2
	}
	to[units] = 0
	s.size = uintptr(units)
	return nil
}

func storeMessage(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	m, ok := v.(*ros.Message)
	if !ok {
		return f.fault("wrong type", v)
	}
	return f.putMessage(p, m, -1)
}

func storeMessages(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]*ros.Message)
	if !ok {
		return f.fault("wrong type", v)
	}
	if len(x) != f.field.Size {
		return f.fault("wrong array length", v)
	}
	return f.putMessages(p, x)
}

func storeMessageSequence(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError {
	x, ok := v.([]*ros.Message)
	if !ok {
		return f.fault("wrong type", v)
	}
	if fault := f.bounded(len(x), v); fault != nil {
		return fault
	}
	s := (*sequence)(p)
	// Cleaning up goes over all there is room for: new elements are initialised at once.
	if before := s.reserve(len(x), f.element); before < len(x) {
		C.an_messages_init(f.nested.members, unsafe.Add(s.data, uintptr(before)*f.element), C.size_t(len(x)-before))
	}
	s.size = uintptr(len(x))
	return f.putMessages(s.data, x)
}

func (f *fieldLayout) putMessages(p unsafe.Pointer, x []*ros.Message) *ros.FieldError {
	for i, m := range x {
		if fault := f.putMessage(unsafe.Add(p, uintptr(i)*f.element), m, i); fault != nil {
			return fault
		}
	}
	return nil
}

// putMessage copies a nested message, number index of its field or -1.
func (f *fieldLayout) putMessage(p unsafe.Pointer, m *ros.Message, index int) *ros.FieldError {
	fault := f.nested.encode(p, m)
	if fault == nil {
		return nil
	}
	path := f.field.Name
	if index >= 0 {
		path += "[" + strconv.Itoa(index) + "]"
	}
	if fault.Path != "" {
		path += "." + fault.Path
	}
	fault.Message, fault.Path = f.owner.Name, path
	return fault
}

// bounded checks the length of a sequence.
func (f *fieldLayout) bounded(n int, v any) *ros.FieldError {
	if f.field.Array == ros.BoundedSequence && n > f.field.Size {
		return f.fault(fmt.Sprintf("%d elements, more than the bound of %d", n, f.field.Size), v)
	}
	return nil
}

func (f *fieldLayout) fault(reason string, v any) *ros.FieldError {
	return &ros.FieldError{
		Message: f.owner.Name, Path: f.field.Name, Want: f.field.TypeString(), Value: show(v), Reason: reason, Offset: -1,
	}
}

const shownBytes = 80

// show is a value as text, short enough for an error.
func show(v any) string {
	var text string
	switch x := v.(type) {
	case string:
		if len(x) > shownBytes {
			x = x[:shownBytes]
		}
		return strconv.Quote(x)
	case *ros.Message:
		if x == nil || x.Type == nil {
			return "no message"
		}
		return "a " + x.Type.Name
	case []*ros.Message:
		return fmt.Sprintf("%d messages", len(x))
	default:
		text = fmt.Sprintf("%T(%v)", v, v)
	}
	if len(text) > shownBytes {
		text = text[:shownBytes] + "…"
	}
	return text
}
