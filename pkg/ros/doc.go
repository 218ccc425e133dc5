// Package ros is the middleware room: what the rest of the house knows of ROS.
//
// It holds the [Node] interface, run-time typed messages ([Type], [Message]),
// their JSON form, quality of service, clocks and names. It imports no ROS:
// the rooms below it bring the transports.
//
//   - mem: an in-process transport, for tests and for running with no ROS at all
//   - ros2: rcl through rclgo and rosidl introspection (build tag ros2)
//   - action, param, lifecycle, rosout: what a client library adds, written once over Node
//   - args: --ros-args, names and remapping rules, the same on every transport
//   - msgdef: interface definitions read from .msg, .srv and .action files, and an embedded set
//   - typedesc: descriptions and hashes of types
//   - conformance: the suite that every transport passes
package ros
