// Package world is the built-in robot's surroundings as data: the floor plan, the
// keep-out zone, the places, the objects and the robot's own figures, and the
// geometry that follows from them (distance, rays, occupancy grid).
//
// Everything is in metres, radians and seconds, in the frame map (REP-103: x
// right in the pictures, y up, angles counter-clockwise). Obstacles and zones are
// axis-aligned boxes, so that distances and rays are exact and the occupancy grid,
// the lidar and contact never disagree. [Default] is the one world the project
// ships; docs/sim.md gives the same numbers for people.
package world
