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
	o.msg.With("child_frame_id", frameBase)
	return func(s *snapshot) {
		o.header(s.stamp, frameMap)
		writePose(o.msg.Msg("pose.pose"), s.truth.Pose, 0)
		writeTwist(o.msg.Msg("twist.twist"), s.truth.Twist)
		o.send()
	}, nil
}

// openObjects makes the topic with the objects as they lie.
func (r *Robot) openObjects() (func(*snapshot), error) {
	o, err := r.sink("sim/objects", "vision_msgs/msg/Detection3DArray", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	list, err := r.messages("vision_msgs/msg/Detection3D", len(r.world.Objects))
	if err != nil {
		return nil, err
	}
	for i, object := range r.world.Objects {
		if err := r.describe(list[i], object); err != nil {
			return nil, err
		}
	}
	return func(s *snapshot) {
		o.header(s.stamp, frameMap)
		for _, d := range list {
			writeHeader(d.Msg("header"), s.stamp, frameMap)
		}
		o.msg.With("detections", list)
		o.send()
	}, nil
}

// describe writes a vision_msgs/Detection3D of an object.
func (r *Robot) describe(d *ros.Message, o world.Object) error {
	results, err := r.messages("vision_msgs/msg/ObjectHypothesisWithPose", 1)
	if err != nil {
		return err
	}
	at := world.Pose{X: o.X, Y: o.Y, Yaw: o.Yaw}
	results[0].With("hypothesis.class_id", o.Name).With("hypothesis.score", 1.0)
	writePose(results[0].Msg("pose.pose"), at, o.Z)
	writePose(d.Msg("bbox.center"), at, o.Z)
	d.Msg("bbox.size").With("x", o.Size).With("y", o.Size).With("z", o.Size)
	d.With("id", o.Name).With("results", results)
	return nil
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
