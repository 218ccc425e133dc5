package mem

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"agent_node/pkg/ros"
)

type service struct {
	node    *Node
	name    string
	typ     *ros.ServiceType
	handler ros.ServiceHandler
	places  chan struct{} // one token for each request being served
	closing sync.Once
	done    chan struct{}
}

// CreateService serves requests, each in a goroutine of its own.
func (n *Node) CreateService(serviceName, typeName string, handler ros.ServiceHandler) (ros.Service, error) {
	name, err := n.names.Service(serviceName)
	if err != nil {
		return nil, err
	}
	typ, err := n.types.Service(typeName)
	if err != nil {
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	s := &service{node: n, name: name, typ: typ, handler: handler, places: make(chan struct{}, n.requests), done: make(chan struct{})}
	b := n.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := n.add(s); err != nil {
		return nil, err
	}
	b.services[name] = append(b.services[name], s)
	b.servicesChanged()
	return s, nil
}

func (s *service) Service() string        { return s.name }
func (s *service) Type() *ros.ServiceType { return s.typ }

// Close takes the service down. Requests that are being served still get their responses.
func (s *service) Close() error {
	s.closing.Do(func() {
		close(s.done)
		b := s.node.bus
		b.mu.Lock()
		left := slices.DeleteFunc(b.services[s.name], func(x *service) bool { return x == s })
		if b.services[s.name] = left; len(left) == 0 {
			delete(b.services, s.name)
		}
		b.servicesChanged()
		b.mu.Unlock()
		s.node.remove(s)
	})
	return nil
}

// request is one call on its way.
type request struct {
	message *ros.Message
	client  *client
	reply   chan *ros.Message // takes one response without waiting
}

// accept begins to serve a request; false once the node is closed.
func (s *service) accept(r request) bool {
	return s.node.spawn(func() {
		select {
		case s.places <- struct{}{}:
		case <-s.done: // it waited too long for a place
			return
		case <-s.node.ctx.Done():
			return
		}
		ctx, call := ros.NewServiceCall(ros.WithCaller(s.node.ctx, r.client.node.peer), func() { <-s.places })
		defer call.Finish()
		s.node.guard("service", s.name, func() { s.serve(ctx, r) })
	})
}

func (s *service) serve(ctx context.Context, r request) {
	hooks := s.node.bus.currentHooks()
	server, caller := s.node.names.FullName(), r.client.node.names.FullName()
	if hooks.Request != nil && !hooks.Request(s.name, caller, server, r.message) {
		return
	}
	m, err := own(s.typ.Request, r.message)
	if err != nil {
		s.node.logger.Error("request dropped", "service", s.name, "err", err)
		return
	}
	response, err := s.handler(ctx, m)
	if err == nil {
		response, err = own(s.typ.Response, response)
	}
	if err != nil {
		s.node.logger.Error("no response", "service", s.name, "err", err)
		return
	}
	if hooks.Response != nil && !hooks.Response(s.name, server, caller, response) {
		return
	}
	r.reply <- response
}
