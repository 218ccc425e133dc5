// Package collision says how far a robot's links are from each other and from what stands around, at a configuration and
// along whole motions.
//
//   - Shape: sphere, capsule, cylinder, box; Distance between two of them
//   - Robot: the links of a URDF with their shapes, and which pairs are checked
//   - Scene: a robot, bodies around it, objects attached to it; read only, made anew when something changes
//
// Motions are checked with steps that are proven: between two steps no point moves farther than there was room (see docs/geometry.md).
// Lengths are metres; bodies are placed in the frame of the robot's base.
package collision
