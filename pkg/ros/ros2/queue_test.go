//go:build ros2

package ros2

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The law of the queue: it holds the newest limit items, in order.
func TestQueueKeepsTheNewestInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		q, model := newQueue[int](limit), []int{}
		for i := range rapid.IntRange(0, 40).Draw(t, "steps") {
			if len(model) > 0 && rapid.Bool().Draw(t, "pop") {
				got, ok := q.pop()
				if !ok || got != model[0] {
					t.Fatalf("popped %d, %v, want %d", got, ok, model[0])
				}
				model = model[1:]
				continue
			}
			full := len(model) == limit
			if q.push(i) != full {
				t.Fatalf("push into %d of %d: dropped %v", len(model), limit, !full)
			}
			if model = append(model, i); full {
				model = slices.Delete(model, 0, 1)
			}
		}
		q.close()
		if _, ok := q.pop(); ok || q.wait() || q.push(1) {
			t.Fatal("a closed queue still works")
		}
	})
}

func TestClosingAQueueEndsWaiting(t *testing.T) {
	q := newQueue[int](1)
	ended := make(chan bool)
	go func() {
		_, ok := q.pop()
		ended <- ok
	}()
	go func() { ended <- q.wait() }()
	q.close()
	for range 2 {
		if <-ended {
			t.Error("an item came out of an empty, closed queue")
		}
	}
}
