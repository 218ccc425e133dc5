//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"encoding/hex"
	"fmt"
	"path"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
)

type graph struct{ node *Node }

// Graph answers from what the middleware has discovered so far.
func (n *Node) Graph() ros.Graph { return graph{n} }

// ask runs a query unless the node is closed; the node does not end meanwhile.
func (g graph) ask(what string, f func() error) error {
	making.Lock()
	defer making.Unlock()
	g.node.mu.Lock()
	closing := g.node.closing
	g.node.mu.Unlock()
	if closing {
		return fmt.Errorf("list %s: node %s: %w", what, g.node.names.FullName(), ros.ErrClosed)
	}
	if err := onThread(f); err != nil {
		return fmt.Errorf("list %s: %w", what, err)
	}
	return nil
}

func (g graph) Topics() (topics map[string][]string, err error) {
	err = g.ask("topics", func() (err error) {
		topics, err = g.node.node.GetTopicNamesAndTypes(true)
		return err
	})
	return topics, err
}

func (g graph) Services() (map[string][]string, error) {
	services := map[string][]string{}
	err := g.ask("services", func() error {
		var found C.rcl_names_and_types_t
		if err := check("rcl_get_service_names_and_types", C.an_service_names(g.node.handle, &found)); err != nil {
			return err
		}
		defer C.an_names_fini(&found)
		types := unsafe.Slice(found.types, int(found.names.size))
		for i, name := range unsafe.Slice(found.names.data, int(found.names.size)) {
			var names []string
			for _, t := range unsafe.Slice(types[i].data, int(types[i].size)) {
				names = append(names, C.GoString(t))
			}
			services[C.GoString(name)] = names
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return services, nil
}

func (g graph) Nodes() (nodes []string, err error) {
	err = g.ask("nodes", func() error {
		names, namespaces, err := g.node.node.GetNodeNames()
		for i := range names {
			nodes = append(nodes, path.Join("/", namespaces[i], names[i]))
		}
		return err
	})
	return nodes, err
}

func (g graph) Publishers(topic string) ([]ros.EndpointInfo, error) {
	return g.endpoints("publishers", topic, g.node.node.GetPublishersInfoByTopic)
}

func (g graph) Subscriptions(topic string) ([]ros.EndpointInfo, error) {
	return g.endpoints("subscriptions", topic, g.node.node.GetSubscriptionsInfoByTopic)
}

func (g graph) endpoints(what, topic string, get func(string, bool) ([]rclgo.TopicEndpointInfo, error)) ([]ros.EndpointInfo, error) {
	name, err := g.node.ResolveName(topic)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	var found []rclgo.TopicEndpointInfo
	err = g.ask(what+" of "+name, func() (err error) {
		found, err = get(name, true)
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := make([]ros.EndpointInfo, len(found))
	for i := range found {
		e := &found[i]
		infos[i] = ros.EndpointInfo{
			Node:     path.Join("/", e.NodeNamespace, e.NodeName),
			TypeName: e.TopicType,
			QoS:      qosFromRcl(&e.QosProfile),
			Peer:     peerOf(unsafe.Pointer(&e.EndpointGID)),
		}
		if e.EndpointType == rclgo.EndpointPublisher {
			infos[i].Publisher = hex.EncodeToString(e.EndpointGID[:C.RMW_GID_STORAGE_SIZE])
		}
	}
	return infos, nil
}

// prefixSize is how much of a middleware's id is common to all that one participant has: the prefix of a DDS GUID.
const prefixSize = 12

// peerOf is the participant that an endpoint's or a request's id belongs to.
func peerOf(id unsafe.Pointer) string {
	prefix := unsafe.Slice((*byte)(id), prefixSize)
	for _, b := range prefix {
		if b != 0 {
			return hex.EncodeToString(prefix)
		}
	}
	return ""
}
