package robottools_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/ros"
)

// The base drives with the arm in its carry pose, by what is measured now: where the arm is no longer measured, nobody knows that it is.
func TestAnInterlockNeedsTheJointsOfNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		// The arm is measured by a topic of its own, which the test can end.
		r := newRig(t, "fingers: [left_finger, right_finger, gripper_link]\n    feedback: {topic: /joint_states", "fingers: [left_finger, right_finger, gripper_link]\n    feedback: {topic: /arm_states")
		r.faulty = true
		var silent atomic.Bool
		arm := must1(r.peer.CreatePublisher("/arm_states", "sensor_msgs/msg/JointState", ros.SensorQoS()))(t)
		defer arm.Close()
		joints := must1(r.peer.CreateSubscription("/joint_states", "sensor_msgs/msg/JointState", ros.SensorQoS(), func(m ros.Received) {
			if !silent.Load() {
				must(t, arm.Publish(m.Message))
			}
		}))(t)
		defer joints.Close()
		r.ok("drive", `{"distance_m":0.2}`)
		silent.Store(true)
		time.Sleep(2 * time.Second) // of the bubble's clock
		before := r.bot.Truth().Pose
		got := r.call("drive", `{"distance_m":0.2}`)
		if got.OK || got.ErrorKind != "stale_state" || !strings.Contains(got.Content, "/arm_states") {
			t.Errorf("%+v", got)
		}
		if now := r.bot.Truth().Pose; now != before {
			t.Errorf("it has moved from %+v to %+v", before, now)
		}
		silent.Store(false)
		time.Sleep(time.Second)
		r.ok("drive", `{"distance_m":0.2}`)
	})
}
