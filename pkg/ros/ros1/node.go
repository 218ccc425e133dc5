package ros1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/apimaster"
	"github.com/bluenviron/goroslib/v2/pkg/apiparam"
	"github.com/bluenviron/goroslib/v2/pkg/apislave"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// Time limits of a node, on the machine's clock.
const (
	callLimit   = 10 * time.Second // a call of the master or of another node's API
	headerLimit = 10 * time.Second // the exchange of connection headers
	flushLimit  = time.Second      // what is still to be sent when a publisher closes
)

// Node is a node of a ROS 1 graph. It implements ros.Node and ros.SimTimeSetter.
type Node struct {
	names    *args.Node
	types    *Types
	clock    *ros.NodeClock
	logger   *slog.Logger
	requests int

	masterURI, masterAddress string
	uri                      string // of the node's own API, which identifies this run of it
	host                     string
	slave                    *apislave.Server
	listener                 net.Listener
	port                     int          // of the listener
	rosrpc                   string       // by which services are called
	web                      *http.Client // for the master
	master                   *apimaster.Client
	values                   *apiparam.Client

	ctx    context.Context // ends when the node closes
	cancel context.CancelFunc
	work   sync.WaitGroup // callbacks, handlers and connections
	ended  chan struct{}  // closed when somebody asked the node to shut down
	endMe  sync.Once

	registering sync.Mutex // one change of what the master knows at a time

	mu       sync.Mutex
	closed   bool
	entities map[io.Closer]struct{}
	outs     map[string]*topicOut
	ins      map[string]*topicIn
	services map[string]*service
	conns    map[net.Conn]struct{} // whose header is being read, or that serve a service
	probes   map[string]string     // types of services, by name and address
	actions  actions
}

var (
	_ ros.Node          = (*Node)(nil)
	_ ros.SimTimeSetter = (*Node)(nil)
)

// NewNode makes a node and looks for the master, which must be there. With the parameter /use_sim_time true, or the
// argument use_sim_time, its clock follows /clock.
func NewNode(name string, o Options) (*Node, error) {
	names, err := o.Args.Node(name, namespaceFromEnvironment(&o))
	if err != nil {
		return nil, err
	}
	n := &Node{
		names: names, types: o.Types, logger: o.Logger, requests: o.Requests, ended: make(chan struct{}),
		entities: make(map[io.Closer]struct{}), outs: make(map[string]*topicOut), ins: make(map[string]*topicIn),
		services: make(map[string]*service), conns: make(map[net.Conn]struct{}), probes: make(map[string]string),
	}
	n.actions.node = n
	if n.types == nil {
		n.types = TypesFromEnvironment()
	}
	if n.logger == nil {
		n.logger = slog.Default()
	}
	n.logger = n.logger.With("node", names.FullName())
	if n.requests <= 0 {
		n.requests = defaultRequests
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.clock = ros.NewNodeClock(ros.SystemClock{})
	if err := n.open(&o); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Node) open(o *Options) (err error) {
	if n.masterURI, n.masterAddress, err = o.masterAddress(); err != nil {
		return err
	}
	if n.host, err = o.host(n.masterAddress); err != nil {
		return err
	}
	n.web = &http.Client{Timeout: callLimit, Transport: &http.Transport{DisableKeepAlives: true}}
	n.master = apimaster.NewClient(n.masterAddress, n.names.FullName(), n.web)
	n.values = apiparam.NewClient(n.masterAddress, n.names.FullName(), n.web)
	if _, err := n.master.GetURI(); err != nil {
		return fmt.Errorf("ros1: no master at %s (ROS_MASTER_URI): is roscore running? %w", n.masterURI, err)
	}
	if n.listener, err = new(net.ListenConfig).Listen(n.ctx, "tcp", bind(n.host)); err != nil {
		return fmt.Errorf("ros1: listen for connections: %w", err)
	}
	address, ok := n.listener.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("ros1: listening on %v, not TCP", n.listener.Addr())
	}
	n.port = address.Port
	n.rosrpc = "rosrpc://" + net.JoinHostPort(n.host, strconv.Itoa(n.port))
	if n.slave, err = apislave.NewServer(bind(n.host), net.IPv4(127, 0, 0, 1), "", callLimit); err != nil {
		return fmt.Errorf("ros1: listen for the node's API: %w", err)
	}
	own, err := url.Parse(n.slave.URL())
	if err != nil {
		return fmt.Errorf("ros1: the node's own address: %w", err)
	}
	n.uri = "http://" + net.JoinHostPort(n.host, own.Port()) + "/"
	n.work.Go(func() { n.slave.Serve(n.serveAPI) })
	n.work.Go(n.accept)
	n.work.Go(n.keepRegistered)
	if err := n.readParameters(); err != nil {
		return err
	}
	if on, _ := n.names.Params["use_sim_time"].(bool); on {
		return n.UseSimTime(true)
	}
	return nil
}

