package robot

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// link is a node as an action server sees it, through which its entities can be made to
// fail as they do when the server's process is slow or dies. Everything else is the node's own.
type link struct {
	ros.Node
	// arrival is called for each goal that comes in, and says how long to keep its answer back.
	arrival func() time.Duration

	alive context.Context
	die   context.CancelFunc

	mu       sync.Mutex
	entities []io.Closer
}

var errCut = errors.New("robot: fault.action_server_down: the server is gone")

func newLink(n ros.Node, arrival func() time.Duration) *link {
	l := &link{Node: n, arrival: arrival}
	l.alive, l.die = context.WithCancel(context.Background())
	return l
}

// cut makes every entity vanish: nothing is sent or answered from now on.
func (l *link) cut() error {
	l.die()
	l.mu.Lock()
	entities := l.entities
	l.entities = nil
	l.mu.Unlock()
	errs := make([]error, 0, len(entities))
	for _, e := range entities {
		errs = append(errs, e.Close())
	}
	return errors.Join(errs...)
}

func (l *link) keep(e io.Closer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entities = append(l.entities, e)
}

// CreatePublisher makes a publisher that falls silent when the link is cut.
func (l *link) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	p, err := l.Node.CreatePublisher(topic, typeName, qos)
	if err != nil {
		return nil, err
	}
	c := &linkedPublisher{Publisher: p, alive: l.alive, once: sync.OnceValue(p.Close)}
	l.keep(c)
	return c, nil
}

type linkedPublisher struct {
	ros.Publisher
	alive context.Context
	once  func() error
}

func (p *linkedPublisher) Publish(m *ros.Message) error {
	if p.alive.Err() != nil {
		return ros.ErrClosed
	}
	return p.Publisher.Publish(m)
}

func (p *linkedPublisher) Close() error { return p.once() }

// CreateService makes a service that answers no more when the link is cut. Goals are announced to
// arrival and wait as long as it says.
func (l *link) CreateService(service, typeName string, handler ros.ServiceHandler) (ros.Service, error) {
	goals := strings.HasSuffix(service, "/_action/send_goal")
	s, err := l.Node.CreateService(service, typeName, func(ctx context.Context, request *ros.Message) (*ros.Message, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.alive, cancel)()
		if goals {
			if err := wait(ctx, l.arrival()); err != nil {
				return nil, err
			}
		}
		response, err := handler(ctx, request)
		if l.alive.Err() != nil {
			return nil, errCut
		}
		return response, err
	})
	if err != nil {
		return nil, err
	}
	c := &linkedService{rosService: s, once: sync.OnceValue(s.Close)}
	l.keep(c)
	return c, nil
}

type rosService = ros.Service // so that the embedded field does not hide the method of its name

type linkedService struct {
	rosService
	once func() error
}

func (s *linkedService) Close() error { return s.once() }

// wait waits without keeping other requests of the service out.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	ros.Waiting(ctx)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
