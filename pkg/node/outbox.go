package node

import (
	"log/slog"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// outbox publishes in order from a goroutine of its own, so that whoever has news never waits.
// News is never dropped: what is queued is bounded by what produces it (transitions, trace events).
type outbox struct {
	log *slog.Logger

	mu     sync.Mutex
	queue  []outgoing
	wake   chan struct{}
	closed bool
	done   chan struct{}
}

type outgoing struct {
	pub  ros.Publisher
	make func() *ros.Message
}

func newOutbox(log *slog.Logger) *outbox {
	o := &outbox{log: log, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go o.run()
	return o
}

// send queues a message that is made when its turn comes; a nil message is not sent.
func (o *outbox) send(pub ros.Publisher, makeMessage func() *ros.Message) {
	o.mu.Lock()
	if !o.closed {
		o.queue = append(o.queue, outgoing{pub, makeMessage})
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) run() {
	defer close(o.done)
	for range o.wake {
		for {
			o.mu.Lock()
			batch := o.queue
			o.queue = nil
			closed := o.closed
			o.mu.Unlock()
			for _, x := range batch {
				if m := x.make(); m != nil {
					if err := x.pub.Publish(m); err != nil {
						o.log.Error("publish", "topic", x.pub.Topic(), "error", err)
					}
				}
			}
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
		}
	}
}

// drain waits, bounded, until everything queued before has been sent.
func (o *outbox) drain(limit time.Duration) {
	sent := make(chan struct{})
	o.send(nil, func() *ros.Message { close(sent); return nil })
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-sent:
	case <-o.done:
	case <-timer.C:
		o.log.Warn("publishing is slow", "waited", limit)
	}
}

// close sends what is queued and ends.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	<-o.done
}
