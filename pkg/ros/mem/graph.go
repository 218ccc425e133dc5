package mem

import (
	"slices"

	"agent_node/pkg/ros"
)

type graph struct{ bus *Bus }

func (g graph) Topics() (map[string][]string, error) {
	g.bus.mu.RLock()
	defer g.bus.mu.RUnlock()
	out := make(map[string][]string, len(g.bus.topics))
	for name, t := range g.bus.topics {
		types := make(map[string]struct{})
		for _, p := range t.publishers {
			types[p.typ.Name] = struct{}{}
		}
		for _, s := range t.subscriptions {
			types[s.typ.Name] = struct{}{}
		}
		out[name] = sortedKeys(types)
	}
	return out, nil
}

func (g graph) Services() (map[string][]string, error) {
	g.bus.mu.RLock()
	defer g.bus.mu.RUnlock()
	out := make(map[string][]string, len(g.bus.services))
	for name, servers := range g.bus.services {
		types := make(map[string]struct{})
		for _, s := range servers {
			types[s.typ.Name] = struct{}{}
		}
		out[name] = sortedKeys(types)
	}
	return out, nil
}

func (g graph) Nodes() ([]string, error) {
	g.bus.mu.RLock()
	defer g.bus.mu.RUnlock()
	out := make([]string, 0, len(g.bus.nodes))
	for n := range g.bus.nodes {
		out = append(out, n.names.FullName())
	}
	slices.Sort(out)
	return out, nil
}

func (g graph) Publishers(topicName string) ([]ros.EndpointInfo, error) {
	g.bus.mu.RLock()
	defer g.bus.mu.RUnlock()
	var out []ros.EndpointInfo
	if t := g.bus.topics[topicName]; t != nil {
		for _, p := range t.publishers {
			out = append(out, ros.EndpointInfo{Node: p.node.names.FullName(), TypeName: p.typ.Name, QoS: p.qos, Publisher: p.id, Peer: p.node.peer})
		}
	}
	return out, nil
}

func (g graph) Subscriptions(topicName string) ([]ros.EndpointInfo, error) {
	g.bus.mu.RLock()
	defer g.bus.mu.RUnlock()
	var out []ros.EndpointInfo
	if t := g.bus.topics[topicName]; t != nil {
		for _, s := range t.subscriptions {
			out = append(out, ros.EndpointInfo{Node: s.node.names.FullName(), TypeName: s.typ.Name, QoS: s.qos, Peer: s.node.peer})
		}
	}
	return out, nil
}
