package mem

import (
	"context"
	"fmt"
	"sync"

	"agent_node/pkg/ros"
)

type client struct {
	node    *Node
	name    string
	typ     *ros.ServiceType
	closing sync.Once
	done    chan struct{}
}

// CreateClient makes a client of a service, which need not be there.
func (n *Node) CreateClient(serviceName, typeName string) (ros.Client, error) {
	name, err := n.names.Service(serviceName)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Service(typeName)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", name, err)
	}
	c := &client{node: n, name: name, typ: typ, done: make(chan struct{})}
	return c, n.add(c)
}

func (c *client) Service() string        { return c.name }
func (c *client) Type() *ros.ServiceType { return c.typ }

// server is the first server of the client's type, and a channel that closes when servers come or go.
func (c *client) server() (*service, <-chan struct{}) {
	b := c.node.bus
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, s := range b.services[c.name] {
		if s.typ.Name == c.typ.Name {
			return s, b.changed
		}
	}
	return nil, b.changed
}

func (c *client) Ready() bool {
	s, _ := c.server()
	return s != nil && !c.isClosed()
}

func (c *client) isClosed() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *client) WaitReady(ctx context.Context) error {
	for {
		s, changed := c.server()
		if s != nil && !c.isClosed() {
			return nil
		}
		select {
		case <-changed:
		case <-c.done:
			return fmt.Errorf("wait for service %s: %w", c.name, ros.ErrClosed)
		case <-ctx.Done():
			return fmt.Errorf("wait for service %s: %w: %w", c.name, ros.ErrNotReady, ctx.Err())
		}
	}
}

func (c *client) Call(ctx context.Context, m *ros.Message) (*ros.Message, error) {
	copied, err := own(c.typ.Request, m)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.name, err)
	}
	if c.isClosed() {
		return nil, fmt.Errorf("call %s: %w", c.name, ros.ErrClosed)
	}
	r := request{message: copied, client: c, reply: make(chan *ros.Message, 1)}
	if s, _ := c.server(); s == nil || !s.accept(r) {
		return nil, fmt.Errorf("call %s: %w", c.name, ros.ErrNotReady)
	}
	select {
	case response := <-r.reply:
		response, err := own(c.typ.Response, response)
		if err != nil {
			return nil, fmt.Errorf("call %s: %w", c.name, err)
		}
		return response, nil
	case <-c.done:
		return nil, fmt.Errorf("call %s: %w", c.name, ros.ErrClosed)
	case <-ctx.Done():
		return nil, fmt.Errorf("call %s: %w", c.name, ctx.Err())
	}
}

func (c *client) Close() error {
	c.closing.Do(func() {
		close(c.done)
		c.node.remove(c)
	})
	return nil
}
