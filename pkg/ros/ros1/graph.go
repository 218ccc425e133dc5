package ros1

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bluenviron/goroslib/v2/pkg/apimaster"

	"agent_node/pkg/ros"
)

// Graph is what the master knows. It also names nodes that died without a word.
func (n *Node) Graph() ros.Graph { return graph{n} }

type graph struct{ n *Node }

func (g graph) state() (*apimaster.SystemState, error) {
	if g.n.isClosed() {
		return nil, g.n.closedError()
	}
	s, err := g.n.masterFor(g.n.ctx).GetSystemState()
	if err != nil {
		return nil, fmt.Errorf("ros1: ask the master %s: %w", g.n.masterURI, err)
	}
	return s, nil
}

// types are the types of topics, by name, in this house's words.
func (g graph) types() (map[string]string, error) {
	list, err := g.n.masterFor(g.n.ctx).GetTopicTypes()
	if err != nil {
		return nil, fmt.Errorf("ros1: ask the master %s: %w", g.n.masterURI, err)
	}
	types := make(map[string]string, len(list))
	for _, t := range list {
		types[t.Name] = houseName("msg", t.Type)
	}
	return types, nil
}

// Topics names a topic's type as the master knows it: one, or none where nobody told. An action's topics are those of
// its ROS 2 form as well.
func (g graph) Topics() (map[string][]string, error) {
	s, err := g.state()
	if err != nil {
		return nil, err
	}
	types, err := g.types()
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string)
	for _, e := range slices.Concat(s.PublishedTopics, s.SubscribedTopics) {
		out[e.Name] = nil
		if t := types[e.Name]; t != "" {
			out[e.Name] = []string{t}
		}
	}
	for name, base := range actionsIn(s, types) {
		out[name+actionInfix+string(partStatus)] = []string{"action_msgs/msg/GoalStatusArray"}
		out[name+actionInfix+string(partFeedback)] = []string{base + "_FeedbackMessage"}
	}
	return out, nil
}

// actionsIn are the actions of actionlib's servers in sight, each with its type: who tells states and hears goals.
func actionsIn(s *apimaster.SystemState, types map[string]string) map[string]string {
	nodes := func(list []apimaster.SystemStateEntry, topic string) []string {
		i := slices.IndexFunc(list, func(e apimaster.SystemStateEntry) bool { return e.Name == topic })
		if i < 0 {
			return nil
		}
		return list[i].Nodes
	}
	found := make(map[string]string)
	for _, e := range s.SubscribedTopics {
		name, isGoal := strings.CutSuffix(e.Name, "/goal")
		base, isAction := strings.CutSuffix(types[e.Name], "ActionGoal")
		if isGoal && isAction && overlap(e.Nodes, nodes(s.PublishedTopics, name+"/status")) {
			found[name] = strings.Replace(base, "/msg/", "/action/", 1)
		}
	}
	return found
}

// atOnce bounds the services that are asked for their types side by side.
const atOnce = 8

// Services asks each server for its type, once. A dead one's has none. An action's services are those of its ROS 2 form.
func (g graph) Services() (map[string][]string, error) {
	s, err := g.state()
	if err != nil {
		return nil, err
	}
	types, err := g.types()
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string, len(s.ProvidedServices))
	var mu sync.Mutex
	var asking sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, e := range s.ProvidedServices {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			t := g.serviceType(e)
			mu.Lock()
			defer mu.Unlock()
			if out[e.Name] = nil; t != "" {
				out[e.Name] = []string{t}
			}
		})
	}
	asking.Wait()
	for name, base := range actionsIn(s, types) {
		out[name+actionInfix+string(partSendGoal)] = []string{base + "_SendGoal"}
		out[name+actionInfix+string(partCancel)] = []string{"action_msgs/srv/CancelGoal"}
		out[name+actionInfix+string(partGetResult)] = []string{base + "_GetResult"}
	}
	return out, nil
}

