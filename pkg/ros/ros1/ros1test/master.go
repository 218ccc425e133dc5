// Package ros1test has a master of ROS 1 for tests on machines that have none: who publishes, subscribes and serves
// what, and parameters. It is no master for robots.
package ros1test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/apimaster"
	"github.com/bluenviron/goroslib/v2/pkg/apislave"
	"github.com/bluenviron/goroslib/v2/pkg/xmlrpc"
)

// Master is a master in this process.
type Master struct {
	URI string

	server *xmlrpc.Server
	served sync.WaitGroup
	web    *http.Client

	mu          sync.Mutex
	publishers  map[string][]string // nodes, by topic
	subscribers map[string][]string
	services    map[string]service
	types       map[string]string // by topic
	nodes       map[string]string // API addresses, by node
	params      map[string]any
	tellers     map[string]chan update // one for each node, so that news reach it in their order
	closed      bool
}

type service struct{ node, uri string }

type update struct {
	topic string
	uris  []string
}

// NewMaster starts a master that ends with the test. port 0 is any.
func NewMaster(t testing.TB, port string) *Master {
	t.Helper()
	s, err := xmlrpc.NewServer("127.0.0.1:"+port, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(s.URL(nil, ""))
	if err != nil {
		t.Fatal(err)
	}
	m := &Master{
		URI: "http://127.0.0.1:" + own.Port(), server: s,
		web:        &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}},
		publishers: map[string][]string{}, subscribers: map[string][]string{}, services: map[string]service{},
		types: map[string]string{}, nodes: map[string]string{}, params: map[string]any{}, tellers: map[string]chan update{},
	}
	m.served.Go(func() { s.Serve(m.handle) })
	t.Cleanup(m.Close)
	return m
}

// Close ends the master.
func (m *Master) Close() {
	m.mu.Lock()
	closed := m.closed
	m.closed = true
	for _, c := range m.tellers {
		if !closed {
			close(c)
		}
	}
	m.mu.Unlock()
	m.server.Close()
	m.served.Wait()
}

// Port is the master's, for one that takes its place.
func (m *Master) Port() string {
	u, err := url.Parse(m.URI)
	if err != nil {
		return ""
	}
	return u.Port()
}

// SetParam sets a parameter: a bool, int, float64, string, or a slice of them.
func (m *Master) SetParam(name string, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.params[name] = value
}

// Services names the registered services.
func (m *Master) Services() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.services))
}

func (m *Master) handle(raw *xmlrpc.RequestRaw) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch raw.Method {
	case "registerPublisher", "registerSubscriber":
		var r apimaster.RequestRegister
		if raw.Decode(&r) != nil {
			return xmlrpc.ErrorRes{}
		}
		return m.register(raw.Method == "registerPublisher", r)
	case "unregisterPublisher", "unregisterSubscriber":
		var r apimaster.RequestUnregister
		if raw.Decode(&r) != nil {
			return xmlrpc.ErrorRes{}
		}
		return m.unregister(raw.Method == "unregisterPublisher", r)
	case "registerService":
		var r apimaster.RequestRegisterService
		if raw.Decode(&r) != nil {
			return xmlrpc.ErrorRes{}
		}
		m.nodes[r.CallerID] = r.CallerURL
		m.services[r.Service] = service{r.CallerID, r.ServiceURL}
		return apimaster.ResponseRegisterService{Code: 1}
	case "unregisterService":
		var r apimaster.RequestUnregisterService
		if raw.Decode(&r) != nil {
			return xmlrpc.ErrorRes{}
		}
		n := 0
		if m.services[r.Service].uri == r.ServiceURL {
			delete(m.services, r.Service)
			n = 1
		}
		return apimaster.ResponseServiceUnregister{Code: 1, NumUnregistered: n}
	case "lookupNode", "lookupService":
		var r apimaster.RequestLookup
		if raw.Decode(&r) != nil {
			return xmlrpc.ErrorRes{}
		}
		uri, what := m.services[r.Name].uri, "no provider"
		if raw.Method == "lookupNode" {
			uri, what = m.nodes[r.Name], "unknown node ["+r.Name+"]"
			if !m.registered(r.Name) {
				uri = ""
			}
		}
		if uri == "" {
			return apimaster.ResponseLookup{Code: -1, StatusMessage: what}
		}
		return apimaster.ResponseLookup{Code: 1, URL: uri}
	case "getSystemState":
		services := map[string][]string{}
		for name, s := range m.services {
			services[name] = []string{s.node}
		}
		return apimaster.ResponseGetSystemState{Code: 1, State: apimaster.SystemState{
			PublishedTopics: entries(m.publishers), SubscribedTopics: entries(m.subscribers), ProvidedServices: entries(services),
		}}
	case "getTopicTypes":
		list := []apimaster.TopicType{}
		for _, name := range slices.Sorted(maps.Keys(m.types)) {
			list = append(list, apimaster.TopicType{Name: name, Type: m.types[name]})
		}
		return apimaster.ResponseGetTopicTypes{Code: 1, Types: list}
	case "getUri":
		return apimaster.ResponseGetURI{Code: 1, MasterURI: m.URI}
	}
	return m.parameter(raw)
}

