package robot

import (
	"strconv"

	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// openTruth makes the topic with the state as it is. No fault has an influence on it.
func (r *Robot) openTruth() (func(*snapshot), error) {
	o, err := r.sink("sim/ground_truth", "nav_msgs/msg/Odometry", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	o.msg.With("child_frame_id", r.frame(frameBase))
	return func(s *snapshot) {
		o.header(s.stamp, frameMap)
		writePose(o.msg.Msg("pose.pose"), s.truth.Pose, 0)
		writeTwist(o.msg.Msg("twist.twist"), s.truth.Twist)
		o.send()
	}, nil
}

// openObjects makes the topic with the objects as they are.
func (r *Robot) openObjects() (func(*snapshot), error) {
	t, err := r.openThings("sim/objects")
	return func(s *snapshot) {
		var all []thing
		for _, o := range s.objects {
			if !o.Gone {
				all = append(all, thing{o.Name, o.Size, world.Vec{X: o.X, Y: o.Y, Z: o.Z}, o.Rotation, 1, 0})
			}
		}
		t.tell(s.stamp, frameMap, all)
	}, err
}

// openContact makes the topic that tells whether base or arm are held by something they bumped into.
func (r *Robot) openContact() (func(*snapshot), error) {
	o, err := r.sink("sim/contact", "std_msgs/msg/Bool", ros.LatchedQoS())
	said := false
	return func(s *snapshot) {
		if now := s.truth.Contact || s.truth.ArmContact; now != said || s.step%scanEvery == 0 {
			said = now
			o.msg.With("data", now)
			o.send()
		}
	}, err
}

// openHeld makes the topic that names the object between the fingers.
func (r *Robot) openHeld() (func(*snapshot), error) {
	o, err := r.sink("sim/held", "std_msgs/msg/String", ros.LatchedQoS())
	said := ""
	return func(s *snapshot) {
		if s.truth.Held != said || s.step%scanEvery == 0 {
			said = s.truth.Held
			o.msg.With("data", said)
			o.send()
		}
	}, err
}

// openCounters makes the topic with the counters: one status, a value for each.
func (r *Robot) openCounters() (func(*snapshot), error) {
	o, err := r.sink("sim/counters", "diagnostic_msgs/msg/DiagnosticArray", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	status, err := r.messages("diagnostic_msgs/msg/DiagnosticStatus", 1)
	if err != nil {
		return nil, err
	}
	status[0].With("name", "sim/counters").With("hardware_id", "sim_robot")
	var values []*ros.Message
	return func(s *snapshot) {
		if values == nil {
			// By now every counter has its name.
			if values, err = r.messages("diagnostic_msgs/msg/KeyValue", len(s.counts)); err != nil {
				r.node.Logger().Error("no counters", "err", err)
				return
			}
		}
		for i, n := range s.counts {
			values[i].With("key", r.counters.names[i]).With("value", strconv.FormatUint(n, 10))
		}
		status[0].With("values", values)
		o.header(s.stamp, "")
		o.msg.With("status", status)
		o.send()
	}, nil
}
