package robot

import (
	"errors"
	"math"

	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// Frames (REP-105).
const (
	frameMap   = "map"
	frameOdom  = "odom"
	frameBase  = world.LinkBase
	frameLaser = world.LinkLaser
)

// sink is a publisher with the message that it sends over and over.
type sink struct {
	r   *Robot
	pub ros.Publisher
	msg *ros.Message
}

// sink makes a publisher.
func (r *Robot) sink(topic, typeName string, qos ros.QoS) (sink, error) {
	pub, err := r.node.CreatePublisher(topic, typeName, qos)
	if err != nil {
		return sink{}, err
	}
	r.closers = append(r.closers, pub)
	return sink{r, pub, ros.New(pub.Type())}, nil
}

func (s sink) send() {
	if err := s.pub.Publish(s.msg); err != nil && !errors.Is(err, ros.ErrClosed) {
		s.r.node.Logger().Warn("not published", "topic", s.pub.Topic(), "err", err)
	}
}

// header writes a std_msgs/Header.
func (s sink) header(stamp ros.Time, frame string) {
	writeHeader(s.msg.Msg("header"), stamp, s.r.frame(frame))
}

// frame is a frame's name as this robot tells it: with its prefix, where it has one.
func (r *Robot) frame(name string) string {
	if name == "" {
		return ""
	}
	return r.params.prefix + name
}

func writeHeader(m *ros.Message, stamp ros.Time, frame string) {
	m.SetStamp("stamp", stamp)
	m.With("frame_id", frame)
}

// writePose writes a geometry_msgs/Pose.
func writePose(m *ros.Message, p world.Pose, z float64) {
	m.Msg("position").With("x", p.X).With("y", p.Y).With("z", z)
	writeYaw(m.Msg("orientation"), p.Yaw)
}

// writeYaw writes a geometry_msgs/Quaternion.
func writeYaw(m *ros.Message, yaw float64) {
	s, c := math.Sincos(yaw / 2)
	m.With("z", s).With("w", c)
}

// writeVec writes a geometry_msgs/Point or Vector3.
func writeVec(m *ros.Message, v world.Vec) { m.With("x", v.X).With("y", v.Y).With("z", v.Z) }

// writeRotation writes a geometry_msgs/Quaternion.
func writeRotation(m *ros.Message, r world.Rotation) {
	x, y, z, w := r.Quaternion()
	m.With("x", x).With("y", y).With("z", z).With("w", w)
}

// writeTwist writes a geometry_msgs/Twist.
func writeTwist(m *ros.Message, t world.Twist) {
	m.With("linear.x", t.Linear).With("angular.z", t.Angular)
}

// writeTransform writes a geometry_msgs/TransformStamped.
func writeTransform(m *ros.Message, stamp ros.Time, parent, child string, p world.Pose, z float64) {
	writeHeader(m.Msg("header"), stamp, parent)
	m.With("child_frame_id", child)
	m.Msg("transform.translation").With("x", p.X).With("y", p.Y).With("z", z)
	writeYaw(m.Msg("transform.rotation"), p.Yaw)
}

// messages makes n messages of a type.
func (r *Robot) messages(typeName string, n int) ([]*ros.Message, error) {
	t, err := r.node.Types().Message(typeName)
	if err != nil {
		return nil, err
	}
	out := make([]*ros.Message, n)
	for i := range out {
		out[i] = ros.New(t)
	}
	return out, nil
}

// readYaw is the heading of a geometry_msgs/Quaternion; ok is false if it is no
// rotation about the vertical.
func readYaw(q *ros.Message) (yaw float64, ok bool) {
	const tolerance = 1e-2
	x, y, z, w := q.Float("x"), q.Float("y"), q.Float("z"), q.Float("w")
	unit := math.Abs(math.Sqrt(x*x+y*y+z*z+w*w)-1) <= tolerance
	upright := math.Hypot(x, y) <= tolerance
	return 2 * math.Atan2(z, w), unit && upright
}

// nonzero reports whether any number of a geometry_msgs/Twist is other than zero; NaN is.
func nonzero(twist *ros.Message) bool {
	for _, part := range []string{"linear", "angular"} {
		v := twist.Msg(part)
		for _, axis := range []string{"x", "y", "z"} {
			if v.Float(axis) != 0 {
				return true
			}
		}
	}
	return false
}
