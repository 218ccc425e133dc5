//go:build ros2

package ros2

// #include "events.h"
import "C"

import (
	"fmt"
	"sync"
)

// reader takes what the middleware has for one entity, on a goroutine of its own as soon as it is told.
type reader struct {
	node  *Node
	what  string // for the log
	watch *watch
	set   func(*C.an_source_t) error
	quit  chan struct{}
	done  chan struct{}

	mu     sync.Mutex // held during a take
	take   func(*cmessage) (bool, error)
	buffer *cmessage // nil once stopped
}

// read starts a reader. take takes one message into the given buffer and reports whether there was
// one; set gives the entity its source, or with nil takes it away.
func (n *Node) read(what string, s *support, take func(*cmessage) (bool, error), set func(*C.an_source_t) error) (*reader, error) {
	w, err := n.events.watch()
	if err != nil {
		return nil, err
	}
	if err := set(w.source); err != nil {
		w.end()
		return nil, err
	}
	r := &reader{
		node: n, what: what, watch: w, set: set, take: take, buffer: newCMessage(s),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	// What came before the middleware had the source, it may not tell of.
	w.look()
	go r.run()
	return r, nil
}

func (r *reader) run() {
	defer close(r.done)
	for {
		select {
		case <-r.quit:
			return
		case <-r.watch.wake:
		}
		// One take for each thing told of: a take may consume something and have nothing to show, such as a
		// response to another client of the service or the news that a publisher is gone. Where nothing was told
		// (the look at everything, once a second) until nothing is left.
		told := r.watch.count.Swap(0)
		for sweeping, more := told == 0, true; told > 0 || sweeping && more; {
			select {
			case <-r.quit:
				return
			default:
			}
			more = r.one()
			if told > 0 {
				told--
			}
		}
	}
}

// one takes one message, if there is one.
func (r *reader) one() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buffer == nil {
		return false
	}
	more, err := r.take(r.buffer)
	if err != nil {
		r.node.logger.Error("a message could not be taken", "from", r.what, "err", err)
	}
	return more
}

// catchUp takes up to limit messages that have come and not been taken yet.
func (r *reader) catchUp(limit int) {
	for range limit {
		if !r.one() {
			return
		}
	}
}

// stop ends the reader and the middleware's calls; take does not run any more when it returns.
func (r *reader) stop() error {
	close(r.quit)
	<-r.done
	r.mu.Lock()
	r.buffer.free()
	r.buffer = nil
	r.mu.Unlock()
	if err := r.set(nil); err != nil {
		// The middleware may still know the source: better leaked than used after it was freed.
		return fmt.Errorf("%s could not be silenced: %w", r.what, err)
	}
	r.watch.end()
	return nil
}
