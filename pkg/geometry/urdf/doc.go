// Package urdf reads a robot's description: links with their collision shapes, and the joints that tie them into a tree.
//
// Frames are URDF's: a link's frame is that of the joint it hangs on, the root's is its own. Lengths are metres, angles
// radians; rpy is roll, pitch, yaw about the fixed axes x, y, z, in this order. What is for the eye or for dynamics (visual, inertial,
// transmission, gazebo) is passed over.
//
// A file that is malformed or contradicts itself (two parents, a cycle, a joint to a link that is not there, a revolute
// joint without limits, a number that is none) is refused with the line where it goes wrong.
package urdf
