//go:build ros2

package ros2

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"

	"agent_node/pkg/ros"
)

const (
	// requestsServed is how many requests of one service are served at once, those not counted that only wait.
	requestsServed = 32
	// requestsWaiting is how many more are kept; beyond, the oldest is dropped, as the middleware would.
	requestsWaiting = 1024
	// serviceDepth is how many requests or responses the middleware keeps between two takes. The usual 10
	// loses requests of a burst.
	serviceDepth = 128
)

func serviceQoS() rclgo.QosProfile {
	p := rclgo.NewDefaultServiceQosProfile()
	p.Depth = serviceDepth
	return p
}

type service struct {
	node    *Node
	service string
	support *serviceSupport
	handler ros.ServiceHandler
	queue   *queue[request]
	reader  *reader
	places  chan struct{}
	gone    chan struct{} // closed by Close

	mu       sync.Mutex // held while the C handle or the response buffer is used outside of the reader
	rcl      *rclgo.Service
	handle   *C.rcl_service_t
	response *cmessage
	serving  int  // requests whose handlers run
	closed   bool // no more requests
	silent   bool // closed, and the reader has ended: the C side ends with the last handler
}

type request struct {
	id      C.rmw_request_id_t
	message *ros.Message
}

// CreateService makes a service.
func (n *Node) CreateService(name, typeName string, handler ros.ServiceHandler) (ros.Service, error) {
	name, err := n.names.Service(name)
	if err != nil {
		return nil, fmt.Errorf("create service: %w", err)
	}
	t, err := n.types.serviceSupport(typeName)
	if err != nil {
		return nil, fmt.Errorf("create service %s: %w", name, err)
	}
	s := &service{
		node: n, service: name, support: t, handler: handler,
		queue: newQueue[request](requestsWaiting), places: make(chan struct{}, requestsServed),
		gone: make(chan struct{}),
	}
	err = n.add("service", name, func() (entity, error) {
		err := onThread(func() (err error) {
			s.rcl, err = n.node.NewService(name, t, &rclgo.ServiceOptions{Qos: serviceQoS()}, nil)
			return err
		})
		if err != nil {
			return nil, err
		}
		if s.handle, err = serviceHandle(s.rcl); err != nil {
			return nil, err
		}
		s.reader, err = n.read("service "+name, t.request, s.take, func(source *C.an_source_t) error {
			return check("rcl_service_set_on_new_request_callback", C.an_watch_service(s.handle, source))
		})
		if err != nil {
			return nil, errors.Join(err, onThread(s.rcl.Close))
		}
		s.response = newCMessage(t.response)
		n.callbacks.Go(s.serve)
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// take takes one request, on the reader's goroutine.
func (s *service) take(m *cmessage) (bool, error) {
	taken := C.an_take_request(s.handle, m.p)
	if err := check("rcl_take_request", taken.result); err != nil {
		return false, err
	}
	if !bool(taken.taken) {
		return false, nil
	}
	if s.queue.push(request{taken.id, m.get()}) {
		s.node.logger.Warn("a service has more requests than it can keep, the oldest was dropped",
			"service", s.service, "kept", requestsWaiting)
	}
	return true, nil
}

// serve gives each request a goroutine when there is a place for it.
func (s *service) serve() {
	for {
		r, ok := s.queue.pop()
		if !ok {
			return
		}
		select {
		case s.places <- struct{}{}:
		case <-s.gone:
			return
		}
		if !s.begin() {
			return
		}
		s.node.callbacks.Go(func() {
			s.node.guard("service", s.service, func() { s.answer(r) })
			if err := s.finish(); err != nil {
				s.node.logger.Error("a service did not close", "service", s.service, "err", err)
			}
		})
	}
}

func (s *service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.serving++
	return true
}

func (s *service) finish() error {
	s.mu.Lock()
	s.serving--
	last := s.silent && s.serving == 0
	s.mu.Unlock()
	if last {
		return s.node.end(s, s.release)
	}
	return nil
}

func (s *service) answer(r request) {
	ctx, call := ros.NewServiceCall(ros.WithCaller(s.node.ctx, peerOf(unsafe.Pointer(&r.id.writer_guid))), func() { <-s.places })
	defer call.Finish()
	response, err := s.handler(ctx, r.message)
	if err == nil {
		err = s.send(r.id, response)
	}
	if err != nil {
		s.node.logger.Error("a request gets no response", "service", s.service, "err", err)
	}
}

func (s *service) send(id C.rmw_request_id_t, response *ros.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.response.set(response); err != nil {
		return err
	}
	return check("rcl_send_response", C.an_send_response(s.handle, id, s.response.p))
}

func (s *service) Service() string { return s.service }

func (s *service) Type() *ros.ServiceType { return s.support.typ }

// Close takes no more requests. Those that are being served still get their responses; the service
// leaves the graph with the last of them.
func (s *service) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	close(s.gone)
	s.queue.close()
	if err := s.reader.stop(); err != nil {
		return fmt.Errorf("close service %s: %w", s.service, err)
	}
	s.mu.Lock()
	s.silent = true
	idle := s.serving == 0
	s.mu.Unlock()
	if idle {
		return s.node.end(s, s.release)
	}
	return nil
}

// release ends the C side, when nobody uses it any more.
func (s *service) release() error {
	s.response.free()
	if err := onThread(s.rcl.Close); err != nil {
		return fmt.Errorf("close service %s: %w", s.service, err)
	}
	return nil
}
