// Package kinematics computes where a robot's links are for given joint positions, and joint positions for a given pose.
//
//   - Chain: the joints between two links, in order from base to tip; forward kinematics, Jacobian, inverse kinematics
//   - Tree: all links of a robot, some joints moving, the others at rest
//
// Joint positions are in rad, of prismatic joints in m, in the order of Chain.Joints. Both are read only after they are
// made and may be shared; forward kinematics and Jacobian do not allocate when given room.
package kinematics