func entries(m map[string][]string) []apimaster.SystemStateEntry {
	list := []apimaster.SystemStateEntry{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, apimaster.SystemStateEntry{Name: name, Nodes: m[name]})
	}
	return list
}

func (m *Master) registered(node string) bool {
	for _, side := range []map[string][]string{m.publishers, m.subscribers} {
		for _, nodes := range side {
			if slices.Contains(nodes, node) {
				return true
			}
		}
	}
	for _, s := range m.services {
		if s.node == node {
			return true
		}
	}
	return false
}

func (m *Master) uris(topic string) []string {
	list := []string{}
	for _, node := range m.publishers[topic] {
		list = append(list, m.nodes[node])
	}
	return list
}

func (m *Master) register(publisher bool, r apimaster.RequestRegister) any {
	if old := m.nodes[r.CallerID]; old != "" && old != r.CallerURL && m.registered(r.CallerID) {
		go m.shutdown(old) // a newcomer of the same name
	}
	m.nodes[r.CallerID] = r.CallerURL
	side := m.subscribers
	if publisher {
		side = m.publishers
	}
	if !slices.Contains(side[r.Topic], r.CallerID) {
		side[r.Topic] = append(side[r.Topic], r.CallerID)
	}
	if publisher || m.types[r.Topic] == "" {
		m.types[r.Topic] = r.TopicType
	}
	uris := m.uris(r.Topic)
	if publisher {
		m.tell(r.Topic, uris)
		uris = []string{}
		for _, node := range m.subscribers[r.Topic] {
			uris = append(uris, m.nodes[node])
		}
	}
	return apimaster.ResponseRegister{Code: 1, URIs: uris}
}

func (m *Master) unregister(publisher bool, r apimaster.RequestUnregister) any {
	side := m.subscribers
	if publisher {
		side = m.publishers
	}
	left := slices.DeleteFunc(slices.Clone(side[r.Topic]), func(n string) bool { return n == r.CallerID })
	n := len(side[r.Topic]) - len(left)
	if side[r.Topic] = left; len(left) == 0 {
		delete(side, r.Topic)
	}
	if publisher && n > 0 {
		m.tell(r.Topic, m.uris(r.Topic))
	}
	return apimaster.ResponseUnregister{Code: 1, NumUnregistered: n}
}

// tell passes the publishers of a topic on to its subscribers.
func (m *Master) tell(topic string, uris []string) {
	for _, node := range m.subscribers[topic] {
		address := m.nodes[node]
		c := m.tellers[address]
		if c == nil {
			c = make(chan update, 1000)
			m.tellers[address] = c
			m.served.Go(func() { m.teller(address, c) })
		}
		if !m.closed {
			c <- update{topic, uris}
		}
	}
}

func (m *Master) teller(address string, news <-chan update) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	api := apislave.NewClient(u.Host, "/master", m.web)
	for n := range news {
		_ = api.PublisherUpdate(n.topic, n.uris) // the node may have gone
	}
}

func (m *Master) shutdown(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	_ = apislave.NewClient(u.Host, "/master", m.web).Shutdown("new node registered with same name")
}

type value[T any] struct {
	Code          int
	StatusMessage string
	Value         T
}

func (m *Master) parameter(raw *xmlrpc.RequestRaw) any {
	var r struct{ CallerID, Key string }
	if raw.Method == "getParamNames" {
		return value[[]string]{Code: 1, Value: slices.Sorted(maps.Keys(m.params))}
	}
	if raw.Decode(&r) != nil {
		return xmlrpc.ErrorRes{}
	}
	v, ok := m.params[r.Key]
	switch {
	case raw.Method == "hasParam":
		return struct {
			Code          int
			StatusMessage string
			Value         bool
		}{1, r.Key, ok}
	case raw.Method != "getParam":
		return xmlrpc.ErrorRes{}
	case !ok:
		return value[int]{Code: -1, StatusMessage: "Parameter [" + r.Key + "] is not set"}
	}
	switch x := v.(type) {
	case bool:
		return value[bool]{1, r.Key, x}
	case int:
		return value[int]{1, r.Key, x}
	case float64:
		return value[float64]{1, r.Key, x}
	case string:
		return value[string]{1, r.Key, x}
	case []string:
		return value[[]string]{1, r.Key, x}
	case []float64:
		return value[[]float64]{1, r.Key, x}
	case []int:
		return value[[]int]{1, r.Key, x}
	}
	return xmlrpc.ErrorRes{}
}
