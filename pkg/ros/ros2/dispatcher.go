//go:build ros2

package ros2

// #include "events.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// sweepEvery is how often every entity is looked at although nothing was told of it. A wait set sees data that is
// there; a callback that the middleware fails to make would leave an emergency stop unread for good.
const sweepEvery = time.Second

// together is how long data may wait that need not be handed on at once: a fraction of the age at which a measurement is too old. Everything that waits is handed on in one go: waking
// threads is most of what a message costs.
const together = 25 * time.Millisecond

// dispatcher wakes entities for which the middleware has new data. The middleware's threads put them on a
// list in C; one goroutine waits for the list's eventfd in Go's poller and passes on.
type dispatcher struct {
	ready *C.an_ready_t
	event *os.File
	done  chan struct{}

	waiting atomic.Int64 // sources whose data may wait

	mu      sync.Mutex
	last    uint64
	watches map[uint64]*watch
}

func newDispatcher() (*dispatcher, error) {
	ready, err := C.an_ready_new()
	if ready == nil {
		return nil, fmt.Errorf("ros2: make an eventfd: %w", err)
	}
	d := &dispatcher{
		ready:   ready,
		event:   os.NewFile(uintptr(C.an_ready_fd(ready)), "eventfd"),
		done:    make(chan struct{}),
		watches: map[uint64]*watch{},
	}
	go d.run()
	return d, nil
}

func (d *dispatcher) run() {
	defer close(d.done)
	var count [8]byte
	news := make([]C.an_news_t, 64)
	for next := time.Now(); ; {
		now := time.Now()
		if !now.Before(next) {
			d.sweep()
			next = now.Add(sweepEvery)
		}
		until := next
		if at := now.Add(together); d.waiting.Load() > 0 && at.Before(until) {
			until = at
		}
		if err := d.event.SetReadDeadline(until); err != nil {
			return // closed
		}
		if _, err := d.event.Read(count[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return // closed
		}
		for {
			n := int(C.an_ready_drain(d.ready, &news[0], C.size_t(len(news))))
			d.pass(news[:n])
			if n < len(news) {
				break
			}
		}
	}
}

func (d *dispatcher) pass(news []C.an_news_t) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range news {
		w, ok := d.watches[uint64(n.id)]
		if !ok {
			continue // it has just ended
		}
		w.count.Add(uint64(n.count))
		w.look()
	}
}

func (d *dispatcher) sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range d.watches {
		w.look()
	}
}

// close ends the dispatcher; every watch must have ended.
func (d *dispatcher) close() error {
	err := d.event.Close()
	<-d.done
	C.an_ready_free(d.ready)
	return err
}

// watch is one entity's entry with the dispatcher.
type watch struct {
	dispatcher *dispatcher
	id         uint64
	source     *C.an_source_t
	wake       chan struct{} // holds one token while there may be data
	count      atomic.Uint64 // of data that the middleware told of and nobody has looked for yet
	waits      bool          // guarded by the dispatcher's mutex
}

// letWait has fewer data than limit wait until others are handed on, or the time for that has come; 0: none waits.
func (w *watch) letWait(limit int) {
	d := w.dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.source == nil || w.waits == (limit > 1) {
		return
	}
	if w.waits = limit > 1; w.waits {
		d.waiting.Add(1)
	} else {
		d.waiting.Add(-1)
		limit = 0
	}
	C.an_source_let_wait(w.source, C.uint64_t(limit))
}

// watch makes an entry; the entity's callback is set by the caller.
func (d *dispatcher) watch() (*watch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	source := C.an_source_new(d.ready, C.uint64_t(d.last))
	if source == nil {
		return nil, errors.New("ros2: out of memory")
	}
	w := &watch{dispatcher: d, id: d.last, source: source, wake: make(chan struct{}, 1)}
	d.watches[w.id] = w
	return w, nil
}

// look has the entity look for data.
func (w *watch) look() {
	select {
	case w.wake <- struct{}{}:
	default: // it has not looked since it was told to, and will see what is new, too
	}
}

// end removes the entry. The middleware must not know the source any more.
func (w *watch) end() {
	w.dispatcher.mu.Lock()
	defer w.dispatcher.mu.Unlock()
	delete(w.dispatcher.watches, w.id)
	if w.waits {
		w.dispatcher.waiting.Add(-1)
	}
	C.an_source_free(w.source)
	w.source = nil
}
