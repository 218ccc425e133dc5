package robottools

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"agent_node/pkg/ros/digest"
)

// Discovery lets the model look at the graph by query tools.
type Discovery struct {
	// Deny are names of topics, services, actions and nodes that are not shown. A star stands for anything within one part of
	// a name, two stars for any number of parts; a parameter is NODE:NAME.
	Deny []string `json:"deny"`
	// MaxBytes of one answer.
	MaxBytes int `json:"max_bytes"`
}

// Generic are skills that send what a model writes, each to the names that are listed and to no other. Without an entry the
// skill is not there.
type Generic struct {
	PublishTopic   []GenericTopic     `json:"publish_topic"`
	CallService    []GenericService   `json:"call_service"`
	SendActionGoal []GenericAction    `json:"send_action_goal"`
	SetParameter   []GenericParameter `json:"set_parameter"`
}

// GenericTopic may be published on. With an actuator it must be one of velocities: it is sent for a time, under the guard.
type GenericTopic struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Actuator string `json:"actuator"`
	// Requires are CEL over msg: what is wrong otherwise -> condition.
	Requires Exprs `json:"requires"`
}

// GenericService may be called.
type GenericService struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Requires Exprs  `json:"requires"`
}

// GenericAction may be sent goals. With an actuator it is moved under the guard, and the goal judged where something judges its type.
type GenericAction struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Actuator   string   `json:"actuator"`
	Requires   Exprs    `json:"requires"`
	Publishers []string `json:"publishers"`
	TimeLimit  float64  `json:"time_limit"` // s
}

// GenericParameter of a node may be set.
type GenericParameter struct {
	Node string   `json:"node"`
	Name string   `json:"name"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
	// OneOf are the only values.
	OneOf []any `json:"one_of"`
}

// Names of the tools that are made from discovery and generic.
const (
	toolListTopics     = "list_topics"
	toolListServices   = "list_services"
	toolListActions    = "list_actions"
	toolListNodes      = "list_nodes"
	toolShowInterface  = "show_interface"
	toolSampleTopic    = "sample_topic"
	toolTopicRate      = "topic_rate"
	toolListParameters = "list_parameters"
	toolGetParameter   = "get_parameter"

	toolPublish      = "publish_topic"
	toolCall         = "call_service"
	toolSendGoal     = "send_action_goal"
	toolSetParameter = "set_parameter"
)

// MadeTools are the names of the tools that come of discovery and generic, beside those of the tool table.
func (p *Profile) MadeTools() []string {
	var out []string
	if p.Discovery != nil {
		out = append(out, toolListTopics, toolListServices, toolListActions, toolListNodes, toolShowInterface, toolSampleTopic, toolTopicRate, toolListParameters, toolGetParameter)
	}
	g := p.Generic
	for _, x := range []struct {
		name string
		n    int
	}{{toolPublish, len(g.PublishTopic)}, {toolCall, len(g.CallService)}, {toolSendGoal, len(g.SendActionGoal)}, {toolSetParameter, len(g.SetParameter)}} {
		if x.n > 0 {
			out = append(out, x.name)
		}
	}
	return out
}

// HasTool reports whether the profile has a tool, made ones included.
func (p *Profile) HasTool(name string) bool {
	_, ok := p.Tools[name]
	return ok || slices.Contains(p.MadeTools(), name)
}

// Unvalidated are conditions (CEL over a call's arguments) under which nothing validates what a generic skill sends, by tool:
// outside simulation such a call needs a person's approval. A tool that allow_unvalidated names has none.
func (p *Profile) Unvalidated() map[string]string {
	found := map[string][]string{} // by tool, the argument's values
	g := p.Generic
	for _, e := range g.PublishTopic {
		if e.Actuator == "" && len(e.Requires) == 0 {
			found[toolPublish] = append(found[toolPublish], e.Name)
		}
	}
	for _, e := range g.CallService {
		if len(e.Requires) == 0 {
			found[toolCall] = append(found[toolCall], e.Name)
		}
	}
	for _, e := range g.SendActionGoal {
		if !e.Judged(p) && len(e.Requires) == 0 {
			found[toolSendGoal] = append(found[toolSendGoal], e.Name)
		}
	}
	for _, e := range g.SetParameter {
		if e.Min == nil && e.Max == nil && len(e.OneOf) == 0 {
			found[toolSetParameter] = append(found[toolSetParameter], e.key())
		}
	}
	out := map[string]string{}
	for name, values := range found {
		if slices.Contains(p.AllowUnvalidated, name) {
			continue
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = celString(v)
		}
		out[name] = genericArgument[name] + " in [" + strings.Join(quoted, ", ") + "]"
	}
	return out
}

// genericArgument is the argument (in CEL) that says which entry a call is for.
var genericArgument = map[string]string{
	toolPublish: "topic", toolCall: "service", toolSendGoal: "action", toolSetParameter: "node + ':' + name",
}

func celString(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", `\'`) + "'"
}

