package limits

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"go.yaml.in/yaml/v4"

	"agent_node/pkg/geometry/spatial"
)

// ErrMoveIt is wrapped by every error about a joint_limits.yaml; each names the line.
var ErrMoveIt = errors.New("limits: joint_limits.yaml")

// MoveIt is what MoveIt's joint_limits.yaml says.
type MoveIt struct {
	Joints map[string]MoveItJoint
	// VelocityScaling and AccelerationScaling are the defaults of requests that name none; 0: the file names none.
	VelocityScaling, AccelerationScaling float64
}

// MoveItJoint has what the file limits of one joint; nil: it does not limit that.
type MoveItJoint struct {
	Lower, Upper *float64 // rad or m
	Velocity     *float64
	Acceleration *float64
	Deceleration *float64
	Jerk         *float64
	Effort       *float64
	Line         int
}

// maxYAML bounds the file.
const maxYAML = 1 << 20

// ParseMoveIt reads a joint_limits.yaml: as MoveIt's setup assistant writes it, or as parameters of a node (below /**: ros__parameters: and
// robot_description_planning:). Errors wrap ErrMoveIt.
func ParseMoveIt(data []byte) (*MoveIt, error) {
	if len(data) > maxYAML {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrMoveIt, len(data), maxYAML)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMoveIt, err)
	}
	if len(doc.Content) != 1 {
		return nil, fmt.Errorf("%w: line 1: there is no document", ErrMoveIt)
	}
	root := doc.Content[0]
	for range 8 {
		if in := unwrapped(root); in != nil {
			root = in
			continue
		}
		break
	}
	m := &MoveIt{Joints: map[string]MoveItJoint{}}
	list := (*yaml.Node)(nil)
	err := members(root, func(key string, k, v *yaml.Node) (err error) {
		switch key {
		case "joint_limits":
			list = v
		case "default_velocity_scaling_factor":
			m.VelocityScaling, err = scaling(k, v)
		case "default_acceleration_scaling_factor":
			m.AccelerationScaling, err = scaling(k, v)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if list == nil {
		return nil, bad(root, "there is no joint_limits")
	}
	err = members(list, func(name string, k, v *yaml.Node) error {
		j, err := moveItJoint(v)
		if err != nil {
			return fmt.Errorf("joint %q: %w", name, err)
		}
		j.Line = k.Line
		m.Joints[name] = j
		return nil
	})
	return m, err
}

// unwrapped is what is within a node's parameters, nil where the node is no such wrapping.
func unwrapped(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key := n.Content[i].Value; {
		case key == "ros__parameters", key == "robot_description_planning", strings.HasPrefix(key, "/") && len(n.Content) == 2:
			return n.Content[i+1]
		}
	}
	return nil
}

func bad(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%w: line %d: %s", ErrMoveIt, n.Line, fmt.Sprintf(format, args...))
}

// members of a mapping, each once.
func members(n *yaml.Node, f func(key string, k, v *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return bad(n, "must be a mapping")
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Value == "" || k.Value == "<<" {
			return bad(k, "a key must be a name")
		}
		if first, twice := seen[k.Value]; twice {
			return bad(k, "%q is given twice; first on line %d", k.Value, first)
		}
		seen[k.Value] = k.Line
		if v.Kind == yaml.AliasNode {
			return bad(v, "%s: an alias is not read", k.Value)
		}
		if err := f(k.Value, k, v); err != nil {
			return err
		}
	}
	return nil
}

// quantity is a number of the file, with the flag that says whether it counts.
type quantity struct {
	has   *bool
	value *float64
	node  *yaml.Node
}

func moveItJoint(n *yaml.Node) (MoveItJoint, error) {
	var j MoveItJoint
	found := map[string]*quantity{}
	at := func(name string) *quantity {
		if found[name] == nil {
			found[name] = &quantity{}
		}
		return found[name]
	}
	err := members(n, func(key string, k, v *yaml.Node) error {
		if what, ok := strings.CutPrefix(key, "has_"); ok {
			var b bool
			if v.Kind != yaml.ScalarNode || v.Decode(&b) != nil {
				return bad(v, "%s is %q, must be true or false", key, clip(v.Value))
			}
			at(what).has, at(what).node = &b, k
			return nil
		}
		what, ok := map[string]string{
			"max_velocity": "velocity_limits", "max_acceleration": "acceleration_limits", "max_deceleration": "deceleration_limits", "max_jerk": "jerk_limits",
			"max_effort": "effort_limits", "min_position": "position_limits", "max_position": "position_limits",
		}[key]
		if !ok {
			return nil // soft limits, wrap-around and whatever else there will be: no limits of what is commanded
		}
		var f float64
		if v.Kind != yaml.ScalarNode || v.Decode(&f) != nil || !(math.Abs(f) <= spatial.MaxExtent) {
			return bad(v, "%s is %q, must be a number of at most %g", key, clip(v.Value), float64(spatial.MaxExtent))
		}
		switch key {
		case "min_position":
			j.Lower = &f
		case "max_position":
			j.Upper = &f
		default:
			if f < 0 {
				return bad(v, "%s is %g, must not be negative", key, f)
			}
			at(what).value = &f
		}
		at(what).node = k
		return nil
	})
	if err != nil {
		return j, err
	}
	for what, into := range map[string]**float64{
		"velocity_limits": &j.Velocity, "acceleration_limits": &j.Acceleration, "deceleration_limits": &j.Deceleration, "jerk_limits": &j.Jerk, "effort_limits": &j.Effort,
	} {
		q := at(what)
		if q.has != nil && *q.has && q.value == nil {
			return j, bad(q.node, "has_%s is true, and the number is missing", what)
		}
		if q.has != nil && *q.has {
			*into = q.value
		}
	}
	switch q := at("position_limits"); {
	case q.has == nil || !*q.has:
		j.Lower, j.Upper = nil, nil
	case j.Lower == nil || j.Upper == nil:
		return j, bad(q.node, "has_position_limits is true, and min_position or max_position is missing")
	case !(*j.Lower <= *j.Upper):
		return j, bad(q.node, "min_position %g is over max_position %g", *j.Lower, *j.Upper)
	}
	return j, nil
}

func scaling(k, v *yaml.Node) (float64, error) {
	var f float64
	if v.Kind != yaml.ScalarNode || v.Decode(&f) != nil || !(f > 0 && f <= 1) {
		return 0, bad(v, "%s is %q, must be over 0 and at most 1", k.Value, clip(v.Value))
	}
	return f, nil
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// Apply narrows the limits of joints: what is less than before counts, what is more does not, for the description has its limits for a reason; told are
// those that do not. An acceleration, which a description has no place for, is taken over, the lesser of acceleration and deceleration; so is a jerk. Joints that the
// file does not name stay as they are. Where the positions leave no room, the error wraps ErrMoveIt.
func (m *MoveIt) Apply(joints []Joint) (out []Joint, told []string, err error) {
	out = append([]Joint(nil), joints...)
	for i := range out {
		j := &out[i]
		x, ok := m.Joints[j.Name]
		if !ok {
			continue
		}
		narrow := func(what string, into *float64, from *float64) {
			switch {
			case from == nil:
			case *into == 0 || *from < *into:
				*into = *from
			case *from > *into:
				told = append(told, fmt.Sprintf("joint %s: %s %g of joint_limits.yaml, line %d, is over %g, which counts", j.Name, what, *from, x.Line, *into))
			}
		}
		narrow("max_velocity", &j.Velocity, x.Velocity)
		narrow("max_acceleration", &j.Acceleration, x.Acceleration)
		narrow("max_deceleration", &j.Acceleration, x.Deceleration)
		narrow("max_jerk", &j.Jerk, x.Jerk)
		narrow("max_effort", &j.Effort, x.Effort)
		for _, f := range [...]struct {
			name  string
			value *float64
		}{{"max_velocity", x.Velocity}, {"max_acceleration", x.Acceleration}, {"max_jerk", x.Jerk}} {
			if f.value != nil && *f.value == 0 {
				return nil, told, fmt.Errorf("%w: line %d: joint %q: %s is 0: it could never move", ErrMoveIt, x.Line, j.Name, f.name)
			}
		}
		if x.Lower == nil || j.Continuous {
			continue
		}
		if *x.Lower < j.Lower || *x.Upper > j.Upper {
			told = append(told, fmt.Sprintf("joint %s: positions %g to %g of joint_limits.yaml, line %d, are not within %g to %g, which count", j.Name, *x.Lower, *x.Upper, x.Line, j.Lower, j.Upper))
		}
		j.Lower, j.Upper = max(j.Lower, *x.Lower), min(j.Upper, *x.Upper)
		if !(j.Lower <= j.Upper) {
			return nil, told, fmt.Errorf("%w: line %d: joint %q: positions %g to %g leave no room within the description's", ErrMoveIt, x.Line, j.Name, *x.Lower, *x.Upper)
		}
	}
	return out, told, nil
}
