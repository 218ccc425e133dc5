// Package limits checks velocities of a ground base: twists, steps between successive twists, speeds along a path. It also says what the limits of
// a joint are.
//
// Every comparison is written so that NaN fails it. A check appends findings to a slice of the caller and allocates only
// when something is wrong.
package limits
