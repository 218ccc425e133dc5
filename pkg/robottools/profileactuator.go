package robottools

import (
	"time"

	"agent_node/pkg/guard"
)

// Kinds of actuators.
const (
	kindBase    = "base"
	kindArm     = "arm"
	kindGripper = "gripper"
	kindOther   = "other"
)

// Actuator is something that moves.
type Actuator struct {
	// Kind of the actuator: "base" (x, y, yaw), "arm", "gripper", or "other" (whatever has axes).
	Kind string `json:"kind"`
	// Joints of an arm, or of a gripper its one finger, in the order of its commands.
	Joints []string `json:"joints"`
	// Axes of another kind: what is measured of it.
	Axes []Axis `json:"axes"`
	// Feedback is the measurement that says whether it moves; Second an independent one of the same.
	Feedback Feedback  `json:"feedback"`
	Second   *Feedback `json:"second"`
	// Stop is how it is brought to rest whatever it does.
	Stop  StopBinding `json:"stop"`
	Limit Limits      `json:"limits"`
	// JointLimits is a MoveIt joint_limits.yaml of an arm: package://, file:// or an absolute path.
	JointLimits string `json:"joint_limits"`
	// Pause lists the robot's own signals of a hold.
	Pause []PauseSource `json:"pause"`
	// Tip is an arm's last link; AllowedContacts are pairs of links that may touch; Fingers are links that may touch a held object.
	Tip             string      `json:"tip"`
	AllowedContacts [][2]string `json:"allowed_contacts"`
	Fingers         []string    `json:"fingers"`
	// Interlocks are conditions under which it may move at all.
	Interlocks []Interlock `json:"interlocks"`
	// AllowedPublishers are nodes that may publish on its command topics without being foreign (a navigator, a mux).
	AllowedPublishers []string `json:"allowed_publishers"`
	// Alongside are actuators that may move while this one does; it holds both ways.
	Alongside []string    `json:"alongside"`
	Guard     GuardTuning `json:"guard"`
}

// Interlock is a condition under which an actuator may move at all.
type Interlock struct {
	// Says is what is wrong where it does not hold.
	Says string `json:"says"`
	// Holds is CEL.
	Holds string `json:"holds"`
	// Remedy is the call that brings it about, for whoever was refused; nil: none is named, and nobody makes it unasked.
	Remedy *Remedy `json:"remedy"`
}

// Remedy is a call of a skill.
type Remedy struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"` // as they are
}

// Axis is one measured value of an actuator.
type Axis struct {
	Name string `json:"name"`
	// Group of thresholds: "linear" (m), "angular" (rad, of a body), "joint" (rad, of a joint).
	Group string `json:"group"`
	// Wrap: the position is an angle that jumps by 2 pi.
	Wrap bool `json:"wrap"`
}

// Feedback is a measurement and its nominal period in seconds: a topic whose type is known (nav_msgs/msg/Odometry of a base,
// sensor_msgs/msg/JointState of joints), a topic read by expressions, or a transform.
type Feedback struct {
	Topic  string  `json:"topic"`
	Type   string  `json:"type"`
	Period float64 `json:"period"`
	// Position and Velocity are CEL over msg, one for each axis. Without Velocity speeds are derived from positions.
	Position []string `json:"position"`
	Velocity []string `json:"velocity"`
	// Stamp is CEL over msg: {sec, nanosec}. Without it the header's stamp counts, or the arrival where there is no header.
	Stamp string `json:"stamp"`
	// Transform is where Source is in Target; axes are named x, y, z, roll, pitch, yaw.
	Transform *TransformSource `json:"transform"`
	// Axes of a second source that measures others than the actuator's own.
	Axes []Axis `json:"axes"`
}

// TransformSource is a transform that is measured.
type TransformSource struct {
	Target string `json:"target"`
	Source string `json:"source"`
}

// StopBinding is how an actuator is stopped: zeros on a velocity topic, a message on any topic, an action that replaces what
// goes on, or a service. Exactly one of Topic, Action and Service is set.
type StopBinding struct {
	Topic   string `json:"topic"`
	Action  string `json:"action"`
	Service string `json:"service"`
	Type    string `json:"type"`
	Frame   string `json:"frame"` // of a TwistStamped
	// Message are fields of the message, goal or request: CEL over state. Velocities are zero without it; a trajectory or gripper
	// action holds the measured position; any other action is only canceled.
	Message Exprs `json:"message"`
}