// Judged reports whether the geometry layer can tell that its goals are sound.
func (e *GenericAction) Judged(p *Profile) bool {
	reader, ok := readers[e.Type]
	return ok && e.Actuator != "" && reader.kind == p.Actuators[e.Actuator].Kind
}

// key of a parameter in conditions and deny lists.
func (e *GenericParameter) key() string { return e.Node + ":" + e.Name }

// checkGraph finds what is wrong with discovery and generic.
func (p *Profile) checkGraph(add addFunc) {
	for _, name := range p.MadeTools() {
		if _, taken := p.Tools[name]; taken {
			add(join("tools", name), "%q is a tool of discovery or generic: name yours otherwise, or leave that out", name)
		}
	}
	for i, e := range p.Generic.PublishTopic {
		at := fmt.Sprintf("generic/publish_topic/%d", i)
		p.checkRequires(at, e.Requires, add)
		kind := p.Actuators[e.Actuator].Kind
		reader, moves := readers[e.Type]
		switch {
		case e.Actuator == "" && moves:
			add(at, "%s moves a %s: name its actuator", e.Type, reader.kind)
		case e.Actuator == "":
		case kind == "":
			add(join(at, "actuator"), "no actuator is called %q", e.Actuator)
		case e.Type != twistType && e.Type != twistStampedType:
			add(join(at, "type"), "what moves an actuator and is published is a velocity (%s, %s): send a goal to an action instead, which can be canceled", twistType, twistStampedType)
		case kind != kindBase:
			add(join(at, "actuator"), "%q is no base", e.Actuator)
		}
	}
	for i, e := range p.Generic.CallService {
		p.checkRequires(fmt.Sprintf("generic/call_service/%d", i), e.Requires, add)
	}
	for i, e := range p.Generic.SendActionGoal {
		at := fmt.Sprintf("generic/send_action_goal/%d", i)
		p.checkRequires(at, e.Requires, add)
		if _, ok := p.Actuators[e.Actuator]; e.Actuator != "" && !ok {
			add(join(at, "actuator"), "no actuator is called %q", e.Actuator)
		}
		if reader, moves := readers[e.Type]; moves && e.Actuator == "" {
			add(at, "%s moves a %s: name its actuator", e.Type, reader.kind)
		}
	}
	p.checkTwice(add)
}

// checkTwice: one name, one entry.
func (p *Profile) checkTwice(add addFunc) {
	g := p.Generic
	for list, names := range map[string][]string{
		"publish_topic":    namesOf(g.PublishTopic, func(e GenericTopic) string { return e.Name }),
		"call_service":     namesOf(g.CallService, func(e GenericService) string { return e.Name }),
		"send_action_goal": namesOf(g.SendActionGoal, func(e GenericAction) string { return e.Name }),
		"set_parameter":    namesOf(g.SetParameter, func(e GenericParameter) string { return e.key() }),
	} {
		seen := map[string]bool{}
		for i, n := range names {
			if seen[n] {
				add(fmt.Sprintf("generic/%s/%d", list, i), "%q stands twice", n)
			}
			seen[n] = true
		}
	}
}

func namesOf[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = name(e)
	}
	return out
}

func (p *Profile) checkRequires(at string, list Exprs, add addFunc) {
	for _, e := range list {
		p.checkCEL(join(at, "requires/"+e.Name), e.CEL, nil, wantBool, nil, add)
	}
}

// denied is the deny list of discovery, compiled.
type denied []*regexp.Regexp

// deniedOf makes patterns; plain names are made absolute.
func deniedOf(list []string) (denied, error) {
	var out denied
	for _, glob := range list {
		var b strings.Builder
		for i := 0; i < len(glob); i++ {
			switch {
			case strings.HasPrefix(glob[i:], "**"):
				b.WriteString(".*")
				i++
			case glob[i] == '*':
				b.WriteString("[^/:]*")
			default:
				b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
			}
		}
		r, err := regexp.Compile("^" + b.String() + "$")
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func (d denied) has(name string) bool {
	return slices.ContainsFunc(d, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}

// secretLike are names of parameters whose values are never shown.
var secretLike = regexp.MustCompile(`(?i)(pass(word|wd|phrase)?|secret|token|api_?key|credential|private_?key)(_?value)?$`)

// hiddenName: a part of the name begins with an underscore, as the parts of actions do.
func hiddenName(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.HasPrefix(part, "_") })
}

// bytesOf one answer of discovery.
func (d *Discovery) bytesOf() int {
	if d == nil || d.MaxBytes <= 0 {
		return digest.Default
	}
	return d.MaxBytes
}

// absolute name of a topic or node, for comparison with the graph's.
func absolute(name string) string { return path.Join("/", name) }

// sortedNames of a map.
func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
