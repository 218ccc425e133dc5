package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Violation is one rule of a schema that the arguments break.
type Violation struct {
	// Path is a JSON pointer into the arguments; "" is the whole.
	Path    string
	Message string
}

// InvalidError says everything that is wrong with a call's arguments.
type InvalidError struct {
	Tool       string
	Violations []Violation
}

// Error names every violation with its path.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "arguments of %s are invalid", e.Tool)
	for i, v := range e.Violations {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		at := v.Path
		if at == "" {
			at = "/"
		}
		fmt.Fprintf(&b, "%sat %s: %s", sep, at, v.Message)
	}
	return b.String()
}

// ErrUnknown is wrapped where a name is not in the table.
var ErrUnknown = errors.New("tool: not in the table")

// Table holds the tools of a robot and the built-in ones. It never changes after NewTable and is safe for concurrent use.
type Table struct {
	entries map[string]*entry
	specs   []Spec
}

type entry struct {
	tool   Tool
	spec   Spec
	schema *schema
}

// NewTable compiles the schemas and adds the built-in tools finish, ask_person and declare_criteria.
// A repeated or malformed name, an unknown class, a class control that is not built in, and a schema that does not
// compile or is no object's are errors; all of them are reported together.
func NewTable(tools ...Tool) (*Table, error) {
	t := &Table{entries: make(map[string]*entry, len(tools)+3)}
	var errs []error
	for _, x := range append(builtIns(), tools...) {
		if x == nil {
			errs = append(errs, errors.New("tool: nil in the table"))
			continue
		}
		if err := t.add(x); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Table) add(x Tool) error {
	s := x.Spec()
	if !validName(s.Name) {
		return fmt.Errorf("tool: name %q must be 1 to 64 letters, digits, '_' and '-', with a letter first", s.Name)
	}
	if _, twice := t.entries[s.Name]; twice {
		return fmt.Errorf("tool %s: the name is taken", s.Name)
	}
	switch s.Class {
	case Query, Skill, Verify:
	case Control:
		if _, ok := x.(builtIn); !ok {
			return fmt.Errorf("tool %s: class control is for built-in tools", s.Name)
		}
	default:
		return fmt.Errorf("tool %s: class %d is unknown", s.Name, s.Class)
	}
	if s.TimeLimit < 0 {
		return fmt.Errorf("tool %s: time limit is %v, must not be negative", s.Name, s.TimeLimit)
	}
	sch, err := compileSchema(s.Parameters)
	if err != nil {
		return fmt.Errorf("tool %s: %w", s.Name, err)
	}
	if len(bytes.TrimSpace(s.Parameters)) == 0 {
		s.Parameters = noArguments
	}
	t.entries[s.Name] = &entry{tool: x, spec: s, schema: sch}
	t.specs = append(t.specs, s)
	return nil
}

// validName is what model endpoints accept as a function's name.
func validName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '_' || c == '-')) {
			return false
		}
	}
	return true
}

// Get finds a tool by its exact name.
func (t *Table) Get(name string) (Tool, bool) {
	e, ok := t.entries[name]
	if !ok {
		return nil, false
	}
	return e.tool, true
}

// Lookup finds a tool and its spec by its exact name; nil where there is none. The spec is the table's: it must not be written to.
func (t *Table) Lookup(name string) (Tool, *Spec) {
	e, ok := t.entries[name]
	if !ok {
		return nil, nil
	}
	return e.tool, &e.spec
}

// Spec of a tool by its exact name.
func (t *Table) Spec(name string) (Spec, bool) {
	e, ok := t.entries[name]
	if !ok {
		return Spec{}, false
	}
	return e.spec, true
}

// Specs of all tools: the built-in ones first, then the others as given to NewTable. The slice is the caller's.
func (t *Table) Specs() []Spec { return slices.Clone(t.specs) }

// Properties of a tool's arguments, in the order of its schema's text: the order of arguments in a criterion.
// nil for an unknown tool.
func (t *Table) Properties(name string) []string {
	e, ok := t.entries[name]
	if !ok {
		return nil
	}
	return slices.Clone(e.schema.properties)
}

// Required properties of a tool's arguments, as its schema's root lists them.
func (t *Table) Required(name string) []string {
	e, ok := t.entries[name]
	if !ok {
		return nil
	}
	return slices.Clone(e.schema.required)
}

// Validate checks raw arguments: strict JSON (see ParseStrict), an object, valid against the tool's schema. Nothing is
// repaired and no default fills in. It returns the bytes without surrounding white space; an error is an *InvalidError,
// or wraps ErrUnknown.
func (t *Table) Validate(name string, raw []byte) (json.RawMessage, error) {
	e, ok := t.entries[name]
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	if e.schema.flat != nil && e.schema.flat.certainlyValid(raw) {
		return json.RawMessage(bytes.TrimSpace(raw)), nil
	}
	v, err := ParseStrict(raw)
	if err != nil {
		found := []Violation{{Message: "no strict JSON: " + err.Error()}}
		if len(bytes.TrimSpace(raw)) == 0 {
			// An empty text is not taken for an empty object, but what such an object would lack is said at once.
			found = []Violation{{Message: "empty text is no JSON object; write {} for no arguments"}}
			if err := e.schema.compiled.Validate(map[string]any{}); err != nil {
				found = append(found, violations(err)...)
			}
		}
		return nil, &InvalidError{Tool: name, Violations: found}
	}
	if _, ok := v.(map[string]any); !ok {
		return nil, &InvalidError{Tool: name, Violations: []Violation{{Message: "got " + typeName(v) + ", an object belongs here"}}}
	}
	if err := e.schema.compiled.Validate(v); err != nil {
		return nil, &InvalidError{Tool: name, Violations: violations(err)}
	}
	return json.RawMessage(bytes.TrimSpace(raw)), nil
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}
