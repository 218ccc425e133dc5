package robot

import (
	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// thing is what a vision_msgs/Detection3D tells of an object.
type thing struct {
	name     string
	size     float64
	position world.Vec
	rotation world.Rotation
	score    float64
	variance float64 // m^2, of the position
}

// things are messages of objects, kept to be sent over and over.
type things struct {
	sink
	list []*ros.Message
}

// openThings makes a topic of objects.
func (r *Robot) openThings(topic string) (t things, err error) {
	if t.sink, err = r.sink(topic, "vision_msgs/msg/Detection3DArray", ros.DefaultQoS()); err != nil {
		return t, err
	}
	if t.list, err = r.messages("vision_msgs/msg/Detection3D", len(r.world.Objects)); err != nil {
		return t, err
	}
	for _, m := range t.list {
		results, err := r.messages("vision_msgs/msg/ObjectHypothesisWithPose", 1)
		if err != nil {
			return t, err
		}
		m.With("results", results)
	}
	return t, nil
}

// tell sends what there is, also if it is nothing.
func (t things) tell(stamp ros.Time, frame string, all []thing) {
	for i, o := range all {
		d := t.list[i]
		writeHeader(d.Msg("header"), stamp, t.r.frame(frame))
		result := d.Msgs("results")[0]
		result.With("hypothesis.class_id", o.name).With("hypothesis.score", o.score)
		c := result.Floats("pose.covariance")
		for k := range 3 {
			c[7*k] = o.variance
		}
		for _, pose := range []*ros.Message{result.Msg("pose.pose"), d.Msg("bbox.center")} {
			writeVec(pose.Msg("position"), o.position)
			writeRotation(pose.Msg("orientation"), o.rotation)
		}
		writeVec(d.Msg("bbox.size"), world.Vec{X: o.size, Y: o.size, Z: o.size})
		d.With("id", o.name)
	}
	t.header(stamp, frame)
	t.msg.With("detections", t.list[:len(all)])
	t.send()
}

// openDetections makes the topic of what the camera sees.
func (r *Robot) openDetections() (func(*snapshot), error) {
	t, err := r.openThings("detections")
	noise := r.world.Camera.Noise
	return func(s *snapshot) {
		var all []thing
		for _, d := range s.seen.Seen {
			// The farther away, the less it is sure.
			score := 1 - 0.2*d.Distance/r.world.Camera.RangeMax
			all = append(all, thing{d.Name, d.Size, d.Position, d.Rotation, score, noise * noise})
		}
		t.tell(s.stamp.Add(s.seen.Time-s.truth.Time), world.LinkCamera, all)
	}, err
}
