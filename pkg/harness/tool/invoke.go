package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"agent_node/pkg/harness/model"
)

// Invocation is how a call is made.
type Invocation struct {
	// After calls f in a goroutine of its own after d, as time.AfterFunc does; nil: time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
	// Go runs f in another goroutine; nil: a new one.
	Go func(f func())
	// Lender, if given, is used in place of Go.
	Lender Lender
	// TimeLimit bounds the call; 0: only ctx does.
	TimeLimit time.Duration
	// Grace is how long a call may go on after ctx or the limit has ended it: a skill needs it to bring its actuator to
	// rest. Then the call is abandoned.
	Grace time.Duration
	// DryRun calls DryRunner.DryRun of skills instead; a skill without it is only said to be valid.
	DryRun bool
	// Late is told what an abandoned call observed in the end. It is called in the call's own goroutine.
	Late func(Call, Result)
	// Flights, if given, is the memory of calls that are made one after another.
	Flights *Flights
}

// Lender carries out work so that who asks for it goes on although it hangs.
type Lender interface {
	// Lend returns true when work has, and false when ctx or parent, of which ctx is a child, has ended and work has not returned within
	// grace of that. It is not safe for concurrent use.
	Lend(ctx, parent context.Context, grace time.Duration, work func()) bool
	// Look is called when ctx has ended otherwise than with its parent.
	Look()
}

// Flights is memory that calls use one after another; the zero value is ready. It is not safe for concurrent use.
type Flights struct{ free *flight }

// take memory for a call: what the call before left, or new.
func (f *Flights) take() *flight {
	if f == nil || f.free == nil {
		c := &flight{done: make(chan struct{}, 1)}
		c.work = c.run
		return c
	}
	c := f.free
	f.free = nil
	return c
}

// Ending says how a call came to its result.
type Ending uint8

// Endings.
const (
	Returned  Ending = iota // by itself
	Panicked                // its panic was caught
	Abandoned               // it did not return; what it observes later is ignored, and told to Late
)

