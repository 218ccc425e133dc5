// Package action serves and calls ROS 2 actions over any [ros.Node].
//
// An action is three services and two topics below <action>/_action/
// (send_goal, cancel_goal, get_result; feedback, status). Both halves are built
// from the node's own services and topics here, once, so that every transport
// behaves alike and rclpy, rclcpp and the ros2 command cannot tell the difference.
package action
