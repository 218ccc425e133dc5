// Package ros2 is the real transport: ROS 2 through rcl and rclgo (build tag ros2).
//
// Without the tag the package is empty, so that the house builds with Go alone.
// With it, cgo needs a ROS 2 prefix (CGO_CFLAGS with one -I for each package folder of its
// include directory, CGO_LDFLAGS with its lib directory); build/env.sh sets both.
//
// # Types
//
// [Types] finds every interface that is installed below AMENT_PREFIX_PATH when it is
// first named: the rosidl introspection library of its package is opened, its member table becomes a
// [ros.Type], and a codec that copies between C memory and [ros.Message] is laid
// out from the same table. No code is generated, nothing is built again for a new robot.
// Numeric arrays are copied as memory; bounds that the middleware would overrun or cut are errors.
// Introspection tells no constants: [ros.Type.Constants] is empty here.
//
// # What rclgo does, and what is done below it
//
// rclgo makes and ends the context, the node, publishers, subscriptions, clients and
// services, tells the topic graph, and converts quality of service. These are
// done here, on the handles of rclgo's own objects (handles.go), because rclgo
// cannot:
//
//   - Waiting. A rclgo.WaitSet fixes its entities when it starts, keeps one thread in C, adds every
//     entity again at each wake-up, and runs callbacks one after another. Here the middleware's own "new data"
//     callbacks put an entity on a list and write to an eventfd (events.c); one goroutine per node
//     waits for it in Go's poller, and once a second has every entity look anyway. Entities come and go without
//     anybody being stopped, an idle node takes next to no time, and no thread of the middleware ever runs Go code.
//   - Taking messages: rclgo's MessageInfo lacks the publisher's gid.
//   - Publishing, requests and responses: rclgo's encoders return no error, its buffers are
//     made anew for each message, and its errors read a per-thread text from whatever
//     thread the goroutine is on by then. Here each call brings its error text with it.
//   - Whether a service's server is there, all services of the graph, and a publisher's own
//     gid: rclgo has no call for them.
//
// # Threads and order of closing
//
// A subscription has a goroutine that takes and decodes, a bounded queue of its QoS depth that
// drops the oldest, and a goroutine that runs its callback. A service's requests run in
// goroutines of their own. An entity's C handle is only used under its lock and ends
// before its node, the node before its context. Making and ending happen one at a time in the
// process, because Fast DDS 2.14 does not stand it otherwise (node.go).
//
// A subscription's Publisher ids, [ros.Publisher.ID] and the graph's are one: the middleware's gid in hex.
package ros2
