package args

import (
	"fmt"
	"strings"

	"agent_node/pkg/ros"
)

// The longest names that ROS 2 takes, in bytes.
const (
	maxTopicName = 247
	maxNamespace = 245
	maxNodeName  = 255
)

// NameError says what is wrong with a name. It wraps ros.ErrInvalidName.
type NameError struct {
	What   string // "topic name", "node name", "namespace"
	Name   string
	At     int // byte offset of the fault, -1 where it is the whole
	Reason string
}

func (e *NameError) Error() string {
	at := ""
	if e.At >= 0 {
		at = fmt.Sprintf(" at offset %d", e.At)
	}
	return fmt.Sprintf("ros: invalid %s %q%s: %s", e.What, e.Name, at, e.Reason)
}

// Unwrap makes errors.Is(err, ros.ErrInvalidName) true.
func (e *NameError) Unwrap() error { return ros.ErrInvalidName }

func letter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// ValidateNodeName checks a node's base name: letters, digits and underscores, no digit first.
func ValidateNodeName(name string) error {
	bad := func(at int, reason string) error {
		return &NameError{What: "node name", Name: name, At: at, Reason: reason}
	}
	switch {
	case name == "":
		return bad(-1, "empty")
	case digit(name[0]):
		return bad(0, "begins with a digit")
	case len(name) > maxNodeName:
		return bad(-1, fmt.Sprintf("%d bytes long, more than %d", len(name), maxNodeName))
	}
	for i := range len(name) {
		if !letter(name[i]) && !digit(name[i]) {
			return bad(i, "only letters, digits and underscores are allowed")
		}
	}
	return nil
}

// CleanNamespace is the namespace in its absolute form: "" is "/", "a/b" is "/a/b".
func CleanNamespace(namespace string) (string, error) {
	if namespace == "" || namespace == "/" {
		return "/", nil
	}
	if namespace[0] != '/' {
		namespace = "/" + namespace
	}
	return namespace, validateAbsolute("namespace", namespace, maxNamespace)
}

// ValidateTopicName checks the absolute name of a topic or service.
func ValidateTopicName(name string) error { return validateAbsolute("topic name", name, maxTopicName) }

func validateAbsolute(what, name string, longest int) error {
	bad := func(at int, reason string) error {
		return &NameError{What: what, Name: name, At: at, Reason: reason}
	}
	switch {
	case name == "":
		return bad(-1, "empty")
	case name[0] != '/':
		return bad(0, "not absolute")
	case name[len(name)-1] == '/':
		return bad(len(name)-1, "ends with a slash")
	case len(name) > longest:
		return bad(-1, fmt.Sprintf("%d bytes long, more than %d", len(name), longest))
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '/':
			if name[i+1] == '/' {
				return bad(i+1, "two slashes in a row")
			}
			if digit(name[i+1]) {
				return bad(i+1, "a part begins with a digit")
			}
		case !letter(c) && !digit(c):
			return bad(i, "only letters, digits, underscores and slashes are allowed")
		}
	}
	return nil
}

// Expand makes a topic or service name absolute for a node: "/abs" stays,
// "relative" goes below the namespace, "~" and "~/private" below the node; {node},
// {ns} and {namespace} are replaced. The namespace is in its clean form.
func Expand(name, node, namespace string) (string, error) {
	if err := validateUnexpanded(name); err != nil {
		return "", err
	}
	below := func(ns, rest string) string {
		if ns == "/" {
			return "/" + rest
		}
		return ns + "/" + rest
	}
	out := name
	if out[0] == '~' {
		out = below(namespace, node) + out[1:]
	}
	if strings.Contains(out, "{") {
		out = strings.NewReplacer("{node}", node, "{ns}", namespace, "{namespace}", namespace).Replace(out)
	}
	if out[0] != '/' {
		out = below(namespace, out)
	}
	if err := ValidateTopicName(out); err != nil {
		return "", err
	}
	return out, nil
}

// validateUnexpanded checks a name as a program or a rule writes it.
func validateUnexpanded(name string) error {
	bad := func(at int, reason string) error {
		return &NameError{What: "topic name", Name: name, At: at, Reason: reason}
	}
	if name == "" {
		return bad(-1, "empty")
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '~' && i > 0:
			return bad(i, "~ is only allowed at the beginning")
		case c == '~' && len(name) > 1 && name[1] != '/':
			return bad(1, "~ is followed by a slash")
		case c == '~':
		case c == '{':
			end := strings.IndexByte(name[i:], '}')
			if end < 0 {
				return bad(i, "{ without }")
			}
			switch s := name[i : i+end+1]; s {
			case "{node}", "{ns}", "{namespace}":
			default:
				return bad(i, "unknown substitution "+s)
			}
			i += end
		case c == '}':
			return bad(i, "} without {")
		case c == '/':
			if i+1 < len(name) && digit(name[i+1]) {
				return bad(i+1, "a part begins with a digit")
			}
		case i == 0 && digit(c):
			return bad(0, "begins with a digit")
		case !letter(c) && !digit(c):
			return bad(i, "only letters, digits, underscores, slashes, ~ and {} are allowed")
		}
	}
	return nil
}
