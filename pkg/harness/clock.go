package harness

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// systemClock is the default Clock.
type systemClock struct{}

// workers are goroutines that a session reuses for other people's code: a fresh one for every call would spend more on
// growing its stack than on most calls. One that hangs is simply not there any more.
type workers struct {
	jobs chan func()
}

func newWorkers() *workers { return &workers{jobs: make(chan func())} }

// run f in an idle worker, or in a new one.
func (w *workers) run(f func()) {
	select {
	case w.jobs <- f:
	default:
		go w.work(f)
	}
}

func (w *workers) work(f func()) {
	f()
	for f := range w.jobs {
		f()
	}
}

// close lets the workers go as they become idle. run must not be called afterwards.
func (w *workers) close() { close(w.jobs) }

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

// within derives a context that ends with cause after a time.
func within(parent context.Context, clock Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	return until(parent, clock, clock.Now().Add(d), cause)
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

// guarded runs somebody else's code in another goroutine, so that neither its panic nor its hanging takes the session
// along: when ctx has ended and f has not returned after grace, it is abandoned.
func guarded[T any](ctx context.Context, clock Clock, run func(func()), grace time.Duration, what string, f func(context.Context) (T, error)) (T, error) {
	value, _, err := newGuard(what, f).do(ctx, clock, nil, run, grace)
	return value, err
}

// guard is what a call of somebody else's code needs while it is under way. One call after another may use it, as long as none was abandoned.
type guard[T any] struct {
	ctx   context.Context
	what  string
	f     func(context.Context) (T, error)
	value T
	err   error
	ended bool // f has returned
	done  chan struct{}
	work  func() // run, in one piece of memory for all calls
}

func newGuard[T any](what string, f func(context.Context) (T, error)) *guard[T] {
	g := &guard[T]{what: what, f: f, done: make(chan struct{}, 1)}
	g.work = g.run
	return g
}

// do one call, by a relay if there is one, else by run. usable: the guard is free for the next one; else somebody else's code still has it.
func (g *guard[T]) do(ctx context.Context, clock Clock, by *relay, run func(func()), grace time.Duration) (value T, usable bool, err error) {
	g.ctx = ctx
	if by != nil {
		if !by.Lend(ctx, ctx, grace, g.work) {
			return value, false, &abandonedError{what: g.what, grace: grace, cause: context.Cause(ctx)}
		}
		<-g.done
		return g.outcome()
	}
	run(g.work)
	select {
	case <-g.done:
		return g.outcome()
	case <-ctx.Done():
	}
	late := make(chan struct{})
	stop := clock.AfterFunc(grace, func() { close(late) })
	defer stop()
	select {
	case <-g.done:
		return g.outcome()
	case <-late:
		return value, false, &abandonedError{what: g.what, grace: grace, cause: context.Cause(ctx)}
	}
}

// outcome of the call that is done; the guard keeps nothing of it.
func (g *guard[T]) outcome() (value T, usable bool, err error) {
	var none T
	value, err = g.value, g.err
	g.ctx, g.value, g.err, g.ended = nil, none, nil, false
	return value, true, err
}

// run is the other goroutine's part; sending done is the last that it does with the guard.
func (g *guard[T]) run() {
	defer func() {
		if p := recover(); p != nil {
			g.err = &panicError{what: g.what, value: p, stack: debug.Stack()}
		} else if !g.ended {
			g.err = &panicError{what: g.what, value: "its goroutine ended without a result"}
		}
		g.done <- struct{}{}
	}()
	g.value, g.err = g.f(g.ctx)
	g.ended = true
}
