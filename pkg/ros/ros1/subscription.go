package ros1

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// topicIn is a topic that this node subscribes: to the master and to its publishers one subscriber, whatever the
// number of ros.Subscriptions. A publisher of rospy's knows one connection of a node.
type topicIn struct {
	node *Node
	name string
	wire *wire

	mu            sync.Mutex
	subscriptions []*subscription
	links         map[string]*inLink // by the publisher's URI
	version       int                // counts what the master told
	closed        bool
}

type subscription struct {
	in       *topicIn
	callback func(ros.Received)
	queue    *queue[ros.Received]
	closed   bool // guarded by in.mu
}

// CreateSubscription makes a subscription. Every publisher of the topic with this type reaches it. One that comes when
// others of this node are there first gets what latched publishers said last.
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
	s := &subscription{callback: callback, queue: newQueue[ros.Received](depthOf(qos))}
	n.registering.Lock()
	defer n.registering.Unlock()
	if err := n.listen(s, name, w); err != nil {
		if s.in != nil {
			s.drop()
		}
		return nil, fmt.Errorf("subscription of %s: %w", name, err)
	}
	return s, nil
}

// listen is called with registering held.
func (n *Node) listen(s *subscription, name string, w *wire) error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return n.closedError()
	}
	in, known := n.ins[name]
	if !known {
		in = &topicIn{node: n, name: name, wire: w, links: make(map[string]*inLink)}
		n.ins[name] = in
	}
	n.mu.Unlock()
	if in.wire.name != w.name {
		return fmt.Errorf("%w: this node subscribes it as %s, and a node of ROS 1 has one type for a topic, not %s as well",
			ros.ErrInvalidMessage, in.wire.name, w.name)
	}
	s.in = in
	in.mu.Lock()
	in.subscriptions = append(in.subscriptions, s)
	for _, l := range in.links {
		for _, k := range l.kept {
			s.queue.push(ros.Received{Message: k.message.Clone(), Arrived: time.Now(), Publisher: k.publisher})
		}
	}
	in.mu.Unlock()
	if err := n.add(s); err != nil {
		return err
	}
	if !n.spawn(s.deliver) {
		return n.closedError()
	}
	if known {
		return nil
	}
	return in.register()
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

// update is called with the publishers that are there now: connections to those that have come begin, and those to
// publishers that went run out: their last words may still be on the way.
func (in *topicIn) update(uris []string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.version++
	if in.closed {
		return
	}
	for uri, l := range in.links {
		if !slices.Contains(uris, uri) {
			l.drain()
		}
	}
	for _, uri := range uris {
		if l := in.links[uri]; l != nil && !l.draining() {
			continue
		}
		l := newInLink(in, uri)
		if in.node.spawn(l.run) {
			in.links[uri] = l
		} else {
			l.cancel()
		}
	}
}

// forget is called when a link has ended.
func (in *topicIn) forget(l *inLink) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links[l.uri] == l {
		delete(in.links, l.uri)
	}
}

// pass gives a message to every subscription, each its own, and has the link keep it for those to come.
func (in *topicIn) pass(l *inLink, m *ros.Message, arrived time.Time, publisher string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if l.keeps > 0 {
		if len(l.kept) == l.keeps {
			l.kept = slices.Delete(l.kept, 0, 1)
		}
		l.kept = append(l.kept, keptMessage{m.Clone(), publisher})
	}
	// What was handed over is its receiver's, who may change it at once: the copies are made before.
	own := make([]*ros.Message, len(in.subscriptions))
	for i := range own {
		own[i] = m
		if i > 0 {
			own[i] = m.Clone()
		}
	}
	for i, s := range in.subscriptions {
		s.queue.push(ros.Received{Message: own[i], Arrived: arrived, Publisher: publisher})
	}
}

// publishers are the URIs known, and whether they are connected.
func (in *topicIn) publishers() map[string]bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	found := make(map[string]bool, len(in.links))
	for uri, l := range in.links {
		found[uri] = l.peer() != ""
	}
	return found
}

// peers are the nodes of the publishers that are connected.
func (in *topicIn) peers() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var nodes []string
	for _, l := range in.links {
		if p := l.peer(); p != "" {
			nodes = append(nodes, p)
		}
	}
	return nodes
}

func (s *subscription) Topic() string   { return s.in.name }
func (s *subscription) Type() *ros.Type { return s.in.wire.typ }

// PublisherCount is the number of nodes that publish and are connected.
func (s *subscription) PublisherCount() int {
	s.in.mu.Lock()
	closed := s.closed
	s.in.mu.Unlock()
	if closed {
		return 0
	}
	return len(s.in.peers())
}

// deliver runs the callback for one message after another.
func (s *subscription) deliver() {
	for {
		r, ok := s.queue.pop()
		if !ok {
			return
		}
		s.in.node.guard("subscription", s.in.name, func() { s.callback(r) })
	}
}

// Close drops what is still queued. It does not wait for a callback that runs, which may be its caller.
func (s *subscription) Close() error {
	n := s.in.node
	n.registering.Lock()
	defer n.registering.Unlock()
	s.drop()
	n.remove(s)
	return nil
}

// drop is called with registering held. The last subscription takes the topic with it.
func (s *subscription) drop() {
	in, n := s.in, s.in.node
	in.mu.Lock()
	if s.closed {
		in.mu.Unlock()
		return
	}
	s.closed = true
	in.subscriptions = slices.DeleteFunc(in.subscriptions, func(o *subscription) bool { return o == s })
	last := len(in.subscriptions) == 0
	if last {
		in.closed = true
		for _, l := range in.links {
			l.leave()
		}
	}
	in.mu.Unlock()
	s.queue.close()
	if !last {
		return
	}
	n.mu.Lock()
	delete(n.ins, in.name)
	n.mu.Unlock()
	n.unregister("subscription of "+in.name, func() error { return n.master.UnregisterSubscriber(in.name, n.uri) })
}

var errNoPublisher = errors.New("the publisher closed the connection")
