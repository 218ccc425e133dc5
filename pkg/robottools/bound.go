package robottools

import (
	"encoding/json"
	"fmt"
	"slices"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// named is one compiled expression with its name.
type named struct {
	name string
	*expression
}

// bound is what every tool of a profile has in common.
type bound struct {
	robot    *Robot
	name     string
	def      Tool
	spec     tool.Spec
	where    []named
	requires []named
	before   []named // preconditions
	result   *expression
	fresh    *expression
	pass     *expression
	post     *expression
	estimate *expression
}

// Spec implements tool.Tool.
func (b *bound) Spec() tool.Spec { return b.spec }

// emptyObject is the schema of a tool without arguments.
var emptyObject = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// compiler compiles one tool's expressions; the first error sticks, with its place.
type compiler struct {
	p    *Profile
	at   string
	tool Tool
	err  error
}

func (c *compiler) one(path, text string) *expression {
	if c.err != nil || text == "" {
		return nil
	}
	env, err := c.p.toolEnv(c.tool)
	if err == nil {
		var e *expression
		if e, err = compile(env, text); err == nil {
			return e
		}
	}
	c.err = c.p.source.errorf(join(c.at, path), "%v", err)
	return nil
}

func (c *compiler) all(path string, list Exprs) []named {
	out := make([]named, 0, len(list))
	for _, e := range list {
		if x := c.one(join(path, e.Name), e.CEL); x != nil {
			out = append(out, named{e.Name, x})
		}
	}
	return out
}

// newBound compiles what every tool has.
func (r *Robot) newBound(name string, def Tool) (*bound, *compiler) {
	c := &compiler{p: r.profile, at: join("tools", name), tool: def}
	class, _ := classOf(def.Class)
	params := def.Parameters
	if len(params) == 0 {
		params = emptyObject
	}
	b := &bound{
		robot: r, name: name, def: def,
		spec: tool.Spec{
			Name: name, Class: class, Description: def.Description, Parameters: params,
			TimeLimit: seconds(def.TimeLimit.Fixed), Validated: len(def.Validators) > 0, Repeatable: def.Repeatable,
		},
		where:    c.all("where", def.Where),
		requires: c.all("requires", def.Requires),
		before:   c.all("preconditions", def.Preconditions),
		result:   c.one("result", def.Result),
		fresh:    c.one("fresh", def.Fresh),
		pass:     c.one("pass", def.Pass),
		post:     c.one("postconditions", def.Postconditions),
		estimate: c.one("estimate", def.Estimate),
	}
	if def.Actuator != "" {
		b.spec.Actuators = []string{def.Actuator}
	}
	return b, c
}

// pair notes which other actuators may move while all of the skill's own do.
func (b *bound) pair(p *Profile) {
	for name := range p.Actuators {
		beside := len(b.spec.Actuators) > 0
		for _, own := range b.spec.Actuators {
			beside = beside && own != name && (slices.Contains(p.Actuators[own].Alongside, name) || slices.Contains(p.Actuators[name].Alongside, own))
		}
		if beside {
			b.spec.Alongside = append(b.spec.Alongside, name)
		}
	}
	slices.Sort(b.spec.Alongside)
}

// scope has what every expression may name, as it is known now.
func (b *bound) scope(call tool.Call) (scope, error) { return b.scopeIn(call, b.robot.live()) }

func (b *bound) scopeIn(call tool.Call, v view) (scope, error) {
	args, err := decodeArgs(call.Arguments)
	if err != nil {
		return nil, err
	}
	s := b.robot.constants()
	s["args"] = args
	if p, ok := v.pose(); ok {
		m := poseMap(p)
		s["begin"], s["pose"] = m, m
	}
	v.amend(s)
	now := b.robot.node.Clock().Now()
	s["now"] = map[string]any{"sec": int64(now) / 1e9, "nanosec": int64(now) % 1e9}
	return s, nil
}

// evalWhere adds the named values to s, in order.
func (b *bound) evalWhere(s scope) error {
	for _, w := range b.where {
		v, err := w.eval(s)
		if err != nil {
			return fmt.Errorf("where %s: %w", w.name, err)
		}
		s[w.name] = v
	}
	return nil
}

// prepare is the scope of a skill's call with its conditions checked; a failure is the observation.
func (b *bound) prepare(call tool.Call) (scope, *tool.Result) {
	return b.prepareIn(call, b.robot.live())
}

func (b *bound) prepareIn(call tool.Call, v view) (scope, *tool.Result) {
	s, err := b.scopeIn(call, v)
	if err == nil {
		err = b.evalWhere(s)
	}
	if _, placed := s["begin"]; err != nil && s != nil && !placed {
		f := b.robot.profile.Frames
		return nil, b.fail(tool.StaleState, "where the robot is, is not known: no transform from %s to %s younger than %.1f s (%v)", f.Map, f.Base, b.robot.world.maxAge.Seconds(), err)
	}
	if err != nil {
		return nil, b.fail(tool.PreconditionFailed, "%v", err)
	}
	if bad := b.must(s, b.requires, tool.GeometryRefused); bad != nil {
		return nil, bad
	}
	if bad := b.must(s, b.before, tool.PreconditionFailed); bad != nil {
		return nil, bad
	}
	return s, nil
}

// must check conditions; the first that does not hold is the observation.
func (b *bound) must(s scope, conditions []named, kind tool.ErrorKind) *tool.Result {
	for _, c := range conditions {
		ok, err := c.bool(s)
		if err != nil {
			return b.fail(tool.PreconditionFailed, "%s: %v", c.name, err)
		}
		if !ok {
			return b.fail(kind, "%s (rule: %s)", c.name, c.text)
		}
	}
	return nil
}

// fail is a failure observation.
func (b *bound) fail(kind tool.ErrorKind, format string, args ...any) *tool.Result {
	return &tool.Result{ErrorKind: kind, Content: b.name + ": " + fmt.Sprintf(format, args...), Source: b.spec.Source}
}

// observation is the success result for what was seen.
func (b *bound) observation(s scope, whole any) tool.Result {
	out := whole
	if b.result != nil {
		v, err := b.result.eval(s)
		if err != nil {
			return *b.fail(tool.Failed, "result: %v", err)
		}
		out = v
	}
	data, err := marshalValue(out)
	if err != nil {
		return *b.fail(tool.Failed, "result: %v", err)
	}
	r := tool.Result{OK: true, Content: string(data), Source: b.spec.Source}
	if b.pass != nil {
		if r.Passed, err = b.pass.bool(s); err != nil {
			return *b.fail(tool.Failed, "pass: %v", err)
		}
		r.Content = fmt.Sprintf(`{"passed":%t,"evidence":%s}`, r.Passed, data)
	}
	if b.post != nil {
		if r.Postconditions, err = b.post.strings(s); err != nil {
			return *b.fail(tool.Failed, "postconditions: %v", err)
		}
	}
	return r
}

// fill sets the mapped fields of a message.
func fill(m *ros.Message, fields []named, s scope) error {
	for _, f := range fields {
		v, err := f.eval(s)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if err := m.Set(f.name, v); err != nil {
			return err
		}
	}
	return nil
}
