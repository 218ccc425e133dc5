package mem

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

type subscription struct {
	node     *Node
	topic    string
	typ      *ros.Type
	qos      ros.QoS
	callback func(ros.Received)

	matches int // guarded by the bus

	mu     sync.Mutex
	queue  []arrival // the oldest first, at most qos.Depth
	closed bool
	wake   chan struct{} // holds one token while there may be something to deliver
	done   chan struct{}
}

type arrival struct {
	sample
	arrived time.Time
}

// CreateSubscription makes a subscription. A transient-local one first gets what
// the matching publishers keep, in their order.
func (n *Node) CreateSubscription(topicName, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	name, err := n.names.Topic(topicName)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("subscription of %s: %w", name, err)
	}
	s := &subscription{
		node: n, topic: name, typ: typ, qos: complete(qos), callback: callback,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	b := n.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := n.add(s); err != nil {
		return nil, err
	}
	if !n.spawn(s.run) {
		return nil, n.closedError()
	}
	t := b.topicNamed(name)
	t.subscriptions = append(t.subscriptions, s)
	t.match()
	if s.qos.Durability == ros.TransientLocal {
		var kept []sample
		for _, p := range t.publishers {
			if slices.Contains(p.matched, s) {
				p.mu.Lock()
				kept = append(kept, p.kept...)
				p.mu.Unlock()
			}
		}
		slices.SortStableFunc(kept, func(x, y sample) int { return x.sent.Compare(y.sent) })
		for _, k := range kept {
			s.push(k)
		}
	}
	return s, nil
}

func (s *subscription) Topic() string   { return s.topic }
func (s *subscription) Type() *ros.Type { return s.typ }

func (s *subscription) PublisherCount() int {
	s.node.bus.mu.RLock()
	defer s.node.bus.mu.RUnlock()
	return s.matches
}

// push never blocks: when the queue is full its oldest message goes.
func (s *subscription) push(m sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if len(s.queue) == s.qos.Depth {
		s.queue = slices.Delete(s.queue, 0, 1)
	} else {
		s.node.bus.pending.add()
	}
	s.queue = append(s.queue, arrival{sample: m, arrived: time.Now()})
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *subscription) pop() (arrival, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.queue) == 0 {
		return arrival{}, false
	}
	a := s.queue[0]
	s.queue = slices.Delete(s.queue, 0, 1)
	return a, true
}

// run delivers until the subscription is closed.
func (s *subscription) run() {
	for {
		select {
		case <-s.done:
			return
		case <-s.wake:
		}
		for {
			a, ok := s.pop()
			if !ok {
				break
			}
			s.deliver(a)
			s.node.bus.pending.done()
		}
	}
}

func (s *subscription) deliver(a arrival) {
	if a.expired(time.Now()) {
		return
	}
	m, err := own(s.typ, a.message)
	if err != nil {
		s.node.logger.Error("message dropped", "topic", s.topic, "err", err)
		return
	}
	if ask := s.node.bus.currentHooks().Deliver; ask != nil && !ask(s.topic, a.from.node.names.FullName(), s.node.names.FullName(), m) {
		return
	}
	s.node.guard("subscription", s.topic, func() {
		s.callback(ros.Received{Message: m, Arrived: a.arrived, SourceTimestamp: a.sent.Round(0), Publisher: a.from.id})
	})
}

// Close drops what is still queued.
func (s *subscription) Close() error {
	s.mu.Lock()
	already := s.closed
	for range s.queue {
		s.node.bus.pending.done()
	}
	s.closed, s.queue = true, nil
	s.mu.Unlock()
	if already {
		return nil
	}
	close(s.done)
	b := s.node.bus
	b.mu.Lock()
	if t := b.topics[s.topic]; t != nil {
		t.subscriptions = slices.DeleteFunc(t.subscriptions, func(x *subscription) bool { return x == s })
		t.match()
		b.dropIfEmpty(s.topic)
	}
	s.matches = 0
	b.mu.Unlock()
	s.node.remove(s)
	return nil
}
