//go:build ros2

package ros2

// #include "events.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// dispatcher wakes entities for which the middleware has new data. The middleware's threads put them on a
// list in C; one goroutine waits for the list's eventfd in Go's poller and passes on.
type dispatcher struct {
	ready *C.an_ready_t
	event *os.File
	done  chan struct{}

	mu   sync.Mutex
	last uint64
	wake map[uint64]chan<- struct{}
}

func newDispatcher() (*dispatcher, error) {
	ready, err := C.an_ready_new()
	if ready == nil {
		return nil, fmt.Errorf("ros2: make an eventfd: %w", err)
	}
	d := &dispatcher{
		ready: ready,
		event: os.NewFile(uintptr(C.an_ready_fd(ready)), "eventfd"),
		done:  make(chan struct{}),
		wake:  map[uint64]chan<- struct{}{},
	}
	go d.run()
	return d, nil
}

func (d *dispatcher) run() {
	defer close(d.done)
	var count [8]byte
	ids := make([]C.uint64_t, 64)
	for {
		if _, err := d.event.Read(count[:]); err != nil {
			return // closed
		}
		for {
			n := int(C.an_ready_drain(d.ready, &ids[0], C.size_t(len(ids))))
			d.pass(ids[:n])
			if n < len(ids) {
				break
			}
		}
	}
}

func (d *dispatcher) pass(ids []C.uint64_t) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		if wake, ok := d.wake[uint64(id)]; ok {
			select {
			case wake <- struct{}{}:
			default: // it has not looked yet, and will see this, too
			}
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
	wake       <-chan struct{}
}

// watch makes an entry; the entity's callback is set by the caller.
func (d *dispatcher) watch() (*watch, error) {
	wake := make(chan struct{}, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last++
	source := C.an_source_new(d.ready, C.uint64_t(d.last))
	if source == nil {
		return nil, errors.New("ros2: out of memory")
	}
	d.wake[d.last] = wake
	return &watch{d, d.last, source, wake}, nil
}

// end removes the entry. The middleware must not know the source any more.
func (w *watch) end() {
	w.dispatcher.mu.Lock()
	defer w.dispatcher.mu.Unlock()
	delete(w.dispatcher.wake, w.id)
	C.an_source_free(w.source)
	w.source = nil
}
