package robottools

import (
	"fmt"
	"slices"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/ros"
)

// jointActuator is an arm or a gripper: measured by joint states, moved and held by action goals.
type jointActuator struct {
	actuator
	joints []string
	hold   *holder
}

// addJoints makes the guard know an arm or a gripper; feed begins to feed it.
func (r *Robot) addJoints(name string, def Actuator) error {
	at := join("actuators", name)
	a := &jointActuator{actuator: actuator{name: name, def: def, arrived: r.arrived}, joints: def.Joints}
	var err error
	if a.hold, err = r.newHolder(a, def.Stop); err != nil {
		return r.profile.source.errorf(join(at, "stop"), "%v", err)
	}
	if a.guard, err = r.guard.Add(jointConfig(name, def), a); err != nil {
		return r.profile.source.errorf(at, "%v", err)
	}
	r.joints[name] = a
	return nil
}

// feed measures the joints and hears their signals, once every actuator is known.
func (a *jointActuator) feed(r *Robot) error {
	at, def := join("actuators", a.name), a.def
	sub, err := r.node.CreateSubscription(def.Feedback.Topic, def.Feedback.Type, ros.QoS{Depth: 20, Reliability: ros.BestEffort}, a.jointStates)
	if err != nil {
		return r.profile.source.errorf(join(at, "feedback"), "%v", err)
	}
	r.own(sub)
	for i, s := range def.Pause {
		if err := r.watchPause(&a.actuator, s); err != nil {
			return r.profile.source.errorf(fmt.Sprintf("%s/pause/%d", at, i), "%v", err)
		}
	}
	return nil
}

// jointConfig is the guard's numbers for joints: revolute ones in rad, prismatic ones (a gripper's) in m.
func jointConfig(name string, def Actuator) guard.Config {
	c := guard.DefaultConfig(name)
	for _, j := range def.Joints {
		group := guard.Joint
		if def.Kind == "gripper" {
			group = guard.Linear
		}
		c.Axes = append(c.Axes, guard.Axis{Name: j, Group: group})
	}
	c.Period = seconds(def.Feedback.Period)
	tuneTimes(&c, def.Guard)
	for _, g := range []guard.Group{guard.Joint, guard.Linear} {
		l := c.Groups[g]
		if def.Limit.Deceleration > 0 {
			l.Deceleration = def.Limit.Deceleration
		}
		l.Euclidean = false
		c.Groups[g] = l
	}
	return c
}

// jointStates feeds the guard; a message that lacks one of the joints is none of this actuator's.
func (a *jointActuator) jointStates(r ros.Received) {
	names := r.Message.Strs("name")
	positions, velocities := r.Message.Floats("position"), r.Message.Floats("velocity")
	s := guard.Sample{Stamp: r.Message.Stamp("header.stamp").Std(), Arrived: r.Arrived, Position: make([]float64, len(a.joints))}
	if len(velocities) == len(names) {
		s.Velocity = make([]float64, len(a.joints))
	}
	for i, j := range a.joints {
		k := slices.Index(names, j)
		if k < 0 || k >= len(positions) {
			return
		}
		s.Position[i] = positions[k]
		if s.Velocity != nil {
			s.Velocity[i] = velocities[k]
		}
	}
	a.observe(s)
}

// Stop implements guard.Driver: a goal that holds the measured position.
func (a *jointActuator) Stop() error { return a.hold.send() }

// scope is the newest measurement by joint name.
func (a *jointActuator) scope() (map[string]any, bool) {
	s, ok := a.latest()
	if !ok {
		return nil, false
	}
	out := make(map[string]any, len(a.joints))
	for i, j := range a.joints {
		out[j] = round(s.Position[i], 5)
	}
	return out, true
}

// holdEvery is how often a hold is sent again while an actuator does not come to rest.
const holdEvery = time.Second
