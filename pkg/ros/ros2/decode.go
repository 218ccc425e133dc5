//go:build ros2

package ros2

import (
	"strings"
	"unicode/utf16"
	"unsafe"

	"agent_node/pkg/ros"
)

// decode copies the message at p out of C memory. The slab has room for it.
func (l *layout) decode(p unsafe.Pointer, s *slab) *ros.Message {
	m := s.next(l)
	for i := range l.fields {
		f := &l.fields[i]
		m.Values[i] = f.load(f, unsafe.Add(p, f.offset), s)
	}
	return m
}

func loadNumber[T any](_ *fieldLayout, p unsafe.Pointer, _ *slab) any { return *(*T)(p) }

func loadNumbers[T any](f *fieldLayout, p unsafe.Pointer, _ *slab) any {
	return copied[T](p, f.field.Size)
}

func loadNumberSequence[T any](_ *fieldLayout, p unsafe.Pointer, _ *slab) any {
	s := (*sequence)(p)
	return copied[T](s.data, int(s.size))
}

func copied[T any](p unsafe.Pointer, n int) []T {
	if n == 0 {
		return nil
	}
	return append([]T(nil), unsafe.Slice((*T)(p), n)...)
}

// A C bool may hold any byte; a Go bool may not.
func loadBool(_ *fieldLayout, p unsafe.Pointer, _ *slab) any { return *(*uint8)(p) != 0 }

func loadBools(f *fieldLayout, p unsafe.Pointer, _ *slab) any { return bools(p, f.field.Size) }

func loadBoolSequence(_ *fieldLayout, p unsafe.Pointer, _ *slab) any {
	s := (*sequence)(p)
	return bools(s.data, int(s.size))
}

func bools(p unsafe.Pointer, n int) []bool {
	if n == 0 {
		return nil
	}
	x := make([]bool, n)
	for i, b := range unsafe.Slice((*uint8)(p), n) {
		x[i] = b != 0
	}
	return x
}

func loadString(f *fieldLayout, p unsafe.Pointer, _ *slab) any { return f.getString((*sequence)(p)) }

func loadStrings(f *fieldLayout, p unsafe.Pointer, _ *slab) any {
	return f.getStrings(p, f.field.Size)
}

func loadStringSequence(f *fieldLayout, p unsafe.Pointer, _ *slab) any {
	s := (*sequence)(p)
	return f.getStrings(s.data, int(s.size))
}

func (f *fieldLayout) getStrings(p unsafe.Pointer, n int) []string {
	if n == 0 {
		return nil
	}
	x := make([]string, n)
	for i := range x {
		x[i] = f.getString((*sequence)(unsafe.Add(p, uintptr(i)*f.element)))
	}
	return x
}

func (f *fieldLayout) getString(s *sequence) string {
	if s.size == 0 {
		return ""
	}
	if f.field.Kind == ros.KindWString {
		return string(utf16.Decode(unsafe.Slice((*uint16)(s.data), s.size)))
	}
	return strings.Clone(unsafe.String((*byte)(s.data), s.size))
}

func loadMessage(f *fieldLayout, p unsafe.Pointer, s *slab) any { return f.nested.decode(p, s) }

func loadMessages(f *fieldLayout, p unsafe.Pointer, s *slab) any {
	x := make([]*ros.Message, f.field.Size)
	for i := range x {
		x[i] = f.nested.decode(unsafe.Add(p, uintptr(i)*f.element), s)
	}
	return x
}

func loadMessageSequence(f *fieldLayout, p unsafe.Pointer, _ *slab) any {
	s := (*sequence)(p)
	if s.size == 0 {
		return []*ros.Message(nil)
	}
	x, own := make([]*ros.Message, s.size), f.nested.slab(int(s.size))
	for i := range x {
		x[i] = f.nested.decode(unsafe.Add(s.data, uintptr(i)*f.element), &own)
	}
	return x
}
