// Package param gives a node its parameters, as ROS 2 client libraries do.
//
// Parameters are declared with a type, a default, a description and limits; their
// first value comes from the command line or a parameter file where one is
// given (overrides). They are read and changed in the process through a [Server] and
// from outside through the six parameter services; each change is announced
// on /parameter_events.
package param
