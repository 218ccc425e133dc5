// Package draft writes a first profile for a robot that it finds on ROS.
//
// [Gather] looks at a live graph: topics, services and actions with their types, the robot's description, one message of what
// tells frames and joints, and parameters of Nav2's and ros2_control's nodes. [Robot.Decide] makes of it what the robot has: a
// base, arms, grippers, sensors. [Draft.YAML] writes that as a commented profile. What was guessed says so in its comment, and
// what was seen and not understood is listed at the end.
//
// Nothing is sent but requests for parameters.
package draft
