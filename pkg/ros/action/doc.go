// Package action serves and calls ROS 2 actions over any [ros.Node].
//
// An action is three services and two topics below <action>/_action/
// (send_goal, cancel_goal, get_result; feedback, status). Both halves are built
// from the node's own services and topics here, once, so that every transport
// behaves alike and rclpy, rclcpp and the ros2 command cannot tell the difference.
//
// The server follows rcl_action in states, codes and order. It adds what clients need and
// rcl_action leaves out: a duplicate id is refused, every goal ends with a result even
// at shutdown, and answers of a burst are spaced (see pacer), because every client
// of a service hears every answer and keeps ten.
//
// The client waits for a goal's result from the moment of its acceptance, and tells apart how it
// may never come: the server is out of sight for a second (ErrServerLost; after a kill -9
// the middleware itself takes up to 20 s to notice), another server is there that does
// not know the goal (ErrGoalForgotten), or the goal has ended by the status topic and
// nobody says how within five seconds (ErrResultLost). These limits run on the monotonic clock.
package action
