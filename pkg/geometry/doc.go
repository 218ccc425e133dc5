// Package geometry validates commands before they are published, on gonum.
//
//   - spatial: poses, twists, quaternions, transforms; planar motions, polygons, footprints
//   - tf: a transform buffer with staleness
//   - grid: occupancy grids, filled footprints, swept paths
//   - zone: workspace, keep-out and speed zones
//   - limits: velocities and accelerations of a base, limits of joints
//   - urdf: robot descriptions
//   - kinematics: where links are for joint positions, and the other way round
//   - collision: distances between shapes, contacts of a robot along motions
//   - trajectory: joint motions in time, as a controller interpolates them
//   - planning: joint paths around obstacles
//   - validate: one entry, a command and a world in, a report of findings out
//
// The package itself has what all of them share: Finding, the names of the rules, and the form of numbers that JSON lacks.
//
// It imports no ROS. Lengths are metres, angles radians, times nanoseconds of ROS time, frames REP-105's.
package geometry
