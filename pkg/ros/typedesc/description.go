package typedesc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"agent_node/pkg/ros"
)

// Description describes one interface type and every type that it is made of, as
// type_description_interfaces/msg/TypeDescription does.
type Description struct {
	Main Individual
	// Referenced types, by name.
	Referenced []Individual
}

// Individual is one type.
type Individual struct {
	Name   string
	Fields []Field
}

// Field is one field of a type. TypeID is one of type_description_interfaces/msg/FieldType's.
type Field struct {
	Name           string
	TypeID         uint8
	Capacity       uint64 // of fixed arrays and bounded sequences
	StringCapacity uint64 // of bounded strings
	Nested         string // type name, of nested types
	// Default is the default value as the definition has it; known only of installed definitions.
	Default string
}

// HashPrefix begins every hash of this kind.
const HashPrefix = "RIHS01_"

// Hash is the type's hash: equal on two machines exactly if the types' structures are.
func (d *Description) Hash() string {
	b := append([]byte(nil), `{"type_description": `...)
	b = appendIndividual(b, d.Main)
	b = append(b, `, "referenced_type_descriptions": [`...)
	for i, r := range d.Referenced {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendIndividual(b, r)
	}
	b = append(b, "]}"...)
	sum := sha256.Sum256(b)
	return HashPrefix + hex.EncodeToString(sum[:])
}

// appendIndividual writes the one JSON form that hashes are taken of: spaces after , and :, no default values.
func appendIndividual(b []byte, t Individual) []byte {
	b = fmt.Appendf(b, `{"type_name": %q, "fields": [`, t.Name)
	for i, f := range t.Fields {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = fmt.Appendf(b, `{"name": %q, "type": {"type_id": %d, "capacity": %d, "string_capacity": %d, "nested_type_name": %q}}`,
			f.Name, f.TypeID, f.Capacity, f.StringCapacity, f.Nested)
	}
	return append(b, "]}"...)
}

// FieldType ids of single values, by kind; arrays add an offset. A char of a .msg file is a uint8
// under another name.
var typeIDs = map[ros.Kind]uint8{
	ros.KindMessage: 1, ros.KindInt8: 2, ros.KindUint8: 3, ros.KindInt16: 4, ros.KindUint16: 5, ros.KindInt32: 6,
	ros.KindUint32: 7, ros.KindInt64: 8, ros.KindUint64: 9, ros.KindFloat32: 10, ros.KindFloat64: 11, ros.KindBool: 15,
	ros.KindByte: 16, ros.KindString: 17, ros.KindWString: 18, ros.KindChar: 3,
}

const (
	boundedStringStep = 4 // from string to bounded string, from wstring to bounded wstring

	arrayOffset             = 48
	boundedSequenceOffset   = 96
	unboundedSequenceOffset = 144

	typeUint8          uint8 = 3
	typeNested         uint8 = 1
	typeNestedSequence uint8 = 1 + boundedSequenceOffset
)

func fieldOf(f *ros.Field) Field {
	out := Field{Name: f.Name, TypeID: typeIDs[f.Kind]}
	if f.StringBound > 0 {
		out.TypeID += boundedStringStep
		out.StringCapacity = uint64(f.StringBound)
	}
	switch f.Array {
	case ros.FixedArray:
		out.TypeID, out.Capacity = out.TypeID+arrayOffset, uint64(f.Size)
	case ros.BoundedSequence:
		out.TypeID, out.Capacity = out.TypeID+boundedSequenceOffset, uint64(f.Size)
	case ros.UnboundedSequence:
		out.TypeID += unboundedSequenceOffset
	case ros.Single:
	}
	if f.Kind == ros.KindMessage {
		out.Nested = f.Type.Name
	}
	return out
}

// pool collects types by name.
type pool map[string]Individual

// message adds a message type and what it is made of.
func (p pool) message(t *ros.Type) {
	if _, done := p[t.Name]; done {
		return
	}
	fields := make([]Field, len(t.Fields))
	for i := range t.Fields {
		fields[i] = fieldOf(&t.Fields[i])
	}
	if len(fields) == 0 {
		// IDL has no empty structures; rosidl gives each this member.
		fields = []Field{{Name: "structure_needs_at_least_one_member", TypeID: typeUint8}}
	}
	p[t.Name] = Individual{Name: t.Name, Fields: fields}
	for i := range t.Fields {
		if t.Fields[i].Kind == ros.KindMessage {
			p.message(t.Fields[i].Type)
		}
	}
}

func nested(name, typeName string) Field {
	return Field{Name: name, TypeID: typeNested, Nested: typeName}
}

// service adds a service type with the event type that introspection uses.
func (p pool) service(s *ros.ServiceType, info *ros.Type) {
	p.message(s.Request)
	p.message(s.Response)
	p.message(info)
	event := s.Name + "_Event"
	p[event] = Individual{Name: event, Fields: []Field{
		nested("info", info.Name),
		{Name: "request", TypeID: typeNestedSequence, Capacity: 1, Nested: s.Request.Name},
		{Name: "response", TypeID: typeNestedSequence, Capacity: 1, Nested: s.Response.Name},
	}}
	p[s.Name] = Individual{Name: s.Name, Fields: []Field{
		nested("request_message", s.Request.Name), nested("response_message", s.Response.Name), nested("event_message", event),
	}}
}

// action adds an action type with all that it consists of.
func (p pool) action(a *ros.ActionType, info *ros.Type) {
	for _, t := range []*ros.Type{a.Goal, a.Result, a.Feedback, a.FeedbackMessage} {
		p.message(t)
	}
	p.service(a.SendGoal, info)
	p.service(a.GetResult, info)
	p[a.Name] = Individual{Name: a.Name, Fields: []Field{
		nested("goal", a.Goal.Name), nested("result", a.Result.Name), nested("feedback", a.Feedback.Name),
		nested("send_goal_service", a.SendGoal.Name), nested("get_result_service", a.GetResult.Name),
		nested("feedback_message", a.FeedbackMessage.Name),
	}}
}

// describe is the description of one type of the pool, nil if it is not there.
func (p pool) describe(name string) *Description {
	main, ok := p[name]
	if !ok {
		return nil
	}
	seen := map[string]bool{name: true}
	var visit func(Individual)
	visit = func(t Individual) {
		for _, f := range t.Fields {
			if f.Nested != "" && !seen[f.Nested] {
				seen[f.Nested] = true
				visit(p[f.Nested])
			}
		}
	}
	visit(main)
	delete(seen, name)
	d := &Description{Main: main}
	for _, r := range slices.Sorted(maps.Keys(seen)) {
		d.Referenced = append(d.Referenced, p[r])
	}
	return d
}
