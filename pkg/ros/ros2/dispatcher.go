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
)

// dispatcher wakes entities for which the middleware has new data. The middleware's threads put them on a
// list in C; one goroutine waits for the list's eventfd in Go's poller and passes on.
type dispatcher struct {
	ready *C.an_ready_t
	event *os.File
	done  chan struct{}

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
	for {
		if _, err := d.event.Read(count[:]); err != nil {
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
		select {
		case w.wake <- struct{}{}:
		default: // it has not looked yet, and will see this, too
		}
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
	wake       chan struct{} // holds one token while count may be above zero
	count      atomic.Uint64 // of data that the middleware told of and nobody has looked for yet
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

// end removes the entry. The middleware must not know the source any more.
func (w *watch) end() {
	w.dispatcher.mu.Lock()
	defer w.dispatcher.mu.Unlock()
	delete(w.dispatcher.watches, w.id)
	C.an_source_free(w.source)
	w.source = nil
}
