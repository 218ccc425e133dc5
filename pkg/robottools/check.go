package robottools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"

	"agent_node/pkg/harness/tool"
)

// classOf a profile's word.
func classOf(word string) (tool.Class, bool) {
	switch word {
	case "query":
		return tool.Query, true
	case "skill":
		return tool.Skill, true
	case "verify":
		return tool.Verify, true
	}
	return 0, false
}

// builtIn are the names of the harness's own tools.
var builtIn = []string{"finish", "ask_person", "declare_criteria"}

// check finds what the schema cannot say: references, fitting classes and expressions.
func (p *Profile) check() error {
	var all []error
	add := func(path, format string, args ...any) { all = append(all, p.source.errorf(path, format, args...)) }

	if len(p.World.Footprint.Polygon) > 0 && p.World.Footprint.Radius > 0 {
		add("world/footprint", "either a radius or a polygon, not both")
	}
	for name, a := range p.Actuators {
		p.checkActuator(join("actuators", name), name, a, add)
	}
	p.checkGraph(add)
	p.checkPlaces(add)
	for _, name := range p.AllowUnvalidated {
		if !p.HasTool(name) {
			add("allow_unvalidated", "no tool is called %q", name)
		}
	}
	for _, name := range p.ToolOrder {
		p.checkTool(name, p.Tools[name], add)
	}
	return errors.Join(all...)
}

type addFunc func(path, format string, args ...any)

func (p *Profile) checkCEL(path, text string, extra []string, want wanted, arguments *schemaNode, add addFunc) {
	if text == "" {
		return
	}
	env, err := p.envs.with(extra...)
	if err != nil {
		add(path, "%v", err)
		return
	}
	_, tree, err := compileTree(env, text)
	if err == nil {
		err = checkTree(tree, want, arguments)
	}
	if err != nil {
		add(path, "%v", err)
	}
}

func (p *Profile) checkTool(name string, t Tool, add addFunc) {
	at := join("tools", name)
	class, ok := classOf(t.Class)
	if !ok {
		add(join(at, "class"), "unknown class %q: query, skill or verify", t.Class)
	}
	if slices.Contains(builtIn, name) {
		add(at, "%q is built in", name)
	}
	kind := t.Binding.kind()
	allowed := map[tool.Class][]string{
		tool.Query:  {"topic", "transform", "parameter", "service", "profile"},
		tool.Verify: {"topic", "transform", "parameter", "service"},
		tool.Skill:  {"publish", "action", "service", "wait", "sequence", "trajectory", "agent"},
	}
	if ok && !slices.Contains(allowed[class], kind) {
		add(join(at, "binding/"+kind), "a %s cannot be bound to %s: one of %v", t.Class, kind, allowed[class])
	}
	if class == tool.Verify && t.Pass == "" {
		add(at, "a verify tool needs pass, its verdict")
	}
	if class != tool.Verify && t.Pass != "" {
		add(join(at, "pass"), "only a verify tool judges")
	}
	if class != tool.Skill && t.Postconditions != "" {
		add(join(at, "postconditions"), "only a skill has postconditions")
	}
	p.checkMotion(at, name, t, class, kind, add)
	p.checkParameters(join(at, "parameters"), t.Parameters, add)
	p.checkExpressions(at, t, add)
}

// checkMotion: what moves names its actuator and its validators (or is allowed without).
func (p *Profile) checkMotion(at, name string, t Tool, class tool.Class, kind string, add addFunc) {
	if t.Actuator != "" {
		if _, ok := p.Actuators[t.Actuator]; !ok {
			add(join(at, "actuator"), "no actuator is called %q", t.Actuator)
		}
	}
	if class != tool.Skill {
		if t.Actuator != "" {
			add(join(at, "actuator"), "only a skill moves an actuator")
		}
		return
	}
	if (kind == "publish" || kind == "action") && t.Actuator == "" {
		add(at, "a skill bound to %s names its actuator", kind)
	}
	if kind == "sequence" || kind == "trajectory" {
		return // its parts are validated; a trajectory always is
	}
	if kind == "agent" && t.Actuator != "" {
		add(join(at, "actuator"), "what moves is the other agent's: no actuator of this robot's")
	}
	if len(t.Validators) == 0 && !p.Simulation && !slices.Contains(p.AllowUnvalidated, name) {
		add(at, "nothing validates this skill: name validators, or list it in allow_unvalidated")
	}
	if slices.Contains(t.Validators, "rules") && len(t.Requires) == 0 {
		add(join(at, "validators"), "the validator rules needs conditions in requires")
	}
	if a := t.Binding.Action; a != nil {
		if slices.Contains(t.Validators, "pose") && a.Target == "" {
			add(join(at, "binding/action"), "the validator pose needs target")
		}
		if slices.Contains(t.Validators, "path") && a.Planner == nil {
			add(join(at, "binding/action"), "the validator path needs planner")
		}
		relative := a.Distance != "" || a.Angle != ""
		if slices.Contains(t.Validators, "motion") && !relative {
			add(join(at, "binding/action"), "the validator motion needs distance or angle")
		}
		if relative && p.Actuators[t.Actuator].Kind != kindBase {
			add(join(at, "binding/action"), "distance and angle are of a base's goals")
		}
		if relative && a.Target != "" {
			add(join(at, "binding/action"), "either a target, or distance and angle from where the robot stands")
		}
	}
	p.checkGeometry(at, t, add)
	if b := t.Binding.Publish; b != nil && slices.Contains(t.Validators, "motion") && b.Distance == "" && b.Angle == "" {
		add(join(at, "binding/publish"), "the validator motion needs distance or angle")
	}
}

