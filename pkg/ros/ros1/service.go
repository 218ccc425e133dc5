package ros1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/protocommon"
	"github.com/bluenviron/goroslib/v2/pkg/prototcp"

	"agent_node/pkg/ros"
)

type service struct {
	node    *Node
	name    string
	wire    *serviceWire
	handler ros.ServiceHandler
	places  chan struct{} // one token for each request being served
	done    chan struct{}

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
}

// CreateService serves requests, each connection's one after the other, and connections side by side. A handler's error is
// a failure at the client.
func (n *Node) CreateService(name, typeName string, handler ros.ServiceHandler) (ros.Service, error) {
	full, err := n.names.Service(name)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Service(typeName)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", full, err)
	}
	if part := n.actions.part(full); part != "" {
		return n.actions.service(full, part, typ, handler)
	}
	s := &service{
		node: n, name: full, wire: n.types.wires.service(typ), handler: handler,
		places: make(chan struct{}, n.requests), done: make(chan struct{}), conns: make(map[*conn]struct{}),
	}
	n.registering.Lock()
	defer n.registering.Unlock()
	n.mu.Lock()
	switch {
	case n.closed:
		n.mu.Unlock()
		return nil, n.closedError()
	case n.services[full] != nil:
		n.mu.Unlock()
		return nil, fmt.Errorf("service %s: %w: this node serves it already", full, ros.ErrInvalidName)
	}
	n.services[full] = s
	n.mu.Unlock()
	if err := n.add(s); err != nil {
		return nil, errors.Join(err, s.drop())
	}
	if err := s.register(); err != nil {
		return nil, errors.Join(fmt.Errorf("service %s: %w", full, err), s.drop())
	}
	return s, nil
}

func (s *service) register() error {
	return s.node.master.RegisterService(s.name, s.node.rosrpc, s.node.uri)
}

func (s *service) Service() string        { return s.name }
func (s *service) Type() *ros.ServiceType { return s.wire.typ }

// Close takes the service down. Requests that are being served still get their responses.
func (s *service) Close() error {
	s.node.registering.Lock()
	defer s.node.registering.Unlock()
	err := s.drop()
	s.node.remove(s)
	return err
}

// drop is called with registering held.
func (s *service) drop() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	for c := range s.conns {
		_ = c.SetReadDeadline(time.Now()) // no further request is read
	}
	s.mu.Unlock()
	n := s.node
	n.mu.Lock()
	delete(n.services, s.name)
	n.mu.Unlock()
	n.unregister("service "+s.name, func() error { return n.master.UnregisterService(s.name, n.rosrpc) })
	return nil
}

// open notes a connection; false once the service is closed.
func (s *service) open(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *service) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// serve answers one client's connection until it ends.
func (s *service) serve(c *conn, h protocommon.HeaderRaw) {
	defer c.Close()
	n := s.node
	if sum := h["md5sum"]; sum != "*" && sum != s.wire.md5 {
		why := fmt.Sprintf("%s calls %s as %s (md5sum %s); it is served here as %s (md5sum %s)", h["callerid"], s.name, h["type"], sum, s.wire.name, s.wire.md5)
		n.logger.Warn("client of another type refused", "service", s.name, "reason", why)
		n.refuse(c, why)
		return
	}
	if !s.open(c) {
		n.refuse(c, "service "+s.name+" is closed")
		return
	}
	defer s.forget(c)
	if c.writeHeader(&prototcp.HeaderServiceProvider{
		Callerid: n.names.FullName(), Md5sum: s.wire.md5, Type: s.wire.name, RequestType: s.wire.request.name, ResponseType: s.wire.response.name,
	}) != nil || h["probe"] == "1" {
		return
	}
	for {
		frame, err := readFrame(c.r, nil)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				n.logger.Debug("client's connection ended", "service", s.name, "client", h["callerid"], "error", err)
			}
			return
		}
		if !s.answer(c, frame) || h["persistent"] != "1" {
			return
		}
	}
}

// answer serves one request; false when the connection is of no use any more.
func (s *service) answer(c *conn, request []byte) bool {
	n := s.node
	select {
	case s.places <- struct{}{}:
	case <-s.done: // it waited too long for a place
		return false
	case <-n.ctx.Done():
		return false
	}
	ctx, call := ros.NewServiceCall(n.ctx, func() { <-s.places })
	defer call.Finish()
	reply := failure("the service failed") // unless it does better: a panic
	n.guard("service", s.name, func() { reply = s.respond(ctx, request) })
	if reply == nil {
		return false
	}
	_, err := c.Write(reply)
	return err == nil
}

// respond calls the handler. The reply is a byte 1 and the response, or a byte 0 and what went wrong; none where that
// is the node's end.
func (s *service) respond(ctx context.Context, data []byte) []byte {
	w := s.node.types.wires
	request, err := w.decode(s.wire.request, data)
	var response *ros.Message
	if err == nil {
		response, err = s.handler(ctx, request)
	}
	if err == nil {
		response, err = own(s.wire.typ.Response, response)
	}
	var body []byte
	if err == nil {
		body, err = encode(response)
	}
	if err != nil {
		s.node.logger.Error("no response", "service", s.name, "err", err)
		if s.node.ctx.Err() != nil {
			return nil
		}
		return failure(err.Error())
	}
	return append([]byte{1}, frame(body)...)
}

func failure(text string) []byte { return append([]byte{0}, frame([]byte(text))...) }
