// Package mem is the in-process transport: nodes on one [Bus] meet each other as
// ROS 2 nodes on one domain do, with no ROS installed.
//
// What counts for a program is as over ROS 2: names and remaps, matching by type and quality of
// service, keep-last queues whose oldest message goes when a subscriber is slow,
// replay to late joiners, services that are there or not, the graph. A message
// that arrives is the receiver's own copy. It differs where it must: matching is
// immediate, and nothing is lost unless a queue is full or [Hooks] say so.
//
// Each subscription delivers from a goroutine of its own and each request is served in one, so that
// a slow callback delays nobody else. A panic in a callback or handler is logged with its
// stack and ends that call only.
package mem