// Name is the base name, after remapping.
func (n *Node) Name() string { return n.names.Name }

// Namespace begins with a slash.
func (n *Node) Namespace() string { return n.names.Namespace }

// ResolveName expands and remaps a topic's name.
func (n *Node) ResolveName(name string) (string, error) { return n.names.Topic(name) }

// Params are the node's initial parameters by name: those of the parameter server below the node's own name, and over
// them those of its arguments. A name's slashes are dots here.
func (n *Node) Params() map[string]any { return n.names.Params }

// Types is the node's source of interface types.
func (n *Node) Types() ros.TypeSource { return n.types }

// Clock is the node's ROS time.
func (n *Node) Clock() ros.Clock { return n.clock }

// UseSimTime makes the clock follow /clock, or the system again.
func (n *Node) UseSimTime(on bool) error { return n.clock.UseSimTime(n, on) }

// Logger logs with the node's name.
func (n *Node) Logger() *slog.Logger { return n.logger }

// Traits say what ROS 1 does unlike ROS 2.
func (n *Node) Traits() ros.Traits {
	return ros.Traits{NoQoS: true, ByNode: true, ServiceFailures: true}
}

// Ended is closed when somebody asked this node to shut down: rosnode kill, or another node of the same name.
func (n *Node) Ended() <-chan struct{} { return n.ended }

// id is what tells this run of the node from every other.
func (n *Node) id() string { return publisherID(n.names.FullName(), n.uri) }

func publisherID(node, uri string) string { return node + "@" + strings.TrimSuffix(uri, "/") }

func (n *Node) closedError() error {
	return fmt.Errorf("node %s: %w", n.names.FullName(), ros.ErrClosed)
}

// add registers an entity to be closed with the node.
func (n *Node) add(e io.Closer) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return n.closedError()
	}
	n.entities[e] = struct{}{}
	return nil
}

func (n *Node) remove(e io.Closer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.entities, e)
}

func (n *Node) isClosed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// spawn runs f in a goroutine that Close waits for; false once the node is closed.
func (n *Node) spawn(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.work.Go(f)
	return true
}

// track has a connection closed with the node; false, and closed, once the node is.
func (n *Node) track(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		_ = c.Close()
		return false
	}
	n.conns[c] = struct{}{}
	return true
}

func (n *Node) untrack(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

// Close ends every entity, tells the master, and waits for the callbacks and handlers that still run, so
// it must not be called from one of them. What was published before is sent, for a second at most.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	entities := make([]io.Closer, 0, len(n.entities))
	for e := range n.entities {
		entities = append(entities, e)
	}
	n.mu.Unlock()
	n.cancel()
	n.clock.Close()
	var closing sync.WaitGroup
	errs := make(chan error, len(entities))
	for _, e := range entities { // side by side: each may have something left to send
		closing.Go(func() { errs <- e.Close() })
	}
	closing.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	n.takeDown()
	n.work.Wait()
	return errors.Join(all...)
}

// takeDown ends the servers and the connections.
func (n *Node) takeDown() {
	if n.listener != nil {
		_ = n.listener.Close()
	}
	n.mu.Lock()
	for c := range n.conns {
		_ = c.Close()
	}
	n.mu.Unlock()
	if n.slave != nil {
		n.slave.Close()
	}
	if n.web != nil {
		n.web.CloseIdleConnections()
	}
}

// guard runs a callback of the program; its panic is logged and ends that call only.
func (n *Node) guard(what, name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			n.logger.Error("panic in "+what, "name", name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	f()
}
