package args

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Param is a parameter's initial value, for the nodes that its pattern matches.
type Param struct {
	// Pattern is a fully qualified node name in which a part "*" stands for any one
	// part and "**" for any number of them: "/**" is every node.
	Pattern string
	Name    string // with dots for nesting
	// Value is a bool, int64, float64, string, or a slice of one of them;
	// an empty []any for a list without elements, which tells no type.
	Value any
}

// Matches reports whether the parameter is for the node of that fully qualified name.
func (p Param) Matches(node string) bool {
	return matchParts(strings.Split(p.Pattern, "/")[1:], strings.Split(node, "/")[1:])
}

func matchParts(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	if pattern[0] == "**" {
		for i := range len(name) + 1 {
			if matchParts(pattern[1:], name[i:]) {
				return true
			}
		}
		return false
	}
	return len(name) > 0 && (pattern[0] == "*" || pattern[0] == name[0]) && matchParts(pattern[1:], name[1:])
}

// FileError says where a parameter file is wrong.
type FileError struct {
	File string
	Line int // from 1, 0 where it is not known
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }

// param reads -p [node:]name:=value.
func (a *Args) param(s string) error {
	name, text, ok := strings.Cut(s, ":=")
	if !ok {
		return errors.New("want NAME:=VALUE")
	}
	pattern := "/**"
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		if pattern, name = name[:i], name[i+1:]; pattern == "" {
			return errors.New("the node's name is empty")
		}
		if err := ValidateNodeName(pattern); err != nil {
			return err
		}
		pattern = "/" + pattern
	}
	if name == "" {
		return errors.New("the parameter's name is empty")
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("the value is no YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return errors.New("the value is empty")
	}
	params, err := flatten(nil, pattern, name, doc.Content[0])
	if err != nil {
		return err.Err
	}
	a.Params = append(a.Params, params...)
	return nil
}

func validatePattern(pattern string) error {
	for _, part := range strings.Split(pattern, "/")[1:] {
		if part == "*" || part == "**" {
			continue
		}
		if err := ValidateNodeName(part); err != nil {
			return err
		}
	}
	return nil
}

// rosParameters is the key under which a node's parameters stand.
const rosParameters = "ros__parameters"

// ParseParamsFile reads a parameter file: node names (or patterns, or namespaces
// that hold them), below each ros__parameters, below that parameters, nested ones joined by dots.
// name is only for errors, which are *FileError.
func ParseParamsFile(name string, data []byte) ([]Param, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, &FileError{File: name, Err: err}
	}
	if len(doc.Content) == 0 {
		return nil, &FileError{File: name, Line: 1, Err: errors.New("empty")}
	}
	params, err := nodes(nil, "", doc.Content[0])
	if err != nil {
		err.File = name
		return nil, err
	}
	return params, nil
}

func at(n *yaml.Node, format string, args ...any) *FileError {
	return &FileError{Line: n.Line, Err: fmt.Errorf(format, args...)}
}

func nodes(params []Param, prefix string, n *yaml.Node) ([]Param, *FileError) {
	if n.Kind != yaml.MappingNode {
		return nil, at(n, "want node names, each with %s below it", rosParameters)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		var err *FileError
		if key.Value == rosParameters {
			switch {
			case prefix == "":
				return nil, at(key, "%s without a node's name above it", rosParameters)
			case value.Kind != yaml.MappingNode:
				return nil, at(value, "want parameters below %s", rosParameters)
			}
			params, err = flatten(params, prefix, "", value)
		} else {
			full := prefix + "/" + strings.Trim(key.Value, "/")
			if err := validatePattern(full); err != nil {
				return nil, at(key, "%w", err)
			}
			params, err = nodes(params, full, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return params, nil
}

// flatten appends the parameters in n, whose name so far is name.
func flatten(params []Param, pattern, name string, n *yaml.Node) ([]Param, *FileError) {
	switch n.Kind { //nolint:exhaustive // what else YAML has is refused below
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Value == "" {
				return nil, at(key, "want a parameter's name")
			}
			full := key.Value
			if name != "" {
				full = name + "." + full
			}
			var err *FileError
			if params, err = flatten(params, pattern, full, n.Content[i+1]); err != nil {
				return nil, err
			}
		}
		return params, nil
	case yaml.SequenceNode:
		list, err := sequence(name, n)
		if err != nil {
			return nil, err
		}
		return append(params, Param{Pattern: pattern, Name: name, Value: list}), nil
	case yaml.ScalarNode:
		v, reason := scalar(n)
		if reason != "" {
			return nil, at(n, "parameter %s: %s", name, reason)
		}
		return append(params, Param{Pattern: pattern, Name: name, Value: v}), nil
	case yaml.AliasNode:
		return nil, at(n, "parameter %s: ROS parameters take no YAML aliases", name)
	}
	return nil, at(n, "parameter %s: want a value", name)
}

func sequence(name string, n *yaml.Node) (any, *FileError) {
	if len(n.Content) == 0 {
		return []any{}, nil
	}
	var values []any
	for i, e := range n.Content {
		if e.Kind != yaml.ScalarNode {
			return nil, at(e, "parameter %s: element %d is no bool, number or string", name, i)
		}
		v, reason := scalar(e)
		if reason != "" {
			return nil, at(e, "parameter %s: element %d: %s", name, i, reason)
		}
		if i > 0 && fmt.Sprintf("%T", v) != fmt.Sprintf("%T", values[0]) {
			return nil, at(e, "parameter %s: element %d, %s, is a %T in a list of %T: a list holds one type", name, i, e.Value, v, values[0])
		}
		values = append(values, v)
	}
	switch values[0].(type) {
	case bool:
		return typed[bool](values), nil
	case int64:
		return typed[int64](values), nil
	case float64:
		return typed[float64](values), nil
	}
	return typed[string](values), nil
}

func typed[T any](values []any) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = v.(T)
	}
	return out
}

// scalar types a YAML scalar as rcl does: quoted or tagged !!str is a string; then
// YAML 1.1's words for true and false; then an integer as C reads it (0x1f, 017); then a
// float as C reads it, and .nan and .inf; else a string.
func scalar(n *yaml.Node) (any, string) {
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 || n.Tag == "!!str" && n.Style&yaml.TaggedStyle != 0 {
		return n.Value, ""
	}
	s := n.Value
	switch s {
	case "":
		return nil, "no value"
	case "Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true, ""
	case "N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false, ""
	}
	if i, ok := cInteger(s); ok {
		return i, ""
	}
	if f, ok := cFloat(s); ok {
		return f, ""
	}
	return s, ""
}

// cInteger is strtoll with base 0 over the whole text.
func cInteger(s string) (int64, bool) {
	sign, digits := "", s
	if s[0] == '+' || s[0] == '-' {
		sign, digits = s[:1], s[1:]
	}
	base := 10
	switch {
	case strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X"):
		base, digits = 16, digits[2:]
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	if digits == "" || digits[0] == '+' || digits[0] == '-' {
		return 0, false
	}
	i, err := strconv.ParseInt(sign+digits, base, 64)
	return i, err == nil
}

// cFloat is strtod over the whole text, and YAML's words for what is not finite.
func cFloat(s string) (float64, bool) {
	switch s {
	case ".nan", ".NaN", ".NAN":
		return math.NaN(), true
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return math.Inf(1), true
	case "-.inf", "-.Inf", "-.INF":
		return math.Inf(-1), true
	}
	if strings.ContainsAny(s, "_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && strings.ContainsAny(s, "xX") { // C needs no exponent on a hexadecimal float
		f, err = strconv.ParseFloat(s+"p0", 64)
	}
	return f, err == nil
}
