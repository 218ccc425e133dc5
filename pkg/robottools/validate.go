package robottools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/ros"
)

// RawCommand is a message that somebody wants checked.
type RawCommand struct {
	Type     string // such as geometry_msgs/msg/Twist
	JSON     string
	Actuator string
}

// Verdict on a raw command.
type Verdict struct {
	Findings []geometry.Finding
	// NearestJSON is a valid message of the same type close to a refused one; empty where there is none.
	NearestJSON string
}

// descriptionTime is how long a check waits for the robot's description.
const descriptionTime = time.Second

// maxJSONDepth is how deep JSON text may be nested to be read at all; messages are far below it.
const maxJSONDepth = ros.MaxNesting

// ValidateCommand checks a message against the world as it is now. It moves nothing.
func (r *Robot) ValidateCommand(ctx context.Context, c RawCommand) Verdict {
	kind := r.kindOf(c.Actuator)
	if kind == "" {
		return refused(geometry.RuleActuator, "actuator", "no actuator is called %q: %v", c.Actuator, r.actuatorNames())
	}
	t, name, err := messageType(r.node.Types(), c.Type)
	if err != nil {
		return refused(geometry.RuleType, "interface_type", "%v", err)
	}
	reader, ok := readers[name]
	if !ok || reader.kind != kind {
		return refused(geometry.RuleType, "interface_type", "nothing validates %s for actuator %s: one of %v", c.Type, c.Actuator, readable(kind))
	}
	if at := tooDeep(c.JSON); at >= 0 {
		return refused(geometry.RuleJSON, "message_json", "is nested deeper than %d at offset %d", maxJSONDepth, at)
	}
	m, err := ros.DecodeJSON(t, []byte(c.JSON))
	if err != nil {
		return decodeVerdict(err)
	}
	return r.judge(ctx, c.Actuator, reader, m)
}

// judge a message that moves an actuator against the world as it is now.
func (r *Robot) judge(ctx context.Context, actuator string, reader commandReader, m *ros.Message) Verdict {
	a := reader.read(m, r.profile.Actuators[actuator])
	if a.command == nil {
		return Verdict{Findings: a.found}
	}
	world, found := r.worldFor(ctx, actuator)
	if len(found) > 0 {
		return Verdict{Findings: append(a.found, found...)}
	}
	report := validate.Validate(a.command, world)
	v := Verdict{Findings: append(a.found, report.Findings...)}
	if len(a.found) > 0 || report.Nearest == nil || reader.write == nil {
		return v
	}
	if near := m.Clone(); reader.write(near, report.Nearest) {
		if data, err := near.MarshalJSON(); err == nil {
			v.NearestJSON = string(data)
		}
	}
	return v
}

// kindOf an actuator, "" where there is none of that name.
func (r *Robot) kindOf(actuator string) string {
	if _, ok := r.actuators[actuator]; ok {
		return "base"
	}
	if a, ok := r.joints[actuator]; ok {
		return a.def.Kind
	}
	return ""
}

func (r *Robot) actuatorNames() []string {
	return slices.Sorted(maps.Keys(r.profile.Actuators))
}

// worldFor is the world as it is known now, for one actuator's commands; findings say why there is none.
func (r *Robot) worldFor(ctx context.Context, actuator string) (*validate.World, []geometry.Finding) {
	if a, ok := r.actuators[actuator]; ok {
		return r.world.snapshot(a), nil
	}
	a := r.joints[actuator]
	if a.def.Kind == "gripper" {
		return r.gripperWorld(a), nil
	}
	ctx, cancel := context.WithTimeout(ctx, descriptionTime)
	defer cancel()
	model, err := r.description.arm(ctx, a.name)
	if err != nil {
		return nil, []geometry.Finding{geometry.New(geometry.RuleLimits, actuator, -1, 0, 0, "", "no motion can be judged: "+err.Error())}
	}
	w, err := r.armWorld(model, a, r.live())
	if err != nil {
		return nil, []geometry.Finding{geometry.New(geometry.RuleStateAge, "state", -1, math.Inf(1), r.world.maxAge.Seconds(), "s", err.Error())}
	}
	return w, nil
}

// tooDeep is the offset at which JSON text is nested deeper than maxJSONDepth, -1 where it never is.
func tooDeep(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxJSONDepth {
				return i
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return -1
}

func refused(rule, subject, format string, args ...any) Verdict {
	return Verdict{Findings: []geometry.Finding{{
		Rule: rule, Subject: subject, Index: -1, Value: math.NaN(), Limit: math.NaN(), Message: fmt.Sprintf(format, args...),
	}}}
}

// decodeVerdict names the field of a message that is none.
func decodeVerdict(err error) Verdict {
	var field *ros.FieldError
	if !errors.As(err, &field) {
		return refused(geometry.RuleJSON, "message_json", "%v", err)
	}
	rule := geometry.RuleType
	switch {
	case strings.Contains(field.Value, "NaN"), strings.Contains(field.Value, "Infinity"):
		rule = geometry.RuleFinite // JSON has no such number; as a string it would be read and refused
	case field.Reason == "repeated field":
		rule = geometry.RuleDuplicateKey
	case strings.HasPrefix(field.Reason, "not JSON"), strings.HasPrefix(field.Reason, "text "):
		rule = geometry.RuleJSON
	}
	subject := field.Path
	if subject == "" {
		subject = "message_json"
	}
	return refused(rule, subject, "%v", err)
}
