package ros1

import (
	"context"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/apimaster"
	"github.com/bluenviron/goroslib/v2/pkg/apislave"
)

// bound makes the HTTP calls of one context.
type boundTransport struct {
	ctx  context.Context // goroslib's clients take an http.Client and no context
	base http.RoundTripper
}

func (t boundTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.base.RoundTrip(r.WithContext(t.ctx))
}

// webFor is a client whose calls end with ctx.
func (n *Node) webFor(ctx context.Context) *http.Client {
	return &http.Client{Timeout: callLimit, Transport: boundTransport{ctx, n.web.Transport}}
}

func (n *Node) masterFor(ctx context.Context) *apimaster.Client {
	return apimaster.NewClient(n.masterAddress, n.names.FullName(), n.webFor(ctx))
}

// serveAPI answers the calls that the master and other nodes make.
func (n *Node) serveAPI(request apislave.Request) apislave.Response {
	switch r := request.(type) {
	case *apislave.RequestPublisherUpdate:
		n.mu.Lock()
		in := n.ins[r.Topic]
		n.mu.Unlock()
		if in != nil {
			in.update(r.PublisherURLs)
		}
		return apislave.ResponsePublisherUpdate{Code: 1}
	case *apislave.RequestRequestTopic:
		return n.offer(r)
	case *apislave.RequestGetPid:
		return apislave.ResponseGetPid{Code: 1, Pid: os.Getpid()}
	case *apislave.RequestGetPublications:
		n.mu.Lock()
		defer n.mu.Unlock()
		list := [][]string{}
		for name, out := range n.outs {
			list = append(list, []string{name, out.wire.name})
		}
		return apislave.ResponseGetPublications{Code: 1, TopicList: list}
	case *apislave.RequestGetBusInfo:
		return apislave.ResponseGetBusInfo{Code: 1, BusInfo: n.busInfo()}
	case *apislave.RequestShutdown:
		n.logger.Warn("asked to shut down", "by", r.CallerID, "reason", r.Reason)
		n.endMe.Do(func() { close(n.ended) })
		return apislave.ResponseShutdown{Code: 1}
	}
	return apislave.ErrorRes{}
}

// offer answers who wants to connect to a topic of this node: by TCP, where the node listens.
func (n *Node) offer(r *apislave.RequestRequestTopic) apislave.ResponseRequestTopic {
	n.mu.Lock()
	out := n.outs[r.Topic]
	n.mu.Unlock()
	if out == nil {
		return apislave.ResponseRequestTopic{Code: 0, StatusMessage: "not a publisher of " + r.Topic, Protocol: []any{}}
	}
	for _, p := range r.Protocols {
		if len(p) > 0 && p[0] == "TCPROS" {
			return apislave.ResponseRequestTopic{Code: 1, StatusMessage: "ready", Protocol: []any{"TCPROS", n.host, n.port}}
		}
	}
	return apislave.ResponseRequestTopic{Code: 0, StatusMessage: "only TCPROS is spoken here", Protocol: []any{}}
}

// busInfo are the connections of the node, as rosnode info shows them.
func (n *Node) busInfo() [][]any {
	n.mu.Lock()
	outs, ins := maps.Clone(n.outs), maps.Clone(n.ins)
	n.mu.Unlock()
	info := [][]any{}
	for name, out := range outs {
		for _, to := range out.subscribers() {
			info = append(info, []any{len(info), to, "o", "TCPROS", name, true})
		}
	}
	for name, in := range ins {
		for uri, connected := range in.publishers() {
			info = append(info, []any{len(info), uri, "i", "TCPROS", name, connected})
		}
	}
	return info
}

// Registration with the master. A master that was restarted has forgotten everybody: the node looks, and tells it again.
const lookAtMaster = 2 * time.Second

func (n *Node) keepRegistered() {
	tick := time.NewTicker(lookAtMaster)
	defer tick.Stop()
	lost := false
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-n.ended: // another node of this name has taken its place
			return
		case <-tick.C:
		}
		if n.idle() {
			continue // the master knows only nodes that publish, subscribe or serve
		}
		uri, err := n.masterFor(n.ctx).LookupNode(n.names.FullName())
		switch {
		case n.ctx.Err() != nil:
			return
		case err == nil && strings.TrimSuffix(uri, "/") == strings.TrimSuffix(n.uri, "/"):
			lost = false
		case err != nil && !strings.Contains(err.Error(), "unknown node"):
			if !lost {
				n.logger.Error("the master does not answer", "master", n.masterURI, "error", err)
			}
			lost = true
		case err != nil:
			n.logger.Warn("the master has forgotten this node: registering again", "master", n.masterURI)
			n.registerAll()
		}
	}
}

func (n *Node) idle() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.outs)+len(n.ins)+len(n.services) == 0
}

func (n *Node) registerAll() {
	n.registering.Lock()
	defer n.registering.Unlock()
	n.mu.Lock()
	var tell []func() error
	for _, out := range n.outs {
		tell = append(tell, out.register)
	}
	for _, in := range n.ins {
		tell = append(tell, in.register)
	}
	for _, s := range n.services {
		tell = append(tell, s.register)
	}
	n.mu.Unlock()
	for _, f := range tell {
		if err := f(); err != nil {
			n.logger.Error("register with the master", "error", err)
			return
		}
	}
}
