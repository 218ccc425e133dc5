// Package plot draws what a run of the built-in robot looked like: floor plan,
// keep-out zone, places, objects, and the path that was driven.
package plot
