package conformance

import (
	"slices"
	"testing"

	"agent_node/pkg/ros"
)

func graph(t *testing.T, a, b ros.Node) {
	topic, service := topicFor(t, "topic"), topicFor(t, "service")
	offered := ros.QoS{Depth: 3, Durability: ros.TransientLocal}
	requested := ros.QoS{Depth: 4, Reliability: ros.BestEffort}
	// One type for each node: Fast DDS refuses a second type of a topic within one participant.
	p, err := a.CreatePublisher(topic, stringType, offered)
	if err != nil {
		t.Fatal(err)
	}
	in := subscribe(t, b, topic, int64Type, requested)
	other := subscribe(t, b, topic, int64Type, requested)
	s := serveEcho(t, b, service)
	fullA, fullB := "/conformance/a/first", "/conformance/b/second"
	traits := ros.TraitsOf(a)
	types, requests := []string{int64Type, stringType}, 2
	if traits.ByNode {
		types, requests = []string{stringType}, 1
	}
	same := func(x, y ros.QoS) bool {
		return traits.NoQoS || x.Reliability == y.Reliability && x.Durability == y.Durability
	}

	for _, n := range []ros.Node{a, b} { // each sees the other
		g := n.Graph()
		eventually(t, "both nodes are in the graph of "+n.Name(), func() bool {
			nodes, err := g.Nodes()
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(nodes, fullA) && slices.Contains(nodes, fullB)
		})
		eventually(t, "the topic and its types are in the graph of "+n.Name(), func() bool {
			topics, err := g.Topics()
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Sorted(slices.Values(topics[topic]))
			return slices.Equal(got, types)
		})
		eventually(t, "the service is in the graph of "+n.Name(), func() bool {
			all, err := g.Services()
			if err != nil {
				t.Fatal(err)
			}
			return slices.Equal(all[service], []string{echoType})
		})
		var publishers, subscriptions []ros.EndpointInfo
		eventually(t, "the endpoints are in the graph of "+n.Name(), func() bool {
			var err error
			if publishers, err = g.Publishers(topic); err != nil {
				t.Fatal(err)
			}
			if subscriptions, err = g.Subscriptions(topic); err != nil {
				t.Fatal(err)
			}
			// Endpoints may be known before the names of their nodes.
			notOf := func(full string) func(ros.EndpointInfo) bool {
				return func(e ros.EndpointInfo) bool { return e.Node != full }
			}
			return len(publishers) == 1 && len(subscriptions) == requests &&
				!slices.ContainsFunc(publishers, notOf(fullA)) && !slices.ContainsFunc(subscriptions, notOf(fullB))
		})
		e := publishers[0]
		// History depth is not told by every middleware; reliability and durability are.
		if e.Node != fullA || e.TypeName != stringType || !same(e.QoS, offered) {
			t.Errorf("publisher in the graph of %s: %+v", n.Name(), e)
		}
		if e.Publisher != "" && p.ID() != "" && e.Publisher != p.ID() {
			t.Errorf("the graph calls the publisher %q, it calls itself %q", e.Publisher, p.ID())
		}
		for _, e := range subscriptions {
			if e.Node != fullB || !same(e.QoS, requested) {
				t.Errorf("subscription in the graph of %s: %+v", n.Name(), e)
			}
		}
	}

	for _, c := range []interface{ Close() error }{p, in.sub, other.sub, s} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []ros.Node{a, b} {
		eventually(t, "what is closed leaves the graph of "+n.Name(), func() bool {
			topics, err := n.Graph().Topics()
			if err != nil {
				t.Fatal(err)
			}
			all, err := n.Graph().Services()
			if err != nil {
				t.Fatal(err)
			}
			return len(topics[topic]) == 0 && len(all[service]) == 0
		})
	}
	if got, err := a.Graph().Publishers("/conformance/never"); err != nil || len(got) != 0 {
		t.Errorf("publishers of a topic that is not there: %v, %v", got, err)
	}
}
