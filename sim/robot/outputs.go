package robot

import (
	"math"

	"agent_node/pkg/ros"
	"agent_node/sim/physics"
)

// How many steps there are between two messages of a kind.
const (
	clockEvery    = 1
	odometryEvery = 2  // 50 Hz: odometry, transforms, truth
	jointsEvery   = 2  // 50 Hz, with their transforms
	scanEvery     = 10 // 10 Hz: scan, states, counters
	objectsEvery  = 10 // and what the camera sees
	feedbackEvery = 10
	recordEvery   = 10
	batteryEvery  = 20 // 5 Hz
)

// output publishes snapshots, one out of every so many.
type output struct {
	every   int64
	publish func(*snapshot)
}

// openOutputs makes the publishers of everything that is sent over and over.
func (r *Robot) openOutputs() error {
	for _, o := range []struct {
		every int64
		open  func() (func(*snapshot), error)
	}{
		{clockEvery, r.openClock},
		{odometryEvery, r.openOdometry},
		{odometryEvery, r.openTransforms},
		{odometryEvery, r.openTruth},
		{jointsEvery, r.openJoints},
		{scanEvery, r.openScan},
		{1, r.openMode},
		{1, r.openScaling},
		{batteryEvery, r.openBattery},
		{objectsEvery, r.openDetections},
		{objectsEvery, r.openObjects},
		{1, r.openContact},
		{1, r.openHeld},
		{scanEvery, r.openCounters},
		{1, r.openFeedback},
		{recordEvery, func() (func(*snapshot), error) { return r.record.publish, nil }},
	} {
		publish, err := o.open()
		if err != nil {
			return err
		}
		if publish != nil {
			r.outputs = append(r.outputs, output{o.every, publish})
		}
	}
	return nil
}

// openClock comes first: whoever hears a message should have heard the time it was stamped with.
func (r *Robot) openClock() (func(*snapshot), error) {
	if !r.time.simulated {
		return nil, nil
	}
	o, err := r.sink("/clock", "rosgraph_msgs/msg/Clock", ros.DefaultQoS())
	return func(s *snapshot) {
		o.msg.SetStamp("clock", s.stamp)
		o.send()
	}, err
}

func (r *Robot) openOdometry() (func(*snapshot), error) {
	o, err := r.sink("odom", "nav_msgs/msg/Odometry", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	o.msg.With("child_frame_id", r.frame(frameBase))
	pose, twist := covariance(o.msg.Msg("pose")), covariance(o.msg.Msg("twist"))
	return func(s *snapshot) {
		if !s.odomTold {
			return
		}
		d := s.odometry
		o.header(s.odomStamp, frameOdom)
		writePose(o.msg.Msg("pose.pose"), d.Pose, 0)
		writeTwist(o.msg.Msg("twist.twist"), d.Twist)
		pose[0], pose[7], pose[35] = d.PositionVariance, d.PositionVariance, d.HeadingVariance
		twist[0], twist[35] = d.LinearVariance, d.AngularVariance
		o.send()
	}, nil
}

// covariance is the message's own six by six matrix, with what a base in the plane does not measure
// marked as unknown.
func covariance(m *ros.Message) []float64 {
	const unmeasured = 1e6
	c := m.Floats("covariance")
	for i := range 6 {
		c[7*i] = unmeasured
	}
	return c
}

func (r *Robot) openTransforms() (func(*snapshot), error) {
	o, err := r.sink("/tf", "tf2_msgs/msg/TFMessage", ros.QoS{Depth: 100})
	if err != nil {
		return nil, err
	}
	list, err := r.messages("geometry_msgs/msg/TransformStamped", 2)
	if err != nil {
		return nil, err
	}
	return func(s *snapshot) {
		told := list[:1]
		writeTransform(list[0], s.stamp, r.frame(frameMap), r.frame(frameOdom), s.mapToOdom, 0)
		if s.odomTold {
			told = list
			writeTransform(list[1], s.odomStamp, r.frame(frameOdom), r.frame(frameBase), s.odometry.Pose, 0)
		}
		o.msg.With("transforms", told)
		o.send()
	}, nil
}

func (r *Robot) openScan() (func(*snapshot), error) {
	o, err := r.sink("scan", "sensor_msgs/msg/LaserScan", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	const step = 2 * math.Pi / physics.LidarBeams
	o.msg.With("angle_min", float32(-math.Pi)).With("angle_max", float32(math.Pi-step)).With("angle_increment", float32(step)).
		With("scan_time", float32(physics.LidarPeriod.Seconds())).
		With("range_min", float32(physics.LidarRangeMin)).With("range_max", float32(physics.LidarRangeMax))
	ranges := make([]float32, physics.LidarBeams)
	return func(s *snapshot) {
		for i, v := range s.scan.Ranges {
			ranges[i] = float32(v)
		}
		o.header(s.stamp, frameLaser)
		o.msg.With("ranges", ranges)
		o.send()
	}, nil
}

// openMode and openScaling tell of a change at once, and of the same again ten times a second.
func (r *Robot) openMode() (func(*snapshot), error) {
	o, err := r.sink("robot_mode", "std_msgs/msg/String", ros.LatchedQoS())
	said := ""
	return func(s *snapshot) {
		if s.mode != said || s.step%scanEvery == 0 {
			said = s.mode
			o.msg.With("data", said)
			o.send()
		}
	}, err
}

func (r *Robot) openScaling() (func(*snapshot), error) {
	o, err := r.sink("speed_scaling", "std_msgs/msg/Float64", ros.LatchedQoS())
	said := -1.0
	return func(s *snapshot) {
		if s.scaling != said || s.step%scanEvery == 0 {
			said = s.scaling
			o.msg.With("data", said)
			o.send()
		}
	}, err
}

func (r *Robot) openBattery() (func(*snapshot), error) {
	o, err := r.sink("battery_state", "sensor_msgs/msg/BatteryState", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	const charging, discharging, full = 1, 2, 4 // POWER_SUPPLY_STATUS_
	o.msg.With("present", true).With("power_supply_health", uint8(1)).With("power_supply_technology", uint8(2)).
		With("design_capacity", float32(physics.PackCapacity)).With("capacity", float32(physics.PackCapacity)).
		With("temperature", float32(math.NaN())) // not measured
	return func(s *snapshot) {
		b, status := s.battery, uint8(discharging)
		switch {
		case b.Charging && b.Percent >= 100:
			status = full
		case b.Charging:
			status = charging
		}
		o.header(s.stamp, frameBase)
		o.msg.With("percentage", float32(b.Percent/100)).With("charge", float32(b.Percent/100*physics.PackCapacity)).
			With("voltage", float32(b.Voltage)).With("current", float32(b.Current)).With("power_supply_status", status)
		o.send()
	}, nil
}
