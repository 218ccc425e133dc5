package criteria

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/harness/trace"
)

// MaxText bounds one criterion, in bytes.
const MaxText = 4096

// Prefixes of the criteria that are no tool's call.
const (
	celPrefix    = "cel:"
	personPrefix = "person:"
)

// SyntaxError says what is wrong with a criterion, and where in it.
type SyntaxError struct {
	Text    string
	Offset  int // bytes
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("criterion %q: offset %d: %s", clip(e.Text), e.Offset, e.Message)
}

// Parse reads one criterion. The verify tool must be in the table and the arguments must be valid against its schema;
// a cel: expression must compile (eval nil: none can). Errors say what and where; a caller reports them as bad_request.
func Parse(text string, table *tool.Table, eval Evaluator) (Criterion, error) {
	text = strings.TrimSpace(text)
	c := Criterion{Text: text}
	switch {
	case text == "":
		return c, &SyntaxError{Message: "it is empty"}
	case len(text) > MaxText:
		return c, &SyntaxError{Text: text, Message: fmt.Sprintf("it has %d bytes, the limit is %d", len(text), MaxText)}
	case strings.HasPrefix(text, celPrefix):
		if eval == nil {
			return c, &SyntaxError{Text: text, Message: "cel: criteria are not available here"}
		}
		x, err := eval.Compile(strings.TrimSpace(text[len(celPrefix):]))
		if err != nil {
			return c, fmt.Errorf("criterion %q: %w", clip(text), err)
		}
		c.Kind, c.Expression = ByCEL, x
		return c, nil
	case strings.HasPrefix(text, personPrefix):
		c.Kind, c.Question = ByPerson, strings.TrimSpace(text[len(personPrefix):])
		if c.Question == "" {
			return c, &SyntaxError{Text: text, Offset: len(personPrefix), Message: "the question is empty"}
		}
		return c, nil
	}
	name, args, err := splitCall(text)
	if err != nil {
		return c, err
	}
	c.Kind, c.Tool = ByTool, name
	if c.Arguments, err = bind(text, name, args, table); err != nil {
		return c, err
	}
	return c, nil
}

// argument of a call: its text without surrounding blanks, and where it stands.
type argument struct {
	text   string
	offset int
}

// splitCall takes `name(a, b)` apart. Commas separate unless they stand in a quoted string, brackets or braces.
func splitCall(text string) (string, []argument, error) {
	fail := func(at int, format string, a ...any) (string, []argument, error) {
		return "", nil, &SyntaxError{Text: text, Offset: at, Message: fmt.Sprintf(format, a...)}
	}
	open := strings.IndexByte(text, '(')
	if open < 0 {
		return fail(0, "it must be tool(arguments), \"cel: EXPRESSION\" or \"person: QUESTION\"")
	}
	name := text[:open]
	for i, r := range name {
		if !(r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return fail(i, "%q in a tool's name", r)
		}
	}
	if name == "" {
		return fail(0, "the tool's name is missing")
	}
	var (
		args   []argument
		from   = open + 1
		depth  int
		quoted bool
		closed = -1
	)
	take := func(to int) {
		raw := text[from:to]
		trimmed := strings.TrimSpace(raw)
		args = append(args, argument{trimmed, from + strings.Index(raw, trimmed)})
		from = to + 1
	}
	for i := open + 1; i < len(text) && closed < 0; i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
			if depth < 0 {
				return fail(i, "%q closes nothing", c)
			}
		case c == '(':
			return fail(i, "a parenthesis inside an argument must be quoted")
		case depth > 0:
		case c == ',':
			take(i)
		case c == ')':
			take(i)
			closed = i
		}
	}
	switch {
	case closed < 0:
		return fail(len(text), "the closing parenthesis is missing")
	case closed != len(text)-1:
		return fail(closed+1, "text behind the closing parenthesis")
	}
	if len(args) == 1 && args[0].text == "" {
		return name, nil, nil
	}
	for _, a := range args {
		if a.text == "" {
			return fail(a.offset, "an argument is empty; write \"\" for an empty text")
		}
	}
	return name, args, nil
}