// Invoke makes one call and always returns: with what the tool observed, with what its panic said, or without it when it hangs.
// The result is sound: a kind when it failed, none when it did not.
func Invoke(ctx context.Context, t Tool, s *Spec, c Call, how Invocation) (Result, Ending) {
	if how.After == nil {
		how.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	if how.Go == nil {
		how.Go = func(f func()) { go f() }
	}
	parent := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if limit := how.TimeLimit; limit > 0 {
		lender := how.Lender
		stop := how.After(limit, func() {
			cancel(limitError(limit))
			if lender != nil {
				lender.Look()
			}
		})
		defer stop()
	}
	f := how.Flights.take()
	f.ctx, f.tool, f.spec, f.call, f.how = ctx, t, s, c, how
	if f.returned(parent) || !f.over.CompareAndSwap(false, true) { // it came in the very last moment
		<-f.done
		return f.landed()
	}
	kind, why := Canceled, context.Cause(ctx)
	if isLimit(why) {
		kind = Timeout
	}
	return Result{
		ErrorKind: kind,
		Content:   fmt.Sprintf("%s did not return within %v of its end (%v); it is abandoned and what it observes later is ignored", s.Name, how.Grace, why),
		Source:    s.Source,
	}, Abandoned
}

// flight is one call under way, in one piece of memory.
type flight struct {
	ctx    context.Context
	tool   Tool
	spec   *Spec
	call   Call
	how    Invocation
	result Result
	ending Ending
	done   chan struct{}
	over   atomic.Bool // taken once: by the call's return or by its abandonment
	work   func()      // run, in one piece of memory for all calls
}

// returned starts the work, and waits for it as long as it may take.
func (f *flight) returned(parent context.Context) bool {
	if f.how.Lender != nil {
		return f.how.Lender.Lend(f.ctx, parent, f.how.Grace, f.work)
	}
	f.how.Go(f.work)
	select {
	case <-f.done:
		f.done <- struct{}{}
		return true
	case <-f.ctx.Done():
	}
	late := make(chan struct{})
	stop := f.how.After(f.how.Grace, func() { close(late) })
	defer stop()
	select {
	case <-f.done:
		f.done <- struct{}{}
		return true
	case <-late:
		return false
	}
}

func (f *flight) run() {
	// Told by defer, so that a tool that ends its goroutine (runtime.Goexit) is heard of, too.
	f.result = Result{ErrorKind: Failed, Content: "the tool ended its goroutine without a result", Source: f.spec.Source}
	f.ending = Panicked
	defer func() {
		if f.over.CompareAndSwap(false, true) {
			f.done <- struct{}{} // the last that is done with it here: it may be in use again
		} else if f.how.Late != nil {
			f.how.Late(f.call, f.result)
		}
	}()
	f.result, f.ending = call(f.ctx, f.tool, f.spec, f.call, f.how.DryRun)
}

// landed takes the result; the memory is free for the next call, and keeps nothing of this one.
func (f *flight) landed() (Result, Ending) {
	r, e, free := sound(f.result, f.spec), f.ending, f.how.Flights
	if free != nil {
		f.ctx, f.tool, f.spec, f.call, f.how, f.result = nil, nil, nil, Call{}, Invocation{}, Result{}
		f.over.Store(false)
		free.free = f
	}
	return r, e
}

// limitError is the cause of a ctx that a tool's own time limit has ended.
type limitError time.Duration

func (l limitError) Error() string { return fmt.Sprintf("time limit of %v", time.Duration(l)) }

func isLimit(err error) bool {
	var l limitError
	return errors.As(err, &l)
}

// call runs the tool and catches its panic.
func call(ctx context.Context, t Tool, s *Spec, c Call, dry bool) (r Result, e Ending) {
	defer func() {
		if p := recover(); p != nil {
			if c.Note != nil {
				c.Note("panic", map[string]any{"tool": s.Name, "panic": fmt.Sprint(p), "stack": string(debug.Stack())})
			}
			r, e = Result{ErrorKind: Failed, Content: fmt.Sprintf("%s panicked: %v", s.Name, p), Source: s.Source}, Panicked
		}
	}()
	if dry && s.Class == Skill {
		if d, ok := t.(DryRunner); ok {
			return d.DryRun(ctx, c), Returned
		}
		return Result{OK: true, Content: "dry run: the arguments are valid; nothing was sent", Source: s.Source}, Returned
	}
	r = t.Call(ctx, c)
	if !r.OK && r.ErrorKind == "" {
		if isLimit(context.Cause(ctx)) {
			r.ErrorKind = Timeout
		}
	}
	return r, Returned
}

// sound mends what a tool leaves contradictory, always towards failure.
func sound(r Result, s *Spec) Result {
	if r.Source == "" {
		r.Source = s.Source
	}
	switch {
	case r.OK && r.ErrorKind != "":
		r.OK, r.Begun = false, true // it says both; what it did is not known
	case r.OK:
		r.Begun = false
	case !r.OK && r.ErrorKind == "":
		r.ErrorKind = Failed
	}
	if !r.OK {
		r.Passed = false
		if r.Begun && r.ErrorKind.NeverRan() {
			r.Content = model.UnderWay + r.Content
		}
		if !r.ErrorKind.Known() {
			r.Content = fmt.Sprintf("%s: %s", r.ErrorKind, r.Content)
			r.ErrorKind = Failed
		}
	}
	return r
}

// Known says whether it is one of the contract's kinds.
func (k ErrorKind) Known() bool {
	switch k {
	case UnknownTool, InvalidArguments, PermissionDenied, GeometryRefused, GuardRefused, Timeout, Canceled, ServerUnavailable,
		ServerRejected, ServerFailed, NotAtRest, StaleState, Failed, DuplicateCall, PreconditionFailed, PostconditionFailed:
		return true
	}
	return false
}

// NeverRan says that the call had no effect: it was refused before anything was sent.
func (r Result) NeverRan() bool { return !r.OK && !r.Begun && r.ErrorKind.NeverRan() }

// NeverRan says that a call which failed so had no effect, unless it had Begun: it was refused before anything was sent.
func (k ErrorKind) NeverRan() bool {
	switch k {
	case UnknownTool, InvalidArguments, PermissionDenied, GeometryRefused, GuardRefused, ServerUnavailable, ServerRejected,
		DuplicateCall, PreconditionFailed:
		return true
	default:
		return false
	}
}
