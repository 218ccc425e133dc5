package action

import (
	"context"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// Handle is one goal at its server. Its methods are safe for concurrent use.
type Handle struct {
	s     *Server
	id    GoalID
	goal  *ros.Message
	stamp ros.Time
	// caller is who sent the goal, as ros.EndpointInfo.Peer has it.
	caller string

	announced chan struct{} // closed when ACCEPTED was published
	canceling chan struct{} // closed when a cancel was accepted
	done      chan struct{} // closed when the goal has ended
	asked     chan struct{} // closed when its result was asked for
	askOnce   sync.Once

	judging  sync.Mutex // one cancel request at a time
	feeding  sync.Mutex // no feedback after the end
	feedback *ros.Message

	// Guarded by s.mu; status and entry change only with s.publishing held, too.
	status  Status
	entry   *ros.Message // in the status array
	result  *ros.Message
	expires time.Time
}

func newHandle(s *Server, id GoalID, goal *ros.Message, stamp ros.Time) *Handle {
	h := &Handle{
		s: s, id: id, goal: goal, stamp: stamp, status: StatusAccepted,
		announced: make(chan struct{}), canceling: make(chan struct{}), done: make(chan struct{}), asked: make(chan struct{}),
	}
	t := s.status.Type()
	h.entry = ros.New(t.Fields[t.FieldIndex("status_list")].Type)
	h.entry.With("goal_info.goal_id", id.fields()).With("status", int8(StatusAccepted)).SetStamp("goal_info.stamp", stamp)
	h.feedback = ros.New(s.at.FeedbackMessage).With("goal_id", id.fields())
	return h
}

// ID is the goal's id.
func (h *Handle) ID() GoalID { return h.id }

// Goal is the goal's message. It must not be changed.
func (h *Handle) Goal() *ros.Message { return h.goal }

// Server that the goal is at.
func (h *Handle) Server() *Server { return h.s }

// Caller is who sent the goal, as ros.EndpointInfo.Peer has it; empty where the transport does not tell.
func (h *Handle) Caller() string { return h.caller }

// AcceptedAt is when the goal was accepted, in ROS time.
func (h *Handle) AcceptedAt() ros.Time { return h.stamp }

// Context ends when the server closes. A cancel does not end it: what brings a
// robot to rest must not be stopped by the request to stop.
func (h *Handle) Context() context.Context { return h.s.ctx }

// Canceling is closed when a cancel was accepted.
func (h *Handle) Canceling() <-chan struct{} { return h.canceling }

// Done is closed when the goal has ended, whoever ended it.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Status is the goal's state.
func (h *Handle) Status() Status {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	return h.status
}

// Execute says that an accepted goal is being carried out. In any other state it does nothing.
func (h *Handle) Execute() {
	// A cancel may have come first; then the goal stays canceling.
	_ = h.s.move(h, StatusExecuting)
}

// Feedback publishes a feedback message (of the action's Feedback type) to the goal's client.
func (h *Handle) Feedback(m *ros.Message) error {
	h.feeding.Lock()
	defer h.feeding.Unlock()
	if st := h.Status(); st.Terminal() {
		return fmt.Errorf("%w: goal %v is %v: no more feedback", ErrEnded, h.id, st)
	}
	if err := sameType(m, h.s.at.Feedback); err != nil {
		return err
	}
	h.feedback.Values[h.feedback.Type.FieldIndex("feedback")] = m
	return h.s.feedback.Publish(h.feedback)
}

// Succeed ends the goal as SUCCEEDED with its result, nil for an empty one. Of all calls that
// end a goal exactly one wins; the others return an error that wraps ErrEnded.
func (h *Handle) Succeed(result *ros.Message) error { return h.s.end(h, StatusSucceeded, result) }

// Abort ends the goal as ABORTED with its result.
func (h *Handle) Abort(result *ros.Message) error { return h.s.end(h, StatusAborted, result) }

// Canceled ends a goal that is canceling as CANCELED with its result. In another state it is an
// error that wraps ErrIllegal: no client asked for it.
func (h *Handle) Canceled(result *ros.Message) error { return h.s.end(h, StatusCanceled, result) }

func (h *Handle) ask() { h.askOnce.Do(func() { close(h.asked) }) }

func sameType(m *ros.Message, t *ros.Type) error {
	if m == nil || m.Type.Name != t.Name {
		name := "nil"
		if m != nil {
			name = m.Type.Name
		}
		return fmt.Errorf("%w: a %s where a %s belongs", ros.ErrInvalidMessage, name, t.Name)
	}
	return nil
}

// legal holds the changes of state that rcl_action knows.
var legal = map[Status][]Status{
	StatusAccepted:  {StatusExecuting, StatusCanceling},
	StatusExecuting: {StatusCanceling, StatusSucceeded, StatusAborted},
	StatusCanceling: {StatusSucceeded, StatusCanceled, StatusAborted},
}

// move makes a change to a state that is not terminal, and publishes it.
func (s *Server) move(h *Handle, to Status) error {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	return s.step(h, to)
}

// step is called with publishing held.
func (s *Server) step(h *Handle, to Status) error {
	s.mu.Lock()
	if err := h.check(to); err != nil {
		s.mu.Unlock()
		return err
	}
	h.status = to
	h.entry.Values[h.entry.Type.FieldIndex("status")] = int8(to)
	s.mu.Unlock()
	s.publishStatus()
	if to == StatusCanceling {
		close(h.canceling)
	}
	return nil
}

// check is called with s.mu held.
func (h *Handle) check(to Status) error {
	for _, ok := range legal[h.status] {
		if ok == to {
			return nil
		}
	}
	err := ErrIllegal
	if h.status.Terminal() {
		err = ErrEnded
	}
	return &TransitionError{ID: h.id, From: h.status, To: to, Err: err}
}

// end makes the change to a terminal state and gives the result to who waits for it.
func (s *Server) end(h *Handle, to Status, result *ros.Message) error {
	if result == nil {
		result = ros.New(s.at.Result)
	} else if err := sameType(result, s.at.Result); err != nil {
		return err
	} else {
		result = result.Clone()
	}
	h.feeding.Lock()
	defer h.feeding.Unlock()
	s.publishing.Lock()
	defer s.publishing.Unlock()
	// A goal that ends without having been executed shows the state in between: no client
	// sees an order that rcl_action does not know.
	if to != StatusCanceled && h.Status() == StatusAccepted {
		if err := s.step(h, StatusExecuting); err != nil {
			return err
		}
	}
	s.mu.Lock()
	err := h.check(to)
	if err == nil {
		h.result = result
		s.keep(h)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if err := s.step(h, to); err != nil {
		return err
	}
	close(h.done)
	return nil
}

// keep notes when an ended goal expires. It is called with mu held.
func (s *Server) keep(h *Handle) {
	if s.cfg.ResultTimeout < 0 || s.closing {
		return
	}
	h.expires = time.Now().Add(s.cfg.ResultTimeout)
	s.ended = append(s.ended, h)
	switch {
	case s.expiry == nil:
		s.expiry = time.AfterFunc(s.cfg.ResultTimeout, s.expire)
	case len(s.ended) == 1:
		s.expiry.Reset(s.cfg.ResultTimeout)
	}
}
