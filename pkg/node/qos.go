package node

import (
	"fmt"
	"strings"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/param"
)

// qosPrefix begins the names of parameters that override a quality of service, as ROS has them:
// qos_overrides./cmd_vel.publisher.reliability.
const qosPrefix = "qos_overrides."

// overridden is a host whose publishers and subscriptions have the qualities of service that parameters say.
type overridden struct {
	Host
	publishers, subscriptions map[string][]override // by topic
}

// override of one policy.
type override struct {
	name  string // of the parameter
	value any
	apply func(*ros.QoS)
}

// withOverrides reads the overrides among a host's parameters. A policy or a value that means nothing is an error by its name.
func withOverrides(host Host) (*overridden, error) {
	o := &overridden{Host: host, publishers: map[string][]override{}, subscriptions: map[string][]override{}}
	for name, value := range host.Params() {
		rest, ok := strings.CutPrefix(name, qosPrefix)
		if !ok {
			continue
		}
		parts := strings.Split(rest, ".")
		if len(parts) != 3 || !strings.HasPrefix(parts[0], "/") {
			return nil, fmt.Errorf("node: parameter %s: wanted qos_overrides./TOPIC.publisher.POLICY or .subscription.POLICY", name)
		}
		apply, err := policyOf(parts[2], value)
		if err != nil {
			return nil, fmt.Errorf("node: parameter %s: %w", name, err)
		}
		into := o.publishers
		switch parts[1] {
		case "publisher":
		case "subscription":
			into = o.subscriptions
		default:
			return nil, fmt.Errorf("node: parameter %s: %q is neither publisher nor subscription", name, parts[1])
		}
		into[parts[0]] = append(into[parts[0]], override{name, value, apply})
	}
	return o, nil
}

// policyOf is what one policy's value does to a quality of service.
func policyOf(policy string, value any) (func(*ros.QoS), error) {
	text, _ := value.(string)
	number, isNumber := value.(int64)
	switch policy {
	case "reliability":
		for _, r := range []ros.Reliability{ros.Reliable, ros.BestEffort} {
			if text == r.String() {
				return func(q *ros.QoS) { q.Reliability = r }, nil
			}
		}
		return nil, fmt.Errorf("is %v, must be reliable or best_effort", value)
	case "durability":
		for _, d := range []ros.Durability{ros.Volatile, ros.TransientLocal} {
			if text == d.String() {
				return func(q *ros.QoS) { q.Durability = d }, nil
			}
		}
		return nil, fmt.Errorf("is %v, must be volatile or transient_local", value)
	case "depth":
		if !isNumber || number < 1 || number > 100000 {
			return nil, fmt.Errorf("is %v, must be an integer from 1 to 100000", value)
		}
		return func(q *ros.QoS) { q.Depth = int(number) }, nil
	case "history":
		if text != "keep_last" {
			return nil, fmt.Errorf("is %v: keep_last is the only history here", value)
		}
		return func(*ros.QoS) {}, nil
	case "lifespan", "deadline":
		if !isNumber || number < 0 {
			return nil, fmt.Errorf("is %v, must be nanoseconds, 0 for none", value)
		}
		if policy == "deadline" {
			return func(q *ros.QoS) { q.Deadline = time.Duration(number) }, nil
		}
		return func(q *ros.QoS) { q.Lifespan = time.Duration(number) }, nil
	}
	return nil, fmt.Errorf("there is no policy %q: reliability, durability, depth, history, lifespan, deadline", policy)
}

func (o *overridden) of(overrides map[string][]override, topic string, q ros.QoS) ros.QoS {
	name, err := o.ResolveName(topic)
	if err != nil {
		return q // whoever makes the entity says so
	}
	for _, x := range overrides[name] {
		x.apply(&q)
	}
	return q
}

// offers is the quality of service that a topic's commands are published with.
func (o *overridden) offers(topic string) ros.QoS { return o.of(o.publishers, topic, ros.DefaultQoS()) }

// CreatePublisher implements ros.Node.
func (o *overridden) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	return o.Host.CreatePublisher(topic, typeName, o.of(o.publishers, topic, qos))
}

// CreateSubscription implements ros.Node.
func (o *overridden) CreateSubscription(topic, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	return o.Host.CreateSubscription(topic, typeName, o.of(o.subscriptions, topic, qos), callback)
}

// declare the parameters, so that they are told and dumped: they hold from the start and cannot be changed.
func (o *overridden) declare(s *param.Server) error {
	for _, all := range []map[string][]override{o.publishers, o.subscriptions} {
		for topic, list := range all {
			for _, x := range list {
				d := param.Descriptor{Name: x.name, Description: "Quality of service of " + topic + ".", ReadOnly: true}
				if _, err := s.Declare(d, x.value); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
