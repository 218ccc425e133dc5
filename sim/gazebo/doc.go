// Package gazebo writes the built-in robot and its flat down for Gazebo Harmonic: the world, the robot's model, its
// URDF with a ros2_control block, and the maps for Nav2. All of it comes from sim/world and from the robot's URDF; what
// is committed is what [Files] makes (go run ./sim/write_models), and a test holds it to that.
//
// Written by hand are the bridge's configuration (bridge.yaml), the controllers' (controllers.yaml) and Nav2's
// (nav2.yaml), and the node for what Gazebo lacks (standin.py); tests hold names, types and figures in them against the
// profile, the URDF and the world. docs/gazebo.md says how it is started, and what of it cannot be run without Gazebo.
package gazebo
