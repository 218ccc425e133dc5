package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"agent_node/pkg/harness/tool"
)

// Bounds of one condition: what a person writes fits easily.
const (
	maxExpression = 4000    // characters
	maxCost       = 100_000 // CEL's own measure
)

// Condition on the arguments of a call, as "ask if distance_m > 0.3" or "deny if place == 'stairs'" says it.
type Condition struct {
	Permission Permission
	// Expression in CEL. It sees each argument by its name, and all of them as args; one that was not given is null.
	Expression string
}

// ParseCondition reads "allow if …", "ask if …" or "deny if …".
func ParseCondition(text string) (Condition, error) {
	word, expression, ok := strings.Cut(strings.TrimSpace(text), " if ")
	if !ok || strings.TrimSpace(expression) == "" {
		return Condition{}, fmt.Errorf("policy: condition %q is not 'allow if', 'ask if' or 'deny if' and a CEL expression", text)
	}
	p, err := ParsePermission(strings.TrimSpace(word))
	if err != nil {
		return Condition{}, fmt.Errorf("policy: condition %q: %w", text, err)
	}
	return Condition{p, strings.TrimSpace(expression)}, nil
}

// String is how a profile writes it.
func (c Condition) String() string { return string(c.Permission) + " if " + c.Expression }

// compiled condition of one tool.
type compiled struct {
	Condition
	program cel.Program
	names   []string // the arguments that it may name
}

var (
	identifier = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)
	// reserved words of CEL: an argument of such a name is seen as args.NAME only.
	reserved = []string{
		"args", "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
		"namespace", "null", "package", "return", "true", "var", "void", "while",
	}
)

// compile the conditions of a tool whose arguments have these names.
func compile(conditions []Condition, names []string) ([]compiled, error) {
	opts := []cel.EnvOption{
		ext.Strings(), ext.Math(), cel.ParserExpressionSizeLimit(maxExpression),
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
	}
	var seen []string
	for _, n := range names {
		if identifier.MatchString(n) && !slices.Contains(reserved, n) {
			seen = append(seen, n)
			opts = append(opts, cel.Variable(n, cel.DynType))
		}
	}
	env, err := cel.NewEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	var (
		out  []compiled
		errs []error
	)
	for _, c := range conditions {
		checked, issues := env.Compile(c.Expression)
		if err := issues.Err(); err != nil {
			errs = append(errs, fmt.Errorf("policy: condition %q: %w", c, err))
			continue
		}
		if t := checked.OutputType(); !t.IsExactType(cel.BoolType) && !t.IsExactType(cel.DynType) {
			errs = append(errs, fmt.Errorf("policy: condition %q gives %s, must give bool", c, t))
			continue
		}
		program, err := env.Program(checked, cel.CostLimit(maxCost))
		if err != nil {
			errs = append(errs, fmt.Errorf("policy: condition %q: %w", c, err))
			continue
		}
		out = append(out, compiled{c, program, seen})
	}
	return out, errors.Join(errs...)
}

// holds judges one call's arguments, and says why where it holds. What cannot be judged holds where it makes a call harder, and does not
// where it makes one easier.
func (c *compiled) holds(args map[string]any) (holds bool, why string) {
	said := fmt.Sprintf("by the condition %q", c.Condition)
	unjudged := func(format string, a ...any) (bool, string) {
		return c.Permission != Allow, said + ", which could not be judged: " + fmt.Sprintf(format, a...)
	}
	defer func() {
		if p := recover(); p != nil { // the library's bugs must not open a door
			holds, why = unjudged("panic: %v", p)
		}
	}()
	vars := make(map[string]any, len(c.names)+1)
	for _, n := range c.names {
		vars[n] = args[n]
	}
	vars["args"] = args
	out, _, err := c.program.Eval(vars)
	if err != nil {
		return unjudged("%v", err)
	}
	v, isBool := out.Value().(bool)
	if !isBool {
		return unjudged("it gives %s, must give bool", out.Type().TypeName())
	}
	return v, said
}

// Judge decides on calls: a policy with its conditions compiled. It is safe for concurrent use.
type Judge struct {
	policy     Policy
	conditions map[string][]compiled
}

// NewJudge compiles the conditions of a policy against the tools that they are about. A tool that is not in the table, an unknown name
// and an expression that gives no bool are errors; all are reported together.
func NewJudge(p Policy, table *tool.Table) (*Judge, error) {
	j := &Judge{policy: p, conditions: map[string][]compiled{}}
	errs := []error{p.Check()}
	names := make([]string, 0, len(p.Conditions))
	for name := range p.Conditions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		spec, ok := table.Spec(name)
		switch {
		case !ok:
			errs = append(errs, fmt.Errorf("policy: tool %s is not in the table", name))
			continue
		case spec.Class == tool.Control:
			errs = append(errs, fmt.Errorf("policy: %s is built in and takes no condition", name))
			continue
		}
		c, err := compile(p.Conditions[name], table.Properties(name))
		if err != nil {
			errs = append(errs, fmt.Errorf("tool %s: %w", name, err))
			continue
		}
		j.conditions[name] = c
	}
	for _, name := range sortedKeys(p.Tools) {
		if _, ok := table.Spec(name); !ok {
			errs = append(errs, fmt.Errorf("policy: tool %s is not in the table", name))
		}
	}
	for _, name := range sortedKeys(p.Rates) {
		if _, ok := table.Spec(name); !ok {
			errs = append(errs, fmt.Errorf("policy: tool %s is not in the table", name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return j, nil
}

// Decide on one call with its arguments (an object), and say why. Of the conditions that hold the strictest counts; where only
// "allow if" holds, it lifts an ask, never a deny.
func (j *Judge) Decide(s tool.Spec, arguments json.RawMessage) (Permission, string) {
	base, why := j.policy.Decide(s)
	list := j.conditions[s.Name]
	if len(list) == 0 || base == Deny {
		return base, why
	}
	var args map[string]any
	if err := json.Unmarshal(arguments, &args); err != nil || args == nil {
		return Deny, fmt.Sprintf("its conditions cannot be judged: the arguments are no object: %v", err)
	}
	found := map[Permission]string{}
	for i := range list {
		if holds, reason := list[i].holds(args); holds && found[list[i].Permission] == "" {
			found[list[i].Permission] = reason
		}
	}
	for _, p := range []Permission{Deny, Ask, Allow} {
		if reason := found[p]; reason != "" {
			return p, reason
		}
	}
	return base, why
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
