// Package zone has the areas that a ground robot must stay in, stay out of, or be slow in.
//
// A zone is a filled shape in the plane of its frame (box, polygon or circle), over a range of heights, with a margin. Its checks take the robot's
// footprint, filled, and hold along a whole motion: exactly for a circular footprint on a straight line, else by
// steps that are never longer than the room there is (within 1 mm, on the safe side).
package zone
