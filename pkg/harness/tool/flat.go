package tool

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// flat is a quick check for the plain schemas that most tools have: an object of scalars. It only ever says "certainly
// valid"; everything else, and every refusal, is the library's word. It exists because the library compares numbers as
// big fractions, which would cost a third of a step of the loop.
type flat struct {
	properties map[string]flatRule
	required   uint64 // by the properties' places
}

type flatRule struct {
	place    int    // among the properties, in the order of their names
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
	props, ok := root["properties"].(map[string]any)
	if !ok && root["properties"] != nil {
		return nil
	}
	for place, name := range slices.Sorted(maps.Keys(props)) {
		rule, ok := newRule(props[name])
		if !ok || place >= mostFlat {
			return nil
		}
		rule.place = place
		f.properties[name] = rule
	}
	list, _ := root["required"].([]any)
	for _, x := range list {
		name, _ := x.(string)
		rule, ok := f.properties[name]
		if !ok {
			return nil // what is required and not described
		}
		f.required |= 1 << rule.place
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

// mostFlat properties: one bit for each.
const mostFlat = 64

// maxExact is the largest integer below which float64 holds every integer.
const maxExact = 1 << 53

// certainlyValid is true only if the text is strict JSON that the library would accept. It reads the text once and keeps nothing of it;
// texts with escapes are left to the library.
func (f *flat) certainlyValid(text []byte) bool {
	p := parser{text: text}
	p.space()
	if !p.byte('{') {
		return false
	}
	var seen uint64 // by the property's place
	p.space()
	for first := true; !p.byte('}'); first = false {
		if !first {
			if !p.byte(',') {
				return false
			}
			p.space()
		}
		key, ok := p.plain()
		if !ok {
			return false
		}
		r, ok := f.properties[string(key)]
		if !ok || seen&(1<<r.place) != 0 {
			return false
		}
		seen |= 1 << r.place
		p.space()
		if !p.byte(':') {
			return false
		}
		p.space()
		if !r.accepts(&p) {
			return false
		}
		p.space()
	}
	p.space()
	return p.pos == len(text) && seen&f.required == f.required
}

// accepts reads one value.
func (r *flatRule) accepts(p *parser) bool {
	switch r.kind {
	case "string":
		v, ok := p.plain()
		return ok && (r.enum == nil || slices.ContainsFunc(r.enum, func(e string) bool { return e == string(v) }))
	case "boolean":
		return p.word("true") || p.word("false")
	}
	if p.pos >= len(p.text) || p.text[p.pos] != '-' && !isDigit(p.text[p.pos]) {
		return false
	}
	n, v, integer, err := p.scalar()
	switch {
	case err != nil:
		return false
	case integer:
		return n > -maxExact && n < maxExact && float64(n) > r.min && float64(n) < r.max
	}
	return r.kind == "number" && v > r.min && v < r.max
}

// byte reads one character of the grammar.
func (p *parser) byte(c byte) bool {
	if p.pos >= len(p.text) || p.text[p.pos] != c {
		return false
	}
	p.pos++
	return true
}

// word reads a literal name.
func (p *parser) word(w string) bool {
	end := p.pos + len(w)
	if end > len(p.text) || string(p.text[p.pos:end]) != w || end < len(p.text) && isWord(p.text[end]) {
		return false
	}
	p.pos = end
	return true
}

// plain reads a text without escapes, of ASCII that prints; it is a part of the text that is read.
func (p *parser) plain() ([]byte, bool) {
	if !p.byte('"') {
		return nil, false
	}
	from := p.pos
	for ; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return p.text[from : p.pos-1], true
		case c == '\\' || c < 0x20 || c >= 0x7f:
			return nil, false
		}
	}
	return nil, false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
