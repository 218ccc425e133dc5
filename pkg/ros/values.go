package ros

import (
	"math"
	"slices"
)

// zero is the field's value where its definition gives no default; nil for nested messages.
func (f *Field) zero() any {
	n := 0
	if f.Array == FixedArray {
		n = f.Size
	}
	single := f.Array == Single
	switch f.Kind {
	case KindBool:
		return zeroOf[bool](single, n)
	case KindByte, KindChar, KindUint8:
		return zeroOf[uint8](single, n)
	case KindInt8:
		return zeroOf[int8](single, n)
	case KindInt16:
		return zeroOf[int16](single, n)
	case KindUint16:
		return zeroOf[uint16](single, n)
	case KindInt32:
		return zeroOf[int32](single, n)
	case KindUint32:
		return zeroOf[uint32](single, n)
	case KindInt64:
		return zeroOf[int64](single, n)
	case KindUint64:
		return zeroOf[uint64](single, n)
	case KindFloat32:
		return zeroOf[float32](single, n)
	case KindFloat64:
		return zeroOf[float64](single, n)
	case KindString, KindWString:
		return zeroOf[string](single, n)
	case KindMessage, KindInvalid:
	}
	return nil
}

func zeroOf[T any](single bool, n int) any {
	if single {
		var z T
		return z
	}
	if n == 0 {
		return []T(nil)
	}
	return make([]T, n)
}

// cloneSlice copies a slice of scalars; anything else is returned as it is.
func cloneSlice(v any) any {
	switch s := v.(type) {
	case []bool:
		return clip(v, s)
	case []uint8:
		return clip(v, s)
	case []int8:
		return clip(v, s)
	case []int16:
		return clip(v, s)
	case []uint16:
		return clip(v, s)
	case []int32:
		return clip(v, s)
	case []uint32:
		return clip(v, s)
	case []int64:
		return clip(v, s)
	case []uint64:
		return clip(v, s)
	case []float32:
		return clip(v, s)
	case []float64:
		return clip(v, s)
	case []string:
		return clip(v, s)
	}
	return v
}

func clip[T any](boxed any, s []T) any {
	if cap(s) == 0 {
		return boxed // nothing to write to: the box can be shared
	}
	return append(make([]T, 0, len(s)), s...)
}

// sliceBytes is the memory of a slice of scalars, 0 for anything else.
func sliceBytes(v any) int {
	switch s := v.(type) {
	case []bool:
		return len(s)
	case []uint8:
		return len(s)
	case []int8:
		return len(s)
	case []int16:
		return 2 * len(s)
	case []uint16:
		return 2 * len(s)
	case []int32:
		return 4 * len(s)
	case []uint32:
		return 4 * len(s)
	case []int64:
		return 8 * len(s)
	case []uint64:
		return 8 * len(s)
	case []float32:
		return 4 * len(s)
	case []float64:
		return 8 * len(s)
	case []string:
		return 16 * len(s)
	}
	return 0
}

// sliceLen is the length of a field's slice, or -1.
func sliceLen(v any) int {
	switch s := v.(type) {
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
	case []string:
		return len(s)
	case []*Message:
		return len(s)
	}
	return -1
}

// sliceAt is element i of a field's slice.
func sliceAt(v any, i int) any {
	switch s := v.(type) {
	case []bool:
		return s[i]
	case []uint8:
		return s[i]
	case []int8:
		return s[i]
	case []int16:
		return s[i]
	case []uint16:
		return s[i]
	case []int32:
		return s[i]
	case []uint32:
		return s[i]
	case []int64:
		return s[i]
	case []uint64:
		return s[i]
	case []float32:
		return s[i]
	case []float64:
		return s[i]
	case []string:
		return s[i]
	case []*Message:
		return s[i]
	}
	return nil
}

// setAt stores x, which has the element's Go type, as element i of a field's slice.
func setAt(v any, i int, x any) {
	switch s := v.(type) {
	case []bool:
		s[i] = x.(bool)
	case []uint8:
		s[i] = x.(uint8)
	case []int8:
		s[i] = x.(int8)
	case []int16:
		s[i] = x.(int16)
	case []uint16:
		s[i] = x.(uint16)
	case []int32:
		s[i] = x.(int32)
	case []uint32:
		s[i] = x.(uint32)
	case []int64:
		s[i] = x.(int64)
	case []uint64:
		s[i] = x.(uint64)
	case []float32:
		s[i] = x.(float32)
	case []float64:
		s[i] = x.(float64)
	case []string:
		s[i] = x.(string)
	case []*Message:
		s[i] = x.(*Message)
	}
}

func equalValue(a, b any) bool {
	switch x := a.(type) {
	case *Message:
		y, ok := b.(*Message)
		return ok && Equal(x, y)
	case []*Message:
		y, ok := b.([]*Message)
		return ok && slices.EqualFunc(x, y, Equal)
	case float32:
		y, ok := b.(float32)
		return ok && equalFloat(x, y)
	case float64:
		y, ok := b.(float64)
		return ok && equalFloat(x, y)
	case []float32:
		y, ok := b.([]float32)
		return ok && slices.EqualFunc(x, y, equalFloat[float32])
	case []float64:
		y, ok := b.([]float64)
		return ok && slices.EqualFunc(x, y, equalFloat[float64])
	case []bool:
		return equalSlice(x, b)
	case []uint8:
		return equalSlice(x, b)
	case []int8:
		return equalSlice(x, b)
	case []int16:
		return equalSlice(x, b)
	case []uint16:
		return equalSlice(x, b)
	case []int32:
		return equalSlice(x, b)
	case []uint32:
		return equalSlice(x, b)
	case []int64:
		return equalSlice(x, b)
	case []uint64:
		return equalSlice(x, b)
	case []string:
		return equalSlice(x, b)
	}
	return a == b
}

func equalSlice[T comparable](a []T, b any) bool {
	y, ok := b.([]T)
	return ok && slices.Equal(a, y)
}

func equalFloat[T float32 | float64](a, b T) bool {
	return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
}
