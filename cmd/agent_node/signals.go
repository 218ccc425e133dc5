package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that ends by the signals with which a program is told to end: from a keyboard, from who
// launched it, and by a terminal that is closed, which is how a connection to a robot breaks. One that nohup has
// ignored stays ignored.
func untilSignal() (context.Context, context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	return signal.NotifyContext(context.Background(), ends...)
}

// outliveReaders lets a program go on whose output nobody reads any more, as that of `agent_node | head`: a robot in
// motion is not left to itself for that.
func outliveReaders() { signal.Ignore(syscall.SIGPIPE) }
