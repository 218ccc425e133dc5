// Package guard tells, for each actuator and from measurements alone, whether a
// command is in flight, whether the actuator moves, has settled, is paused,
// stalled or cannot be observed; and it stops what moves. It knows no ROS: whoever
// owns the interfaces feeds it measurements and answers, and gives it a [Driver].
//
// One state machine per actuator, written as a table (states, events, actions);
// code, tests and the diagram in docs/ come from that table.
// All deadlines run on the monotonic clock.
package guard
