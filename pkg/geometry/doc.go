// Package geometry validates commands before they are published, on gonum.
//
//   - spatial: poses, twists, quaternions and transforms
//   - tf: a transform buffer with staleness
//   - grid: occupancy grids, footprints
//   - zone: workspace, keep-in and keep-out zones
//   - validate: one entry, a command and a world in, a report of findings out
//
// It imports no ROS. Lengths are metres, angles radians, frames REP-105's.
package geometry
