package ros1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/protocommon"
	"github.com/bluenviron/goroslib/v2/pkg/prototcp"

	"agent_node/pkg/ros"
)

// client calls one service, each call over a connection of its own: a slow answer keeps no other call waiting, and
// no request is ever sent twice.
type client struct {
	node   *Node
	name   string
	wire   *serviceWire
	ctx    context.Context // ends when the client closes
	cancel context.CancelFunc

	mu     sync.Mutex
	looked time.Time // when it was last looked whether a server is there
	there  bool
}

// lookEvery is how long an answer to "is a server there?" is good.
const lookEvery = 50 * time.Millisecond

// CreateClient makes a client of a service, which need not be there. A client of <node>/get_parameters reads the
// parameter server where that node serves nothing of this name, as no node of ROS 1 does by itself.
func (n *Node) CreateClient(name, typeName string) (ros.Client, error) {
	full, err := n.names.Service(name)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Service(typeName)
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", full, err)
	}
	if part := n.actions.part(full); part != "" {
		return n.actions.client(full, part, typ)
	}
	c := &client{node: n, name: full, wire: n.types.wires.service(typ)}
	c.ctx, c.cancel = context.WithCancel(n.ctx)
	if err := n.add(c); err != nil {
		c.cancel()
		return nil, err
	}
	if owner, ok := strings.CutSuffix(full, "/get_parameters"); ok && typeName == getParameters {
		return &parameterClient{client: c, owner: owner}, nil
	}
	return c, nil
}

func (c *client) Service() string        { return c.name }
func (c *client) Type() *ros.ServiceType { return c.wire.typ }

// Close ends the client and its calls.
func (c *client) Close() error {
	c.cancel()
	c.node.remove(c)
	return nil
}

func (c *client) closedError() error { return fmt.Errorf("service %s: %w", c.name, ros.ErrClosed) }

// Ready reports whether a server of this type is there and takes connections: the master also names the dead.
func (c *client) Ready() bool {
	if c.ctx.Err() != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return c.there
	}
	ctx, cancel := context.WithTimeout(c.ctx, headerLimit)
	defer cancel()
	conn, err := c.connect(ctx, true)
	if err == nil {
		_ = conn.Close()
	}
	c.looked, c.there = time.Now(), err == nil
	return c.there
}

// WaitReady waits until a server is there or ctx ends.
func (c *client) WaitReady(ctx context.Context) error {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		if c.Ready() {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-c.ctx.Done():
			return c.closedError()
		case <-ctx.Done():
			return fmt.Errorf("wait for service %s: %w: %w", c.name, ros.ErrNotReady, ctx.Err())
		}
	}
}

// Call sends the request and waits for its response. A failure that the server answers wraps ros.ErrRejected. A
// server that dies leaves the call waiting for ctx: nobody knows what it has done.
func (c *client) Call(ctx context.Context, m *ros.Message) (*ros.Message, error) {
	request, err := own(c.wire.typ.Request, m)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.name, err)
	}
	body, err := encode(request)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.name, err)
	}
	if c.ctx.Err() != nil {
		return nil, c.closedError()
	}
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	response, err := c.exchange(both, frame(body))
	switch {
	case err == nil:
		return response, nil
	case c.ctx.Err() != nil:
		return nil, c.closedError()
	case ctx.Err() != nil:
		return nil, fmt.Errorf("call %s: %w", c.name, ctx.Err())
	}
	return nil, fmt.Errorf("call %s: %w", c.name, err)
}

func (c *client) exchange(ctx context.Context, request []byte) (*ros.Message, error) {
	conn, err := c.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	if _, err := conn.Write(request); err != nil {
		return nil, c.silence(ctx, err)
	}
	ok, err := conn.r.ReadByte()
	if err != nil {
		return nil, c.silence(ctx, err)
	}
	body, err := readFrame(conn.r, nil)
	switch {
	case err != nil && ok == 0 && errors.Is(err, io.EOF): // some servers say no more than that
		return nil, fmt.Errorf("%w: the server reports failure", ros.ErrRejected)
	case err != nil:
		return nil, c.silence(ctx, err)
	case ok == 0:
		return nil, fmt.Errorf("%w: %s", ros.ErrRejected, body)
	}
	return c.node.types.wires.decode(c.wire.response, body)
}

// silence waits for the end of a call whose server is gone.
func (c *client) silence(ctx context.Context, cause error) error {
	if ctx.Err() == nil {
		c.node.logger.Warn("a server has gone without an answer", "service", c.name, "error", cause)
	}
	<-ctx.Done()
	return ctx.Err()
}

type probeHeader struct{ Callerid, Service, Md5sum, Probe string }

// connect finds the server and exchanges headers with it. What fails here has not reached the service: ros.ErrNotReady.
func (c *client) connect(ctx context.Context, probe bool) (*conn, error) {
	var h any = &prototcp.HeaderServiceClient{Callerid: c.node.names.FullName(), Service: c.name, Md5sum: c.wire.md5}
	if probe {
		h = &probeHeader{Callerid: c.node.names.FullName(), Service: c.name, Md5sum: c.wire.md5, Probe: "1"}
	}
	conn, answer, err := c.node.dialService(ctx, c.name, h)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ros.ErrNotReady, err)
	}
	if sum := answer["md5sum"]; sum != c.wire.md5 && sum != "*" && sum != "" {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %w", ros.ErrNotReady, &typeError{
			what: "service " + c.name, theirs: answer["type"], theirSum: sum, ours: &wire{name: c.wire.name, md5: c.wire.md5},
		})
	}
	return conn, nil
}

// dialService looks the service up, connects and exchanges headers.
func (n *Node) dialService(ctx context.Context, name string, h any) (*conn, protocommon.HeaderRaw, error) {
	uri, err := n.masterFor(ctx).LookupService(name)
	if err != nil {
		return nil, nil, err
	}
	address, err := hostOf(uri)
	if err != nil {
		return nil, nil, err
	}
	dialer := net.Dialer{Timeout: headerLimit}
	raw, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	c := newConn(raw)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err = c.writeHeader(h); err == nil {
		var answer protocommon.HeaderRaw
		if answer, err = c.readHeader(); err == nil {
			return c, answer, nil
		}
	}
	_ = c.Close()
	return nil, nil, err
}
