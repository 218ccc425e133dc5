package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema of one tool's arguments, compiled.
type schema struct {
	compiled   *jsonschema.Schema
	flat       *flat    // nil: the library alone decides
	properties []string // in the order of the text
	required   []string
}

// composing keywords may define properties outside "properties".
var composing = []string{"oneOf", "anyOf", "allOf", "not", "if", "$ref", "$dynamicRef", "patternProperties", "dependentSchemas"}

// noArguments is the schema of a tool that gives none.
var noArguments = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// compileSchema compiles a tool's schema. Properties that the schema does not know are refused unless it says
// otherwise itself: a misspelt optional argument must not be dropped in silence.
func compileSchema(raw json.RawMessage) (*schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = noArguments
	}
	if _, err := ParseStrict(raw); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok || root["type"] != "object" {
		return nil, errors.New(`schema: its root must say "type": "object"`)
	}
	_, additional := root["additionalProperties"]
	_, unevaluated := root["unevaluatedProperties"]
	if !additional && !unevaluated {
		closed := "additionalProperties"
		if slices.ContainsFunc(composing, func(k string) bool { _, has := root[k]; return has }) {
			closed = "unevaluatedProperties"
		}
		root[closed] = false
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	const url = "tool:///arguments"
	if err := c.AddResource(url, root); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &schema{flat: newFlat(root)}
	if s.compiled, err = c.Compile(url); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.properties, err = propertyOrder(raw); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if list, ok := root["required"].([]any); ok {
		for _, x := range list {
			if name, ok := x.(string); ok {
				s.required = append(s.required, name)
			}
		}
	}
	return s, nil
}

// noLoader refuses references to other documents: a schema must stand alone.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a tool's schema must not refer to another document (%s)", url)
}

// propertyOrder reads the keys of "properties" in the order of the text, which maps lose. Properties of the
// branches of a oneOf, anyOf or allOf follow in the order of the branches.
func propertyOrder(raw json.RawMessage) ([]string, error) {
	var order []string
	add := func(name string) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	var walk func(raw json.RawMessage) error
	walk = func(raw json.RawMessage) error {
		root, err := members(raw)
		if err != nil {
			return err
		}
		for _, m := range root {
			if m.key != "properties" {
				continue
			}
			props, err := members(m.value)
			if err != nil {
				return err
			}
			for _, p := range props {
				add(p.key)
			}
		}
		for _, m := range root {
			if m.key != "oneOf" && m.key != "anyOf" && m.key != "allOf" {
				continue
			}
			var branches []json.RawMessage
			if err := json.Unmarshal(m.value, &branches); err != nil {
				return err
			}
			for _, b := range branches {
				if len(b) > 0 && b[0] == '{' {
					if err := walk(b); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}
	return order, walk(raw)
}

type member struct {
	key   string
	value json.RawMessage
}

// members of an object, in the order of the text.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("an object belongs here, got %.40s", raw)
	}
	var out []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: fmt.Sprint(t)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// violations flattens what the library found, each with its path.
func violations(err error) []Violation {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Violation{{Message: err.Error()}}
	}
	p := message.NewPrinter(language.English)
	var out []Violation
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) > 0 {
			for _, c := range e.Causes {
				walk(c)
			}
			if !branching(e.ErrorKind) {
				return
			}
		}
		ordered(e.ErrorKind)
		v := Violation{Path: pointer(e.InstanceLocation), Message: e.ErrorKind.LocalizedString(p)}
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	walk(ve)
	slices.SortStableFunc(out, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return out
}

// ordered sorts the names in a violation: the library has them in the order of a map, which is another one each time.
func ordered(k jsonschema.ErrorKind) {
	switch k := k.(type) {
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
	case *kind.Required:
		slices.Sort(k.Missing)
	case *kind.DependentRequired:
		slices.Sort(k.Missing)
	case *kind.Dependency:
		slices.Sort(k.Missing)
	}
}

// branching kinds are worth a violation of their own beside those of their branches.
func branching(k jsonschema.ErrorKind) bool {
	switch k.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return true
	}
	return false
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}
