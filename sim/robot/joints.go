package robot

import (
	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// links are those whose joint is of a kind, in the order of the body.
func (r *Robot) links(of func(world.Joint) bool) (out []world.Link) {
	for _, l := range r.world.Body {
		if l.Parent != "" && of(l.Joint) {
			out = append(out, l)
		}
	}
	return out
}

// openJoints makes the topic of the joints' states, and sends the transforms of the links that they move.
func (r *Robot) openJoints() (func(*snapshot), error) {
	o, err := r.sink("joint_states", "sensor_msgs/msg/JointState", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	tf, err := r.sink("/tf", "tf2_msgs/msg/TFMessage", ros.QoS{Depth: 100})
	if err != nil {
		return nil, err
	}
	moving := r.links(func(j world.Joint) bool { return j.Kind != world.Fixed })
	list, err := r.messages("geometry_msgs/msg/TransformStamped", len(moving))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range moving {
		if l.Joint.Mimic == "" {
			names = append(names, l.Joint.Name)
		}
	}
	o.msg.With("name", names)
	position, velocity := make([]float64, len(names)), make([]float64, len(names))
	return func(s *snapshot) {
		q, v := r.jointValues(s)
		for i, n := range names {
			position[i], velocity[i] = q[n], v[n]
		}
		o.header(s.stamp, "")
		o.msg.With("position", position).With("velocity", velocity)
		o.send()
		for i, l := range moving {
			r.writeLink(list[i], s.stamp, l, l.Joint.Position(q))
		}
		tf.msg.With("transforms", list)
		tf.send()
	}, nil
}

// jointValues are the measured positions and velocities by the joints' names.
func (r *Robot) jointValues(s *snapshot) (q, v world.Positions) {
	g := r.world.Gripper.Joint
	q = world.Positions{"left_wheel_joint": s.wheels.Left, "right_wheel_joint": s.wheels.Right, g: s.finger.Width}
	v = world.Positions{"left_wheel_joint": s.wheels.LeftVelocity, "right_wheel_joint": s.wheels.RightVelocity, g: s.finger.Velocity}
	for i, name := range r.world.Arm.Names {
		q[name], v[name] = s.joints.Positions[i], s.joints.Velocities[i]
	}
	return q, v
}

// writeLink writes the transform of a link with its joint at a position.
func (r *Robot) writeLink(m *ros.Message, stamp ros.Time, l world.Link, position float64) {
	t := l.Joint.Origin(position)
	writeHeader(m.Msg("header"), stamp, r.frame(l.Parent))
	m.With("child_frame_id", r.frame(l.Name))
	writeVec(m.Msg("transform.translation"), t.P)
	writeRotation(m.Msg("transform.rotation"), t.R)
}
