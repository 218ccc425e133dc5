//go:build ros2

package ros2

// #include "events.h"
import "C"

import (
	"errors"
)

// reader is the goroutine that takes what the middleware has for one entity.
type reader struct {
	node  *Node
	what  string // for the log
	watch *watch
	set   func(*C.an_source_t) error
	quit  chan struct{}
	done  chan struct{}
}

// failuresInARow is how many takes may fail one after another before the reader waits for new data again.
const failuresInARow = 10

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
	r := &reader{node: n, what: what, watch: w, set: set, quit: make(chan struct{}), done: make(chan struct{})}
	go r.run(newCMessage(s), take)
	return r, nil
}

func (r *reader) run(m *cmessage, take func(*cmessage) (bool, error)) {
	defer close(r.done)
	defer m.free()
	for {
		select {
		case <-r.quit:
			return
		case <-r.watch.wake:
		}
		failures := 0
		for more := true; more; {
			select {
			case <-r.quit:
				return
			default:
			}
			var err error
			if more, err = take(m); err != nil {
				r.node.logger.Error("a message could not be taken", "from", r.what, "err", err)
				failures++
				more = failures < failuresInARow
			}
		}
	}
}

// stop ends the reader and the middleware's calls; take does not run any more when it returns.
func (r *reader) stop() error {
	close(r.quit)
	<-r.done
	err := r.set(nil)
	if err != nil {
		// The middleware may still know the source: better leaked than used after it was freed.
		return errors.Join(err, errors.New("ros2: "+r.what+" could not be silenced"))
	}
	r.watch.end()
	return nil
}
