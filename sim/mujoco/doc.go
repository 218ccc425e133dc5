// Package mujoco writes the built-in robot and its flat down for MuJoCo (flat.xml, MJCF): links, inertias, shapes and limits
// from the robot's URDF, the surroundings from sim/world, and drives with torque limits, reflected inertia and friction in
// place of ideal ones. The Python package mujoco_robot beside it runs it with the topics and actions of the built-in robot.
// docs/mujoco.md says how, and what it showed.
package mujoco
