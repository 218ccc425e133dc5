// Package robot puts ROS around the built-in robot of package physics: topics,
// transforms, actions, parameters, and the truth for whoever judges it.
//
// It runs on any [ros.Node]: on ros2 as the program sim_robot, on mem inside another
// process. Names and types are listed in docs/sim.md.
package robot
