package msgdef

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"agent_node/pkg/ros"
)

// Limits of what a definition may hold.
const (
	maxFile  = 1 << 20 // bytes
	maxArray = 1 << 24 // elements of a fixed array
)

var (
	packageName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	messageName  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	fieldName    = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	constantName = regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$`)
	identifier   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*`)

	// ROS 1 is less strict with names.
	anyName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)
)

// dialect is what definitions of ROS 1 and ROS 2 do differently.
type dialect struct{ ros1 bool }

// message reports whether a name may be a message's.
func (d dialect) message(name string) bool {
	if d.ros1 {
		return anyName.MatchString(name)
	}
	return messageName.MatchString(name)
}

// builtin is the message type by which ROS 1's two further primitives are known here.
func (d dialect) builtin(name string) string {
	switch {
	case !d.ros1:
	case name == "time":
		return "builtin_interfaces/msg/Time"
	case name == "duration":
		return "builtin_interfaces/msg/Duration"
	case name == "Header":
		return "std_msgs/msg/Header"
	}
	return ""
}

// section is one part of a definition: a message, or what stands between two ---.
type section struct {
	fields    []field
	constants []ros.Constant
}

// field is a field whose nested type is still a name.
type field struct {
	ros.Field
	nested string // pkg/msg/Name; empty for primitives
	line   int
}

// parse reads a definition of pkg into exactly want sections.
func parse(file, pkg, text string, want int, d dialect) ([]section, error) {
	if len(text) > maxFile {
		return nil, &ParseError{File: file, Reason: fmt.Sprintf("%d bytes long, more than %d", len(text), maxFile)}
	}
	sections := make([]section, 1)
	names := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.ReplaceAll(line, "\t", " "))
		fail := func(err error) error { return &ParseError{File: file, Line: i + 1, Err: err} }
		if want > 1 && strings.HasPrefix(line, "---") && strings.Trim(line, "-") == "" {
			sections, names = append(sections, section{}), map[string]int{}
			if len(sections) > want {
				return nil, fail(fmt.Errorf("more than %d lines of ---", want-1))
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		name, err := sections[len(sections)-1].line(pkg, line, i+1, d)
		if err != nil {
			return nil, fail(err)
		}
		if first, ok := names[name]; ok {
			return nil, fail(fmt.Errorf("%s is already defined in line %d", name, first))
		}
		names[name] = i + 1
	}
	if len(sections) < want {
		return nil, &ParseError{File: file, Reason: fmt.Sprintf("%d lines of ---, want %d", len(sections)-1, want-1)}
	}
	return sections, nil
}

// line adds the field or constant of a line and gives its name.
func (s *section) line(pkg, line string, number int, d dialect) (string, error) {
	typeText, rest, _ := strings.Cut(line, " ")
	f, err := parseType(pkg, typeText, d)
	if err != nil {
		return "", err
	}
	f.line = number
	rest = strings.TrimSpace(rest)
	name := identifier.FindString(rest)
	if name == "" {
		return "", fmt.Errorf("want a name after %s", typeText)
	}
	rest = rest[len(name):]
	after := strings.TrimSpace(rest)
	if strings.HasPrefix(after, "=") {
		return name, s.constant(f, name, strings.TrimSpace(after[1:]), d)
	}
	if after = uncomment(after); after != "" && rest[0] != ' ' && rest[0] != '#' {
		return "", fmt.Errorf("want a space after the name %s", name)
	}
	if !d.ros1 && !fieldName.MatchString(name) {
		return "", fmt.Errorf("%s is no field name: want lower case, digits and single underscores", name)
	}
	f.Name = name
	if after != "" {
		if d.ros1 {
			return "", fmt.Errorf("%q after the field %s: ROS 1 knows no defaults", after, name)
		}
		if f.Default, err = f.defaultValue(after); err != nil {
			return "", err
		}
	}
	s.fields = append(s.fields, f)
	return name, nil
}

