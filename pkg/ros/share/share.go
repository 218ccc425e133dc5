// Package share lets many listeners of one process hear a topic through one subscription. A middleware delivers, copies and
// decodes a message once for each subscription: where several parts of a program want the same topic, that is most of what an
// idle node does.
package share

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// Depths that shared subscriptions have at least: a listener that asks for more gets a subscription of its own depth.
const (
	volatileDepth = 20
	latchedDepth  = 10
)

// Node is a node whose subscriptions of one topic, type, reliability and durability are one. Messages go to several listeners:
// none may write to them.
type Node struct {
	ros.Node

	mu   sync.Mutex
	open map[key]*ear
}

var _ ros.Node = (*Node)(nil)

// Of shares the subscriptions that are made through what it returns; those made on node itself stay their own.
func Of(node ros.Node) *Node { return &Node{Node: node, open: map[key]*ear{}} }

type key struct {
	topic, typeName string
	reliability     ros.Reliability
	durability      ros.Durability
	depth           int // of deep ones
}

// ear is one subscription with its listeners.
type ear struct {
	node *Node
	key  key
	sub  ros.Subscription

	mu        sync.Mutex // held while listeners are called: one message after another, and a newcomer between two
	listeners []*listener
	kept      map[string]ros.Received // of latched publishers, the newest of each: for newcomers
	count     uint64                  // of messages
	newest    time.Time               // when the last one came
	used      int                     // guarded by the node's mutex, as is waiting
	waiting   int                     // of its listeners, those whose messages may wait
}

// listener is what a program holds as its subscription.
type listener struct {
	ear      *ear
	callback func(ros.Received)

	waits bool // guarded by the node's mutex

	mu     sync.Mutex
	closed bool
}

// CreateSubscription joins the listeners of a topic, or makes its subscription. A newcomer on a latched topic hears at once, on
// its own goroutine, what was kept.
func (n *Node) CreateSubscription(topic, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	name, err := n.ResolveName(topic)
	if err != nil {
		return nil, fmt.Errorf("create subscription: %w", err)
	}
	k := key{topic: name, typeName: typeName, reliability: qos.Reliability, durability: qos.Durability}
	floor := volatileDepth
	if qos.Durability == ros.TransientLocal {
		floor = latchedDepth
	}
	if qos.Depth > floor {
		k.depth = qos.Depth
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.open[k]
	if e == nil {
		e = &ear{node: n, key: k}
		if k.durability == ros.TransientLocal {
			e.kept = map[string]ros.Received{}
		}
		qos.Depth = max(qos.Depth, floor)
		if e.sub, err = n.Node.CreateSubscription(topic, typeName, qos, e.hear); err != nil {
			return nil, err
		}
		n.open[k] = e
	}
	e.used++
	e.hurry()
	l := &listener{ear: e, callback: callback}
	e.join(l)
	return l, nil
}

// LetWait implements ros.Unhurried: messages wait where every listener lets them.
func (l *listener) LetWait(on bool) {
	n := l.ear.node
	n.mu.Lock()
	defer n.mu.Unlock()
	if l.waits == on || l.gone() {
		return
	}
	l.waits = on
	if on {
		l.ear.waiting++
	} else {
		l.ear.waiting--
	}
	l.ear.hurry()
}

// hurry tells the subscription whether its messages may wait. The caller holds the node's mutex.
func (e *ear) hurry() {
	if u, ok := e.sub.(ros.Unhurried); ok {
		u.LetWait(e.waiting == e.used)
	}
}

// hear passes a message on.
func (e *ear) hear(r ros.Received) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count, e.newest = e.count+1, r.Arrived
	if e.kept != nil {
		e.kept[r.Publisher] = r
	}
	for _, l := range e.listeners {
		l.call(r)
	}
}

// join adds a listener and tells it what was kept. It may be called from a listener's callback, which holds mu: so in a goroutine.
func (e *ear) join(l *listener) {
	if e.kept == nil && e.mu.TryLock() {
		e.listeners = append(slices.Clone(e.listeners), l)
		e.mu.Unlock()
		return
	}
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, r := range e.kept {
			l.call(r)
		}
		e.listeners = append(slices.Clone(e.listeners), l)
	}()
}

// leave takes a listener off, for later messages.
func (e *ear) leave(l *listener) {
	drop := func() {
		e.listeners = slices.DeleteFunc(slices.Clone(e.listeners), func(x *listener) bool { return x == l })
	}
	if e.mu.TryLock() {
		drop()
		e.mu.Unlock()
		return
	}
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		drop()
	}()
}

// call the callback, unless the listener is closed. A panic is its own: the others still hear the message.
func (l *listener) call(r ros.Received) {
	if l.gone() {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			l.ear.node.Logger().Error("panic in subscription", "name", l.ear.key.topic, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	l.callback(r)
}

func (l *listener) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Topic implements ros.Subscription.
func (l *listener) Topic() string { return l.ear.sub.Topic() }

// Type implements ros.Subscription.
func (l *listener) Type() *ros.Type { return l.ear.sub.Type() }

// PublisherCount implements ros.Subscription.
func (l *listener) PublisherCount() int { return l.ear.sub.PublisherCount() }

// Close implements ros.Subscription: the last one's ends the subscription. A callback that was about to begin may still run.
func (l *listener) Close() error {
	l.mu.Lock()
	already := l.closed
	l.closed = true
	l.mu.Unlock()
	if already {
		return nil
	}
	n := l.ear.node
	l.ear.leave(l)
	n.mu.Lock()
	l.ear.used--
	if l.waits {
		l.ear.waiting--
	}
	last := l.ear.used == 0
	if last {
		delete(n.open, l.ear.key)
	} else {
		l.ear.hurry()
	}
	n.mu.Unlock()
	if last {
		return l.ear.sub.Close()
	}
	return nil
}

// Heard is how many messages of a topic have come through subscriptions that are open now, and when the last one did. The name is
// absolute. A publisher that reaches two of them counts once.
func (n *Node) Heard(topic, typeName string) (count uint64, newest time.Time) {
	n.mu.Lock()
	var ears []*ear
	for k, e := range n.open {
		if k.topic == topic && k.typeName == typeName {
			ears = append(ears, e)
		}
	}
	n.mu.Unlock()
	for _, e := range ears {
		e.mu.Lock()
		if e.count > count {
			count = e.count
		}
		if e.newest.After(newest) {
			newest = e.newest
		}
		e.mu.Unlock()
	}
	return count, newest
}

// Close ends what is still shared; the node itself stays open, it is its maker's.
func (n *Node) Close() error {
	n.mu.Lock()
	open := n.open
	n.open = map[key]*ear{}
	n.mu.Unlock()
	var all []error
	for _, e := range open {
		all = append(all, e.sub.Close())
	}
	return errors.Join(all...)
}
