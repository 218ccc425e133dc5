// Package physics is the built-in robot itself: a differential base with limits of
// velocity and acceleration, odometry that lags and drifts, localisation, a lidar
// and a battery, stepped with a fixed time step. It knows no ROS and no clock:
// the same seed and the same calls give the same numbers to the last bit.
//
// [Sim.Truth] is what really happens. No sensor, and no fault of a sensor, has an
// influence on it: each source of noise draws from a generator of its own.
//
// A Sim is not safe for concurrent use; one goroutine steps it.
package physics
