package survey

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/tf"
	"agent_node/pkg/ros"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// ear counts the messages of a topic and keeps the newest.
type ear struct {
	mu          sync.Mutex
	subs        []ros.Subscription
	err         error
	count       int
	first, last time.Time
	newest      *ros.Message
}

// hear listens in the two ways that reach every publisher: best effort and volatile, and reliable with what was kept.
func hear(node ros.Node, topic, typeName string) *ear {
	e := &ear{}
	for _, qos := range []ros.QoS{ros.SensorQoS(), ros.LatchedQoS()} {
		sub, err := node.CreateSubscription(topic, typeName, qos, e.take)
		if err != nil {
			e.err = err
			break
		}
		e.subs = append(e.subs, sub)
	}
	return e
}

func (e *ear) take(r ros.Received) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.count == 0 {
		e.first = r.Arrived
	} else if r.Arrived.Sub(e.last) < 2*time.Millisecond && ros.Equal(e.newest, r.Message) {
		return // a latched publisher reaches both subscriptions
	}
	e.count++
	e.last, e.newest = r.Arrived, r.Message
}

// heard enough to judge by.
func (e *ear) heard(once bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err != nil || e.count >= 2 || once && e.count >= 1
}

// sound is what was heard: how many messages, their rate in Hz (0: unknown), the newest and when it came.
func (e *ear) sound() (count int, rate float64, newest *ros.Message, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if span := e.last.Sub(e.first).Seconds(); e.count > 1 && span > 0 {
		rate = float64(e.count-1) / span
	}
	return e.count, rate, e.newest, e.last
}

func (e *ear) close() {
	for _, s := range e.subs {
		s.Close()
	}
}

// links follow the transforms.
type links struct {
	buffer *tf.Buffer
	subs   []ros.Subscription

	mu     sync.Mutex
	err    error             // why the newest refused transform was refused
	frames map[string]string // child -> parent
}

func follow(node ros.Node) *links {
	l := &links{buffer: tf.New(tf.Config{}), frames: map[string]string{}}
	for topic, qos := range map[string]ros.QoS{
		tfTopic:       {Depth: 100, Reliability: ros.BestEffort},
		tfStaticTopic: {Depth: 100, Durability: ros.TransientLocal},
	} {
		sub, err := node.CreateSubscription(topic, tfType, qos, func(r ros.Received) { l.take(node.Clock(), r.Message, topic == tfStaticTopic) })
		if err != nil {
			l.err = err
			continue
		}
		l.subs = append(l.subs, sub)
	}
	return l
}

func (l *links) take(clock ros.Clock, m *ros.Message, static bool) {
	for _, t := range m.Msgs("transforms") {
		s := TransformOf(t)
		var err error
		if static {
			_, err = l.buffer.SetStatic(s)
		} else {
			_, err = l.buffer.Set(s, int64(clock.Now()))
		}
		l.mu.Lock()
		l.frames[s.Child] = s.Parent
		if err != nil {
			l.err = err
		}
		l.mu.Unlock()
	}
}

// TransformOf reads a geometry_msgs/msg/TransformStamped.
func TransformOf(t *ros.Message) tf.Stamped {
	v, q := t.Msg("transform.translation"), t.Msg("transform.rotation")
	return tf.Stamped{
		Parent: t.Str("header.frame_id"), Child: t.Str("child_frame_id"), Stamp: int64(t.Stamp("header.stamp")),
		Transform: spatial.Transform{
			Translation: r3.Vec{X: v.Float("x"), Y: v.Float("y"), Z: v.Float("z")},
			Rotation:    quat.Number{Real: q.Float("w"), Imag: q.Float("x"), Jmag: q.Float("y"), Kmag: q.Float("z")},
		},
	}
}

// knows reports whether both frames were named by transforms.
func (l *links) knows(frames ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range frames {
		found := false
		for child, parent := range l.frames {
			found = found || child == f || parent == f
		}
		if !found {
			return false
		}
	}
	return true
}

// look up a need's transform as the node would; its age, zero for a static one.
func (l *links) look(node ros.Node, n Need) (time.Duration, error) {
	now := node.Clock().Now()
	r, err := l.buffer.Latest(n.Target, n.Source, int64(now), n.MaxAge)
	if err != nil {
		return 0, err
	}
	if r.Static {
		return 0, nil
	}
	return now.Sub(ros.Time(r.Stamp)), nil
}

// refused is why the newest transform that was refused was refused.
func (l *links) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *links) close() {
	for _, s := range l.subs {
		s.Close()
	}
}

// answer to a question for a parameter.
type answer struct {
	cancel context.CancelFunc
	over   chan struct{}
	value  string
	err    error
}

// ask for a parameter, in a goroutine of its own.
func ask(node ros.Node, name, param string, patience time.Duration) *answer {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	a := &answer{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(a.over)
		values, err := Parameters(ctx, node, name, param)
		if err != nil {
			a.err = err
			return
		}
		v, ok := values[param]
		if !ok {
			a.err = fmt.Errorf("the node %s has no parameter %s", name, param)
			return
		}
		a.value = fmt.Sprint(v)
	}()
	return a
}

func (a *answer) done() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

func (a *answer) close() {
	a.cancel()
	<-a.over
}

// Parameters asks a node for parameters by name; those that it has not set are not in the answer.
func Parameters(ctx context.Context, node ros.Node, of string, names ...string) (out map[string]any, err error) {
	client, err := node.CreateClient(of+"/get_parameters", "rcl_interfaces/srv/GetParameters")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := client.WaitReady(ctx); err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", of, err)
	}
	resp, err := client.Call(ctx, ros.New(client.Type().Request).With("names", names))
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", of, err)
	}
	out = map[string]any{}
	values := resp.Msgs("values")
	if len(values) != len(names) {
		return nil, fmt.Errorf("parameters of %s: %d values for %d names", of, len(values), len(names))
	}
	for i, v := range values {
		if field := valueFields[v.Int("type")]; field != "" {
			out[names[i]], err = v.Get(field)
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// valueFields of rcl_interfaces/msg/ParameterValue by type.
var valueFields = map[int64]string{
	1: "bool_value", 2: "integer_value", 3: "double_value", 4: "string_value", 5: "byte_array_value",
	6: "bool_array_value", 7: "integer_array_value", 8: "double_array_value", 9: "string_array_value",
}
