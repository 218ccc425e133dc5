// Package paramtest is what every transport has to show with package param: a suite over the
// parameter services and /parameter_events, between two nodes.
package paramtest
