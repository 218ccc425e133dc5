//go:build ros2

package ros2

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"agent_node/pkg/ros"
)

// The C memory that rosidl lays out for strings (char or uint_least16_t) and for
// sequences: the data, how many elements count, how many there is room for. A string's room includes its
// closing zero.
type sequence struct {
	data           unsafe.Pointer
	size, capacity uintptr
}

// reserve makes room for n elements of the given size and says how many there was room for before.
// Memory beyond that is zero, which rosidl's own cleaning up accepts for every kind but messages.
func (s *sequence) reserve(n int, element uintptr) (before int) {
	before = int(s.capacity)
	if n <= before {
		return before
	}
	data := C.realloc(s.data, C.size_t(uintptr(n)*element))
	if data == nil {
		panic("ros2: out of memory")
	}
	clear(unsafe.Slice((*byte)(unsafe.Add(data, uintptr(before)*element)), uintptr(n-before)*element))
	s.data, s.capacity = data, uintptr(n)
	return before
}

// cmessage is a message in C memory, initialised, kept for use after use.
type cmessage struct {
	layout *layout
	p      unsafe.Pointer
	live   *atomic.Int64
}

// newCMessage makes a message with its interface's defaults.
func newCMessage(s *support) *cmessage {
	// rosidl's init writes only fields that have a default or own memory: the rest must be zero before.
	m := &cmessage{layout: s.layout, p: C.calloc(1, C.size_t(s.layout.size)), live: &s.types.live}
	if m.p == nil {
		panic("ros2: out of memory")
	}
	C.an_message_init(s.layout.members, m.p)
	m.live.Add(1)
	return m
}

// free ends the message; it may be called again.
func (m *cmessage) free() {
	if m.p == nil {
		return
	}
	C.an_message_fini(m.layout.members, m.p)
	C.free(m.p)
	m.p = nil
	m.live.Add(-1)
}

// set overwrites the whole message. After an error its content is unspecified, but may be overwritten again.
func (m *cmessage) set(v *ros.Message) error {
	if fault := m.layout.encode(m.p, v); fault != nil {
		return fault
	}
	return nil
}

// get is a copy of the message that shares no memory with it.
func (m *cmessage) get() *ros.Message {
	s := m.layout.slab(1)
	return m.layout.decode(m.p, &s)
}
