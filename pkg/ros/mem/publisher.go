package mem

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

type publisher struct {
	node  *Node
	topic string
	typ   *ros.Type
	qos   ros.QoS
	id    string

	matched []*subscription // guarded by the bus; the slice is replaced, never written to

	mu     sync.Mutex // one message after the other, in one order for every subscription
	closed bool
	kept   []sample // of a transient-local publisher, the newest last
}

// sample is one published message. Nobody writes to the message: receivers get copies.
type sample struct {
	message *ros.Message
	sent    time.Time // with its monotonic reading
	expires time.Time // zero: never
	from    *publisher
}

func (s sample) expired(now time.Time) bool { return !s.expires.IsZero() && now.After(s.expires) }

// CreatePublisher makes a publisher; it is matched at once.
func (n *Node) CreatePublisher(topicName, typeName string, qos ros.QoS) (ros.Publisher, error) {
	name, err := n.names.Topic(topicName)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("publisher on %s: %w", name, err)
	}
	p := &publisher{node: n, topic: name, typ: typ, qos: complete(qos)}
	b := n.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := n.add(p); err != nil { // under the bus's lock, so that a node that closes now finds it there
		return nil, err
	}
	b.lastID++
	p.id = "mem:" + strconv.FormatUint(b.lastID, 16)
	t := b.topicNamed(name)
	t.publishers = append(t.publishers, p)
	t.match()
	return p, nil
}

func (p *publisher) Topic() string   { return p.topic }
func (p *publisher) Type() *ros.Type { return p.typ }
func (p *publisher) ID() string      { return p.id }

func (p *publisher) SubscriptionCount() int {
	p.node.bus.mu.RLock()
	defer p.node.bus.mu.RUnlock()
	return len(p.matched)
}

func (p *publisher) Publish(m *ros.Message) error {
	copied, err := own(p.typ, m)
	if err != nil {
		return fmt.Errorf("publish on %s: %w", p.topic, err)
	}
	now := time.Now()
	s := sample{message: copied, sent: now, from: p}
	if p.qos.Lifespan > 0 {
		s.expires = now.Add(p.qos.Lifespan)
	}
	// The bus stays as it is while the message goes out: a subscription that is being
	// made gets it either here or by replay, never twice.
	p.node.bus.mu.RLock()
	defer p.node.bus.mu.RUnlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("publish on %s: %w", p.topic, ros.ErrClosed)
	}
	if p.qos.Durability == ros.TransientLocal {
		if len(p.kept) == p.qos.Depth {
			p.kept = slices.Delete(p.kept, 0, 1)
		}
		p.kept = append(p.kept, s)
	}
	for _, sub := range p.matched {
		sub.push(s)
	}
	return nil
}

// own is a valid deep copy of m as a message of type t.
func own(t *ros.Type, m *ros.Message) (*ros.Message, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if m.Type == t {
		return m.Clone(), nil
	}
	if m.Type.Name != t.Name {
		return nil, &ros.FieldError{Message: m.Type.Name, Reason: "message of another type", Want: t.Name, Offset: -1}
	}
	// The same interface from another source of types.
	return ros.FromMap(t, m.Map())
}

func (p *publisher) Close() error {
	p.mu.Lock()
	already := p.closed
	p.closed, p.kept = true, nil
	p.mu.Unlock()
	if already {
		return nil
	}
	b := p.node.bus
	b.mu.Lock()
	t := b.topics[p.topic]
	t.publishers = slices.DeleteFunc(t.publishers, func(q *publisher) bool { return q == p })
	p.matched = nil
	t.match()
	b.dropIfEmpty(p.topic)
	b.mu.Unlock()
	p.node.remove(p)
	return nil
}
