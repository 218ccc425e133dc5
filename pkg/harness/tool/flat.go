package tool

import (
	"encoding/json"
	"math"
	"slices"
)

// flat is a quick check for the plain schemas that most tools have: an object of scalars. It only ever says "certainly
// valid"; everything else, and every refusal, is the library's word. It exists because the library compares numbers as
// big fractions, which would cost a third of a step of the loop.
type flat struct {
	properties map[string]flatRule
	required   []string
}

type flatRule struct {
	kind     string // string, number, integer, boolean
	enum     []string
	min, max float64 // strictly inside is certainly valid; on the bound the library decides
}

// Keywords that flat understands, and those that judge nothing.
var (
	flatRoot     = []string{"type", "properties", "required", "additionalProperties", "title", "description", "$schema", "$comment", "examples"}
	flatProperty = []string{"type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "title", "description", "default", "examples", "$comment"}
)

// newFlat returns nil where the schema says more than flat understands. root is as the library's reader made it.
func newFlat(root map[string]any) *flat {
	for k := range root {
		if !slices.Contains(flatRoot, k) {
			return nil
		}
	}
	if closed, ok := root["additionalProperties"].(bool); !ok || closed {
		return nil
	}
	f := &flat{properties: map[string]flatRule{}}
	if list, ok := root["required"].([]any); ok {
		for _, x := range list {
			name, ok := x.(string)
			if !ok {
				return nil
			}
			f.required = append(f.required, name)
		}
	}
	props, ok := root["properties"].(map[string]any)
	if !ok && root["properties"] != nil {
		return nil
	}
	for name, p := range props {
		rule, ok := newRule(p)
		if !ok {
			return nil
		}
		f.properties[name] = rule
	}
	return f
}

func newRule(p any) (flatRule, bool) {
	r := flatRule{min: math.Inf(-1), max: math.Inf(1)}
	def, ok := p.(map[string]any)
	if !ok {
		return r, false
	}
	for k := range def {
		if !slices.Contains(flatProperty, k) {
			return r, false
		}
	}
	r.kind, _ = def["type"].(string)
	switch r.kind {
	case "string", "number", "integer", "boolean":
	default:
		return r, false
	}
	if list, given := def["enum"]; given {
		values, ok := list.([]any)
		if !ok || r.kind != "string" {
			return r, false
		}
		r.enum = []string{}
		for _, v := range values {
			s, ok := v.(string)
			if !ok {
				return r, false
			}
			r.enum = append(r.enum, s)
		}
	}
	for _, b := range []struct {
		key string
		set func(float64)
	}{
		{"minimum", func(v float64) { r.min = max(r.min, v) }},
		{"exclusiveMinimum", func(v float64) { r.min = max(r.min, v) }},
		{"maximum", func(v float64) { r.max = min(r.max, v) }},
		{"exclusiveMaximum", func(v float64) { r.max = min(r.max, v) }},
	} {
		raw, given := def[b.key]
		if !given {
			continue
		}
		n, ok := raw.(json.Number)
		if !ok {
			return r, false
		}
		v, err := n.Float64()
		if err != nil {
			return r, false
		}
		b.set(v)
	}
	return r, true
}

// maxExact is the largest integer below which float64 holds every integer.
const maxExact = 1 << 53

// certainlyValid is true only if the library would accept v.
func (f *flat) certainlyValid(v map[string]any) bool {
	for _, name := range f.required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, x := range v {
		r, ok := f.properties[name]
		if !ok {
			return false
		}
		switch x := x.(type) {
		case string:
			if r.kind != "string" || r.enum != nil && !slices.Contains(r.enum, x) {
				return false
			}
		case bool:
			if r.kind != "boolean" {
				return false
			}
		case int64:
			if r.kind != "number" && r.kind != "integer" || x <= -maxExact || x >= maxExact || !(float64(x) > r.min && float64(x) < r.max) {
				return false
			}
		case float64:
			if r.kind != "number" || !(x > r.min && x < r.max) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
