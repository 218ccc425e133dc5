package ros1

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// topicIn is a topic that this node subscribes: one entry at the master, whatever the number of subscriptions.
type topicIn struct {
	node *Node
	name string
	wire *wire // of the first subscription, for the master

	mu            sync.Mutex
	subscriptions []*subscription
	uris          []string // publishers that the master told of
	version       int      // counts what it told
}

// subscription is one ros.Subscription, with a connection of its own to each publisher: what a publisher keeps
// comes to each, as it comes to every node.
type subscription struct {
	node     *Node
	in       *topicIn
	wire     *wire
	callback func(ros.Received)
	queue    *queue[ros.Received]
	ctx      context.Context // the life of the connections
	cancel   context.CancelFunc

	mu     sync.Mutex
	links  map[string]*inLink // by the publisher's URI
	closed bool
}

// CreateSubscription makes a subscription. Every publisher of the topic with this type reaches it.
func (n *Node) CreateSubscription(topic, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	name, err := n.names.Topic(topic)
	if err != nil {
		return nil, err
	}
	if part := n.actions.part(name); part != "" {
		return n.actions.subscription(name, part, typeName, qos, callback)
	}
	typ, err := n.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("subscription of %s: %w", name, err)
	}
	return n.subscribe(name, n.types.wires.message(typ), qos, callback)
}

// subscribe makes a subscription by absolute name and type.
func (n *Node) subscribe(name string, w *wire, qos ros.QoS, callback func(ros.Received)) (*subscription, error) {
	s := &subscription{
		node: n, wire: w, callback: callback, queue: newQueue[ros.Received](depthOf(qos)), links: make(map[string]*inLink),
	}
	s.ctx, s.cancel = context.WithCancel(n.ctx)
	n.registering.Lock()
	defer n.registering.Unlock()
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		s.cancel()
		return nil, n.closedError()
	}
	in, known := n.ins[name]
	if !known {
		in = &topicIn{node: n, name: name, wire: w}
		n.ins[name] = in
	}
	s.in = in
	n.mu.Unlock()
	in.mu.Lock()
	in.subscriptions = append(in.subscriptions, s)
	uris := in.uris
	in.mu.Unlock()
	if err := n.add(s); err != nil {
		return nil, errors.Join(err, s.drop())
	}
	if !n.spawn(s.deliver) {
		return nil, errors.Join(n.closedError(), s.drop())
	}
	if known {
		s.update(uris)
		return s, nil
	}
	if err := in.register(); err != nil {
		return nil, errors.Join(fmt.Errorf("subscription of %s: %w", name, err), s.drop())
	}
	return s, nil
}

// register tells the master and takes its answer, unless it has told something newer meanwhile.
func (in *topicIn) register() error {
	in.mu.Lock()
	before := in.version
	in.mu.Unlock()
	uris, err := in.node.master.RegisterSubscriber(in.name, in.wire.name, in.node.uri)
	if err != nil {
		return err
	}
	in.mu.Lock()
	newer := in.version != before
	in.mu.Unlock()
	if !newer {
		in.update(uris)
	}
	return nil
}

// update is called with the publishers that are there now.
func (in *topicIn) update(uris []string) {
	in.mu.Lock()
	in.version++
	in.uris = slices.Clone(uris)
	all := slices.Clone(in.subscriptions)
	in.mu.Unlock()
	for _, s := range all {
		s.update(uris)
	}
}

// publishers are the URIs known, and whether a subscription is connected to them.
func (in *topicIn) publishers() map[string]bool {
	in.mu.Lock()
	all := slices.Clone(in.subscriptions)
	in.mu.Unlock()
	found := make(map[string]bool)
	for _, s := range all {
		s.mu.Lock()
		for uri, l := range s.links {
			found[uri] = found[uri] || l.peer() != ""
		}
		s.mu.Unlock()
	}
	return found
}

// update begins connections to publishers that have come, and lets those to publishers that went run out: their last
// words may still be on the way.
func (s *subscription) update(uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for uri, l := range s.links {
		if !slices.Contains(uris, uri) {
			l.drain()
		}
	}
	for _, uri := range uris {
		if l := s.links[uri]; l != nil && !l.draining() {
			continue
		}
		l := &inLink{sub: s, uri: uri}
		l.ctx, l.cancel = context.WithCancel(s.ctx)
		if s.node.spawn(l.run) {
			s.links[uri] = l
		} else {
			l.cancel()
		}
	}
}

func (s *subscription) Topic() string   { return s.in.name }
func (s *subscription) Type() *ros.Type { return s.wire.typ }

// PublisherCount is the number of publishers that are connected.
func (s *subscription) PublisherCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.links {
		if l.peer() != "" {
			n++
		}
	}
	return n
}

// peers are the nodes of the publishers that are connected.
func (s *subscription) peers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var nodes []string
	for _, l := range s.links {
		if p := l.peer(); p != "" {
			nodes = append(nodes, p)
		}
	}
	return nodes
}

// forget is called when a link has ended.
func (s *subscription) forget(l *inLink) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.links[l.uri] == l {
		delete(s.links, l.uri)
	}
}

// deliver runs the callback for one message after another.
func (s *subscription) deliver() {
	for {
		r, ok := s.queue.pop()
		if !ok {
			return
		}
		s.node.guard("subscription", s.in.name, func() { s.callback(r) })
	}
}

// Close drops what is still queued. It does not wait for a callback that runs, which may be its caller.
func (s *subscription) Close() error {
	s.node.registering.Lock()
	defer s.node.registering.Unlock()
	err := s.drop()
	s.node.remove(s)
	return err
}

// drop is called with registering held. The last subscription takes the topic with it.
func (s *subscription) drop() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	links := slices.Collect(maps.Values(s.links))
	s.links = map[string]*inLink{}
	s.mu.Unlock()
	s.queue.close()
	s.cancel()
	for _, l := range links {
		l.leave()
	}
	in, n := s.in, s.node
	in.mu.Lock()
	in.subscriptions = slices.DeleteFunc(in.subscriptions, func(o *subscription) bool { return o == s })
	last := len(in.subscriptions) == 0
	in.mu.Unlock()
	if !last {
		return nil
	}
	n.mu.Lock()
	delete(n.ins, in.name)
	n.mu.Unlock()
	n.unregister("subscription of "+in.name, func() error { return n.master.UnregisterSubscriber(in.name, n.uri) })
	return nil
}

// How often a connection that fails is tried again.
const (
	retryFirst = 50 * time.Millisecond
	retryLast  = 3 * time.Second
)
