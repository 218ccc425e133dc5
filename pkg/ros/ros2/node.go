//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
)

// Node is a ROS 2 node with an rcl context of its own. It implements [ros.Node] and [ros.SimTimeSetter].
type Node struct {
	names  *args.Node
	logger *slog.Logger
	types  *Types
	clock  *ros.NodeClock

	context *rclgo.Context
	node    *rclgo.Node
	handle  *C.rcl_node_t
	events  *dispatcher

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	mu       sync.Mutex
	entities []entity // in the order they were made
	closing  bool
	closed   chan struct{}
	result   error

	patience  atomic.Int64   // left for acknowledgments of publishers that close, ns
	callbacks sync.WaitGroup // goroutines that run callbacks and handlers
}

// making is held while entities and nodes are made and ended, in the whole process. rcl does not promise that
// these may overlap in one node; and between the participants of one process Fast DDS 2.14 discovers on the
// thread that makes a writer, and then calls the listener of a reader that another thread is just deleting
// (EDP::pairing_writer_proxy_with_any_local_reader against DataReaderImpl::stop).
var making sync.Mutex

var (
	_ ros.Node          = (*Node)(nil)
	_ ros.SimTimeSetter = (*Node)(nil)
)

// entity is what the node ends before itself.
type entity interface{ Close() error }

// NewNode makes a node of the given base name, unless the arguments give it another.
func NewNode(name string, o Options) (*Node, error) {
	if o.Domain > maxDomain {
		return nil, fmt.Errorf("ros2: domain %d, want at most %d", o.Domain, maxDomain)
	}
	names, err := o.Args.Node(name, o.Namespace)
	if err != nil {
		return nil, fmt.Errorf("ros2: %w", err)
	}
	n := &Node{names: names, types: o.Types, closed: make(chan struct{})}
	if n.types == nil {
		n.types = NewTypes()
	}
	n.logger = o.Logger
	if n.logger == nil {
		n.logger = slog.Default()
	}
	n.logger = n.logger.With("node", names.FullName())
	n.patience.Store(int64(patience))
	if err := n.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("ros2: node %s: %w", names.FullName(), err), n.release())
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.clock = ros.NewNodeClock(ros.SystemClock{})
	if on, _ := names.Params["use_sim_time"].(bool); on || o.UseSimTime {
		if err := n.UseSimTime(true); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

// open makes what the node stands on.
func (n *Node) open(o Options) error {
	making.Lock()
	defer making.Unlock()
	err := onThread(func() error {
		// Names, remaps and parameters are this house's own affair: rcl is told about logging only, which is
		// to leave no files, no /rosout and no chatter.
		args, _, err := rclgo.ParseArgs([]string{
			"--ros-args", "--disable-rosout-logs", "--disable-external-lib-logs", "--log-level", "warn",
		})
		if err != nil {
			return err
		}
		options := rclgo.NewDefaultContextOptions()
		options.DomainID = o.domain()
		if n.context, err = rclgo.NewContextWithOpts(args, options); err != nil {
			return err
		}
		n.node, err = n.context.NewNode(n.names.Name, n.names.Namespace)
		return err
	})
	if err != nil {
		return err
	}
	if n.handle, err = nodeHandle(n.node); err != nil {
		return err
	}
	n.events, err = newDispatcher()
	return err
}

// release takes down what open made.
func (n *Node) release() error {
	making.Lock()
	defer making.Unlock()
	var errs []error
	if n.events != nil {
		errs = append(errs, n.events.close())
	}
	errs = append(errs, onThread(func() error {
		var errs []error
		if n.node != nil {
			errs = append(errs, n.node.Close())
		}
		if n.context != nil {
			errs = append(errs, n.context.Close())
		}
		return errors.Join(errs...)
	}))
	return errors.Join(errs...)
}

// Name is the node's base name.
func (n *Node) Name() string { return n.names.Name }

// Namespace is the node's namespace, "/" at the root.
func (n *Node) Namespace() string { return n.names.Namespace }

// ResolveName expands a name and applies the remaps for topics; services are remapped by
// their own rules, too, when they are created.
func (n *Node) ResolveName(name string) (string, error) { return n.names.Topic(name) }

// Params are the node's initial parameters from its arguments, by name.
func (n *Node) Params() map[string]any { return n.names.Params }

// Types finds the interface types that are installed.
func (n *Node) Types() ros.TypeSource { return n.types }

// Clock is the system's time, or that of /clock with use_sim_time.
func (n *Node) Clock() ros.Clock { return n.clock }

// UseSimTime makes the clock follow /clock, or the system again.
func (n *Node) UseSimTime(on bool) error { return n.clock.UseSimTime(n, on) }

// Logger logs under the node's name.
func (n *Node) Logger() *slog.Logger { return n.logger }

// Close ends every entity of the node, the youngest first, waits for their callbacks and handlers, and
// then ends the node and its context. A callback that calls it waits for itself.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		<-n.closed
		return n.result
	}
	n.closing = true
	n.mu.Unlock()

	n.cancel()
	n.clock.Close()
	// An entity that was being made when closing began is listed by now, or was refused.
	making.Lock()
	n.mu.Lock()
	entities := slices.Clone(n.entities)
	n.mu.Unlock()
	making.Unlock()
	var errs []error
	for _, e := range slices.Backward(entities) {
		errs = append(errs, e.Close())
	}
	n.callbacks.Wait()
	errs = append(errs, n.release())
	n.result = errors.Join(errs...)
	close(n.closed)
	return n.result
}

// add runs f, which makes an entity, unless the node is closed.
func (n *Node) add(what, name string, f func() (entity, error)) error {
	making.Lock()
	defer making.Unlock()
	n.mu.Lock()
	closing := n.closing
	n.mu.Unlock()
	if closing {
		return fmt.Errorf("create %s %s: node %s: %w", what, name, n.names.FullName(), ros.ErrClosed)
	}
	e, err := f()
	if err != nil {
		return fmt.Errorf("create %s %s: %w", what, name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entities = append(n.entities, e)
	return nil
}

// end runs f, which ends the C side of an entity, and forgets the entity.
func (n *Node) end(e entity, f func() error) error {
	making.Lock()
	defer making.Unlock()
	n.mu.Lock()
	n.entities = slices.DeleteFunc(n.entities, func(other entity) bool { return other == e })
	n.mu.Unlock()
	return f()
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
