// Package watchdog stops the robot when the node cannot: the node's process was killed, or hangs.
//
// The node beats ([Beat], on ~/heartbeat) while its guard lives. Run, in a process of its own, listens; when the beats end it
// cancels the goals that the node's last trace names and brings to rest whatever the node may have been moving ([Rescue]).
// A node that starts does the same for what its last trace left behind. docs/watchdog.md says it for people.
package watchdog
