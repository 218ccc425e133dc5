// Package args reads what ROS 2 users pass to a node on its command line, and
// gives names their meaning: --ros-args with remaps, parameters, parameter files and
// log levels, the expansion and validation of names, and the remapping rules of rcl.
//
// Every transport resolves names through [Node], so that all of them behave alike;
// the one over rcl hands rcl names that are already absolute and remapped.
package args
