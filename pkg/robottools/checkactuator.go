package robottools

import (
	"fmt"
	"strings"

	"agent_node/pkg/guard"
)

// checkActuator finds what the schema cannot say of an actuator.
func (p *Profile) checkActuator(at, name string, a Actuator, add addFunc) {
	for _, other := range a.Alongside {
		if _, ok := p.Actuators[other]; !ok || other == name {
			add(join(at, "alongside"), "%q is no other actuator", other)
		}
	}
	axes := a.axes()
	p.checkFeedback(join(at, "feedback"), a.Feedback, axes, add)
	if s := a.Second; s != nil {
		of := axes
		if len(s.Axes) > 0 {
			of = guardAxes(s.Axes)
		}
		p.checkFeedback(join(at, "second"), *s, of, add)
	}
	p.checkStop(join(at, "stop"), a, add)
	if l := a.Limit; a.Kind == kindGripper && l.Open == l.Closed {
		add(join(at, "limits/open"), "open and closed are both %g m: no motion lies between them", l.Open)
	}
	for i, s := range a.Pause {
		p.checkCEL(fmt.Sprintf("%s/pause/%d/when", at, i), s.When, nil, wantBool, nil, add)
		p.checkCEL(fmt.Sprintf("%s/pause/%d/emergency_when", at, i), s.EmergencyWhen, nil, wantBool, nil, add)
	}
	for i, l := range a.Interlocks {
		p.checkCEL(fmt.Sprintf("%s/interlocks/%d/holds", at, i), l.Holds, nil, wantBool, nil, add)
	}
	if c := a.config(name); len(c.Axes) == 0 {
		return // the schema has said so
	} else if err := c.Check(); err != nil {
		add(join(at, "guard"), "%v", err)
	}
}

func (p *Profile) checkFeedback(at string, f Feedback, axes []guard.Axis, add addFunc) {
	for i, e := range f.Position {
		p.checkCEL(fmt.Sprintf("%s/position/%d", at, i), e, nil, wantNumber, nil, add)
	}
	for i, e := range f.Velocity {
		p.checkCEL(fmt.Sprintf("%s/velocity/%d", at, i), e, nil, wantNumber, nil, add)
	}
	p.checkCEL(join(at, "stamp"), f.Stamp, nil, wantMap, nil, add)
	for what, list := range map[string][]string{"position": f.Position, "velocity": f.Velocity} {
		if len(list) > 0 && len(list) != len(axes) {
			add(join(at, what), "%d expressions, the actuator has %d axes", len(list), len(axes))
		}
	}
	switch {
	case f.Transform != nil:
		for _, x := range axes {
			if _, ok := component[x.Name]; !ok {
				add(join(at, "transform"), "a transform has no axis %q: x, y, z, roll, pitch or yaw", x.Name)
			}
		}
	case len(f.Position) > 0:
	case f.Type == "nav_msgs/msg/Odometry":
		if _, err := odometrySampler(axes); err != nil {
			add(join(at, "type"), "%v", err)
		}
	case f.Type != "sensor_msgs/msg/JointState":
		add(join(at, "type"), "nothing says how positions are read from %s: give position", f.Type)
	}
}

func (p *Profile) checkStop(at string, a Actuator, add addFunc) {
	s := a.Stop
	want := wantAny
	if s.Type == twistType {
		want = wantNumber
	}
	for _, f := range s.Message {
		p.checkCEL(at+"/message/"+f.Name, f.CEL, nil, want, nil, add)
	}
	for room, set := range map[string]bool{"msg": s.Topic != "", "action": s.Action != "", "srv": s.Service != ""} {
		if set && typeRoom(s.Type) != room {
			add(join(at, "type"), "%s is no type of a %s", s.Type, map[string]string{"msg": "topic", "action": "action", "srv": "service"}[room])
		}
	}
	if s.Topic != "" && len(s.Message) == 0 && s.Type != twistType && s.Type != twistStampedType {
		add(join(at, "type"), "what %s says that stops it is not known: give message", s.Type)
	}
	switch held := s.Type; {
	case len(s.Message) > 0:
	case held == gripperType && len(a.axes()) != 1:
		add(join(at, "type"), "a gripper command holds one position, the actuator has %d axes", len(a.axes()))
	case held == trajectoryType && a.Kind == kindBase:
		add(join(at, "type"), "a base has no joints to hold")
	}
}

// typeRoom is the middle of an interface's name: msg, srv or action.
func typeRoom(typeName string) string {
	_, rest, _ := strings.Cut(typeName, "/")
	room, _, _ := strings.Cut(rest, "/")
	return room
}

// streams: a skill that streams velocities to a base, which the geometry layer knows.
func (p *Profile) streams(t Tool) bool {
	b := t.Binding.Publish
	return p.Actuators[t.Actuator].Kind == kindBase && !b.Once && (b.Type == twistType || b.Type == twistStampedType)
}

// checkGeometry: what only the geometry layer can tell is asked of motions that it knows.
func (p *Profile) checkGeometry(at string, t Tool, add addFunc) {
	b := t.Binding.Publish
	if b != nil && !p.streams(t) {
		for _, v := range t.Validators {
			if v != "rules" {
				add(join(at, "validators"), "%s validates velocities of a base; of %s on %s only rules (requires) can say something", v, b.Type, t.Actuator)
			}
		}
		if b.Once && b.Until == "" {
			add(join(at, "binding/publish"), "a message that is sent once needs until: when it is there")
		}
		if b.Distance != "" || b.Angle != "" {
			add(join(at, "binding/publish"), "distance and angle are of a base's velocities")
		}
	}
	if s := t.Binding.Service; s != nil && s.Until != "" && t.Actuator == "" {
		add(join(at, "binding/service/until"), "until is of a motion: name the actuator")
	}
	l := t.TimeLimit
	known := t.Estimate != "" || t.Binding.Trajectory != nil || b != nil && p.streams(t) && (b.Distance != "" || b.Angle != "") ||
		t.Binding.Action != nil && p.Actuators[t.Actuator].Kind == kindBase && (t.Binding.Action.Target != "" || t.Binding.Action.Planner != nil || t.Binding.Action.Distance != "" || t.Binding.Action.Angle != "")
	if l.Factor > 0 && !known {
		add(join(at, "time_limit"), "how long the motion takes is not known to the geometry layer: give estimate")
	}
}
