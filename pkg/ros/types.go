package ros

import "sync/atomic"

// Kind is the kind of a field's element.
type Kind uint8

// Element kinds, and the Go type a value has in a [Message].
const (
	KindInvalid Kind = iota
	KindBool         // bool
	KindByte         // uint8 (octet)
	KindChar         // uint8
	KindInt8         // int8
	KindUint8        // uint8
	KindInt16        // int16
	KindUint16       // uint16
	KindInt32        // int32
	KindUint32       // uint32
	KindInt64        // int64
	KindUint64       // uint64
	KindFloat32      // float32
	KindFloat64      // float64
	KindString       // string
	KindWString      // string
	KindMessage      // *Message
)

// ArrayKind says how many elements a field has.
type ArrayKind uint8

// A fixed array has exactly Size elements, a bounded sequence at most Size.
const (
	Single ArrayKind = iota
	FixedArray
	BoundedSequence
	UnboundedSequence
)

// Field is one field of a message type. In a message its value is the kind's Go
// type, or for arrays a slice of it ([]float64, []string, []*Message, …).
type Field struct {
	Name        string
	Kind        Kind
	Array       ArrayKind
	Size        int   // of fixed arrays and bounded sequences
	StringBound int   // longest string allowed, 0 for unbounded
	Type        *Type // of KindMessage
	Default     any   // nil, or a value of the field's Go type
}

// Constant is a constant of a message type.
type Constant struct {
	Name  string
	Kind  Kind
	Value any
	Text  string // the value as its definition writes it
}

// Type is a message type, such as geometry_msgs/msg/Twist. Types of one
// TypeSource are identical pointers for identical names.
type Type struct {
	Name      string
	Fields    []Field
	Constants []Constant

	index  map[string]int
	layout atomic.Pointer[layout] // computed at first use
}

// ServiceType is a service type, such as std_srvs/srv/Trigger.
type ServiceType struct {
	Name     string
	Request  *Type
	Response *Type
}

// ActionType is an action type with the interfaces it is made of.
type ActionType struct {
	Name            string
	Goal            *Type
	Result          *Type
	Feedback        *Type
	SendGoal        *ServiceType // <Name>_SendGoal
	GetResult       *ServiceType // <Name>_GetResult
	FeedbackMessage *Type        // <Name>_FeedbackMessage
}

// TypeSource finds interface types by full name (pkg/msg/Name, pkg/srv/Name, pkg/action/Name).
// An unknown name is an error that wraps ErrUnknownType.
type TypeSource interface {
	Message(name string) (*Type, error)
	Service(name string) (*ServiceType, error)
	Action(name string) (*ActionType, error)
}

// NewType makes a type and its field index.
func NewType(name string, fields []Field, constants []Constant) *Type {
	t := &Type{Name: name, Fields: fields, Constants: constants, index: make(map[string]int, len(fields))}
	for i := range fields {
		t.index[fields[i].Name] = i
	}
	return t
}

// fewFields are found faster by looking at each than by hashing the name.
const fewFields = 8

// FieldIndex is the index of the named field, or -1.
func (t *Type) FieldIndex(name string) int {
	if len(t.Fields) <= fewFields {
		for i := range t.Fields {
			if t.Fields[i].Name == name {
				return i
			}
		}
		return -1
	}
	if i, ok := t.index[name]; ok {
		return i
	}
	return -1
}
