package robottools

import (
	"context"
	"sync"
	"time"
)

// heavy are types whose messages are megabytes, many times a second: they are listened to while somebody asks for one, and for a
// while after. Everything else is listened to all the time, so that a slow source's newest message is there when it is asked for.
var heavy = map[string]bool{
	"sensor_msgs/msg/Image": true, "sensor_msgs/msg/CompressedImage": true, "sensor_msgs/msg/PointCloud2": true, "sensor_msgs/msg/PointCloud": true,
}

// Seldom reports whether topics of a type are listened to only now and then.
func (r *Robot) Seldom(typeName string) bool { return heavy[typeName] }

// linger is how long a heavy topic is still listened to after it was read last.
const linger = 20 * time.Second

// listened is a topic that is listened to, all the time or now and then.
type listened interface {
	// fresh waits for a message, see latest.fresh.
	fresh(ctx context.Context, maxAge time.Duration, after time.Time) (reading, error)
}

// occasional listens to a topic while it is wanted.
type occasional struct {
	robot           *Robot
	topic, typeName string

	mu     sync.Mutex
	heard  *latest // nil while nobody wants it
	users  int
	idle   *time.Timer
	closed bool
}

// fresh is latest.fresh of a topic that is listened to from now on.
func (o *occasional) fresh(ctx context.Context, maxAge time.Duration, after time.Time) (reading, error) {
	l, err := o.begin()
	if err != nil {
		return reading{}, err
	}
	defer o.end()
	return l.fresh(ctx, maxAge, after)
}

func (o *occasional) begin() (*latest, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, context.Canceled
	}
	if o.idle != nil {
		o.idle.Stop()
	}
	if o.heard == nil {
		l, err := listenBy(o.robot.node, o.robot.now, o.robot.arrived, o.topic, o.typeName, nil)
		if err != nil {
			return nil, err
		}
		o.heard = l
	}
	o.users++
	return o.heard, nil
}

func (o *occasional) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users--; o.users == 0 && !o.closed {
		o.idle = time.AfterFunc(linger, o.forget)
	}
}

// forget stops listening, unless somebody has come back.
func (o *occasional) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users > 0 || o.heard == nil || o.closed {
		return
	}
	if err := o.heard.Close(); err != nil {
		o.robot.node.Logger().Warn("stop listening", "topic", o.topic, "error", err)
	}
	o.heard = nil
}

// Close ends it.
func (o *occasional) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.idle != nil {
		o.idle.Stop()
	}
	if o.heard == nil {
		return nil
	}
	return o.heard.Close()
}
