// Package house is a robot, a node and a caller of their own, for tests in virtual time that judge by the simulator's truth. Everything runs on
// the in-process transport; inside a testing/synctest bubble nothing depends on how fast the machine is.
package house