func (p *Profile) checkParameters(at string, raw json.RawMessage, add addFunc) {
	if len(raw) == 0 {
		return
	}
	var head struct {
		Type                 string `json:"type"`
		AdditionalProperties *bool  `json:"additionalProperties"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		add(at, "%v", err)
		return
	}
	if head.Type != "object" {
		add(at, "arguments are an object: type: object is wanted")
	}
	if head.AdditionalProperties == nil || *head.AdditionalProperties {
		add(at, "additionalProperties: false is wanted, so that a misspelt argument is an error")
	}
}

func (p *Profile) checkExpressions(at string, t Tool, add addFunc) {
	var names []string
	arguments := argumentsOf(t.Parameters)
	for _, w := range t.Where {
		p.checkCEL(join(at, "where/"+w.Name), w.CEL, names, wantAny, arguments, add)
		names = append(names, w.Name)
	}
	each := func(path string, list Exprs, want wanted) {
		for _, e := range list {
			p.checkCEL(join(path, e.Name), e.CEL, names, want, arguments, add)
		}
	}
	one := func(path, text string, want wanted) { p.checkCEL(join(at, path), text, names, want, arguments, add) }
	one("result", t.Result, wantAny)
	one("fresh", t.Fresh, wantBool)
	one("pass", t.Pass, wantBool)
	one("postconditions", t.Postconditions, wantTexts)
	one("estimate", t.Estimate, wantNumber)
	each(join(at, "requires"), t.Requires, wantBool)
	each(join(at, "preconditions"), t.Preconditions, wantBool)
	if b := t.Binding.Publish; b != nil {
		each(join(at, "binding/publish/message"), b.Message, p.wantField(t))
		one("binding/publish/until", b.Until, wantBool)
		one("binding/publish/for", b.For, wantNumber)
		one("binding/publish/distance", b.Distance, wantNumber)
		one("binding/publish/angle", b.Angle, wantNumber)
	}
	if b := t.Binding.Service; b != nil {
		each(join(at, "binding/service/request"), b.Request, wantAny)
		one("binding/service/success", b.Success, wantBool)
		one("binding/service/until", b.Until, wantBool)
	}
	if b := t.Binding.Action; b != nil {
		each(join(at, "binding/action/goal"), b.Goal, wantAny)
		one("binding/action/success", b.Success, wantBool)
		one("binding/action/target", b.Target, wantMap)
		one("binding/action/distance", b.Distance, wantNumber)
		one("binding/action/angle", b.Angle, wantNumber)
		if b.Planner != nil {
			each(join(at, "binding/action/planner/goal"), b.Planner.Goal, wantAny)
			each(join(at, "binding/action/planner/from"), b.Planner.From, wantAny)
			one("binding/action/planner/success", b.Planner.Success, wantBool)
		}
	}
	if b := t.Binding.Agent; b != nil {
		one("binding/agent/task", b.Task, wantAny)
		one("binding/agent/criteria", b.Criteria, wantAny)
		one("binding/agent/allowed_tools", b.AllowedTools, wantAny)
	}
	if b := t.Binding.Wait; b != nil {
		one("binding/wait/seconds", b.Seconds, wantNumber)
	}
	if b := t.Binding.Trajectory; b != nil {
		one("binding/trajectory/joints", b.Joints, wantList)
		one("binding/trajectory/pose", b.Pose, wantMap)
	}
	if b := t.Binding.Sequence; b != nil {
		for i, st := range slices.Concat(b.Steps, b.OnFailure) {
			path := fmt.Sprintf("binding/sequence/steps/%d", i)
			each(join(at, path+"/args"), st.Args, wantAny)
			one(path+"/when", st.When, wantBool)
		}
	}
}

// wantField is what fields of a published message take, where its type is known to every robot: a velocity's are numbers.
func (p *Profile) wantField(t Tool) wanted {
	if t.Binding.Publish.Type == twistType {
		return wantNumber
	}
	return wantAny
}

// kind names the one binding that is set.
func (b Binding) kind() string {
	switch {
	case b.Topic != nil:
		return "topic"
	case b.Publish != nil:
		return "publish"
	case b.Service != nil:
		return "service"
	case b.Action != nil:
		return "action"
	case b.Parameter != nil:
		return "parameter"
	case b.Transform != nil:
		return "transform"
	case b.Profile != "":
		return "profile"
	case b.Wait != nil:
		return "wait"
	case b.Agent != nil:
		return "agent"
	case b.Sequence != nil:
		return "sequence"
	case b.Trajectory != nil:
		return "trajectory"
	}
	return "nothing"
}

// toolEnv is the environment of one tool's expressions.
func (p *Profile) toolEnv(t Tool) (*cel.Env, error) {
	names := make([]string, len(t.Where))
	for i, w := range t.Where {
		names[i] = w.Name
	}
	return p.envs.with(names...)
}
