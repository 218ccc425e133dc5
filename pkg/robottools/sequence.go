package robottools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent_node/pkg/harness/tool"
)

// sequenceTool is a skill made of calls of other tools, in order. Each part's arguments are made from what is known
// when its turn comes, validated by its schema, guarded by its own binding, and noted in the trace.
type sequenceTool struct {
	*bound
	steps     []sequencePart
	onFailure []sequencePart
}

// sequencePart is one call of a sequence.
type sequencePart struct {
	tool string
	args []named
	when *expression
}

func (r *Robot) newSequence(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Sequence
	t := &sequenceTool{bound: b}
	t.steps = t.parts(c, "binding/sequence/steps", def.Steps)
	t.onFailure = t.parts(c, "binding/sequence/on_failure", def.OnFailure)
	b.spec.Binding, b.spec.Source, b.spec.Validated = "sequence of "+t.names(), "sequence", true
	return t, c.err
}

func (t *sequenceTool) parts(c *compiler, path string, steps []SequenceStep) []sequencePart {
	out := make([]sequencePart, len(steps))
	for i, s := range steps {
		at := fmt.Sprintf("%s/%d", path, i)
		out[i] = sequencePart{tool: s.Tool, args: c.all(at+"/args", s.Args), when: c.one(at+"/when", s.When)}
	}
	return out
}

func (t *sequenceTool) names() string {
	text := ""
	for i, s := range t.steps {
		if i > 0 {
			text += ", "
		}
		text += s.tool
	}
	return text
}

// link finds the parts' tools once all are made, and takes over what they move.
func (t *sequenceTool) link(r *Robot, c *Profile) error {
	for _, s := range slices.Concat(t.steps, t.onFailure) {
		spec, ok := r.table.Spec(s.tool)
		if !ok {
			return c.source.errorf(join("tools", t.name), "no tool is called %q", s.tool)
		}
		if _, nested := r.byName(s.tool).(*sequenceTool); nested {
			return c.source.errorf(join("tools", t.name), "%q is a sequence itself: sequences do not nest", s.tool)
		}
		if spec.Class == tool.Skill {
			t.spec.Validated = t.spec.Validated && spec.Validated
		}
		for _, a := range spec.Actuators {
			if !slices.Contains(t.spec.Actuators, a) {
				t.spec.Actuators = append(t.spec.Actuators, a)
			}
		}
	}
	return nil
}

// fresh is the scope of the sequence's arguments with what is known now, or would be.
func (t *sequenceTool) fresh(call tool.Call, begin scope, v view) (scope, error) {
	s, err := t.scopeIn(call, v)
	if err != nil {
		return nil, err
	}
	for name, v := range begin {
		s[name] = v
	}
	return s, t.evalWhere(s)
}

// beginning is what stays as it was when the sequence began.
func (t *sequenceTool) beginning(s scope, v view) scope {
	held := []any{}
	if object, _, ok := t.robot.heldIn(v); ok {
		held = append(held, object)
	}
	begun := map[string]any{}
	for _, w := range t.where {
		begun[w.name] = s[w.name]
	}
	begun["held"] = held
	out := scope{"begun": begun}
	if p, ok := s["begin"]; ok {
		out["begin"] = p
	}
	return out
}

// Call implements tool.Tool.
func (t *sequenceTool) Call(ctx context.Context, call tool.Call) tool.Result {
	t.robot.letHear(ctx)
	s, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	begin := t.beginning(s, t.robot.live())
	moved := false
	for i, p := range t.steps {
		r, ran := t.run(ctx, call, p, i, begin)
		if r.ok() {
			moved = moved || ran && t.robot.classOf(p.tool) == tool.Skill
			continue
		}
		return t.failed(ctx, call, r, p, i, moved, begin)
	}
	if now, err := t.fresh(call, begin, t.robot.live()); err == nil {
		s = now
	}
	return t.observation(s, map[string]any{"parts": len(t.steps)})
}

// partResult is what a part came to: a verify tool that does not pass is a failure here.
type partResult struct {
	tool.Result
	verify bool
}

func (r partResult) ok() bool { return r.OK && (!r.verify || r.Passed) }

