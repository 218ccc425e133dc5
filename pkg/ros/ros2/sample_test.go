//go:build ros2

package ros2

import (
	"math"
	"reflect"
	"strings"

	"pgregory.net/rapid"

	"agent_node/pkg/ros"
)

// drawMessage is any valid message of a type.
func drawMessage(t *rapid.T, typ *ros.Type) *ros.Message {
	m := ros.New(typ)
	for i := range typ.Fields {
		f := &typ.Fields[i]
		if f.Array == ros.Single {
			m.Values[i] = drawElement(t, f)
			continue
		}
		n := f.Size
		switch f.Array {
		case ros.BoundedSequence:
			n = rapid.IntRange(0, f.Size).Draw(t, f.Name)
		case ros.UnboundedSequence:
			n = rapid.IntRange(0, 9).Draw(t, f.Name)
		case ros.Single, ros.FixedArray:
		}
		slice := reflect.MakeSlice(reflect.TypeOf(m.Values[i]), n, n)
		for j := range n {
			slice.Index(j).Set(reflect.ValueOf(drawElement(t, f)))
		}
		m.Values[i] = slice.Interface()
	}
	return m
}

func drawElement(t *rapid.T, f *ros.Field) any {
	switch f.Kind {
	case ros.KindBool:
		return rapid.Bool().Draw(t, f.Name)
	case ros.KindByte, ros.KindChar, ros.KindUint8:
		return rapid.Uint8().Draw(t, f.Name)
	case ros.KindInt8:
		return rapid.Int8().Draw(t, f.Name)
	case ros.KindInt16:
		return rapid.Int16().Draw(t, f.Name)
	case ros.KindUint16:
		return rapid.Uint16().Draw(t, f.Name)
	case ros.KindInt32:
		return rapid.Int32().Draw(t, f.Name)
	case ros.KindUint32:
		return rapid.Uint32().Draw(t, f.Name)
	case ros.KindInt64:
		return rapid.Int64().Draw(t, f.Name)
	case ros.KindUint64:
		return rapid.Uint64().Draw(t, f.Name)
	case ros.KindFloat32:
		return math.Float32frombits(rapid.Uint32().Draw(t, f.Name))
	case ros.KindFloat64:
		return math.Float64frombits(rapid.Uint64().Draw(t, f.Name))
	case ros.KindString, ros.KindWString:
		limit := -1
		if f.StringBound > 0 {
			limit = f.StringBound
		}
		s := strings.ReplaceAll(rapid.StringN(0, 20, limit).Draw(t, f.Name), "\x00", "")
		return s
	case ros.KindMessage:
		return drawMessage(t, f.Type)
	case ros.KindInvalid:
	}
	panic("no such kind: " + f.Kind.String())
}
