package ros

import "fmt"

// MaxNesting is how deep messages may be nested in each other.
const MaxNesting = 64

// layout is what is computed once for a type.
type layout struct {
	defaults []any    // by field; nil for nested messages
	keys     []string // `"name":` by field
	messages int      // messages that New makes, the outermost included
	values   int      // fields of all of them
	bytes    int      // rough memory of New's result
}

const (
	messageBytes = 40
	valueBytes   = 16
)

// laidOut is the type's layout. Types are acyclic: a TypeSource refuses a type that contains itself.
func (t *Type) laidOut() *layout {
	if l := t.layout.Load(); l != nil {
		return l
	}
	l := t.layOut(0)
	t.layout.Store(l)
	return l
}

func (t *Type) layOut(depth int) *layout {
	if depth > MaxNesting {
		panic(fmt.Sprintf("ros: type %s is nested deeper than %d, or contains itself", t.Name, MaxNesting))
	}
	if l := t.layout.Load(); l != nil {
		return l
	}
	n := len(t.Fields)
	l := &layout{
		defaults: make([]any, n), keys: make([]string, n),
		messages: 1, values: n, bytes: messageBytes + n*valueBytes,
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		l.keys[i] = `"` + f.Name + `":`
		if f.Kind != KindMessage {
			l.defaults[i] = f.Default
			if f.Default == nil {
				l.defaults[i] = f.zero()
			}
			l.bytes += sliceBytes(l.defaults[i])
			continue
		}
		nested := f.Type.layOut(depth + 1)
		count := 0
		switch f.Array {
		case Single:
			count = 1
		case FixedArray:
			count = f.Size
			l.bytes += 8 * count
		case BoundedSequence, UnboundedSequence:
			l.defaults[i] = []*Message(nil)
		}
		l.messages += count * nested.messages
		l.values += count * nested.values
		l.bytes += count * nested.bytes
	}
	t.layout.Store(l)
	return l
}

// TypeString is the field's type as interface definitions write it: "float64[3]", "string<=10".
func (f *Field) TypeString() string {
	name := f.Kind.String()
	if f.Kind == KindMessage && f.Type != nil {
		name = f.Type.Name
	}
	if f.StringBound > 0 {
		name = fmt.Sprintf("%s<=%d", name, f.StringBound)
	}
	switch f.Array {
	case Single:
	case FixedArray:
		name = fmt.Sprintf("%s[%d]", name, f.Size)
	case BoundedSequence:
		name = fmt.Sprintf("%s[<=%d]", name, f.Size)
	case UnboundedSequence:
		name += "[]"
	}
	return name
}

// element is the field of one element of an array field.
func (f *Field) element() Field {
	e := *f
	e.Array, e.Size, e.Default = Single, 0, nil
	return e
}

// String is the kind as interface definitions write it.
func (k Kind) String() string {
	switch k {
	case KindBool:
		return "bool"
	case KindByte:
		return "byte"
	case KindChar:
		return "char"
	case KindInt8:
		return "int8"
	case KindUint8:
		return "uint8"
	case KindInt16:
		return "int16"
	case KindUint16:
		return "uint16"
	case KindInt32:
		return "int32"
	case KindUint32:
		return "uint32"
	case KindInt64:
		return "int64"
	case KindUint64:
		return "uint64"
	case KindFloat32:
		return "float32"
	case KindFloat64:
		return "float64"
	case KindString:
		return "string"
	case KindWString:
		return "wstring"
	case KindMessage:
		return "message"
	case KindInvalid:
	}
	return "invalid"
}
