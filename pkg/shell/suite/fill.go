package suite

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
)

// filler writes facts into texts: ${expression}, and @repeat(TEXT,N)@.
type filler struct {
	env   *cel.Env
	facts Facts
}

func newFiller(f Facts) (*filler, error) {
	opts := []cel.EnvOption{ext.Math(), ext.Lists(), ext.Strings()}
	for name := range f {
		opts = append(opts, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(opts...)
	return &filler{env, f}, err
}

var (
	token  = regexp.MustCompile(`\$\{([^}]*)\}`)
	repeat = regexp.MustCompile(`@repeat\((.*?),(\d+)\)@`)
)

// text with all tokens filled in.
func (f *filler) text(s string) (string, error) {
	var failed error
	out := token.ReplaceAllStringFunc(s, func(t string) string {
		v, err := f.value(t[2 : len(t)-1])
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", t, err)
		}
		return v
	})
	out = repeat.ReplaceAllStringFunc(out, func(t string) string {
		p := repeat.FindStringSubmatch(t)
		n, err := strconv.Atoi(p[2])
		if (err != nil || n*len(p[1]) > maxSuite) && failed == nil {
			failed = fmt.Errorf("%.40s: repeated too often", t)
			return t
		}
		return strings.Repeat(p[1], n)
	})
	return out, failed
}

func (f *filler) value(expr string) (string, error) {
	ast, issues := f.env.Compile(expr)
	if err := issues.Err(); err != nil {
		return "", err
	}
	program, err := f.env.Program(ast)
	if err != nil {
		return "", err
	}
	v, _, err := program.Eval(map[string]any(f.facts))
	if err != nil {
		return "", err
	}
	switch x := v.Value().(type) {
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case string:
		return x, nil
	}
	return "", fmt.Errorf("is %v, must be a number or a text", v.Value())
}

func (f *filler) steps(list []Step) ([]Step, error) {
	var out []Step
	for i, s := range list {
		var err error
		if s.Arguments, err = f.text(s.Arguments); err != nil {
			return nil, err
		}
		if s.Tool, err = f.text(s.Tool); err != nil {
			return nil, err
		}
		accept := make([]string, len(s.Accept))
		for k, a := range s.Accept {
			if accept[k], err = f.text(a); err != nil {
				return nil, err
			}
		}
		s.Accept = accept
		if s.ID == "" {
			s.ID = fmt.Sprintf("s%d", i+1)
		}
		n := max(s.Repeat, 1)
		id := s.ID
		for k := range n {
			if n > 1 {
				s.ID = fmt.Sprintf("%s_%d", id, k+1)
			}
			out = append(out, s)
		}
	}
	return out, nil
}
