package robot

import (
	"math"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// odometryTap stands between the odometry and those who hear of it: here it goes
// wrong, alike for the topic and for the transform.
type odometryTap struct {
	told      bool // something was said before
	held      physics.Odometry
	heldStamp ros.Time
}

// report is what is said of a reading; ok is false if nothing is said.
func (t *odometryTap) report(o physics.Odometry, stamp ros.Time, f *faults) (said physics.Odometry, at ros.Time, ok bool) {
	if f.freezeOdom && t.told {
		o = t.held
	}
	if f.staleStamps && t.told {
		stamp = t.heldStamp
	}
	t.held, t.heldStamp, t.told = o, stamp, true
	if f.nanOdom {
		nan := math.NaN()
		o.Pose = world.Pose{X: nan, Y: nan, Yaw: nan}
		o.Twist = world.Twist{Linear: nan, Angular: nan}
	}
	return o, stamp, !f.stopOdom
}
