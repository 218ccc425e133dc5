package criteria

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/ext"

	"agent_node/pkg/harness/tool"
)

// Bounds of one expression: what a person writes fits easily, what makes the judge work for seconds does not.
const (
	maxExpression = 4000      // characters
	maxCost       = 1_000_000 // CEL's own measure
)

// NewCEL makes an evaluator over the query tools among specs that need no argument. Each is a function without
// arguments and a variable of the same name: get_battery().percent and get_battery.percent are the same. Numbers are
// CEL doubles (write 20.0 in arithmetic; comparisons take 20 as well). CEL's string and math extensions are there.
func NewCEL(specs []tool.Spec) (Evaluator, error) {
	e := &evaluator{tools: map[string]bool{}}
	opts := []cel.EnvOption{
		ext.Strings(), ext.Math(),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.EnableMacroCallTracking(),
	}
	for _, s := range specs {
		if s.Class != tool.Query || !identifier.MatchString(s.Name) || slices.Contains(reserved, s.Name) {
			continue
		}
		needs, err := required(s.Parameters)
		if err != nil {
			return nil, fmt.Errorf("criteria: schema of %s: %w", s.Name, err)
		}
		if needs > 0 {
			continue
		}
		name := s.Name
		e.tools[name] = true
		opts = append(opts, cel.Variable(name, cel.DynType),
			cel.Macros(cel.GlobalMacro(name, 0, func(f cel.MacroExprFactory, _ ast.Expr, _ []ast.Expr) (ast.Expr, *common.Error) {
				return f.NewIdent(name), nil
			})))
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("criteria: %w", err)
	}
	e.env = env
	return e, nil
}

var identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// reserved words of CEL.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
	"namespace", "null", "package", "return", "true", "var", "void", "while",
}

func required(schema json.RawMessage) (int, error) {
	if len(schema) == 0 {
		return 0, nil
	}
	var s struct {
		Required []string `json:"required"`
	}
	err := json.Unmarshal(schema, &s)
	return len(s.Required), err
}

type evaluator struct {
	env   *cel.Env
	tools map[string]bool
}

// Compile implements Evaluator.
func (e *evaluator) Compile(expression string) (Expression, error) {
	if strings.TrimSpace(expression) == "" {
		return nil, &SyntaxError{Text: expression, Message: "the expression is empty"}
	}
	checked, issues := e.env.Compile(expression)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("cel: %w", err)
	}
	if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("cel: the expression gives %s, a criterion must give bool", t)
	}
	x := &expr{text: expression}
	ast.PostOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(n ast.Expr) {
		if n.Kind() == ast.IdentKind && e.tools[n.AsIdent()] && !slices.Contains(x.reads, n.AsIdent()) {
			x.reads = append(x.reads, n.AsIdent())
		}
	}))
	if len(x.reads) == 0 {
		known := make([]string, 0, len(e.tools))
		for name := range e.tools {
			known = append(known, name)
		}
		slices.Sort(known)
		return nil, fmt.Errorf("cel: the expression reads no query tool (%s), so it could never fail", strings.Join(known, ", "))
	}
	slices.Sort(x.reads)
	program, err := e.env.Program(checked, cel.CostLimit(maxCost))
	if err != nil {
		return nil, fmt.Errorf("cel: %w", err)
	}
	x.program = program
	return x, nil
}

type expr struct {
	text    string
	reads   []string
	program cel.Program
}

// Reads implements Expression.
func (x *expr) Reads() []string { return slices.Clone(x.reads) }

// Eval implements Expression.
func (x *expr) Eval(results map[string]string) (ok bool, err error) {
	defer func() {
		// The library evaluates what a model wrote; its bugs must not end the session.
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("cel: %q: panic: %v", clip(x.text), p)
		}
	}()
	vars := make(map[string]any, len(x.reads))
	for _, name := range x.reads {
		text, given := results[name]
		if !given {
			return false, fmt.Errorf("cel: %q: no result of %s", clip(x.text), name)
		}
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			v = text
		}
		vars[name] = v
	}
	out, _, err := x.program.Eval(vars)
	if err != nil {
		return false, fmt.Errorf("cel: %q: %w", clip(x.text), err)
	}
	b, isBool := out.Value().(bool)
	if !isBool {
		return false, fmt.Errorf("cel: %q gives %s, a criterion must give bool", clip(x.text), out.Type().TypeName())
	}
	return b, nil
}
