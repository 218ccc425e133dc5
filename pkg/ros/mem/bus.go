package mem

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/msgdef"
)

// Bus connects the nodes of one process. Make one with NewBus.
type Bus struct {
	// mu guards what follows and the matches of every publisher. Publishing and
	// calling read; creating and closing write. It is never held while callbacks run.
	mu       sync.RWMutex
	topics   map[string]*topic
	services map[string][]*service
	nodes    map[*Node]struct{}
	types    *msgdef.Source // of nodes that bring none of their own
	hooks    Hooks
	changed  chan struct{} // closed and replaced when a service comes or goes
	lastID   uint64
	pending  pending
}

// topic is the endpoints of one name.
type topic struct {
	publishers    []*publisher
	subscriptions []*subscription
}

// NewBus makes an empty bus.
func NewBus() *Bus {
	return &Bus{
		topics:   make(map[string]*topic),
		services: make(map[string][]*service),
		nodes:    make(map[*Node]struct{}),
		types:    msgdef.Embedded(),
		changed:  make(chan struct{}),
		pending:  pending{empty: make(chan struct{}, 1)},
	}
}

// Hooks let tests interfere. Each may be nil. They run on the goroutine of the one
// delivery or request concerned and may block to delay it, and nothing else.
type Hooks struct {
	// Deliver is asked before a message is given to a subscription; false loses it.
	Deliver func(topic, fromNode, toNode string, m *ros.Message) bool
	// Request is asked before a request reaches its server; false loses it.
	Request func(service, client, server string, request *ros.Message) bool
	// Response is asked before a response is sent back; false loses it.
	Response func(service, server, client string, response *ros.Message) bool
}

// SetHooks replaces the hooks, for deliveries and requests from now on.
func (b *Bus) SetHooks(h Hooks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hooks = h
}

func (b *Bus) currentHooks() Hooks {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.hooks
}

// Close closes every node of the bus.
func (b *Bus) Close() error {
	b.mu.RLock()
	nodes := slices.Collect(maps.Keys(b.nodes))
	b.mu.RUnlock()
	for _, n := range nodes {
		if err := n.Close(); err != nil {
			return err
		}
	}
	return nil
}

// topicNamed is the topic of that name, made if need be. The caller holds mu for writing.
func (b *Bus) topicNamed(name string) *topic {
	t, ok := b.topics[name]
	if !ok {
		t = &topic{}
		b.topics[name] = t
	}
	return t
}

// dropIfEmpty forgets a topic that nobody uses. The caller holds mu for writing.
func (b *Bus) dropIfEmpty(name string) {
	if t := b.topics[name]; t != nil && len(t.publishers) == 0 && len(t.subscriptions) == 0 {
		delete(b.topics, name)
	}
}

// servicesChanged wakes whoever waits for a service. The caller holds mu for writing.
func (b *Bus) servicesChanged() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// match finds every pair on a topic anew. The caller holds mu for writing.
func (t *topic) match() {
	for _, s := range t.subscriptions {
		s.matches = 0
	}
	for _, p := range t.publishers {
		// A new slice: publishing may still hold the old one.
		p.matched = nil
		for _, s := range t.subscriptions {
			if p.typ.Name == s.typ.Name && compatible(p.qos, s.qos) {
				p.matched = append(p.matched, s)
				s.matches++
			}
		}
	}
}

// compatible reports whether what a publisher offers is what a subscription requests:
// it may offer more, never less.
func compatible(offered, requested ros.QoS) bool {
	return ros.Incompatible(offered, requested) == ""
}

// defaultDepth is what a depth of 0 means.
const defaultDepth = 10

func complete(q ros.QoS) ros.QoS {
	if q.Depth <= 0 {
		q.Depth = defaultDepth
	}
	return q
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
