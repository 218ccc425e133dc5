//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
)

type subscription struct {
	node     *Node
	topic    string
	support  *support
	callback func(ros.Received)
	queue    *queue[ros.Received]
	single   bool // one message may wait
	reader   *reader

	mu     sync.Mutex // held while rcl or handle are used outside of the reader
	rcl    *rclgo.Subscription
	handle *C.rcl_subscription_t
	closed bool
}

// CreateSubscription makes a subscription. Messages are taken and stamped when they arrive; the callback
// runs on a goroutine of its own, and while it is busy at most the QoS depth of messages wait.
func (n *Node) CreateSubscription(topic, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	name, err := n.ResolveName(topic)
	if err != nil {
		return nil, fmt.Errorf("create subscription: %w", err)
	}
	t, err := n.types.messageSupport(typeName)
	if err != nil {
		return nil, fmt.Errorf("create subscription %s: %w", name, err)
	}
	s := &subscription{
		node: n, topic: name, support: t, callback: callback, queue: newQueue[ros.Received](depthOf(qos)), single: depthOf(qos) == 1,
	}
	err = n.add("subscription", name, func() (entity, error) {
		err := onThread(func() (err error) {
			s.rcl, err = n.node.NewSubscription(name, t, &rclgo.SubscriptionOptions{Qos: qosToRcl(qos)}, nil)
			return err
		})
		if err != nil {
			return nil, err
		}
		if s.handle, err = subscriptionHandle(s.rcl); err != nil {
			return nil, err
		}
		s.reader, err = n.read("subscription "+name, t, s.take, func(source *C.an_source_t) error {
			return check("rcl_subscription_set_on_new_message_callback", C.an_watch_subscription(s.handle, source))
		})
		if err != nil {
			return nil, errors.Join(err, onThread(s.rcl.Close))
		}
		n.callbacks.Go(s.deliver)
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// take takes one message, on the reader's goroutine.
func (s *subscription) take(m *cmessage) (bool, error) {
	taken := C.an_take(s.handle, m.p)
	if err := check("rcl_take", taken.result); err != nil {
		return false, err
	}
	if !bool(taken.taken) {
		return false, nil
	}
	r := ros.Received{Arrived: arrival(time.Now(), int64(taken.received_timestamp)), Message: m.get(), Publisher: gidString(&taken.gid)}
	if taken.source_timestamp != 0 {
		r.SourceTimestamp = time.Unix(0, int64(taken.source_timestamp))
	}
	s.queue.push(r)
	return true, nil
}

// arrival is when a message came that is taken now, by when the middleware says that it has received it (ns, on the system's
// clock; zero where it does not say). What makes no sense, because that clock was set meanwhile, counts for nothing.
func arrival(now time.Time, received int64) time.Time {
	waited := time.Duration(now.UnixNano() - received)
	if received == 0 || waited <= 0 || waited > maxWaited {
		return now
	}
	return now.Add(-waited)
}

// maxWaited is how long a message may have waited for being taken, as far as arrivals are concerned.
const maxWaited = time.Second

// LetWait implements ros.Unhurried. Half of what the middleware keeps may wait, so that nothing is lost.
func (s *subscription) LetWait(on bool) {
	if on {
		s.reader.watch.letWait(len(s.queue.items) / 2)
	} else {
		s.reader.watch.letWait(0)
	}
}

// deliver runs the callback for one message after another.
func (s *subscription) deliver() {
	for s.queue.wait() {
		// What the middleware still keeps counts, too: together no more than the depth may be waiting.
		// One that waits by itself is no backlog, unless one is all that may wait.
		if s.single || s.queue.waiting() > 1 {
			s.reader.catchUp(len(s.queue.items))
		}
		r, ok := s.queue.pop()
		if !ok {
			return
		}
		s.node.guard("subscription", s.topic, func() { s.callback(r) })
	}
}

func (s *subscription) Topic() string { return s.topic }

func (s *subscription) Type() *ros.Type { return s.support.typ }

func (s *subscription) PublisherCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0
	}
	count := 0
	if err := onThread(func() (err error) { count, err = s.rcl.GetPublisherCount(); return err }); err != nil {
		return 0
	}
	return count
}

// Close drops what is still queued. It does not wait for a callback that runs, which may be its caller.
func (s *subscription) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	s.queue.close()
	return s.node.end(s, func() error {
		err := errors.Join(s.reader.stop(), onThread(s.rcl.Close))
		if err != nil {
			return fmt.Errorf("close subscription %s: %w", s.topic, err)
		}
		return nil
	})
}
