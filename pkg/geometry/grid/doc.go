// Package grid checks a ground robot's footprint against an occupancy grid of any origin, rotation and resolution.
//
// A cell is a filled square. It is blocked when occupied, and when unknown unless Rules say otherwise; everything off the
// grid is blocked, always. A footprint is free when its filled area touches no blocked cell. Along a motion this holds for every
// point in between: the step is never longer than the room there is.
package grid
