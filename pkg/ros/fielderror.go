package ros

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FieldError says what is wrong with one field of a message. It wraps ErrInvalidMessage.
type FieldError struct {
	Message string // the message type's full name
	Path    string // from the message's root, such as "poses[2].position.x"; empty: the message itself
	Want    string // the expected type, as definitions write it; empty where there is none (an unknown field)
	Value   string // the offending value as text, cut to a readable length
	Reason  string // "unknown field", "out of range", …
	Offset  int    // byte offset in the JSON text, 0 for its first byte; -1 where there is no text
}

// Error says all of it in one line.
func (e *FieldError) Error() string {
	var b strings.Builder
	b.WriteString("ros: invalid message ")
	b.WriteString(e.Message)
	if e.Path != "" {
		b.WriteString(": field ")
		b.WriteString(e.Path)
	}
	b.WriteString(": ")
	b.WriteString(e.Reason)
	if e.Want != "" {
		b.WriteString(": want ")
		b.WriteString(e.Want)
	}
	if e.Value != "" {
		b.WriteString(", have ")
		b.WriteString(e.Value)
	}
	if e.Offset >= 0 {
		b.WriteString(" at offset ")
		b.WriteString(strconv.Itoa(e.Offset))
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrInvalidMessage) true.
func (e *FieldError) Unwrap() error { return ErrInvalidMessage }

// under puts a path in front of the error's own, on the way out of a nested message.
func (e *FieldError) under(t *Type, prefix string) *FieldError {
	switch {
	case e.Path == "":
		e.Path = prefix
	case e.Path[0] == '[':
		e.Path = prefix + e.Path
	default:
		e.Path = prefix + "." + e.Path
	}
	e.Message = t.Name
	return e
}

func fieldError(t *Type, f *Field, reason string, v any) *FieldError {
	return &FieldError{Message: t.Name, Path: f.Name, Want: f.TypeString(), Reason: reason, Value: show(v), Offset: -1}
}

const shownBytes = 80

// show is a value as text, short enough for an error.
func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(cut(x))
	case *Message:
		if x == nil {
			return "null"
		}
		return "a " + x.Type.Name
	case fmt.Stringer, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return cut(fmt.Sprint(x))
	}
	if n := sliceLen(v); n >= 0 {
		return fmt.Sprintf("%T of %d", v, n)
	}
	return fmt.Sprintf("%T", v)
}

// cut shortens a text to shownBytes, at a rune's border.
func cut(s string) string {
	if len(s) <= shownBytes {
		return s
	}
	n := shownBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
