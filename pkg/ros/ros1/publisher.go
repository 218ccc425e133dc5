package ros1

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/protocommon"

	"agent_node/pkg/ros"
)

// topicOut is a topic that this node publishes: to the master and to subscribers one publisher, whatever the
// number of ros.Publishers.
type topicOut struct {
	node *Node
	name string
	wire *wire

	mu         sync.Mutex
	publishers []*publisher
	links      map[*outLink]struct{}
	refused    map[string]bool // nodes that were told that they mean another type
	closed     bool
}

type publisher struct {
	out *topicOut
	qos ros.QoS

	// Guarded by out.mu.
	closed bool
	kept   []sample // of a transient-local publisher, the newest last
}

// sample is a published message, ready to be sent.
type sample struct {
	frame   []byte
	sent    time.Time
	expires time.Time // zero: never
}

// CreatePublisher makes a publisher. A TransientLocal one is latched: whoever connects gets what it keeps. ROS 1's own
// latched publishers keep one message; this one keeps as many as its depth.
func (n *Node) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	name, err := n.names.Topic(topic)
	if err != nil {
		return nil, err
	}
	if part := n.actions.part(name); part != "" {
		return n.actions.publisher(name, part, typeName, qos)
	}
	typ, err := n.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("publisher on %s: %w", name, err)
	}
	return n.publish(name, n.types.wires.message(typ), qos)
}

// publish makes a publisher by absolute name and type.
func (n *Node) publish(name string, w *wire, qos ros.QoS) (*publisher, error) {
	if qos.Depth <= 0 {
		qos.Depth = defaultDepth
	}
	p := &publisher{qos: qos}
	if err := n.advertise(p, name, w); err != nil {
		if p.out != nil {
			err = errors.Join(err, p.Close())
		}
		return nil, fmt.Errorf("publisher on %s: %w", name, err)
	}
	return p, nil
}

func (n *Node) advertise(p *publisher, name string, w *wire) error {
	n.registering.Lock()
	defer n.registering.Unlock()
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return n.closedError()
	}
	out, known := n.outs[name]
	if !known {
		out = &topicOut{node: n, name: name, wire: w, links: make(map[*outLink]struct{}), refused: make(map[string]bool)}
		n.outs[name] = out
	}
	n.mu.Unlock()
	if out.wire.name != w.name {
		return fmt.Errorf("%w: this node publishes %s there, and a node of ROS 1 publishes one type on a topic, not %s as well",
			ros.ErrInvalidMessage, out.wire.name, w.name)
	}
	out.mu.Lock()
	if out.closed { // its last publisher is closing now
		out.mu.Unlock()
		return n.advertiseAnew(p, name, w)
	}
	p.out = out
	out.publishers = append(out.publishers, p)
	out.mu.Unlock()
	if err := n.add(p); err != nil {
		return err
	}
	if known {
		return nil
	}
	return out.register()
}

// advertiseAnew makes the topic again in the place of one that is closing.
func (n *Node) advertiseAnew(p *publisher, name string, w *wire) error {
	out := &topicOut{node: n, name: name, wire: w, links: make(map[*outLink]struct{}), refused: make(map[string]bool), publishers: []*publisher{p}}
	p.out = out
	n.mu.Lock()
	n.outs[name] = out
	n.mu.Unlock()
	if err := n.add(p); err != nil {
		return err
	}
	return out.register()
}

func (out *topicOut) register() error {
	_, err := out.node.master.RegisterPublisher(out.name, out.wire.name, out.node.uri)
	return err
}

func (p *publisher) Topic() string   { return p.out.name }
func (p *publisher) Type() *ros.Type { return p.out.wire.typ }

// ID is the node's: ROS 1 does not tell a node's publishers of one topic apart.
func (p *publisher) ID() string { return p.out.node.id() }

// SubscriptionCount is the number of connections.
func (p *publisher) SubscriptionCount() int {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.closed {
		return 0
	}
	return len(p.out.links)
}

func (p *publisher) Publish(m *ros.Message) error {
	f, err := p.frame(m)
	if err != nil {
		return fmt.Errorf("publish on %s: %w", p.out.name, err)
	}
	s := sample{frame: f, sent: time.Now()}
	if p.qos.Lifespan > 0 {
		s.expires = s.sent.Add(p.qos.Lifespan)
	}
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	if p.closed {
		return fmt.Errorf("publish on %s: %w", p.out.name, ros.ErrClosed)
	}
	if p.qos.Durability == ros.TransientLocal {
		if len(p.kept) == p.qos.Depth {
			p.kept = slices.Delete(p.kept, 0, 1)
		}
		p.kept = append(p.kept, s)
	}
	for l := range p.out.links {
		l.queue.push(s)
	}
	return nil
}

func (p *publisher) frame(m *ros.Message) ([]byte, error) {
	m, err := own(p.out.wire.typ, m)
	if err != nil {
		return nil, err
	}
	b, err := encode(m)
	if err != nil {
		return nil, err
	}
	return frame(b), nil
}

// own is m as a valid message of type t: itself, or, made from another source of types, translated.
func own(t *ros.Type, m *ros.Message) (*ros.Message, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Type == t {
		return m, nil
	}
	if m.Type.Name != t.Name {
		return nil, &ros.FieldError{Message: m.Type.Name, Reason: "message of another type", Want: t.Name, Offset: -1}
	}
	return ros.FromMap(t, m.Map())
}

