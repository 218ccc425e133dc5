package robot

import (
	"agent_node/pkg/ros"
	"agent_node/sim/physics"
	"agent_node/sim/world"
)

// snapshot is what there is to publish after a step.
type snapshot struct {
	step  int64
	stamp ros.Time

	truth     physics.Truth
	odometry  physics.Odometry // as it is told
	odomStamp ros.Time
	odomTold  bool
	estimate  world.Pose
	mapToOdom world.Pose
	scan      physics.Scan
	battery   physics.BatteryReading
	wheels    physics.Wheels
	scaling   float64
	mode      string
	counts    []uint64
	feedback  []feedback
	joints    physics.JointReading
	finger    physics.GripperReading
	objects   []physics.ObjectState
	seen      physics.Detections
}

// look takes a snapshot. It is called with mu held.
func (r *Robot) look() *snapshot {
	s := &snapshot{
		truth:     r.sim.Truth(),
		estimate:  r.sim.Estimate(),
		mapToOdom: r.sim.MapToOdom(),
		battery:   r.sim.Battery(),
		wheels:    r.sim.Wheels(),
		joints:    r.sim.Arm(),
		finger:    r.sim.Gripper(),
		scaling:   r.sim.SpeedScaling(),
		mode:      r.faults.mode(),
		counts:    append([]uint64(nil), r.counters.counts...),
	}
	s.step = int64(s.truth.Time / physics.Step)
	s.stamp = r.time.stamp(s.truth.Time)
	if s.step%scanEvery == 0 {
		s.scan = r.sim.Scan()
	}
	if s.step%odometryEvery == 0 {
		s.odometry, s.odomStamp, s.odomTold = r.tap.report(r.sim.Odometry(), s.stamp, &r.faults)
	}
	if s.step%objectsEvery == 0 {
		s.objects, s.seen = r.sim.Objects(), r.sim.Detections()
	}
	if s.step%feedbackEvery == 0 {
		s.feedback = r.progress(s)
	}
	return s
}