func (g graph) serviceType(e apimaster.SystemStateEntry) string {
	key := e.Name + " " + strings.Join(e.Nodes, " ")
	g.n.mu.Lock()
	known, ok := g.n.probes[key]
	own := g.n.services[e.Name]
	g.n.mu.Unlock()
	switch {
	case own != nil:
		return own.wire.typ.Name
	case ok:
		return known
	}
	ctx, cancel := context.WithTimeout(g.n.ctx, headerLimit)
	defer cancel()
	c, answer, err := g.n.dialService(ctx, e.Name, &probeHeader{Callerid: g.n.names.FullName(), Service: e.Name, Md5sum: "*", Probe: "1"})
	if err != nil {
		return ""
	}
	_ = c.Close()
	name := houseName("srv", answer["type"])
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	g.n.probes[key] = name
	return name
}

// Nodes are those that publish, subscribe or serve.
func (g graph) Nodes() ([]string, error) {
	s, err := g.state()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range slices.Concat(s.PublishedTopics, s.SubscribedTopics, s.ProvidedServices) {
		all = append(all, e.Nodes...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// Publishers are those that the master names, but for the ones that this node subscribes and cannot reach. Where it is
// connected to all, the master is not asked.
func (g graph) Publishers(topic string) ([]ros.EndpointInfo, error) {
	topic = g.n.actions.topic(topic)
	g.n.mu.Lock()
	in := g.n.ins[topic]
	g.n.mu.Unlock()
	var dead []string
	if in != nil {
		alive, unreachable, complete := in.sight()
		if complete {
			return alive, nil
		}
		dead = unreachable
	}
	all, err := g.endpoints(topic, func(s *apimaster.SystemState) []apimaster.SystemStateEntry { return s.PublishedTopics })
	return slices.DeleteFunc(all, func(e ros.EndpointInfo) bool {
		_, uri, _ := strings.Cut(e.Publisher, "@")
		return slices.Contains(dead, uri)
	}), err
}

// Subscriptions are one for each node.
func (g graph) Subscriptions(topic string) ([]ros.EndpointInfo, error) {
	return g.endpoints(g.n.actions.topic(topic), func(s *apimaster.SystemState) []apimaster.SystemStateEntry { return s.SubscribedTopics })
}

func (g graph) endpoints(topic string, side func(*apimaster.SystemState) []apimaster.SystemStateEntry) ([]ros.EndpointInfo, error) {
	s, err := g.state()
	if err != nil {
		return nil, err
	}
	list := side(s)
	i := slices.IndexFunc(list, func(e apimaster.SystemStateEntry) bool { return e.Name == topic })
	if i < 0 {
		return nil, nil
	}
	types, err := g.types()
	if err != nil {
		return nil, err
	}
	master := g.n.masterFor(g.n.ctx)
	var out []ros.EndpointInfo
	for _, node := range list[i].Nodes {
		e := ros.EndpointInfo{Node: node, TypeName: types[topic], QoS: ros.DefaultQoS()}
		if uri, err := master.LookupNode(node); err == nil {
			e.Publisher = publisherID(node, uri)
		}
		out = append(out, e)
	}
	return out, nil
}

// sight is what this node sees of a topic's publishers: those connected, the addresses of those that cannot be
// reached, and whether that is all.
func (in *topicIn) sight() (alive []ros.EndpointInfo, unreachable []string, complete bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	complete = true
	for _, uri := range slices.Sorted(maps.Keys(in.links)) {
		l := in.links[uri]
		switch node, dead := l.state(); {
		case node != "":
			qos := ros.DefaultQoS()
			if l.keeps > 0 { // latched: that much is told when connecting
				qos = ros.QoS{Depth: l.keeps, Durability: ros.TransientLocal}
			}
			alive = append(alive, ros.EndpointInfo{Node: node, TypeName: in.wire.typ.Name, QoS: qos, Publisher: publisherID(node, uri)})
		case dead:
			unreachable = append(unreachable, strings.TrimSuffix(uri, "/"))
		default:
			complete = false
		}
	}
	return alive, unreachable, complete
}
