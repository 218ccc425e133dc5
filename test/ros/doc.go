// Package ros holds tests against ROS 2 peers in other processes (build tag ros2).
// python3 must be the prefix's, as build/env.sh makes it.
package ros
