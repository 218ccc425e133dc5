// Package rosout logs as a ROS 2 node does: to the console in ROS's format, and to
// everybody on /rosout. Its [Handler] is a [log/slog.Handler], made before the node
// (which logs through it) and attached to it afterwards. Logging never waits, for neither
// the console nor the network.
package rosout
