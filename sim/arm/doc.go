// Package arm has the arm's trajectory controller and the gripper's, without ROS: what
// ros2_control's joint_trajectory_controller and gripper_action_controller do with a goal.
//
// A [Trajectory] is checked and sampled as theirs is: between two points it is a line, a cubic or a quintic,
// depending on what both points have. A [Follower] leads the arm along it in time
// and judges the tolerances; a [Grip] leads the gripper.
package arm
