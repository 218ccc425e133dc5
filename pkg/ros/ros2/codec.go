//go:build ros2

package ros2

// #include <rcutils/types/uint8_array.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"agent_node/pkg/ros"
)

// Codec turns messages of one type into the middleware's serialised form (CDR) and back, as recordings keep
// it. It keeps its buffers until Close. It is safe for concurrent use.
type Codec struct {
	support *support

	mu      sync.Mutex
	message *cmessage // nil once closed
	bytes   C.rmw_serialized_message_t
}

// Codec makes a codec for a message type.
func (t *Types) Codec(typeName string) (*Codec, error) {
	s, err := t.messageSupport(typeName)
	if err != nil {
		return nil, err
	}
	c := &Codec{support: s, message: newCMessage(s)}
	c.bytes = C.rmw_get_zero_initialized_serialized_message()
	allocator := C.rcutils_get_default_allocator()
	if code := C.rcutils_uint8_array_init(&c.bytes, 0, &allocator); code != C.RCUTILS_RET_OK {
		c.message.free()
		return nil, fmt.Errorf("codec of %s: rcutils error %d", typeName, code)
	}
	return c, nil
}

// Type is the codec's message type.
func (c *Codec) Type() *ros.Type { return c.support.typ }

// Append appends the message's serialised form to b.
func (c *Codec) Append(b []byte, m *ros.Message) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.message == nil {
		return nil, fmt.Errorf("serialize a %s: %w", c.support.typ.Name, ros.ErrClosed)
	}
	if err := c.message.set(m); err != nil {
		return nil, err
	}
	if err := check("rmw_serialize", C.an_serialize(c.message.p, c.handle(), &c.bytes)); err != nil {
		return nil, err
	}
	return append(b, unsafe.Slice((*byte)(c.bytes.buffer), int(c.bytes.buffer_length))...), nil
}

// Decode reads a message from its serialised form.
func (c *Codec) Decode(data []byte) (*ros.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.message == nil {
		return nil, fmt.Errorf("deserialize a %s: %w", c.support.typ.Name, ros.ErrClosed)
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("deserialize a %s: %w: no bytes", c.support.typ.Name, ros.ErrInvalidMessage)
	}
	result := C.an_deserialize((*C.uint8_t)(&data[0]), C.size_t(len(data)), c.handle(), c.message.p)
	if err := check("rmw_deserialize", result); err != nil {
		return nil, fmt.Errorf("deserialize a %s: %w: %w", c.support.typ.Name, ros.ErrInvalidMessage, err)
	}
	return c.message.get(), nil
}

func (c *Codec) handle() *C.rosidl_message_type_support_t {
	return (*C.rosidl_message_type_support_t)(c.support.handle)
}

// Close frees the codec's buffers.
func (c *Codec) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.message == nil {
		return nil
	}
	c.message.free()
	c.message = nil
	if C.rcutils_uint8_array_fini(&c.bytes) != C.RCUTILS_RET_OK {
		return errors.New("ros2: a codec's buffer could not be freed")
	}
	return nil
}
