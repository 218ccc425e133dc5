package geometry

// Rule names. They are part of the contract: models, people and tests read them.
const (
	RuleFinite          = "finite"           // NaN or infinite number
	RuleRange           = "range"            // finite but absurd, or over what one command may ask for
	RuleLinearVelocity  = "linear velocity"  // m/s
	RuleAngularVelocity = "angular velocity" // rad/s
	RuleLinearY         = "linear.y"         // a component that a ground base does not have; m/s
	RuleLinearZ         = "linear.z"
	RuleAngularX        = "angular.x" // rad/s
	RuleAngularY        = "angular.y"
	RuleAcceleration    = "acceleration"    // between successive commands; m/s^2 or rad/s^2
	RuleQuaternion      = "unit quaternion" // norm off by more than 1e-2, zero, or not a number
	RuleRollPitch       = "roll and pitch"  // a ground base stays upright; rad
	RulePositionZ       = "position.z"      // m
	RuleFrame           = "frame"           // empty, malformed, unknown or unconnected frame
	RuleTransformAge    = "transform age"   // s
	RuleStamp           = "stamp"           // not a valid time, ahead of the clock, or too old; s
	RuleStateAge        = "state age"       // the measured state is missing, too old or not a number; s
	RuleStartState      = "start state"     // a path begins elsewhere than the robot stands; m
	RuleGoal            = "goal"            // a path ends elsewhere than its goal; m
	RuleWorkspace       = "workspace"       // outside the keep-in area; m
	RuleKeepOut         = "keep-out"        // m
	RuleSpeedZone       = "speed zone"      // m/s or rad/s
	RuleMap             = "map"             // a pose whose footprint is on occupied, unknown or no map; m
	RuleSweptPath       = "swept path"      // the same somewhere along a motion; m
	RuleEmpty           = "empty"           // nothing to do in the command
	RuleLength          = "length"          // lists that do not belong together
	RuleTimeOrder       = "time order"      // s
	RuleLimits          = "limits"          // a limit that the check needs is not configured
	RuleFootprint       = "footprint"       // the robot's shape is not configured

	// Rules about arms and grippers.
	RuleJointNames    = "joint names"    // not exactly the actuator's joints, each once
	RulePositionLimit = "position limit" // rad or m
	RuleVelocity      = "velocity"       // of a joint, also between points; rad/s or m/s
	RuleFinalVelocity = "final velocity" // a trajectory that ends in motion; rad/s or m/s
	RuleTolerance     = "tolerance"      // of a joint that is not there, or no tolerance
	RuleJerk          = "jerk"           // of a joint, also between points; rad/s^3 or m/s^3
	RuleTipSpeed      = "tip speed"      // of an arm's tip, at any time; m/s or rad/s
	RuleForce         = "force"          // at an arm's tip; N
	RuleTorque        = "torque"         // Nm
	RuleEffort        = "effort"         // Nm or N
	RulePosition      = "position"       // of a gripper; m
	RuleSelfCollision = "self-collision" // between parts of the robot, what it holds included; m
	RuleReach         = "reachability"   // no joint positions bring the tip to the pose; m or rad
	RuleCollision     = "collision"      // of the robot, or what it holds, with something around it; m

	// Rules about a message's form; whoever decodes messages reports them with these names.
	RuleType         = "type"
	RuleDuplicateKey = "duplicate key"
	RuleJSON         = "json"
	RuleActuator     = "actuator"
)
