// Package robottools turns a robot profile (YAML) into tools.
//
// A profile is data: it names the robot's actuators, how each is measured, paused
// and stopped, the world its commands are validated against, and a table of tools,
// each bound to a topic, a service, an action, a parameter, a transform or the
// profile's own facts. Argument mapping, selection, verdicts and postconditions are
// CEL expressions. Types are found by name at run time, on whatever transport
// the node has; nothing is generated and nothing is rebuilt for a new robot.
//
// The way of a skill call: arguments (schema-valid) -> message, by the mapping ->
// the geometry layer -> a lease of the guard -> publish, call or send -> measured
// rest -> observation.
package robottools
