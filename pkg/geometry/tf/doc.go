// Package tf keeps the transforms between frames over time, and answers only what they really say.
//
// There is no "latest at any age" and no extrapolation: every lookup states how old an answer may be, and is refused beyond
// it. A lookup never waits. Frames form a forest; cycles are refused, a frame that changes its parent loses its history and
// that is reported. When the clock jumps back, dynamic transforms are forgotten.
//
// Stamps are nanoseconds of ROS time. A Buffer is safe for concurrent use and bounded in memory.
package tf
