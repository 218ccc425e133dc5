package robottools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
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

// ValidateCommand checks a message against the world as it is now. It moves nothing.
func (r *Robot) ValidateCommand(_ context.Context, c RawCommand) Verdict {
	a, ok := r.actuators[c.Actuator]
	if !ok {
		names := slices.Sorted(maps.Keys(r.actuators))
		return refused(geometry.RuleActuator, "actuator", "no actuator is called %q: %v", c.Actuator, names)
	}
	t, err := r.node.Types().Message(c.Type)
	if err != nil {
		return refused(geometry.RuleType, "interface_type", "%v", err)
	}
	read, ok := readers[c.Type]
	if !ok {
		return refused(geometry.RuleType, "interface_type", "nothing validates %s for actuator %s: one of %v", c.Type, c.Actuator, slices.Sorted(maps.Keys(readers)))
	}
	m, err := ros.DecodeJSON(t, []byte(c.JSON))
	if err != nil {
		return decodeVerdict(err)
	}
	report := validate.Validate(read(m), r.world.snapshot(a))
	return Verdict{Findings: report.Findings, NearestJSON: nearestJSON(m, report.Nearest)}
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

// readers turn the messages that the geometry layer knows into its commands.
var readers = map[string]func(*ros.Message) validate.Command{
	"geometry_msgs/msg/Twist": func(m *ros.Message) validate.Command { return validate.Twist{Twist: twistOf(m)} },
	"geometry_msgs/msg/TwistStamped": func(m *ros.Message) validate.Command {
		return validate.Twist{Twist: twistOf(m.Msg("twist")), Frame: m.Str("header.frame_id"), Stamp: stampOf(m)}
	},
	"geometry_msgs/msg/PoseStamped": func(m *ros.Message) validate.Command {
		return validate.PoseGoal{Frame: m.Str("header.frame_id"), Stamp: stampOf(m), Pose: poseOf(m.Msg("pose"))}
	},
	"nav_msgs/msg/Path": func(m *ros.Message) validate.Command {
		p := pathOf(m)
		p.Stamp = stampOf(m)
		p.AlongPath = false
		return p
	},
}

func stampOf(m *ros.Message) validate.Stamp {
	return validate.Stamp{Sec: int32(m.Int("header.stamp.sec")), Nanosec: uint32(m.Int("header.stamp.nanosec"))}
}

func twistOf(m *ros.Message) spatial.Twist {
	return spatial.Twist{Linear: vec3(m.Msg("linear")), Angular: vec3(m.Msg("angular"))}
}

// nearestJSON writes the proposal as a message of the asked type.
func nearestJSON(asked *ros.Message, c validate.Command) string {
	m := asked.Clone()
	switch n := c.(type) {
	case validate.Twist:
		t := m
		if m.Type.FieldIndex("twist") >= 0 {
			t = m.Msg("twist")
		}
		setVec(t.Msg("linear"), n.Twist.Linear)
		setVec(t.Msg("angular"), n.Twist.Angular)
	case validate.PoseGoal:
		if m.Type.FieldIndex("pose") < 0 {
			return ""
		}
		m.With("header.frame_id", n.Frame)
		setVec(m.Msg("pose.position"), n.Pose.Position)
		q := n.Pose.Orientation
		m.Msg("pose.orientation").With("x", q.Imag).With("y", q.Jmag).With("z", q.Kmag).With("w", q.Real)
	default:
		return ""
	}
	data, err := m.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(data)
}

func setVec(m *ros.Message, v r3.Vec) { m.With("x", v.X).With("y", v.Y).With("z", v.Z) }
