//go:build ros2

package ros2

// #include <rosidl_typesupport_introspection_c/field_types.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"agent_node/pkg/ros"
)

// placeholderMember is what rosidl puts into a structure that would have no member otherwise.
const placeholderMember = "structure_needs_at_least_one_member"

// fromHandle reads the type behind an introspection handle, and those nested in it.
func (t *Types) fromHandle(handle unsafe.Pointer) (*support, error) {
	members := (*C.an_members_t)((*C.rosidl_message_type_support_t)(handle).data)
	name := strings.ReplaceAll(C.GoString(members.message_namespace_), "__", "/") + "/" + C.GoString(members.message_name_)
	if s, ok := t.messages[name]; ok {
		return s, nil
	}
	l := &layout{members: members, size: uintptr(members.size_of_)}
	table := unsafe.Slice(members.members_, int(members.member_count_))
	if len(table) == 1 && C.GoString(table[0].name_) == placeholderMember {
		table = nil
	}
	fields := make([]ros.Field, len(table))
	l.fields = make([]fieldLayout, len(table))
	for i := range table {
		nested, err := t.readMember(&table[i], &fields[i])
		if err != nil {
			return nil, fmt.Errorf("%s: field %s: %w", name, C.GoString(table[i].name_), err)
		}
		l.fields[i] = fieldLayout{offset: uintptr(table[i].offset_), nested: nested}
	}
	s := &support{types: t, layout: l}
	s.adopt(ros.NewType(name, fields, nil))
	if len(fields) > 0 {
		s.readDefaults()
	}
	t.messages[name] = s
	return s, nil
}

// adopt binds the layout to a type.
func (s *support) adopt(typ *ros.Type) {
	s.typ, s.layout.typ = typ, typ
	for i := range s.layout.fields {
		s.layout.fields[i].field, s.layout.fields[i].owner = &typ.Fields[i], typ
	}
	s.layout.layOut()
}

func (t *Types) readMember(m *C.an_member_t, f *ros.Field) (*layout, error) {
	f.Name = C.GoString(m.name_)
	f.StringBound = int(m.string_upper_bound_)
	switch {
	case !bool(m.is_array_):
		f.Array = ros.Single
	case bool(m.is_upper_bound_):
		f.Array, f.Size = ros.BoundedSequence, int(m.array_size_)
	case m.array_size_ > 0:
		f.Array, f.Size = ros.FixedArray, int(m.array_size_)
	default:
		f.Array = ros.UnboundedSequence
	}
	f.Kind = kindOf(uint8(m.type_id_))
	if f.Kind == ros.KindInvalid {
		return nil, fmt.Errorf("%w: introspection type id %d (long double or wchar) is not supported", ros.ErrUnknownType, m.type_id_)
	}
	if f.Kind != ros.KindMessage {
		return nil, nil
	}
	nested, err := t.fromHandle(unsafe.Pointer(m.members_))
	if err != nil {
		return nil, err
	}
	f.Type = nested.typ
	return nested.layout, nil
}

func kindOf(id uint8) ros.Kind {
	switch id {
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_FLOAT:
		return ros.KindFloat32
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE:
		return ros.KindFloat64
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_CHAR:
		return ros.KindChar
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_BOOLEAN:
		return ros.KindBool
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_OCTET:
		return ros.KindByte
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_UINT8:
		return ros.KindUint8
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_INT8:
		return ros.KindInt8
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_UINT16:
		return ros.KindUint16
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_INT16:
		return ros.KindInt16
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_UINT32:
		return ros.KindUint32
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_INT32:
		return ros.KindInt32
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_UINT64:
		return ros.KindUint64
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_INT64:
		return ros.KindInt64
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_STRING:
		return ros.KindString
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_WSTRING:
		return ros.KindWString
	case C.rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE:
		return ros.KindMessage
	}
	return ros.KindInvalid
}

// readDefaults takes the defaults from a fresh message: the table's own default pointers are never set.
func (s *support) readDefaults() {
	fresh := newCMessage(s)
	defer fresh.free()
	m := fresh.get()
	for i := range s.typ.Fields {
		f := &s.typ.Fields[i]
		if f.Kind == ros.KindMessage {
			continue // a nested type has its own
		}
		if v := reflect.ValueOf(m.Values[i]); !zero(v) {
			f.Default = m.Values[i]
		}
	}
}

// zero reports whether a field's value is what it would be without a default.
func zero(v reflect.Value) bool {
	if v.Kind() != reflect.Slice {
		return v.IsZero()
	}
	for i := range v.Len() {
		if !v.Index(i).IsZero() {
			return false
		}
	}
	return true
}
