// Package actiontest is what every transport has to show with package action's
// server and client: a suite of [Case]s over nodes that the transport makes, and a
// scripted [Fake] server for faults that a real one does not have.
package actiontest
