package harness

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// systemClock is the default Clock.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

// until derives a context that ends with cause at that instant; the zero instant never comes.
func until(parent context.Context, clock Clock, at time.Time, cause error) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	if at.IsZero() {
		return ctx, func() { cancel(nil) }
	}
	left := at.Sub(clock.Now())
	if left <= 0 {
		cancel(cause)
		return ctx, func() {}
	}
	stop := clock.AfterFunc(left, func() { cancel(cause) })
	return ctx, func() { stop(); cancel(nil) }
}

// earlier of two instants, where zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// panicError is a panic of somebody else's code.
type panicError struct {
	what  string
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.what, e.value) }

// abandonedError: somebody else's code did not return although its context had ended.
type abandonedError struct {
	what  string
	grace time.Duration
	cause error
}

func (e *abandonedError) Error() string {
	return fmt.Sprintf("%s did not return within %v of its end (%v) and is abandoned", e.what, e.grace, e.cause)
}

func (e *abandonedError) Unwrap() error { return e.cause }

// guarded runs somebody else's code in a goroutine of its own, so that neither its panic nor its hanging takes the
// session along: when ctx has ended and f has not returned after grace, it is abandoned.
func guarded[T any](ctx context.Context, clock Clock, grace time.Duration, what string, f func(context.Context) (T, error)) (T, error) {
	type ended struct {
		value T
		err   error
	}
	done := make(chan ended, 1)
	go func() {
		e := ended{err: &panicError{what: what, value: "its goroutine ended without a result"}}
		defer func() {
			if p := recover(); p != nil {
				e.err = &panicError{what: what, value: p, stack: debug.Stack()}
			}
			done <- e
		}()
		e.value, e.err = f(ctx)
	}()
	select {
	case e := <-done:
		return e.value, e.err
	case <-ctx.Done():
	}
	late := make(chan struct{})
	stop := clock.AfterFunc(grace, func() { close(late) })
	defer stop()
	select {
	case e := <-done:
		return e.value, e.err
	case <-late:
		var zero T
		return zero, &abandonedError{what: what, grace: grace, cause: context.Cause(ctx)}
	}
}
