// Package validate is the one entry to the geometry layer: a command and a world in, a report of findings out.
//
// A world says what is known now: clock, transforms, limits, zones, map, footprint, the measured state. What is missing
// refuses: no limits, no footprint, no fresh state, no map where one is required. Only a zero twist passes whatever the world is
// like, for it is how things stop.
//
// A report is valid when it has no findings. Nothing is altered: what was normalised is in its notes, and the nearest valid
// command, where there is one, is a proposal.
package validate