// Limits of a base: m/s, rad/s, m/s2, rad/s2.
type Limits struct {
	Linear              float64 `json:"linear"`
	Angular             float64 `json:"angular"`
	LinearAcceleration  float64 `json:"linear_acceleration"`
	AngularAcceleration float64 `json:"angular_acceleration"`
	// Deceleration that the actuator can be relied on for (a base's along x and y), m/s2 or rad/s2.
	Deceleration float64 `json:"deceleration"`
	// Range is the longest straight motion in one command, m; RangeAngle the largest turn, rad.
	Range float64 `json:"range"`
	// Velocity and Acceleration of an arm's joints, rad/s and rad/s2; 0: the URDF's.
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
	// MaxEffort (N), Open and Closed (m) of a gripper.
	MaxEffort  float64 `json:"max_effort"`
	Open       float64 `json:"open"`
	Closed     float64 `json:"closed"`
	RangeAngle float64 `json:"range_angle"`
	// Lateral and Backward speed of a base, m/s; 0: it does not move sideways; backwards as fast as forwards.
	Lateral  float64 `json:"lateral"`
	Backward float64 `json:"backward"`
	// Jerk of an arm's joints, rad/s3; TipSpeed (m/s) and TipTurn (rad/s) of its tip; 0: not limited.
	Jerk     float64 `json:"jerk"`
	TipSpeed float64 `json:"tip_speed"`
	TipTurn  float64 `json:"tip_turn"`
	// Force (N) and Torque (Nm) that may be asked for at an arm's tip; 0: none.
	Force  float64 `json:"force"`
	Torque float64 `json:"torque"`
}

// PauseSource is a topic whose newest message says that the robot itself holds.
type PauseSource struct {
	Name  string `json:"name"`
	Topic string `json:"topic"`
	Type  string `json:"type"`
	// When is CEL over msg: true while paused.
	When string `json:"when"`
	// EmergencyWhen is CEL over msg: true latches the emergency stop.
	EmergencyWhen string `json:"emergency_when"`
}

// GuardTuning overrides the guard's numbers; what is left out keeps the default. Seconds, m, rad.
type GuardTuning struct {
	Window          float64 `json:"window"`
	MinSamples      int     `json:"min_samples"`
	MaxGapPeriods   float64 `json:"max_gap_periods"`
	ArrivalSpread   float64 `json:"arrival_spread"`
	MaxAge          float64 `json:"max_age"`
	StampAge        float64 `json:"stamp_age"` // negative: stamps are not compared with the clock
	Noisy           bool    `json:"noisy"`
	ControlPeriod   float64 `json:"control_period"`
	StallTime       float64 `json:"stall_time"`
	FeedbackTimeout float64 `json:"feedback_timeout"`
	PauseCap        float64 `json:"pause_cap"`
	StopTime        float64 `json:"stop_time"`
	EndTime         float64 `json:"end_time"`
	SettleTime      float64 `json:"settle_time"`
	CancelAnswer    float64 `json:"cancel_answer"`
	CancelResult    float64 `json:"cancel_result"`
	AcceptTimeout   float64 `json:"accept_timeout"`
	MotionSamples   int     `json:"motion_samples"`
	// MoveTime, SpreadFactor: 0 switches the rule off, so absence is something else.
	MoveTime     *float64 `json:"move_time"`
	SpreadFactor *float64 `json:"spread_factor"`
	Standstill   float64  `json:"standstill"`

	LinearSpeed       float64 `json:"linear_speed"`
	AngularSpeed      float64 `json:"angular_speed"`
	JointSpeed        float64 `json:"joint_speed"`
	Displacement      float64 `json:"displacement"`
	Rotation          float64 `json:"rotation"`
	JointDisplacement float64 `json:"joint_displacement"`
}

