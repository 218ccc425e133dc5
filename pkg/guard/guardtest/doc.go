// Package guardtest is a scripted actuator for tests of what uses the guard: a body with true position, velocity, acceleration and
// deceleration; a sensor that measures it late, with noise, jitter and loss; an action server and a velocity input that drive it; and
// every fault that such things have in the field. Time is whatever the time package says, so it belongs inside testing/synctest.
//
// The truth is known (Robot.Truth, Robot.MovingFor), and nothing that a fault does touches it: a test can tell what the guard claims
// from what is so.
package guardtest
