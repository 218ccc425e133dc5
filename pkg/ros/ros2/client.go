//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
)

type client struct {
	node    *Node
	service string
	support *serviceSupport
	reader  *reader
	gone    chan struct{} // closed by Close

	mu      sync.Mutex // held while the C handle or the request buffer is used outside of the reader
	rcl     *rclgo.Client
	handle  *C.rcl_client_t
	request *cmessage
	pending map[int64]chan<- *ros.Message // by sequence number
	closed  bool
}

// CreateClient makes a client.
func (n *Node) CreateClient(service, typeName string) (ros.Client, error) {
	name, err := n.names.Service(service)
	if err != nil {
		return nil, fmt.Errorf("create client: %w", err)
	}
	s, err := n.types.serviceSupport(typeName)
	if err != nil {
		return nil, fmt.Errorf("create client %s: %w", name, err)
	}
	c := &client{
		node: n, service: name, support: s,
		gone: make(chan struct{}), pending: map[int64]chan<- *ros.Message{},
	}
	err = n.add("client", name, func() (entity, error) {
		err := onThread(func() (err error) {
			c.rcl, err = n.node.NewClient(name, s, &rclgo.ClientOptions{Qos: serviceQoS()})
			return err
		})
		if err != nil {
			return nil, err
		}
		if c.handle, err = clientHandle(c.rcl); err != nil {
			return nil, err
		}
		c.reader, err = n.read("client "+name, s.response, c.take, func(source *C.an_source_t) error {
			return check("rcl_client_set_on_new_response_callback", C.an_watch_client(c.handle, source))
		})
		if err != nil {
			return nil, errors.Join(err, onThread(c.rcl.Close))
		}
		c.request = newCMessage(s.request)
		return c, nil
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// take takes one response, on the reader's goroutine.
func (c *client) take(m *cmessage) (bool, error) {
	taken := C.an_take_response(c.handle, m.p)
	if err := check("rcl_take_response", taken.result); err != nil {
		return false, err
	}
	if !bool(taken.taken) {
		return false, nil
	}
	c.mu.Lock()
	waiting, ok := c.pending[int64(taken.number)]
	delete(c.pending, int64(taken.number))
	c.mu.Unlock()
	if ok {
		waiting <- m.get() // has room for its one response
	}
	return true, nil
}

func (c *client) Service() string { return c.service }

func (c *client) Type() *ros.ServiceType { return c.support.typ }

func (c *client) Ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ready()
}

// ready is Ready under the lock.
func (c *client) ready() bool {
	if c.closed {
		return false
	}
	flag := C.an_server_is_available(c.node.handle, c.handle)
	if err := check("rcl_service_server_is_available", flag.result); err != nil {
		c.node.logger.Error("cannot look for a server", "service", c.service, "err", err)
		return false
	}
	return bool(flag.value)
}

// How often WaitReady looks. The middleware tells of changes in the graph only through wait sets.
const (
	firstLook = 2 * time.Millisecond
	lastLook  = 50 * time.Millisecond
)

func (c *client) WaitReady(ctx context.Context) error {
	pause := firstLook
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if c.Ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for service %s: %w: %w", c.service, ros.ErrNotReady, ctx.Err())
		case <-c.gone:
			return fmt.Errorf("wait for service %s: %w", c.service, ros.ErrClosed)
		case <-timer.C:
		}
		pause = min(2*pause, lastLook)
		timer.Reset(pause)
	}
}

func (c *client) Call(ctx context.Context, request *ros.Message) (*ros.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("call %s: %w", c.service, err)
	}
	number, response, err := c.send(request)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.service, err)
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, number)
	}()
	select {
	case r := <-response:
		return r, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("call %s: %w", c.service, ctx.Err())
	case <-c.gone:
		return nil, fmt.Errorf("call %s: %w", c.service, ros.ErrClosed)
	}
}

// send sends the request and lists it before its response can be looked up.
func (c *client) send(request *ros.Message) (int64, <-chan *ros.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, ros.ErrClosed
	}
	if !c.ready() { // the request would be lost without a word
		return 0, nil, ros.ErrNotReady
	}
	if err := c.request.set(request); err != nil {
		return 0, nil, err
	}
	sent := C.an_send_request(c.handle, c.request.p)
	if err := check("rcl_send_request", sent.result); err != nil {
		return 0, nil, err
	}
	response := make(chan *ros.Message, 1)
	c.pending[int64(sent.number)] = response
	return int64(sent.number), response, nil
}

func (c *client) Close() error {
	c.mu.Lock()
	already := c.closed
	c.closed = true
	c.mu.Unlock()
	if already {
		return nil
	}
	close(c.gone)
	return c.node.end(c, func() error {
		err := errors.Join(c.reader.stop(), onThread(c.rcl.Close))
		c.request.free()
		if err != nil {
			return fmt.Errorf("close client %s: %w", c.service, err)
		}
		return nil
	})
}