// axes that the guard knows of the actuator, in the order of its samples.
func (a *Actuator) axes() []guard.Axis {
	switch a.Kind {
	case kindBase:
		return []guard.Axis{{Name: "x", Group: guard.Linear}, {Name: "y", Group: guard.Linear}, {Name: "yaw", Group: guard.Angular, Wrap: true}}
	case kindArm, kindGripper:
		group := guard.Joint
		if a.Kind == kindGripper {
			group = guard.Linear // a prismatic finger
		}
		out := make([]guard.Axis, len(a.Joints))
		for i, j := range a.Joints {
			out[i] = guard.Axis{Name: j, Group: group}
		}
		return out
	}
	return guardAxes(a.Axes)
}

func guardAxes(list []Axis) []guard.Axis {
	out := make([]guard.Axis, len(list))
	for i, x := range list {
		out[i] = guard.Axis{Name: x.Name, Group: guard.Group(x.Group), Wrap: x.Wrap}
	}
	return out
}

// config is the guard's numbers with the profile's overrides.
func (a *Actuator) config(name string) guard.Config {
	c := guard.DefaultConfig(name)
	c.Axes = a.axes()
	c.Period = seconds(a.Feedback.Period)
	if s := a.Second; s != nil {
		axes := c.Axes
		if len(s.Axes) > 0 {
			axes = guardAxes(s.Axes)
		}
		c.Second = &guard.SecondSource{Axes: axes, Period: seconds(s.Period)}
	}
	if d := a.Limit.Deceleration; d > 0 {
		c.Deceleration = d
	}
	a.Guard.tune(&c)
	angular := c.Groups[guard.Angular]
	angular.Deceleration = a.Limit.AngularAcceleration
	c.Groups[guard.Angular] = angular
	if a.Kind == kindArm || a.Kind == kindGripper {
		linear := c.Groups[guard.Linear] // prismatic joints, each alone
		linear.Euclidean = false
		c.Groups[guard.Linear] = linear
	}
	return c
}

// tune takes over what is set.
func (t *GuardTuning) tune(c *guard.Config) {
	linear, angular, joint := c.Groups[guard.Linear], c.Groups[guard.Angular], c.Groups[guard.Joint]
	for _, o := range []struct {
		from float64
		into *float64
	}{
		{t.LinearSpeed, &linear.Speed},
		{t.Displacement, &linear.Displacement},
		{t.AngularSpeed, &angular.Speed},
		{t.Rotation, &angular.Displacement},
		{t.JointSpeed, &joint.Speed},
		{t.JointDisplacement, &joint.Displacement},
		{t.MaxGapPeriods, &c.MaxGapPeriods},
		{t.ArrivalSpread, &c.ArrivalSpread},
	} {
		if o.from > 0 {
			*o.into = o.from
		}
	}
	c.Groups[guard.Linear], c.Groups[guard.Angular], c.Groups[guard.Joint] = linear, angular, joint
	if t.MinSamples > 0 {
		c.MinSamples = t.MinSamples
	}
	if t.MotionSamples > 0 {
		c.MotionSamples = t.MotionSamples
	}
	if t.SpreadFactor != nil {
		c.SpreadFactor = *t.SpreadFactor
	}
	if t.MoveTime != nil {
		c.MoveTime = seconds(*t.MoveTime)
	}
	if t.StampAge != 0 {
		c.StampAge = seconds(t.StampAge)
	}
	c.Noisy = t.Noisy
	t.tuneTimes(c)
}

func (t *GuardTuning) tuneTimes(c *guard.Config) {
	for _, o := range []struct {
		from float64
		into *time.Duration
	}{
		{t.Window, &c.Window},
		{t.MaxAge, &c.MaxAge},
		{t.ControlPeriod, &c.ControlPeriod},
		{t.StallTime, &c.StallTime},
		{t.FeedbackTimeout, &c.FeedbackTimeout},
		{t.PauseCap, &c.PauseCap},
		{t.StopTime, &c.StopTime},
		{t.EndTime, &c.EndTime},
		{t.SettleTime, &c.SettleTime},
		{t.CancelAnswer, &c.CancelAnswer},
		{t.CancelResult, &c.CancelResult},
		{t.AcceptTimeout, &c.AcceptTimeout},
		{t.Standstill, &c.Standstill},
	} {
		if o.from > 0 {
			*o.into = seconds(o.from)
		}
	}
}
