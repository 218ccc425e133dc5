package ros

import (
	"fmt"
	"strconv"
	"strings"
)

// Get is the value at a path: "pose.position.x", "poses[2].x", "ranges[0]".
// Its Go type is the field's (see Kind); slices and nested messages are the
// message's own, not copies. The empty path is the message itself.
func (m *Message) Get(path string) (any, error) {
	if path == "" {
		return m, nil
	}
	at, err := m.find(path)
	if err != nil {
		return nil, err
	}
	return at.get(), nil
}

// Set stores v at a path. Numbers of any Go type are converted if nothing is
// lost: an integer must fit and a float must be integral to become an integer,
// an integer must be exact to become a float; a float64 is rounded to the nearest
// float32, and refused beyond its range. Arrays take any slice, nested messages a
// *Message of their type or a map[string]any, builtin_interfaces' Time and Duration
// also a Time, time.Time or time.Duration. The value is copied. On an error,
// a *FieldError, the message is unchanged.
func (m *Message) Set(path string, v any) error {
	if path == "" {
		n, err := toMessage(m.Type, v)
		if err != nil {
			return err
		}
		m.Values = n.Values
		return nil
	}
	at, err := m.find(path)
	if err != nil {
		return err
	}
	if err := at.set(v, path); err != nil {
		err.Message = m.Type.Name
		return err
	}
	return nil
}

// With is Set for literals in code: it panics on an error and returns m.
func (m *Message) With(path string, v any) *Message {
	if err := m.Set(path, v); err != nil {
		panic(err)
	}
	return m
}

// place is a field of a message, or one element of it.
type place struct {
	m     *Message
	field int
	index int // of an element, or -1
}

func (p place) get() any {
	v := p.m.Values[p.field]
	if p.index >= 0 {
		return sliceAt(v, p.index)
	}
	return v
}

func (p place) set(v any, path string) *FieldError {
	f := &p.m.Type.Fields[p.field]
	if p.index < 0 {
		x, err := f.convert(p.m.Type, v)
		if err != nil {
			err.Path = replaceRoot(path, f.Name, err.Path)
			return err
		}
		p.m.Values[p.field] = x
		return nil
	}
	e := f.element()
	x, err := e.convert(p.m.Type, v)
	if err != nil {
		err.Path = replaceRoot(path, f.Name, err.Path)
		return err
	}
	setAt(p.m.Values[p.field], p.index, x)
	return nil
}

// replaceRoot puts the whole path in the place of the field's own name.
func replaceRoot(path, name, rest string) string { return path + strings.TrimPrefix(rest, name) }

func (m *Message) find(path string) (place, error) {
	at, rest := m, path
	for {
		name := rest
		end := strings.IndexAny(rest, ".[")
		if end >= 0 {
			name = rest[:end]
		}
		i := at.Type.FieldIndex(name)
		if i < 0 {
			return place{}, m.pathError(path, "unknown field "+strconv.Quote(cut(name))+" of "+at.Type.Name, "")
		}
		p := place{m: at, field: i, index: -1}
		f := &at.Type.Fields[i]
		if end >= 0 && rest[end] == '[' {
			bracket := strings.IndexByte(rest, ']')
			if bracket < 0 {
				return place{}, m.pathError(path, "[ without ]", "")
			}
			length := sliceLen(at.Values[i])
			n, err := strconv.ParseUint(rest[end+1:bracket], 10, 31)
			switch {
			case f.Array == Single:
				return place{}, m.pathError(path, name+" is no array", f.TypeString())
			case err != nil || int(n) >= length:
				return place{}, m.pathError(path, fmt.Sprintf("no element [%s] in %s, which has %d", cut(rest[end+1:bracket]), name, length), f.TypeString())
			}
			p.index = int(n)
			end = bracket + 1
			if end == len(rest) {
				end = -1
			} else if rest[end] != '.' {
				return place{}, m.pathError(path, "want . after ]", "")
			}
		}
		if end < 0 {
			return p, nil
		}
		nested, ok := p.get().(*Message)
		if !ok || nested == nil {
			return place{}, m.pathError(path, name+" has no fields", f.TypeString())
		}
		at, rest = nested, rest[end+1:]
	}
}

func (m *Message) pathError(path, reason, want string) *FieldError {
	return &FieldError{Message: m.Type.Name, Path: path, Reason: reason, Want: want, Offset: -1}
}
