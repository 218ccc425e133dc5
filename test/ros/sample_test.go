//go:build ros2

package ros

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"agent_node/pkg/ros"
)

// samples are messages of a type: its default, two extremes, and random ones.
func samples(t *ros.Type, random int) []*ros.Message {
	rng := rand.New(rand.NewPCG(1, uint64(len(t.Name))))
	out := []*ros.Message{ros.New(t)}
	for i := range random {
		out = append(out, sample(t, rng, i))
	}
	return out
}

// sample fills every field. Rounds 0 and 1 fill sequences to their bound and not at all.
func sample(t *ros.Type, rng *rand.Rand, round int) *ros.Message {
	m := ros.New(t)
	for i := range t.Fields {
		f := &t.Fields[i]
		n := f.Size
		if f.Array == ros.UnboundedSequence {
			n = 5
		}
		switch {
		case f.Array == ros.Single:
			m.Values[i] = element(f, rng, round)
			continue
		case f.Array != ros.FixedArray && round == 1:
			n = 0
		case f.Array != ros.FixedArray && round > 1:
			n = rng.IntN(n + 1)
		}
		slice := reflect.MakeSlice(reflect.TypeOf(m.Values[i]), n, n)
		for j := range n {
			slice.Index(j).Set(reflect.ValueOf(element(f, rng, round)))
		}
		m.Values[i] = slice.Interface()
	}
	return m
}

var (
	integers = []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1 << 53, -(1<<53 + 1)}
	floats   = []float64{0, math.Copysign(0, -1), 1, -0.1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64}
	letters  = []rune("abc \"\\\n\tüß€\u2028漢字🤖𝔘")
)

func element(f *ros.Field, rng *rand.Rand, round int) any {
	i := integers[rng.IntN(len(integers))] ^ int64(rng.IntN(3))
	switch f.Kind {
	case ros.KindBool:
		return rng.IntN(2) == 1
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return uint8(i)
	case ros.KindInt8:
		return int8(i)
	case ros.KindInt16:
		return int16(i)
	case ros.KindUint16:
		return uint16(i)
	case ros.KindInt32:
		return int32(i)
	case ros.KindUint32:
		return uint32(i)
	case ros.KindInt64:
		return i
	case ros.KindUint64:
		return uint64(i)
	case ros.KindFloat32:
		if f := floats[rng.IntN(len(floats))]; math.Abs(f) < 1e6 && math.Abs(f) > 1e-6 || f == 0 || f != f || math.IsInf(f, 0) {
			return float32(f)
		}
		return float32(rng.NormFloat64())
	case ros.KindFloat64:
		if rng.IntN(2) == 0 {
			return floats[rng.IntN(len(floats))]
		}
		return rng.NormFloat64()
	case ros.KindString, ros.KindWString:
		var b strings.Builder
		for range rng.IntN(12) {
			r := letters[rng.IntN(len(letters))]
			if f.StringBound > 0 && b.Len()+4 > f.StringBound {
				break
			}
			b.WriteRune(r)
		}
		return b.String()
	case ros.KindMessage:
		return sample(f.Type, rng, round)
	case ros.KindInvalid:
	}
	panic(fmt.Sprintf("no sample of kind %v", f.Kind))
}

// compare names the fields in which two messages differ.
func compare(t *testing.T, what string, got, want *ros.Message) {
	t.Helper()
	if ros.Equal(got, want) {
		return
	}
	differ(t, what, "", got, want)
	if !t.Failed() {
		t.Errorf("%s: not equal, but no field differs", what)
	}
}

func differ(t *testing.T, what, path string, got, want *ros.Message) {
	t.Helper()
	if got.Type != want.Type {
		t.Errorf("%s%s: a %s, want a %s", what, path, got.Type.Name, want.Type.Name)
		return
	}
	for i, f := range want.Type.Fields {
		g, w := got.Values[i], want.Values[i]
		switch f.Kind {
		case ros.KindMessage:
			if w, ok := w.(*ros.Message); ok {
				differ(t, what, path+"."+f.Name, g.(*ros.Message), w)
				continue
			}
			gs, ws := g.([]*ros.Message), w.([]*ros.Message)
			if len(gs) != len(ws) {
				t.Errorf("%s%s.%s: %d elements, want %d", what, path, f.Name, len(gs), len(ws))
				continue
			}
			for j := range ws {
				differ(t, what, fmt.Sprintf("%s.%s[%d]", path, f.Name, j), gs[j], ws[j])
			}
		default:
			one := ros.NewType("one", []ros.Field{f}, nil)
			if !ros.Equal(&ros.Message{Type: one, Values: []any{g}}, &ros.Message{Type: one, Values: []any{w}}) {
				t.Errorf("%s%s.%s: %#v, want %#v", what, path, f.Name, g, w)
			}
		}
	}
}
