package harness

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"
)

// relay lets a session and somebody else's code take turns. The session is a coroutine; whoever resumes it carries out what it asks for
// next: asking the model, calling a tool. A turn costs no more than a switch of stacks, where a hand-over between two goroutines wakes
// threads. When somebody else's code does not return although its context has ended, another goroutine resumes the session, and the one
// that hangs has nothing to do with it any more.
type relay struct {
	next  func() (struct{}, bool)
	yield func(struct{}) bool
	after func(time.Duration, func()) func() bool
	over  chan struct{} // closed when the session has ended
	ended bool          // by its function's return
	threw any           // or by a panic

	asked    turn // what the session asks for; it goes with the switch
	returned bool // how that ended; it comes back with the switch

	mu      sync.Mutex
	current turn
	number  uint64      // of the current turn
	running bool        // it is under way
	stop    func() bool // of the timer that gives it up; nil: its context has not ended
}

// turn of somebody else's code.
type turn struct {
	work        func()
	ctx, parent context.Context
	grace       time.Duration
}

func newRelay(after func(time.Duration, func()) func() bool) *relay {
	return &relay{after: after, over: make(chan struct{})}
}

// run the session to its end. Its panic is the caller's, and so is the end of its goroutine.
func (r *relay) run(session func()) {
	go func() { // of its own: coroutines bind to the thread of a goroutine that is locked to one
		r.next, _ = iter.Pull(func(yield func(struct{}) bool) {
			defer func() { r.threw = recover() }()
			r.yield = yield
			session()
			r.ended = true
		})
		r.drive()
	}()
	<-r.over
	switch {
	case r.threw != nil:
		panic(r.threw)
	case !r.ended:
		runtime.Goexit()
	}
}

// Lend a goroutine to work, and say whether it has come back: once ctx or parent has ended, it has grace to do so. Only the session calls
// it. It implements tool.Lender.
func (r *relay) Lend(ctx, parent context.Context, grace time.Duration, work func()) bool {
	r.asked = turn{work, ctx, parent, grace}
	r.yield(struct{}{})
	return r.returned
}

// drive the session: turn by turn, until it ends, or until this goroutine was given up.
func (r *relay) drive() {
	working, number := false, uint64(0)
	defer func() {
		switch {
		case !working:
			close(r.over)
		case r.back(number): // the work ended its goroutine
			go r.drive()
		}
	}()
	for {
		if _, more := r.next(); !more {
			return
		}
		t := r.asked
		r.mu.Lock()
		r.number++
		number, r.current, r.running, r.stop = r.number, t, true, nil
		r.mu.Unlock()
		if t.ctx.Err() != nil || t.parent.Err() != nil {
			r.Look()
		}
		working = true
		t.work()
		for range mostLocks {
			runtime.UnlockOSThread() // the session must not be bound to a thread that the work forgot
		}
		if !r.back(number) {
			return // another one goes on
		}
		working = false
	}
}

// mostLocks of its thread are taken back from work that forgot them.
const mostLocks = 8

// back says whether the session goes on with the one whose turn has ended.
func (r *relay) back(number uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running || r.number != number {
		return false
	}
	if r.stop != nil {
		r.stop()
	}
	r.current, r.running, r.returned = turn{}, false, true
	return true
}

// Look whether the context of the current turn has ended; then its grace begins. It implements tool.Lender.
func (r *relay) Look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.running || r.stop != nil || r.current.ctx.Err() == nil && r.current.parent.Err() == nil {
		return
	}
	number := r.number
	r.stop = r.after(r.current.grace, func() { r.giveUp(number) })
}

// giveUp a turn that hangs, and go on with the session in this goroutine.
func (r *relay) giveUp(number uint64) {
	r.mu.Lock()
	hangs := r.running && r.number == number
	if hangs {
		r.current, r.running, r.returned = turn{}, false, false
	}
	r.mu.Unlock()
	if hangs {
		r.drive()
	}
}
