package conformance

import (
	"math"
	"math/rand/v2"
	"strings"
	"unicode/utf16"

	"agent_node/pkg/ros"
)

// Extreme is a message with every field at an end of its range: the lowest integers in one
// array element, the highest in the next, numbers that are not finite, full bounds,
// text beyond ASCII.
func Extreme(t *ros.Type) *ros.Message {
	n := 0
	return fill(t, func(f *ros.Field) int { return length(f, 3) }, func(f *ros.Field) any {
		n++
		return extremes(f)[n%len(extremes(f))]
	})
}

// Random is a message with random values of every field.
func Random(t *ros.Type, r *rand.Rand) *ros.Message {
	return fill(t, func(f *ros.Field) int { return length(f, r.IntN(4)) }, func(f *ros.Field) any { return random(f, r) })
}

func length(f *ros.Field, n int) int {
	switch f.Array {
	case ros.FixedArray:
		return f.Size
	case ros.BoundedSequence:
		return min(n, f.Size)
	case ros.Single, ros.UnboundedSequence:
	}
	return n
}

// fill makes a message from the lengths of its arrays and the values of its primitive elements.
func fill(t *ros.Type, count func(*ros.Field) int, value func(*ros.Field) any) *ros.Message {
	m := ros.New(t)
	for i := range t.Fields {
		f := &t.Fields[i]
		one := func() any {
			if f.Kind == ros.KindMessage {
				return fill(f.Type, count, value)
			}
			return value(f)
		}
		if f.Array == ros.Single {
			m.With(f.Name, one())
			continue
		}
		list := make([]any, count(f))
		for j := range list {
			list[j] = one()
		}
		m.With(f.Name, list)
	}
	return m
}

// texts are for strings; none has a zero byte, which CDR strings cannot carry.
var texts = []string{"", "plain", "Grüße, 世界", "\"quoted\" \\ \n\t\x01", "🤖 beyond the first plane", strings.Repeat("long ", 200)}

func extremes(f *ros.Field) []any {
	switch f.Kind {
	case ros.KindBool:
		return []any{true, false}
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return []any{uint8(math.MaxUint8), uint8(0)}
	case ros.KindInt8:
		return []any{int8(math.MinInt8), int8(math.MaxInt8)}
	case ros.KindInt16:
		return []any{int16(math.MinInt16), int16(math.MaxInt16)}
	case ros.KindUint16:
		return []any{uint16(math.MaxUint16), uint16(0)}
	case ros.KindInt32:
		return []any{int32(math.MinInt32), int32(math.MaxInt32)}
	case ros.KindUint32:
		return []any{uint32(math.MaxUint32), uint32(0)}
	case ros.KindInt64:
		return []any{int64(math.MinInt64), int64(math.MaxInt64)}
	case ros.KindUint64:
		return []any{uint64(math.MaxUint64), uint64(0)}
	case ros.KindFloat32:
		return []any{float32(math.Inf(1)), float32(math.NaN()), float32(math.MaxFloat32), float32(math.SmallestNonzeroFloat32), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}
	case ros.KindFloat64:
		return []any{math.Inf(1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1), math.Copysign(0, -1)}
	case ros.KindString, ros.KindWString:
		all := make([]any, len(texts))
		for i, s := range texts {
			all[i] = bounded(f, s)
		}
		return all
	case ros.KindInvalid, ros.KindMessage:
	}
	return []any{nil}
}

func random(f *ros.Field, r *rand.Rand) any {
	switch f.Kind {
	case ros.KindBool:
		return r.IntN(2) == 1
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return uint8(r.Uint32())
	case ros.KindInt8:
		return int8(r.Uint32())
	case ros.KindInt16:
		return int16(r.Uint32())
	case ros.KindUint16:
		return uint16(r.Uint32())
	case ros.KindInt32:
		return int32(r.Uint32())
	case ros.KindUint32:
		return r.Uint32()
	case ros.KindInt64:
		return int64(r.Uint64())
	case ros.KindUint64:
		return r.Uint64()
	case ros.KindFloat32:
		return math.Float32frombits(r.Uint32())
	case ros.KindFloat64:
		return math.Float64frombits(r.Uint64())
	case ros.KindString, ros.KindWString:
		var b strings.Builder
		for range r.IntN(12) {
			c := rune(1 + r.IntN(0x10ffff))
			if utf16.IsSurrogate(c) {
				c = '�'
			}
			b.WriteRune(c)
		}
		return bounded(f, b.String())
	case ros.KindInvalid, ros.KindMessage:
	}
	return nil
}

// bounded cuts a text to the field's bound: bytes of a string, UTF-16 units of a wstring.
func bounded(f *ros.Field, s string) string {
	if f.StringBound == 0 {
		return s
	}
	n := 0
	for i, c := range s {
		size := utf16.RuneLen(c)
		if f.Kind == ros.KindString {
			size = len(string(c))
		}
		if n += size; n > f.StringBound {
			return s[:i]
		}
	}
	return s
}
