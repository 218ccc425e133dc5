package ros

import (
	"strconv"
)

// array reads the value of an array field. Error paths begin with the index.
func (d *decoder) array(f *Field) (any, *FieldError) {
	if d.peek() != '[' {
		return nil, d.misplaced(f.TypeString())
	}
	start := d.at
	d.at++
	var v any
	var n int
	var err *FieldError
	switch f.Kind {
	case KindBool:
		v, n, err = elements(d, f, 1, func() (bool, *FieldError) { return d.bool(f.Kind) })
	case KindByte, KindChar, KindUint8:
		v, n, err = elements(d, f, 1, func() (uint8, *FieldError) { return unsignedOf[uint8](d, f.Kind, 8) })
	case KindInt8:
		v, n, err = elements(d, f, 1, func() (int8, *FieldError) { return signedOf[int8](d, f.Kind, 8) })
	case KindInt16:
		v, n, err = elements(d, f, 2, func() (int16, *FieldError) { return signedOf[int16](d, f.Kind, 16) })
	case KindUint16:
		v, n, err = elements(d, f, 2, func() (uint16, *FieldError) { return unsignedOf[uint16](d, f.Kind, 16) })
	case KindInt32:
		v, n, err = elements(d, f, 4, func() (int32, *FieldError) { return signedOf[int32](d, f.Kind, 32) })
	case KindUint32:
		v, n, err = elements(d, f, 4, func() (uint32, *FieldError) { return unsignedOf[uint32](d, f.Kind, 32) })
	case KindInt64:
		v, n, err = elements(d, f, 8, func() (int64, *FieldError) { return signedOf[int64](d, f.Kind, 64) })
	case KindUint64:
		v, n, err = elements(d, f, 8, func() (uint64, *FieldError) { return unsignedOf[uint64](d, f.Kind, 64) })
	case KindFloat32:
		v, n, err = elements(d, f, 4, func() (float32, *FieldError) {
			x, err := d.float(f.Kind, 32)
			return float32(x), err
		})
	case KindFloat64:
		v, n, err = elements(d, f, 8, func() (float64, *FieldError) { return d.float(f.Kind, 64) })
	case KindString, KindWString:
		e := f.element()
		v, n, err = elements(d, f, 16, func() (string, *FieldError) { return d.string(&e) })
	case KindMessage:
		size := 8 + f.Type.laidOut().bytes
		v, n, err = elements(d, f, size, func() (*Message, *FieldError) {
			m := New(f.Type)
			return m, d.message(m)
		})
	case KindInvalid:
		return nil, d.fail("field without a kind", "")
	}
	if err != nil {
		return nil, err
	}
	if !f.lengthFits(n) {
		return nil, &FieldError{Reason: reasonLength, Want: f.TypeString(), Value: strconv.Itoa(n) + " elements", Offset: start}
	}
	return v, nil
}

// elements reads what follows a [ up to its ]. It stops one past the field's bound: a
// text cannot make it read more than it will keep.
func elements[T any](d *decoder, f *Field, size int, one func() (T, *FieldError)) ([]T, int, *FieldError) {
	if d.peek() == ']' {
		d.at++
		return nil, 0, nil
	}
	s := make([]T, 0, min(d.countElements(), d.memory/size+1))
	for {
		d.space()
		if err := d.spend(size); err != nil {
			return nil, 0, err.at(len(s))
		}
		x, err := one()
		if err != nil {
			return nil, 0, err.at(len(s))
		}
		s = append(s, x)
		if f.Array != UnboundedSequence && len(s) > f.Size {
			return nil, 0, &FieldError{Reason: reasonLength, Want: f.TypeString(), Value: "more elements", Offset: d.at}
		}
		switch d.peek() {
		case ',':
			d.at++
		case ']':
			d.at++
			return s, len(s), nil
		default:
			return nil, 0, d.misplacedPunctuation(", or ]")
		}
	}
}

// countElements guesses the elements of the array that the decoder is in: the
// commas before the next bracket, never more than the text could hold.
func (d *decoder) countElements() int {
	n := 1
	for _, c := range d.data[d.at:] {
		switch c {
		case ',':
			n++
		case ']', '{', '"':
			return n
		}
	}
	return n
}

// at puts an element's index in front of an error's path.
func (e *FieldError) at(i int) *FieldError {
	index := "[" + strconv.Itoa(i) + "]"
	if e.Path != "" && e.Path[0] != '[' {
		index += "."
	}
	e.Path = index + e.Path
	return e
}