// Close ends the publisher. What it published is sent first, for a second at most.
func (p *publisher) Close() error {
	err := p.drop()
	p.out.node.remove(p)
	return err
}

// drop ends the publisher; the last one takes the topic with it. The master is told when all is sent: subscribers
// hang up when they hear of it.
func (p *publisher) drop() error {
	out, n := p.out, p.out.node
	out.mu.Lock()
	if p.closed {
		out.mu.Unlock()
		return nil
	}
	p.closed, p.kept = true, nil
	out.publishers = slices.DeleteFunc(out.publishers, func(q *publisher) bool { return q == p })
	if len(out.publishers) > 0 {
		out.mu.Unlock()
		return nil
	}
	out.closed = true
	links := slices.Collect(maps.Keys(out.links))
	out.mu.Unlock()
	n.mu.Lock()
	if n.outs[out.name] == out {
		delete(n.outs, out.name)
	}
	n.mu.Unlock()
	flush(links)
	n.registering.Lock()
	defer n.registering.Unlock()
	n.mu.Lock()
	again := n.outs[out.name] != nil // it has been published anew meanwhile
	n.mu.Unlock()
	if !again {
		n.unregister("publisher of "+out.name, func() error { return n.master.UnregisterPublisher(out.name, n.uri) })
	}
	return nil
}

// flush has the links send what is queued and end.
func flush(links []*outLink) {
	for _, l := range links {
		l.queue.finish()
	}
	limit := time.NewTimer(flushLimit)
	defer limit.Stop()
	for _, l := range links {
		select {
		case <-l.done:
		case <-limit.C:
			limit.Reset(0)
			_ = l.conn.Close()
			<-l.done
		}
	}
}

// unregister tells the master; it may be gone, and that is no reason not to close.
func (n *Node) unregister(what string, tell func() error) {
	if err := tell(); err != nil {
		n.logger.Debug("unregister from the master", "what", what, "error", err)
	}
}

// publisherHeader is goroslib's with one field more: how many messages the latched publishers keep. Others skip what
// they do not know.
type publisherHeader struct {
	Topic, Type, Md5sum, Callerid string
	Latching, Keeps               int
	MessageDefinition             string
}

// connect takes a subscriber's connection.
func (out *topicOut) connect(c *conn, h protocommon.HeaderRaw) {
	n := out.node
	if sum := h["md5sum"]; sum != "*" && sum != out.wire.md5 {
		why := fmt.Sprintf("%s subscribes %s as %s (md5sum %s); it is published here as %s (md5sum %s)",
			h["callerid"], out.name, h["type"], sum, out.wire.name, out.wire.md5)
		out.mu.Lock()
		told := out.refused[h["callerid"]]
		out.refused[h["callerid"]] = true
		out.mu.Unlock()
		if !told { // it will try again and again
			n.logger.Warn("subscriber of another type refused", "topic", out.name, "reason", why)
		}
		n.refuse(c, why)
		return
	}
	answer := &publisherHeader{
		Callerid: n.names.FullName(), Topic: out.name, Type: out.wire.name, Md5sum: out.wire.md5, MessageDefinition: out.wire.definition,
	}
	// The answer is the first that the link writes: whoever has read it misses nothing that is published from then on.
	out.mu.Lock()
	defer out.mu.Unlock()
	depth := defaultDepth
	for _, p := range out.publishers {
		depth = max(depth, p.qos.Depth)
		if p.qos.Durability == ros.TransientLocal {
			answer.Latching = 1
			answer.Keeps += p.qos.Depth
		}
	}
	l := &outLink{out: out, conn: c, answer: answer, peer: h["callerid"], queue: newQueue[sample](depth), done: make(chan struct{})}
	if out.closed || !n.spawn(l.write) || !n.spawn(l.watch) {
		l.queue.close()
		_ = c.Close()
		return
	}
	out.links[l] = struct{}{}
	var kept []sample
	for _, p := range out.publishers {
		kept = append(kept, p.kept...)
	}
	slices.SortStableFunc(kept, func(a, b sample) int { return a.sent.Compare(b.sent) })
	for _, s := range kept {
		l.queue.push(s)
	}
}

// subscribers are the nodes connected.
func (out *topicOut) subscribers() []string {
	out.mu.Lock()
	defer out.mu.Unlock()
	all := make([]string, 0, len(out.links))
	for l := range out.links {
		all = append(all, l.peer)
	}
	return all
}

// outLink is a connection to one subscriber.
type outLink struct {
	out    *topicOut
	conn   *conn
	answer *publisherHeader // to the subscriber's header
	peer   string           // the subscriber's node
	queue  *queue[sample]
	done   chan struct{} // closed when the writing has ended
}

// write sends what comes into the queue. A subscriber that does not read loses the oldest messages.
func (l *outLink) write() {
	defer close(l.done)
	defer l.conn.Close()
	defer l.forget()
	if err := l.conn.writeHeader(l.answer); err != nil {
		l.queue.close()
		return
	}
	for {
		s, ok := l.queue.pop()
		if !ok {
			return
		}
		if !s.expires.IsZero() && time.Now().After(s.expires) {
			continue
		}
		if _, err := l.conn.Write(s.frame); err != nil {
			l.queue.close()
			return
		}
	}
}

// watch notices when the subscriber goes: it never sends anything.
func (l *outLink) watch() {
	var one [64]byte
	for {
		if _, err := l.conn.Read(one[:]); err != nil {
			l.forget()
			l.queue.close()
			return
		}
	}
}

func (l *outLink) forget() {
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	delete(l.out.links, l)
}
