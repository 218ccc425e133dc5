package ros

// Message is a message of a run-time type. Values[i] belongs to Type.Fields[i] and
// always has the field's Go type (see Kind and Field); nested messages are never nil,
// an empty sequence may be a nil slice of its type.
// A Message is not safe for concurrent writes.
type Message struct {
	Type   *Type
	Values []any
}

// New makes a message with every field at its interface default: the default
// value of its definition, else zero; fixed arrays have their length.
func New(t *Type) *Message {
	l := t.laidOut()
	s := slab{messages: make([]Message, l.messages), values: make([]any, l.values)}
	return s.build(t)
}

// Clone is a deep copy. The two messages share nothing that can be written to.
func (m *Message) Clone() *Message {
	l := m.Type.laidOut()
	s := slab{messages: make([]Message, l.messages), values: make([]any, l.values)}
	return s.clone(m)
}

// slab hands out the fixed part of a message and of everything nested in it from
// two allocations.
type slab struct {
	messages []Message
	values   []any
}

func (s *slab) next(t *Type) *Message {
	if len(s.messages) == 0 || len(s.values) < len(t.Fields) {
		// Only a message whose fixed arrays have grown (which Validate refuses) needs more.
		return &Message{Type: t, Values: make([]any, len(t.Fields))}
	}
	m, n := &s.messages[0], len(t.Fields)
	s.messages = s.messages[1:]
	m.Type, m.Values = t, s.values[:n:n]
	s.values = s.values[n:]
	return m
}

func (s *slab) build(t *Type) *Message {
	m, l := s.next(t), t.laidOut()
	for i := range t.Fields {
		f := &t.Fields[i]
		switch {
		case f.Kind == KindMessage && f.Array == Single:
			m.Values[i] = s.build(f.Type)
		case f.Kind == KindMessage && f.Array == FixedArray:
			e := make([]*Message, f.Size)
			for j := range e {
				e[j] = s.build(f.Type)
			}
			m.Values[i] = e
		case f.Array == Single:
			m.Values[i] = l.defaults[i]
		default:
			m.Values[i] = cloneSlice(l.defaults[i])
		}
	}
	return m
}

func (s *slab) clone(m *Message) *Message {
	c := s.next(m.Type)
	for i := range m.Type.Fields {
		f := &m.Type.Fields[i]
		switch v := m.Values[i].(type) {
		case *Message:
			c.Values[i] = s.clone(v)
		case []*Message:
			if len(v) == 0 {
				c.Values[i] = v[:0:0]
				continue
			}
			e := make([]*Message, len(v))
			for j := range v {
				if f.Array == FixedArray {
					e[j] = s.clone(v[j])
				} else {
					e[j] = v[j].Clone()
				}
			}
			c.Values[i] = e
		default:
			if f.Array == Single {
				c.Values[i] = v
			} else {
				c.Values[i] = cloneSlice(v)
			}
		}
	}
	return c
}

// Equal reports whether a and b are of types with one name and hold the same
// values. NaN equals NaN; a nil sequence equals an empty one.
func Equal(a, b *Message) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Type != b.Type && a.Type.Name != b.Type.Name || len(a.Values) != len(b.Values) {
		return false
	}
	for i := range a.Values {
		if !equalValue(a.Values[i], b.Values[i]) {
			return false
		}
	}
	return true
}
