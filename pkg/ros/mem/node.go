package mem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// Options are a node's. The zero Options are a node in the root namespace with the
// embedded interface definitions and the system's clock.
type Options struct {
	Namespace string
	Args      *args.Args     // remaps and parameters; nil: none
	Types     ros.TypeSource // nil: the embedded definitions, one set for the whole bus
	Clock     ros.Clock      // the base clock, in use unless use_sim_time is true; nil: the system's
	Logger    *slog.Logger   // nil: slog.Default
	// Requests is how many requests each service serves at once; 0: 32.
	Requests int
}

const defaultRequests = 32

// Node is a node on a bus. It implements ros.Node and ros.SimTimeSetter.
type Node struct {
	bus      *Bus
	names    *args.Node
	types    ros.TypeSource
	clock    *ros.NodeClock
	logger   *slog.Logger
	requests int
	peer     string // what EndpointInfo.Peer says for its entities

	ctx    context.Context // ends when the node closes
	cancel context.CancelFunc
	work   sync.WaitGroup // deliveries and requests

	mu       sync.Mutex
	closed   bool
	entities map[io.Closer]struct{}
}

var (
	_ ros.Node          = (*Node)(nil)
	_ ros.SimTimeSetter = (*Node)(nil)
)

// NewNode makes a node on the bus. With use_sim_time true among its parameters its clock follows /clock.
func (b *Bus) NewNode(name string, o Options) (*Node, error) {
	names, err := o.Args.Node(name, o.Namespace)
	if err != nil {
		return nil, err
	}
	n := &Node{bus: b, names: names, types: o.Types, logger: o.Logger, requests: o.Requests, entities: make(map[io.Closer]struct{})}
	if n.types == nil {
		n.types = b.types
	}
	if n.logger == nil {
		n.logger = slog.Default()
	}
	n.logger = n.logger.With("node", names.FullName())
	if n.requests <= 0 {
		n.requests = defaultRequests
	}
	if o.Clock == nil {
		o.Clock = ros.SystemClock{}
	}
	n.clock = ros.NewNodeClock(o.Clock)
	n.ctx, n.cancel = context.WithCancel(context.Background())
	b.mu.Lock()
	b.lastID++
	n.peer = "mem:node:" + strconv.FormatUint(b.lastID, 16)
	b.nodes[n] = struct{}{}
	b.mu.Unlock()
	if on, _ := names.Params["use_sim_time"].(bool); on {
		if err := n.UseSimTime(true); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

// Name is the base name, after remapping.
func (n *Node) Name() string { return n.names.Name }

// Namespace begins with a slash.
func (n *Node) Namespace() string { return n.names.Namespace }

// ResolveName expands and remaps a topic's name.
func (n *Node) ResolveName(name string) (string, error) { return n.names.Topic(name) }

// Params are the node's initial parameters from its arguments, by name.
func (n *Node) Params() map[string]any { return n.names.Params }

// Types is the node's source of interface types.
func (n *Node) Types() ros.TypeSource { return n.types }

// Clock is the node's ROS time.
func (n *Node) Clock() ros.Clock { return n.clock }

// UseSimTime makes the clock follow /clock, or the base clock again.
func (n *Node) UseSimTime(on bool) error { return n.clock.UseSimTime(n, on) }

// Logger logs with the node's name.
func (n *Node) Logger() *slog.Logger { return n.logger }

// Graph is the bus as the node sees it: whole.
func (n *Node) Graph() ros.Graph { return graph{n.bus} }

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

func (n *Node) closedError() error {
	return fmt.Errorf("node %s: %w", n.names.FullName(), ros.ErrClosed)
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

// Close ends every entity and waits for the callbacks and handlers that still run,
// so it must not be called from one of them.
func (n *Node) Close() error {
	n.mu.Lock()
	already := n.closed
	n.closed = true
	entities := make([]io.Closer, 0, len(n.entities))
	for e := range n.entities {
		entities = append(entities, e)
	}
	n.mu.Unlock()
	n.cancel()
	for _, e := range entities {
		if err := e.Close(); err != nil {
			return err
		}
	}
	n.work.Wait()
	if !already {
		n.clock.Close()
		n.bus.mu.Lock()
		delete(n.bus.nodes, n)
		n.bus.mu.Unlock()
	}
	return nil
}

// guard runs a callback of the program; its panic is logged and goes no further.
func (n *Node) guard(what, name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			n.logger.Error("panic in "+what, "name", name, "panic", r, "stack", string(debug.Stack()))
		}
	}()
	f()
}
