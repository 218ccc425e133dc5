//go:build ros2

package ros2

import "sync"

// queue passes items from one goroutine to another, at most limit at a time; the oldest gives way.
type queue[T any] struct {
	mu     sync.Mutex
	filled sync.Cond
	items  []T // a ring
	first  int
	count  int
	closed bool
}

func newQueue[T any](limit int) *queue[T] {
	q := &queue[T]{items: make([]T, limit)}
	q.filled.L = &q.mu
	return q
}

// push adds an item and reports whether the oldest was dropped for it.
func (q *queue[T]) push(item T) (dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	if q.count == len(q.items) {
		q.first = (q.first + 1) % len(q.items)
		q.count--
		dropped = true
	}
	q.items[(q.first+q.count)%len(q.items)] = item
	q.count++
	q.filled.Signal()
	return dropped
}

// wait waits until there is an item. It reports false when the queue is closed.
func (q *queue[T]) wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.count == 0 && !q.closed {
		q.filled.Wait()
	}
	return !q.closed
}

// waiting is how many items there are.
func (q *queue[T]) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

// pop waits for the oldest item. It reports false when the queue is closed, whatever was in it.
func (q *queue[T]) pop() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.count == 0 && !q.closed {
		q.filled.Wait()
	}
	if q.closed {
		return item, false
	}
	var none T
	item, q.items[q.first] = q.items[q.first], none
	q.first = (q.first + 1) % len(q.items)
	q.count--
	return item, true
}

// close drops what is left and wakes whoever waits.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	clear(q.items)
	q.filled.Broadcast()
}
