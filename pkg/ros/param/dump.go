package param

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Dump writes every parameter that has a value as a parameter file, as `ros2 param dump`
// does: <node>: ros__parameters: groups nested at their dots. A node started with
// that file as its overrides has the same parameters.
func (s *Server) Dump() ([]byte, error) {
	root := mapping()
	for _, p := range s.All() {
		if p.Value.IsSet() {
			insert(root, p)
		}
	}
	doc := mapping()
	inner := mapping()
	add(inner, "ros__parameters", root)
	add(doc, path.Join(s.node.Namespace(), s.node.Name()), inner)
	out, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("param: dump: %w", err)
	}
	return out, nil
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func add(m *yaml.Node, key string, v *yaml.Node) {
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
}

func find(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// insert nests the parameter. Where "a" is a parameter, "a.b" keeps its dot: parameter
// files may hold both forms, and a key cannot be a value and a group.
func insert(root *yaml.Node, p Parameter) {
	m, rest := root, p.Name
	for {
		group, below, nested := strings.Cut(rest, separator)
		if !nested {
			break
		}
		next := find(m, group)
		if next == nil {
			next = mapping()
			add(m, group, next)
		}
		if next.Kind != yaml.MappingNode {
			break
		}
		m, rest = next, below
	}
	add(m, rest, p.Value.yaml())
}

func (v Value) yaml() *yaml.Node {
	switch x := v.v.(type) {
	case bool:
		return scalar("!!bool", strconv.FormatBool(x))
	case int64:
		return scalar("!!int", strconv.FormatInt(x, 10))
	case float64:
		return scalar("!!float", yamlDouble(x))
	case string:
		// Always quoted: what is a plain string for one YAML parser is "no" or 1e5 for another.
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: x, Style: yaml.DoubleQuotedStyle}
	case []byte:
		return sequence(x, func(b byte) Value { return Value{Integer, int64(b)} })
	case []bool:
		return sequence(x, func(b bool) Value { return Value{Bool, b} })
	case []int64:
		return sequence(x, func(i int64) Value { return Value{Integer, i} })
	case []float64:
		return sequence(x, func(f float64) Value { return Value{Double, f} })
	case []string:
		return sequence(x, func(s string) Value { return Value{String, s} })
	default:
		return scalar("!!null", "null")
	}
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func sequence[T any](x []T, of func(T) Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if len(x) == 0 {
		n.Style = yaml.FlowStyle
	}
	for i := range x {
		n.Content = append(n.Content, of(x[i]).yaml())
	}
	return n
}

// yamlDouble has a dot always: 1e+06 is a string for YAML 1.1.
func yamlDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if mantissa, exponent, ok := strings.Cut(s, "e"); ok && !strings.Contains(mantissa, ".") {
		return mantissa + ".0e" + exponent
	}
	if !strings.ContainsAny(s, ".e") {
		return s + ".0"
	}
	return s
}