// bind gives the arguments the names of the schema's properties, in their order, and validates them.
func bind(text, name string, args []argument, table *tool.Table) (json.RawMessage, error) {
	spec, ok := table.Spec(name)
	if !ok {
		return nil, &SyntaxError{Text: text, Message: fmt.Sprintf("no tool is called %q", name)}
	}
	if spec.Class != tool.Verify {
		return nil, &SyntaxError{Text: text, Message: fmt.Sprintf("%s is a %s tool; only a verify tool can judge", name, spec.Class)}
	}
	props := table.Properties(name)
	if len(args) > len(props) {
		return nil, &SyntaxError{Text: text, Offset: args[len(props)].offset, Message: fmt.Sprintf("%d arguments, %s takes at most %d", len(args), name, len(props))}
	}
	types, err := propertyTypes(spec.Parameters)
	if err != nil {
		return nil, fmt.Errorf("criterion %q: schema of %s: %w", clip(text), name, err)
	}
	var f trace.Fields
	f.Reset()
	for i, a := range args {
		value, err := literal(a.text, types[props[i]])
		if err != nil {
			return nil, &SyntaxError{Text: text, Offset: a.offset, Message: fmt.Sprintf("%s: %v", props[i], err)}
		}
		f.Raw(escapeKey(props[i]), value)
	}
	raw, err := table.Validate(name, f.JSON())
	if err != nil {
		return nil, fmt.Errorf("criterion %q: %w", clip(text), err)
	}
	return raw, nil
}

// literal makes JSON of an argument. Text is text where the schema wants a string; elsewhere it must be JSON, and
// where the schema says nothing it is JSON if it can be.
func literal(text string, types []string) ([]byte, error) {
	_, err := tool.ParseStrict([]byte(text))
	isText, open := false, len(types) == 0
	for _, t := range types {
		isText = isText || t == "string"
	}
	switch {
	case text[0] == '"':
		if err != nil {
			return nil, fmt.Errorf("quoted text: %w", err)
		}
		return []byte(text), nil
	case isText && (len(types) == 1 || err != nil), open && err != nil:
		if strings.ContainsAny(text, `"`) {
			return nil, errors.New("a quotation mark inside bare text")
		}
		return trace.AppendString(nil, text), nil
	case err != nil:
		return nil, fmt.Errorf("%q is no %s: %w", clip(text), strings.Join(types, " or "), err)
	}
	return []byte(text), nil
}

// propertyTypes reads the types of a schema's properties, those of the branches of a oneOf, anyOf or allOf included.
func propertyTypes(schema json.RawMessage) (map[string][]string, error) {
	type level struct {
		Properties map[string]struct {
			Type  any `json:"type"`
			Enum  []any
			Const any
		} `json:"properties"`
		OneOf []json.RawMessage `json:"oneOf"`
		AnyOf []json.RawMessage `json:"anyOf"`
		AllOf []json.RawMessage `json:"allOf"`
	}
	types := map[string][]string{}
	var walk func(raw json.RawMessage) error
	walk = func(raw json.RawMessage) error {
		if len(raw) > 0 && raw[0] != '{' {
			return nil // true or false
		}
		var l level
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		for name, p := range l.Properties {
			switch t := p.Type.(type) {
			case string:
				types[name] = append(types[name], t)
			case []any:
				for _, x := range t {
					if s, ok := x.(string); ok {
						types[name] = append(types[name], s)
					}
				}
			case nil:
				for _, v := range append(p.Enum, p.Const) {
					if _, ok := v.(string); ok {
						types[name] = append(types[name], "string")
						break
					}
				}
			}
		}
		for _, branches := range [][]json.RawMessage{l.OneOf, l.AnyOf, l.AllOf} {
			for _, b := range branches {
				if err := walk(b); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return types, walk(schema)
}

// escapeKey makes a property's name fit for trace.Fields, whose keys are written as they are.
func escapeKey(name string) string {
	quoted := trace.AppendString(nil, name)
	return string(quoted[1 : len(quoted)-1])
}

// clip shortens a text for an error message.
func clip(s string) string {
	short, _ := tool.Cut(s, 120, "shortened")
	return short
}
