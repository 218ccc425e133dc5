// Package nav is the built-in robot's navigator: a planner on the inflated occupancy
// grid and a controller that follows its paths. It stands in for Nav2 and speaks
// its error codes. It recovers from nothing: where it cannot go on it says so.
package nav
