// Package suite tries a robot with a list of scenarios: what is unsafe must not reach an actuator, what is safe must not be refused. What arrived is counted
// at the robot itself (/sim/counters), not told by the node.
//
// A suite is data (YAML). It names no robot: its numbers are CEL expressions in ${…} over facts, which are read off the profile and the
// running robot: limits, places, zones, a wall of the map, joints. A scenario whose needs a robot does not have is left out, and said.
//
// Suite and Case are what a file says; Facts what is known of the robot; Bench the node and the robot under test; Result what a scenario came to.
package suite