func (s *section) constant(f field, name, text string, d dialect) error {
	switch {
	case f.Kind == ros.KindMessage || f.Array != ros.Single:
		return fmt.Errorf("constant %s is no primitive", name)
	case !d.ros1 && !constantName.MatchString(name):
		return fmt.Errorf("%s is no constant name: want upper case, digits and single underscores", name)
	}
	if d.ros1 && f.Kind == ros.KindString {
		// All that follows is the text, quotes and # too.
		s.constants = append(s.constants, ros.Constant{Name: name, Kind: f.Kind, Value: text, Text: text})
		return nil
	}
	text = uncomment(text)
	read := f
	if d.ros1 && f.Kind == ros.KindByte && strings.HasPrefix(text, "-") {
		read.Kind = ros.KindInt8 // ROS 1's byte is signed
	}
	v, err := read.primitive(text)
	if err != nil {
		return err
	}
	if i, ok := v.(int8); ok && f.Kind == ros.KindByte {
		v = uint8(i)
	}
	s.constants = append(s.constants, ros.Constant{Name: name, Kind: f.Kind, Value: v, Text: text})
	return nil
}

// uncomment cuts a comment off a value. A # inside of quotes begins none.
func uncomment(s string) string {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && c == '#':
			return strings.TrimSpace(s[:i])
		case quote == 0 && (c == '"' || c == '\'') && opensValue(s[:i]):
			quote = c
		}
	}
	return s
}

// opensValue reports whether a quote after s begins a value: it is the first thing, or an array's element.
func opensValue(s string) bool {
	s = strings.TrimRight(s, " ")
	return s == "" || strings.HasSuffix(s, "[") || strings.HasSuffix(s, ",")
}

var kinds = map[string]ros.Kind{
	"bool": ros.KindBool, "byte": ros.KindByte, "char": ros.KindChar,
	"int8": ros.KindInt8, "uint8": ros.KindUint8, "int16": ros.KindInt16, "uint16": ros.KindUint16,
	"int32": ros.KindInt32, "uint32": ros.KindUint32, "int64": ros.KindInt64, "uint64": ros.KindUint64,
	"float32": ros.KindFloat32, "float64": ros.KindFloat64, "string": ros.KindString, "wstring": ros.KindWString,
}

// parseType reads a type such as float64[3], string<=10[<=5], Point or geometry_msgs/Point[].
func parseType(pkg, text string, d dialect) (field, error) {
	var f field
	base := text
	if i := strings.IndexByte(base, '['); i >= 0 {
		if base[len(base)-1] != ']' {
			return f, fmt.Errorf("type %s: [ without ] at its end", text)
		}
		size := base[i+1 : len(base)-1]
		base = base[:i]
		var err error
		switch bound, bounded := strings.CutPrefix(size, "<="); {
		case size == "":
			f.Array = ros.UnboundedSequence
		case bounded:
			f.Array = ros.BoundedSequence
			f.Size, err = positive(bound)
		default:
			f.Array = ros.FixedArray
			if f.Size, err = positive(size); err == nil && f.Size > maxArray {
				err = fmt.Errorf("more than %d elements", maxArray)
			}
		}
		if err != nil {
			return f, fmt.Errorf("type %s: array size: %w", text, err)
		}
	}
	base, bound, bounded := strings.Cut(base, "<=")
	f.Kind = kinds[base]
	switch {
	case bounded && f.Kind != ros.KindString && f.Kind != ros.KindWString:
		return f, fmt.Errorf("type %s: only strings have a bound", text)
	case bounded:
		var err error
		if f.StringBound, err = positive(bound); err != nil {
			return f, fmt.Errorf("type %s: string bound: %w", text, err)
		}
	}
	if f.Kind != ros.KindInvalid {
		return f, nil
	}
	f.Kind = ros.KindMessage
	if f.nested = d.builtin(base); f.nested != "" {
		return f, nil
	}
	nestedPkg, name, qualified := strings.Cut(base, "/")
	if !qualified {
		nestedPkg, name = pkg, base
	}
	if !packageName.MatchString(nestedPkg) || !d.message(name) {
		return f, fmt.Errorf("unknown type %q: want a primitive, Name or package/Name", text)
	}
	f.nested = nestedPkg + "/msg/" + name
	return f, nil
}

func positive(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is not between 1 and %d", s, 1<<31-1)
	}
	return int(n), nil
}
