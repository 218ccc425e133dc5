package robottools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent_node/pkg/geometry/spatial"
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
	twist, err := r.node.Types().Message(twistType)
	if err != nil {
		return nil, err
	}
	pub, err := r.publisherLocked(topic, typeName)
	if err != nil {
		return nil, err
	}
	if frame == "" {
		frame = r.profile.Frames.Base
	}
	v := &velocity{node: r.node, pub: pub, twist: twist, stamped: typeName == twistStampedType, frame: frame}
	r.velocities[key] = v
	return v, nil
}

const (
	twistType        = "geometry_msgs/msg/Twist"
	twistStampedType = "geometry_msgs/msg/TwistStamped"
)

// publisherOn shares one publisher per topic and type.
func (r *Robot) publisherOn(topic, typeName string) (ros.Publisher, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.publisherLocked(topic, typeName)
}

func (r *Robot) publisherLocked(topic, typeName string) (ros.Publisher, error) {
	key := topic + " " + typeName
	if p, ok := r.publishers[key]; ok {
		return p, nil
	}
	pub, err := r.node.CreatePublisher(topic, typeName, ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	r.publishers[key] = pub
	r.owned = append(r.owned, pub)
	return pub, nil
}

// send publishes one velocity of a base: m/s forward and to the left, rad/s about the vertical.
func (v *velocity) send(twist spatial.Twist) error {
	m := ros.New(v.pub.Type())
	t := m
	if v.stamped {
		t = m.Msg("twist")
		m.SetStamp("header.stamp", v.node.Clock().Now())
		if err := m.Set("header.frame_id", v.frame); err != nil {
			return err
		}
	}
	if err := t.Set("linear.x", twist.Linear.X); err != nil {
		return err
	}
	if err := t.Set("linear.y", twist.Linear.Y); err != nil {
		return err
	}
	if err := t.Set("angular.z", twist.Angular.Z); err != nil {
		return err
	}
	return v.pub.Publish(m)
}

// subscriberPoll is how often a missing subscriber is looked for.
const subscriberPoll = 50 * time.Millisecond

// waitSubscriber waits until another node than this one listens to a topic of ours.
func (r *Robot) waitSubscriber(ctx context.Context, pub ros.Publisher) error {
	tick := time.NewTicker(subscriberPoll)
	defer tick.Stop()
	for {
		ok, err := r.heard(pub)
		if err != nil {
			return err
		}
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s: no subscriber: %w", pub.Topic(), ros.ErrNotReady)
		}
	}
}

// heard reports whether another node subscribes.
func (r *Robot) heard(pub ros.Publisher) (bool, error) {
	infos, err := r.node.Graph().Subscriptions(pub.Topic())
	if err != nil {
		return false, fmt.Errorf("%s: %w", pub.Topic(), err)
	}
	self := r.fullName()
	return slices.ContainsFunc(infos, func(i ros.EndpointInfo) bool { return i.Node != self }), nil
}

// fullName of the node itself.
func (r *Robot) fullName() string {
	return strings.TrimSuffix(r.node.Namespace(), "/") + "/" + r.node.Name()
}
