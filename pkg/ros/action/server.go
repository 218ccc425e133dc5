package action

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// ServerConfig describes an action server.
type ServerConfig struct {
	// Name of the action, resolved as a topic's; Type as in example_interfaces/action/Fibonacci.
	Name, Type string
	// ResultTimeout is how long the result of an ended goal is kept: 0 for
	// DefaultResultTimeout, negative for ever.
	ResultTimeout time.Duration
	// Goal says whether to accept a goal; nil accepts every one. It is called once for
	// each request with a new id, possibly for several at once, and must not block. Each
	// goal that it accepts comes to Accepted.
	Goal func(id GoalID, goal *ros.Message) bool
	// Accepted carries the goal out. It runs in a goroutine of its own, after the response was sent
	// and ACCEPTED published. When it returns without a terminal call, or panics, the goal is aborted.
	Accepted func(h *Handle)
	// Cancel says whether to accept a cancel; nil accepts every one. It must not block. A panic
	// accepts: stopping is the safe answer.
	Cancel func(h *Handle) bool
}

// Server is an action server.
//
// Two locks keep the order that clients see. publishing is held over a change of state
// and its publication, so that status arrays leave in the order of the changes; mu
// guards the fields and is never held while anything is called. A handle's feedback
// lock comes before both.
type Server struct {
	node ros.Node
	cfg  ServerConfig
	at   *ros.ActionType
	log  *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc

	services []ros.Service
	feedback ros.Publisher
	status   ros.Publisher

	publishing sync.Mutex

	mu      sync.Mutex
	pending map[GoalID]bool // being judged by Goal
	goals   map[GoalID]*Handle
	order   []*Handle // by acceptance
	ended   []*Handle // by their end, waiting to expire
	expiry  *time.Timer
	closing bool

	work    tally // requests and handlers of goals
	answers tally // get_result requests
	closed  chan struct{}
	closeAs error
}

// Grace periods of Close, after its handlers.
const (
	// answerGrace is for the answers to get_result requests to leave.
	answerGrace = 2 * time.Second
	// askGrace is for clients that have not asked for a result that Close has just made.
	askGrace = 300 * time.Millisecond
)

// NewServer starts an action server.
func NewServer(node ros.Node, cfg ServerConfig) (*Server, error) {
	at, err := node.Types().Action(cfg.Type)
	if err != nil {
		return nil, err
	}
	if cfg.Accepted == nil {
		return nil, fmt.Errorf("action: server of %s: Accepted is nil", cfg.Name)
	}
	if cfg.ResultTimeout == 0 {
		cfg.ResultTimeout = DefaultResultTimeout
	}
	n, err := namesOf(node, cfg.Name)
	if err != nil {
		return nil, err
	}
	s := &Server{
		node: node, cfg: cfg, at: at,
		log:     node.Logger().With("action", cfg.Name),
		pending: make(map[GoalID]bool),
		goals:   make(map[GoalID]*Handle),
		closed:  make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(n); err != nil {
		s.cancel()
		return nil, errors.Join(err, s.takeDown())
	}
	return s, nil
}

// open makes the topics before the services: who can send a goal can see its status.
func (s *Server) open(n names) (err error) {
	if s.status, err = s.node.CreatePublisher(n.status, statusType, statusQoS()); err != nil {
		return err
	}
	if s.feedback, err = s.node.CreatePublisher(n.feedback, s.at.FeedbackMessage.Name, feedbackQoS()); err != nil {
		return err
	}
	cancelService, err := s.node.Types().Service(cancelType)
	if err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		t    *ros.ServiceType
		f    func(ctx context.Context, request, response *ros.Message) error
	}{
		{n.getResult, s.at.GetResult, s.serveResult},
		{n.cancelGoal, cancelService, s.serveCancel},
		{n.sendGoal, s.at.SendGoal, s.serveGoal},
	} {
		pace := new(pacer)
		srv, err := s.node.CreateService(x.name, x.t.Name, func(ctx context.Context, request *ros.Message) (*ros.Message, error) {
			response := ros.New(x.t.Response)
			if err := x.f(ctx, request, response); err != nil {
				return nil, err
			}
			return response, pace.wait(ctx)
		})
		if err != nil {
			return err
		}
		s.services = append(s.services, srv)
	}
	return nil
}

