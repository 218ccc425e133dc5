//go:build unix

package harness_test

import (
	"syscall"
	"time"
)

// cpuTime of this process: what a step costs, also on a machine that others keep busy.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
