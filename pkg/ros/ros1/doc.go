// Package ros1 is the transport to ROS 1: a node in pure Go among a roscore and the nodes of roscpp and rospy.
//
// It speaks the master's, the parameter server's and the nodes' APIs through goroslib's protocol packages, and
// serialises messages of run-time types itself: every type whose definition is compiled in or found below
// ROS_PACKAGE_PATH works, by this house's name for it (std_msgs/msg/String is ROS 1's std_msgs/String). What ROS 1 does
// unlike ROS 2 is said by [Node.Traits]:
//
//   - Quality of service: TCP, always reliable. A TransientLocal publisher is latched, and gives what it keeps to every
//     subscriber.
//   - A node is one publisher and one subscriber of a topic, with one type, whatever the number of its entities.
//   - Services can fail: a handler's error reaches the client, whose call wraps ros.ErrRejected.
//   - The master does not notice that a node died. What it names is believed only when it takes a connection.
//
// A time or duration is a message with sec and nanosec here, as in ROS 2; Header has its seq, which nobody reads.
//
// Actions are actionlib's. Package action speaks by the services and topics that an action has in ROS 2; of those names
// (<action>/_action/…) this transport makes actionlib's five topics, on either side. A goal id that a client chose as
// free text becomes a UUID made from it. Actionlib answers nothing, so the answers to goals and cancels are read
// from the states that follow; a cancel that nobody acts upon gets none.
//
// Parameters: a node's first values are those of the parameter server below its name. A client of
// <node>/get_parameters reads the parameter server for nodes that have no such service.
//
// Locks, the outer first: Node.registering (what the master is told, in order), a topic's mu, a link's, Node.mu. None is
// held while a callback runs.
package ros1
