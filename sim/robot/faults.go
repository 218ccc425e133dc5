package robot

import "agent_node/sim/physics"

// faults are the parameters fault.* and the robot's own emergency stop.
type faults struct {
	freezeOdom, staleStamps, stopOdom, nanOdom bool

	dropFeedback, lateResult, refuseCancel, ignoreCancel bool
	actionServerDown                                     bool
	gripperSlip, gripperEmpty                            bool

	protectiveStop, estop bool

	drift      float64 // m/s
	slowAccept float64 // s
}

// physical are the faults that the physics know of.
func (f *faults) physical() physics.Faults {
	return physics.Faults{
		ProtectiveStop: f.protectiveStop,
		EmergencyStop:  f.estop,
		Drift:          f.drift,
		GripperSlip:    f.gripperSlip,
		GripperEmpty:   f.gripperEmpty,
		OdometryLost:   f.freezeOdom || f.staleStamps || f.stopOdom || f.nanOdom,
	}
}

// mode is what the topic robot_mode says.
func (f *faults) mode() string {
	switch {
	case f.estop:
		return "estop"
	case f.protectiveStop:
		return "protective_stop"
	}
	return "auto"
}

// switches are the faults that are on or off.
var switches = []struct {
	name, description string
	field             func(*faults) *bool
}{
	{"fault.freeze_odom", "Odometry and its transform keep their values, with fresh stamps.", func(f *faults) *bool { return &f.freezeOdom }},
	{"fault.stale_stamps", "The stamps of odometry and its transform stand still.", func(f *faults) *bool { return &f.staleStamps }},
	{"fault.stop_odom", "No odometry and no transform of it.", func(f *faults) *bool { return &f.stopOdom }},
	{"fault.nan_odom", "Odometry and its transform are NaN.", func(f *faults) *bool { return &f.nanOdom }},
	{"fault.drop_feedback", "No feedback of actions.", func(f *faults) *bool { return &f.dropFeedback }},
	{"fault.late_result", "The result of a canceled goal comes 5 s after the cancel.", func(f *faults) *bool { return &f.lateResult }},
	{"fault.refuse_cancel", "Cancels are refused.", func(f *faults) *bool { return &f.refuseCancel }},
	{"fault.ignore_cancel", "Cancels are accepted and ignored; the goal never ends by itself.", func(f *faults) *bool { return &f.ignoreCancel }},
	{"fault.protective_stop", "The robot stops and stands until this is cleared, then it goes on.", func(f *faults) *bool { return &f.protectiveStop }},
	{"fault.action_server_down", "The servers of navigation, arm and gripper are gone; goals under way vanish with them.", func(f *faults) *bool { return &f.actionServerDown }},
	{"fault.gripper_slip", "What the gripper holds drops out while the base drives.", func(f *faults) *bool { return &f.gripperSlip }},
	{"fault.gripper_empty", "The fingers close beside whatever there is to grasp.", func(f *faults) *bool { return &f.gripperEmpty }},
	{"sim.estop", "The robot's own emergency stop is pressed: it stops, and every motion aborts.", func(f *faults) *bool { return &f.estop }},
}
