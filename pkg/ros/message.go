package ros

// Message is a message of a run-time type. Values[i] belongs to Type.Fields[i] and
// always has the field's Go type (see Kind and Field); nested messages are never nil.
// A Message is not safe for concurrent writes.
type Message struct {
	Type   *Type
	Values []any
}

// The functions that belong to Message (signatures are fixed, see the files beside this one):
//
//	func New(t *Type) *Message                          every field at its interface default
//	func (m *Message) Clone() *Message                  a deep copy
//	func (m *Message) Get(path string) (any, error)     "pose.position.x", "poses[2].x"
//	func (m *Message) Set(path string, v any) error     lossless conversion of numbers; else an error
//	func (m *Message) Float(path string) float64        for fixed code paths; panics on a wrong path: only for
//	func (m *Message) Int(path string) int64            types whose fields are known
//	func (m *Message) Str(path string) string
//	func (m *Message) Bool(path string) bool
//	func (m *Message) Msg(path string) *Message
//	func (m *Message) Msgs(path string) []*Message
//	func (m *Message) Stamp(path string) Time           a builtin_interfaces Time or Duration field
//	func (m *Message) SetStamp(path string, t Time)
//	func (m *Message) SetDuration(path string, d time.Duration)
//	func (m *Message) With(path string, v any) *Message  Set, panicking on error, returning m: for literals
//	func (m *Message) Map() map[string]any              nested maps and typed slices: for CEL
//	func FromMap(t *Type, v map[string]any) (*Message, error)
//	func (m *Message) AppendJSON(b []byte) ([]byte, error)
//	func (m *Message) MarshalJSON() ([]byte, error)
//	func DecodeJSON(t *Type, data []byte) (*Message, error)
//	func Equal(a, b *Message) bool                      NaN equals NaN
