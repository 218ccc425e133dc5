package ros1

import "sync"

// queue passes items from one goroutine to another, at most limit at a time; the oldest gives way.
type queue[T any] struct {
	mu     sync.Mutex
	filled sync.Cond
	items  []T // the oldest first
	limit  int
	closed bool // nothing more comes in
}

func newQueue[T any](limit int) *queue[T] {
	q := &queue[T]{limit: limit}
	q.filled.L = &q.mu
	return q
}

func (q *queue[T]) push(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if len(q.items) >= q.limit {
		var none T
		q.items[0] = none
		q.items = q.items[1:]
	}
	q.items = append(q.items, item)
	q.filled.Signal()
}

// pop waits for the oldest item. It reports false when the queue is closed and empty.
func (q *queue[T]) pop() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.items) == 0 {
		return item, false
	}
	var none T
	item, q.items[0] = q.items[0], none
	q.items = q.items[1:]
	return item, true
}

// finish lets what is in the queue be taken, and nothing more come in.
func (q *queue[T]) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// close drops what is left and wakes whoever waits.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.items = true, nil
	q.filled.Broadcast()
}
