//go:build ros2

package ros2

import (
	"fmt"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo/types"

	"agent_node/pkg/ros"
)

// rclMessage is a [ros.Message] as rclgo sees messages.
type rclMessage struct {
	support *support
	message *ros.Message
}

func (m *rclMessage) CloneMsg() types.Message {
	return &rclMessage{m.support, m.message.Clone()}
}

func (m *rclMessage) SetDefaults() { m.message = ros.New(m.support.typ) }

func (m *rclMessage) GetTypeSupport() types.MessageTypeSupport { return m.support }

// New implements rclgo's MessageTypeSupport.
func (s *support) New() types.Message { return &rclMessage{s, ros.New(s.typ)} }

// PrepareMemory implements rclgo's MessageTypeSupport.
func (s *support) PrepareMemory() unsafe.Pointer { return newCMessage(s).p }

// ReleaseMemory implements rclgo's MessageTypeSupport.
func (s *support) ReleaseMemory(p unsafe.Pointer) {
	(&cmessage{s.layout, p, &s.types.live}).free()
}

// AsCStruct implements rclgo's MessageTypeSupport, which leaves no way to say that a message
// is invalid: it panics then. Nothing here sends through it.
func (s *support) AsCStruct(dst unsafe.Pointer, src types.Message) {
	if fault := s.layout.encode(dst, src.(*rclMessage).message); fault != nil {
		panic(fmt.Sprintf("ros2: %v", fault))
	}
}

// AsGoStruct implements rclgo's MessageTypeSupport.
func (s *support) AsGoStruct(dst types.Message, src unsafe.Pointer) {
	room := s.layout.slab(1)
	dst.(*rclMessage).message = s.layout.decode(src, &room)
}

// TypeSupport implements rclgo's MessageTypeSupport.
func (s *support) TypeSupport() unsafe.Pointer { return s.handle }

// Request implements rclgo's ServiceTypeSupport.
func (s *serviceSupport) Request() types.MessageTypeSupport { return s.request }

// Response implements rclgo's ServiceTypeSupport.
func (s *serviceSupport) Response() types.MessageTypeSupport { return s.response }

// TypeSupport implements rclgo's ServiceTypeSupport.
func (s *serviceSupport) TypeSupport() unsafe.Pointer { return s.handle }