// subCall is the call of one part, its arguments made from what is known when its turn comes; skip is true where its condition lets
// it out.
func (t *sequenceTool) subCall(call tool.Call, p sequencePart, index int, begin scope, v view) (sub tool.Call, skip bool, bad *tool.Result) {
	fail := func(kind tool.ErrorKind, err error) (tool.Call, bool, *tool.Result) {
		return sub, false, &tool.Result{ErrorKind: kind, Content: err.Error(), Source: t.spec.Source}
	}
	s, err := t.fresh(call, begin, v)
	if err != nil {
		return fail(tool.PreconditionFailed, err)
	}
	if p.when != nil {
		yes, err := p.when.bool(s)
		if err != nil {
			return fail(tool.PreconditionFailed, err)
		}
		if !yes {
			return sub, true, nil
		}
	}
	args := map[string]any{}
	for _, a := range p.args {
		if args[a.name], err = a.eval(s); err != nil {
			return fail(tool.PreconditionFailed, fmt.Errorf("%s: %w", a.name, err))
		}
	}
	raw, err := marshalValue(args)
	if err == nil {
		raw, err = t.robot.table.Validate(p.tool, raw)
	}
	if err != nil {
		return fail(tool.InvalidArguments, err)
	}
	sub = call
	sub.ID = fmt.Sprintf("%s.%d", call.ID, index+1)
	sub.Arguments = json.RawMessage(raw)
	return sub, false, nil
}

// run calls one part; ran is false where its condition let it out.
func (t *sequenceTool) run(ctx context.Context, call tool.Call, p sequencePart, index int, begin scope) (r partResult, ran bool) {
	if ctx.Err() != nil {
		return partResult{Result: tool.Result{ErrorKind: tool.Canceled, Content: context.Cause(ctx).Error(), Source: t.spec.Source}}, false
	}
	t.robot.letHear(ctx)
	sub, skip, bad := t.subCall(call, p, index, begin, t.robot.live())
	switch {
	case bad != nil:
		return partResult{Result: *bad}, false
	case skip:
		return partResult{Result: tool.Result{OK: true}}, false
	}
	sub.NotBefore = t.robot.RestSince()
	call.Note("sequence.part", map[string]any{"part": index + 1, "of": len(t.steps), "tool": p.tool, "arguments": sub.Arguments})
	res := t.robot.byName(p.tool).Call(ctx, sub)
	call.Note("sequence.part_done", map[string]any{
		"part": index + 1, "tool": p.tool, "ok": res.OK, "passed": res.Passed, "error_kind": string(res.ErrorKind), "content": res.Content,
	})
	return partResult{Result: res, verify: t.robot.classOf(p.tool) == tool.Verify}, true
}

// failed names the part that failed and leaves the profile's safe state, unless somebody ended the call.
func (t *sequenceTool) failed(ctx context.Context, call tool.Call, r partResult, p sequencePart, index int, moved bool, begin scope) tool.Result {
	kind := r.ErrorKind
	if r.OK { // a check that does not pass
		kind = tool.PreconditionFailed
		if moved {
			kind = tool.PostconditionFailed
		}
	}
	out := t.fail(kind, "part %d of %d, %s: %s", index+1, len(t.steps), p.tool, r.Content)
	out.Interrupt, out.DependencyLost, out.Begun = r.Interrupt, r.DependencyLost, moved || r.Begun
	if ctx.Err() != nil || r.Interrupt != "" || !moved {
		return *out
	}
	for i, s := range t.onFailure {
		if safe, _ := t.run(ctx, call, s, len(t.steps)+i, begin); !safe.ok() {
			out.Content += fmt.Sprintf("; the safe state was not reached: %s: %s", s.tool, safe.Content)
			if safe.Interrupt != "" {
				out.Interrupt = safe.Interrupt
			}
			return *out
		}
	}
	if len(t.onFailure) > 0 {
		out.Content += "; the safe state is reached"
	}
	return *out
}

// DryRun implements tool.DryRunner: the conditions and the first part's arguments; later parts depend on what the earlier ones bring.
func (t *sequenceTool) DryRun(_ context.Context, call tool.Call) tool.Result {
	if _, bad := t.prepare(call); bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: "would run " + t.names(), Source: t.spec.Source}
}
