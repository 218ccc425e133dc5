package robottools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/ros"
)

// velocity publishes Twist or TwistStamped on one topic.
type velocity struct {
	node    ros.Node
	pub     ros.Publisher
	twist   *ros.Type // of the fields that profiles map
	stamped bool
	frame   string
}

// velocityOn shares one publisher per topic, so that a stop and a stream never differ in origin.
func (r *Robot) velocityOn(topic, typeName, frame string) (*velocity, error) {
	key := topic + " " + typeName
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.velocities[key]; ok {
		return v, nil
	}
	twist, err := r.node.Types().Message("geometry_msgs/msg/Twist")
	if err != nil {
		return nil, err
	}
	pub, err := r.node.CreatePublisher(topic, typeName, ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	if frame == "" {
		frame = r.profile.Frames.Base
	}
	v := &velocity{node: r.node, pub: pub, twist: twist, stamped: typeName == "geometry_msgs/msg/TwistStamped", frame: frame}
	r.velocities[key] = v
	r.owned = append(r.owned, pub)
	return v, nil
}

// send publishes one velocity: m/s forward, rad/s to the left.
func (v *velocity) send(linear, angular float64) error {
	m := ros.New(v.pub.Type())
	t := m
	if v.stamped {
		t = m.Msg("twist")
		m.SetStamp("header.stamp", v.node.Clock().Now())
		if err := m.Set("header.frame_id", v.frame); err != nil {
			return err
		}
	}
	if err := t.Set("linear.x", linear); err != nil {
		return err
	}
	if err := t.Set("angular.z", angular); err != nil {
		return err
	}
	return v.pub.Publish(m)
}

// subscriberPoll is how often a missing subscriber is looked for.
const subscriberPoll = 50 * time.Millisecond

// waitSubscriber waits until somebody other than this node's own watch listens.
func (v *velocity) waitSubscriber(ctx context.Context) error {
	tick := time.NewTicker(subscriberPoll)
	defer tick.Stop()
	for {
		ok, err := v.heard()
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: no subscriber: %w", v.pub.Topic(), ros.ErrNotReady)
		}
	}
}

// heard reports whether another node subscribes.
func (v *velocity) heard() (bool, error) {
	infos, err := v.node.Graph().Subscriptions(v.pub.Topic())
	if err != nil {
		return false, fmt.Errorf("%s: %w", v.pub.Topic(), err)
	}
	self := strings.TrimSuffix(v.node.Namespace(), "/") + "/" + v.node.Name()
	for _, i := range infos {
		if i.Node != self {
			return true, nil
		}
	}
	return false, nil
}