// Close ends the server: new goals are refused, every handle's context ends, and the
// handlers are waited for until ctx ends. What has not ended by then is aborted with an empty result.
// Outstanding get_result requests are answered; clients that have not asked yet for a result made
// meanwhile have a moment to do so. Then the interfaces are taken down. At most about two seconds
// pass after the handlers or ctx have ended. A second call waits for the first.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		select {
		case <-s.closed:
			return s.closeAs
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.closing = true
	open := slices.DeleteFunc(slices.Clone(s.order), func(h *Handle) bool { return h.status.Terminal() })
	s.mu.Unlock()

	s.cancel()
	waitErr := s.work.wait(ctx)
	if waitErr != nil {
		waitErr = fmt.Errorf("action: %s: goals were aborted because their handlers did not end: %w", s.cfg.Name, waitErr)
	}
	s.mu.Lock()
	left := slices.Clone(s.order)
	s.mu.Unlock()
	for _, h := range left {
		if err := s.end(h, StatusAborted, nil); err == nil {
			s.log.Warn("goal aborted at shutdown", "goal", h.id)
		}
	}
	s.giveOut(open)
	err := s.takeDown()
	s.mu.Lock()
	s.closeAs = errors.Join(waitErr, err)
	s.mu.Unlock()
	close(s.closed)
	return s.closeAs
}

// giveOut lets the results of the goals that ended during Close leave.
func (s *Server) giveOut(ended []*Handle) {
	asking, stop := context.WithTimeout(context.Background(), askGrace)
	defer stop()
	for _, h := range ended {
		select {
		case <-h.asked:
		case <-asking.Done():
		}
	}
	answering, stopAnswering := context.WithTimeout(context.Background(), answerGrace)
	defer stopAnswering()
	if err := s.answers.wait(answering); err != nil {
		s.log.Warn("results not sent in time at shutdown", "limit", answerGrace)
	}
}

// takeDown closes the services before the topics.
func (s *Server) takeDown() error {
	s.mu.Lock()
	if s.expiry != nil {
		s.expiry.Stop()
	}
	s.mu.Unlock()
	var errs []error
	for _, srv := range slices.Backward(s.services) {
		errs = append(errs, srv.Close())
	}
	for _, p := range []ros.Publisher{s.feedback, s.status} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// Clients are the endpoints that hear the action's feedback: one for each action client in sight, and for whoever else listens.
func (s *Server) Clients() ([]ros.EndpointInfo, error) {
	return s.node.Graph().Subscriptions(s.feedback.Topic())
}

// FeedbackHeard waits at most limit, and reports whether all feedback that is still kept has arrived at all reliable
// clients. An error: the transport cannot tell.
func (s *Server) FeedbackHeard(limit time.Duration) (bool, error) {
	a, ok := s.feedback.(ros.Acknowledger)
	if !ok {
		return false, errors.ErrUnsupported
	}
	return a.Acknowledged(limit)
}

// run carries one goal out.
func (s *Server) run(h *Handle) {
	defer s.work.done()
	defer func() {
		p := recover()
		if p != nil {
			s.log.Error("goal handler panicked", "goal", h.id, "panic", p, "stack", string(debug.Stack()))
		}
		if err := s.end(h, StatusAborted, nil); err == nil && p == nil {
			s.log.Warn("goal handler returned without ending its goal: aborted", "goal", h.id)
		}
	}()
	s.cfg.Accepted(h)
}

// announce publishes ACCEPTED and starts the goal. It runs when the accept response has left.
func (s *Server) announce(h *Handle) {
	s.publishing.Lock()
	s.publishStatus()
	s.publishing.Unlock()
	close(h.announced)
	go s.run(h)
}

// publishStatus is called with publishing held.
func (s *Server) publishStatus() {
	m := ros.New(s.status.Type())
	s.mu.Lock()
	list := make([]*ros.Message, 0, len(s.order))
	for _, h := range s.order {
		list = append(list, h.entry)
	}
	s.mu.Unlock()
	m.Values[m.Type.FieldIndex("status_list")] = list
	s.published(s.status.Publish(m), "status")
}

func (s *Server) published(err error, what string) {
	if err != nil && !errors.Is(err, ros.ErrClosed) {
		s.log.Warn("action "+what+" not published", "error", err)
	}
}

// expire forgets the goals whose results have been kept long enough.
func (s *Server) expire() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.mu.Lock()
	now := time.Now()
	n := 0
	for n < len(s.ended) && !s.ended[n].expires.After(now) {
		delete(s.goals, s.ended[n].id)
		n++
	}
	gone := s.ended[:n]
	s.order = slices.DeleteFunc(s.order, func(h *Handle) bool { return slices.Contains(gone, h) })
	s.ended = slices.Clone(s.ended[n:])
	if len(s.ended) > 0 && !s.closing {
		s.expiry.Reset(s.ended[0].expires.Sub(now))
	}
	closing := s.closing
	s.mu.Unlock()
	if n > 0 && !closing {
		s.publishStatus()
	}
}
