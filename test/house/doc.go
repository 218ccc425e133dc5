// Package house is a robot, a node and a caller of their own, for tests in virtual time that judge by the simulator's truth. Everything runs on
// the in-process transport; inside a testing/synctest bubble nothing depends on how fast the machine is.
// Its test holds the rules of what may import what in this module.
package house
