package ros1

import (
	"encoding/binary"
	"fmt"

	"agent_node/pkg/ros"
)

// maxMessage bounds what is sent or taken as one message, bytes.
const maxMessage = 256 << 20

// encode is a message as ROS 1 serialises it: little endian, packed, a 32-bit length before strings and
// sequences. The message must be valid.
func encode(m *ros.Message) ([]byte, error) {
	b := appendMessage(make([]byte, 0, 64), m)
	if len(b) > maxMessage {
		return nil, fmt.Errorf("%w: %s of %d bytes, at most %d", ros.ErrInvalidMessage, m.Type.Name, len(b), maxMessage)
	}
	return b, nil
}

func appendMessage(b []byte, m *ros.Message) []byte {
	for i := range m.Type.Fields {
		f := &m.Type.Fields[i]
		if f.Array == ros.BoundedSequence || f.Array == ros.UnboundedSequence {
			b = binary.LittleEndian.AppendUint32(b, uint32(length(m.Values[i])))
		}
		b = appendValue(b, m.Values[i])
	}
	return b
}

func length(v any) int {
	switch s := v.(type) {
	case []*ros.Message:
		return len(s)
	case []string:
		return len(s)
	case []bool:
		return len(s)
	case []uint8:
		return len(s)
	case []int8:
		return len(s)
	case []int16:
		return len(s)
	case []uint16:
		return len(s)
	case []int32:
		return len(s)
	case []uint32:
		return len(s)
	case []int64:
		return len(s)
	case []uint64:
		return len(s)
	case []float32:
		return len(s)
	case []float64:
		return len(s)
	}
	return 0
}

// appendValue writes one value, or the elements of an array.
func appendValue(b []byte, v any) []byte {
	switch x := v.(type) {
	case *ros.Message:
		return appendMessage(b, x)
	case []*ros.Message:
		for _, m := range x {
			b = appendMessage(b, m)
		}
		return b
	case string:
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(x))), x...)
	case []string:
		for _, s := range x {
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
		}
		return b
	case []uint8:
		return append(b, x...)
	}
	// Numbers and bools of fixed size, single or in a slice.
	out, err := binary.Append(b, binary.LittleEndian, v)
	if err != nil {
		panic(fmt.Sprintf("ros1: %T in a valid message: %v", v, err))
	}
	return out
}
