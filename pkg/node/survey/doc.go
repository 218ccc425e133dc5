// Package survey holds a robot profile against a ROS graph. It lists all that a profile relies on ([Needs]), looks for each
// of them at what is there ([Look]), and says what is missing, of another type, of a quality of service that does not fit,
// silent, or measured in a way that cannot be judged by.
//
// It only listens: no publisher, no goal, no request other than for parameters.
package survey
