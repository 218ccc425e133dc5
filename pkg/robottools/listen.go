package robottools

import (
	"context"
	"errors"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// reading is one message with the facts that judge its age.
type reading struct {
	msg     *ros.Message
	arrived time.Time // monotonic
	stamp   ros.Time  // header stamp; the arrival in ROS time where the type has none
}

// latest keeps the newest message of a topic, from publishers of any quality of service.
type latest struct {
	topic, typeName string
	clock           ros.Clock
	now             func() time.Time          // arrivals are by this clock
	arrived         func(time.Time) time.Time // a message's arrival on it; nil: as it is
	stamped         bool

	mu      sync.Mutex
	last    reading
	changed chan struct{}
	subs    []ros.Subscription
}

// listen subscribes so that it hears every publisher, and what a latched one said before.
func listen(node ros.Node, topic, typeName string, onMessage func(reading)) (*latest, error) {
	return listenBy(node, time.Now, nil, topic, typeName, onMessage)
}

// listenToEach is listen where a single message counts, such as one that says stop.
func listenToEach(node ros.Node, topic, typeName string, onMessage func(reading)) (*latest, error) {
	return listenOn(node, ros.HearEach(node, ros.SensorQoS().Depth), time.Now, nil, topic, typeName, onMessage)
}

// listenBy is listen with another clock for arrivals: the guard's, where rest is told by it.
func listenBy(node ros.Node, now func() time.Time, arrived func(time.Time) time.Time, topic, typeName string, onMessage func(reading)) (*latest, error) {
	return listenOn(node, ros.HearAll(node, ros.SensorQoS().Depth, ros.LatchedQoS().Depth), now, arrived, topic, typeName, onMessage)
}

func listenOn(node ros.Node, by []ros.QoS, now func() time.Time, arrived func(time.Time) time.Time, topic, typeName string, onMessage func(reading)) (*latest, error) {
	t, err := node.Types().Message(typeName)
	if err != nil {
		return nil, err
	}
	l := &latest{topic: topic, typeName: typeName, clock: node.Clock(), now: now, arrived: arrived, changed: make(chan struct{}), stamped: hasStamp(t)}
	for _, qos := range by {
		sub, err := node.CreateSubscription(topic, typeName, qos, func(r ros.Received) {
			if got, isNew := l.put(r); isNew && onMessage != nil {
				onMessage(got)
			}
		})
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.subs = append(l.subs, sub)
	}
	return l, nil
}

// hasStamp reports whether the type begins with a std_msgs header.
func hasStamp(t *ros.Type) bool {
	i := t.FieldIndex("header")
	return i >= 0 && t.Fields[i].Type != nil && t.Fields[i].Type.FieldIndex("stamp") >= 0
}

// put stores a message; a latched publisher reaches both subscriptions, the second copy is not new.
func (l *latest) put(r ros.Received) (reading, bool) {
	got := reading{msg: r.Message, arrived: r.Arrived, stamp: l.clock.Now()}
	if l.arrived != nil {
		got.arrived = l.arrived(r.Arrived)
	}
	if l.stamped {
		got.stamp = r.Message.Stamp("header.stamp")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.msg != nil && l.stamped && got.stamp == l.last.stamp && got.arrived.Sub(l.last.arrived) < 10*time.Millisecond && ros.Equal(l.last.msg, got.msg) {
		return got, false
	}
	l.last = got
	close(l.changed)
	l.changed = make(chan struct{})
	return got, true
}

// get is the newest message and a channel that closes at the next one.
func (l *latest) get() (reading, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.changed
}

// publishers is how many publishers the transport has matched.
func (l *latest) publishers() int {
	n := 0
	for _, s := range l.subs {
		n = max(n, s.PublisherCount())
	}
	return n
}

// fresh waits for a message that is at most maxAge old and, where after is set, that arrived
// after it and was stamped later than everything that had arrived before. It gives up with ctx.
func (l *latest) fresh(ctx context.Context, maxAge time.Duration, after time.Time) (reading, error) {
	before := ros.Time(0)
	for {
		got, changed := l.get()
		age := l.now().Sub(got.arrived)
		switch {
		case got.msg == nil:
		case !after.IsZero() && !got.arrived.After(after):
			before = got.stamp
		case l.stamped && before != 0 && got.stamp <= before:
		case l.stamped && !after.IsZero() && !l.clock.Simulated() && got.stamp.Std().Before(after.Round(0)):
		case age <= maxAge && l.age(got) <= maxAge:
			return got, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return reading{}, l.stale(got, maxAge)
		}
	}
}

// age by the source's own stamp.
func (l *latest) age(r reading) time.Duration {
	if !l.stamped || r.stamp.IsZero() {
		return l.now().Sub(r.arrived)
	}
	return l.clock.Now().Sub(r.stamp)
}

func (l *latest) stale(r reading, maxAge time.Duration) error {
	e := &StaleError{Topic: l.topic, Limit: maxAge, Never: r.msg == nil, Publishers: l.publishers()}
	if r.msg != nil {
		e.Age = max(l.now().Sub(r.arrived), l.age(r))
	}
	return e
}

// Close ends the subscriptions.
func (l *latest) Close() error {
	var all []error
	for _, s := range l.subs {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}
