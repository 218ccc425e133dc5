//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"sync"
	"unsafe"

	"agent_node/pkg/ros"
)

// layout says where in a type's C memory its fields are, and how to copy them.
type layout struct {
	typ     *ros.Type
	members *C.an_members_t
	size    uintptr
	fields  []fieldLayout

	// How many messages and values the fixed part of one message has, itself included.
	messages, values int

	alike sync.Map // *ros.Type of other sources -> whether it has the same fields
}

type fieldLayout struct {
	offset  uintptr
	field   *ros.Field // of layout.typ
	owner   *ros.Type
	nested  *layout // of KindMessage
	element uintptr // bytes of one element
	store   storer
	load    loader
}

// A storer copies a field's value to its C memory, a loader copies it from there.
type (
	storer func(f *fieldLayout, p unsafe.Pointer, v any) *ros.FieldError
	loader func(f *fieldLayout, p unsafe.Pointer, s *slab) any
)

// copiers are a kind's functions for each way its elements come.
type copiers struct {
	element              uintptr
	storeOne             storer
	loadOne              loader
	storeArray, storeSeq storer
	loadArray, loadSeq   loader
}

func numberCopiers[T any]() copiers {
	var z T
	return copiers{
		unsafe.Sizeof(z), storeNumber[T], loadNumber[T],
		storeNumbers[T], storeNumberSequence[T], loadNumbers[T], loadNumberSequence[T],
	}
}

func copiersOf(kind ros.Kind) copiers {
	switch kind {
	case ros.KindBool:
		c := numberCopiers[bool]()
		c.loadOne, c.loadArray, c.loadSeq = loadBool, loadBools, loadBoolSequence
		return c
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return numberCopiers[uint8]()
	case ros.KindInt8:
		return numberCopiers[int8]()
	case ros.KindInt16:
		return numberCopiers[int16]()
	case ros.KindUint16:
		return numberCopiers[uint16]()
	case ros.KindInt32:
		return numberCopiers[int32]()
	case ros.KindUint32:
		return numberCopiers[uint32]()
	case ros.KindInt64:
		return numberCopiers[int64]()
	case ros.KindUint64:
		return numberCopiers[uint64]()
	case ros.KindFloat32:
		return numberCopiers[float32]()
	case ros.KindFloat64:
		return numberCopiers[float64]()
	case ros.KindString, ros.KindWString:
		return copiers{
			unsafe.Sizeof(sequence{}), storeString, loadString,
			storeStrings, storeStringSequence, loadStrings, loadStringSequence,
		}
	case ros.KindMessage:
		return copiers{
			0, storeMessage, loadMessage,
			storeMessages, storeMessageSequence, loadMessages, loadMessageSequence,
		}
	case ros.KindInvalid:
	}
	return copiers{}
}

// layOut completes a layout whose types and offsets are known.
func (l *layout) layOut() {
	l.messages, l.values = 1, len(l.fields)
	for i := range l.fields {
		f := &l.fields[i]
		c := copiersOf(f.field.Kind)
		f.element = c.element
		if f.nested != nil {
			f.element = f.nested.size
		}
		count := 0
		switch f.field.Array {
		case ros.Single:
			f.store, f.load, count = c.storeOne, c.loadOne, 1
		case ros.FixedArray:
			f.store, f.load, count = c.storeArray, c.loadArray, f.field.Size
		case ros.BoundedSequence, ros.UnboundedSequence:
			f.store, f.load = c.storeSeq, c.loadSeq
		}
		if f.nested != nil {
			l.messages += count * f.nested.messages
			l.values += count * f.nested.values
		}
	}
}

// accepts reports whether a type of another source has the same fields, so that its messages can be copied.
func (l *layout) accepts(t *ros.Type) bool {
	if t == l.typ {
		return true
	}
	if t == nil {
		return false
	}
	if known, ok := l.alike.Load(t); ok {
		return known.(bool)
	}
	same := t.Name == l.typ.Name && len(t.Fields) == len(l.fields)
	for i := 0; same && i < len(l.fields); i++ {
		mine, other := l.fields[i].field, &t.Fields[i]
		same = mine.Name == other.Name && sameGoType(mine.Kind, other.Kind) && mine.Array == other.Array &&
			mine.Size == other.Size && mine.StringBound == other.StringBound &&
			(l.fields[i].nested == nil || l.fields[i].nested.accepts(other.Type))
	}
	l.alike.Store(t, same)
	return same
}

// sameGoType treats byte, char and uint8 as one: introspection does not always tell them apart.
func sameGoType(a, b ros.Kind) bool {
	octet := func(k ros.Kind) bool { return k == ros.KindByte || k == ros.KindChar || k == ros.KindUint8 }
	return a == b || octet(a) && octet(b)
}

// slab hands out the fixed part of messages, and of all that is nested in them, from two allocations.
type slab struct {
	messages []ros.Message
	values   []any
}

func (l *layout) slab(count int) slab {
	return slab{make([]ros.Message, count*l.messages), make([]any, count*l.values)}
}

func (s *slab) next(l *layout) *ros.Message {
	m, n := &s.messages[0], len(l.fields)
	m.Type, m.Values = l.typ, s.values[:n:n]
	s.messages, s.values = s.messages[1:], s.values[n:]
	return m
}
