package ros1

import (
	"encoding/binary"
	"fmt"

	"agent_node/pkg/ros"
)

// maxEmpty bounds sequences whose elements take no bytes, which no message's length bounds.
const maxEmpty = 1 << 16

// decode reads a message of a type. Every byte must be used. Lengths that lie cost no memory.
func (w *wires) decode(t *wire, data []byte) (*ros.Message, error) {
	d := decoder{wires: w, data: data, whole: len(data)}
	m := ros.New(t.typ)
	if err := d.message(m); err != nil {
		return nil, err
	}
	if len(d.data) > 0 {
		return nil, fmt.Errorf("%w: %s: %d bytes, %d left over", ros.ErrInvalidMessage, t.name, len(data), len(d.data))
	}
	if t.bounded {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("%w: %w", ros.ErrInvalidMessage, err)
		}
	}
	return m, nil
}

type decoder struct {
	wires *wires
	data  []byte // what is left
	whole int
}

func (d *decoder) message(m *ros.Message) error {
	for i := range m.Type.Fields {
		f := &m.Type.Fields[i]
		v, err := d.field(f, m.Values[i])
		if err != nil {
			return fmt.Errorf("%s.%s: %w", m.Type.Name, f.Name, err)
		}
		m.Values[i] = v
	}
	return nil
}

func (d *decoder) field(f *ros.Field, old any) (any, error) {
	switch f.Array {
	case ros.Single:
		if f.Kind == ros.KindMessage {
			m := old.(*ros.Message)
			return m, d.message(m)
		}
		return d.single(f.Kind)
	case ros.FixedArray:
		return d.elements(f, f.Size)
	case ros.BoundedSequence, ros.UnboundedSequence:
	}
	n, err := d.length()
	if err != nil {
		return nil, err
	}
	return d.elements(f, n)
}

func (d *decoder) short(want int) error {
	return fmt.Errorf("%w: %d bytes wanted at offset %d of %d", ros.ErrInvalidMessage, want, d.whole-len(d.data), d.whole)
}

func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.data) {
		return nil, d.short(n)
	}
	b := d.data[:n]
	d.data = d.data[n:]
	return b, nil
}

func (d *decoder) length() (int, error) {
	b, err := d.take(4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

func (d *decoder) text() (string, error) {
	n, err := d.length()
	if err != nil {
		return "", err
	}
	b, err := d.take(n)
	return string(b), err
}

func (d *decoder) single(k ros.Kind) (any, error) {
	if k == ros.KindString || k == ros.KindWString {
		return d.text()
	}
	b, err := d.take(width(k))
	if err != nil {
		return nil, err
	}
	switch k { //nolint:exhaustive // text is done, messages do not come here
	case ros.KindBool:
		return b[0] != 0, nil
	case ros.KindInt8:
		return int8(b[0]), nil
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return b[0], nil
	case ros.KindInt16:
		return decodeNumber[int16](b)
	case ros.KindUint16:
		return decodeNumber[uint16](b)
	case ros.KindInt32:
		return decodeNumber[int32](b)
	case ros.KindUint32:
		return decodeNumber[uint32](b)
	case ros.KindInt64:
		return decodeNumber[int64](b)
	case ros.KindUint64:
		return decodeNumber[uint64](b)
	case ros.KindFloat32:
		return decodeNumber[float32](b)
	}
	return decodeNumber[float64](b)
}

func decodeNumber[T any](b []byte) (any, error) {
	var x T
	_, err := binary.Decode(b, binary.LittleEndian, &x)
	return x, err
}

// elements reads n elements of an array. Memory is taken only for what the data can hold.
func (d *decoder) elements(f *ros.Field, n int) (any, error) {
	least := width(f.Kind)
	switch f.Kind {
	case ros.KindMessage:
		least = d.wires.message(f.Type).size
	case ros.KindString, ros.KindWString:
		least = 4
	default:
	}
	if least == 0 && n > maxEmpty {
		return nil, fmt.Errorf("%w: %d elements, at most %d", ros.ErrInvalidMessage, n, maxEmpty)
	}
	if n < 0 || least > 0 && n > len(d.data)/least {
		return nil, d.short(n * least)
	}
	switch f.Kind {
	case ros.KindMessage:
		all := make([]*ros.Message, n)
		for i := range all {
			all[i] = ros.New(f.Type)
			if err := d.message(all[i]); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return all, nil
	case ros.KindString, ros.KindWString:
		all := make([]string, n)
		for i := range all {
			var err error
			if all[i], err = d.text(); err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return all, nil
	default:
	}
	b, err := d.take(n * least)
	if err != nil {
		return nil, err
	}
	switch f.Kind { //nolint:exhaustive // text and messages are done
	case ros.KindBool:
		all := make([]bool, n)
		for i := range all {
			all[i] = b[i] != 0
		}
		return all, nil
	case ros.KindInt8:
		return decodeSlice[int8](b, n)
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return append(make([]uint8, 0, n), b...), nil
	case ros.KindInt16:
		return decodeSlice[int16](b, n)
	case ros.KindUint16:
		return decodeSlice[uint16](b, n)
	case ros.KindInt32:
		return decodeSlice[int32](b, n)
	case ros.KindUint32:
		return decodeSlice[uint32](b, n)
	case ros.KindInt64:
		return decodeSlice[int64](b, n)
	case ros.KindUint64:
		return decodeSlice[uint64](b, n)
	case ros.KindFloat32:
		return decodeSlice[float32](b, n)
	}
	return decodeSlice[float64](b, n)
}

func decodeSlice[T any](b []byte, n int) (any, error) {
	all := make([]T, n)
	_, err := binary.Decode(b, binary.LittleEndian, all)
	return all, err
}
