package action

import (
	"context"
	"math"

	"agent_node/pkg/ros"
)

// serveGoal answers send_goal.
func (s *Server) serveGoal(ctx context.Context, request, response *ros.Message) error {
	id, goal := goalID(request, "goal_id"), request.Msg("goal")
	if reason := s.reserve(id); reason != "" {
		s.log.Warn("goal refused", "goal", id, "reason", reason)
		return response.Set("accepted", false)
	}
	if !s.judge(id, goal) {
		s.mu.Lock()
		delete(s.pending, id)
		s.mu.Unlock()
		s.work.done()
		return response.Set("accepted", false)
	}
	h := s.admit(id, goal, ros.Caller(ctx))
	response.SetStamp("stamp", h.stamp)
	if err := response.Set("accepted", true); err != nil {
		return err
	}
	// The client should know that its goal is accepted before it sees its status.
	if !ros.AfterResponse(ctx, func() { s.announce(h) }) {
		go s.announce(h)
	}
	return nil
}

// reserve takes the id, or says why not. A reserved id is work under way.
func (s *Server) reserve(id GoalID) (reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return "the server is closing"
	case id.IsZero():
		return "the id is zero, which names no goal"
	case s.pending[id] || s.goals[id] != nil:
		return "the id is in use"
	}
	s.pending[id] = true
	s.work.add()
	return ""
}

func (s *Server) judge(id GoalID, goal *ros.Message) (ok bool) {
	if s.cfg.Goal == nil {
		return true
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("goal callback panicked: goal refused", "goal", id, "panic", p)
			ok = false
		}
	}()
	return s.cfg.Goal(id, goal)
}

// admit makes the goal's handle.
func (s *Server) admit(id GoalID, goal *ros.Message, caller string) *Handle {
	h := newHandle(s, id, goal, s.node.Clock().Now())
	h.caller = caller
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, id)
	s.goals[id] = h
	s.order = append(s.order, h)
	return h
}

// serveCancel answers cancel_goal, by rcl_action's rules.
func (s *Server) serveCancel(ctx context.Context, request, response *ros.Message) error {
	candidates, code := s.cancelable(goalID(request, "goal_info.goal_id"), request.Stamp("goal_info.stamp"))
	single := code != CancelNone
	var canceling []any
	refused := false
	for _, h := range candidates {
		select {
		case <-h.announced:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch accepted, moved := s.tryCancel(h); {
		case moved:
			canceling = append(canceling, map[string]any{"goal_id": h.id.fields(), "stamp": h.stamp})
		case !accepted:
			refused = true
		}
	}
	switch {
	case len(canceling) > 0:
		code = CancelNone
	case refused:
		code = CancelRejected
	case single && len(candidates) > 0:
		code = CancelGoalTerminated
	}
	if err := response.Set("goals_canceling", canceling); err != nil {
		return err
	}
	return response.Set("return_code", int8(code))
}

// cancelable finds the goals that a request means. The code is the answer if none of them
// can be canceled.
func (s *Server) cancelable(id GoalID, stamp ros.Time) ([]*Handle, CancelCode) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !id.IsZero() && stamp.IsZero() {
		h := s.goals[id]
		switch {
		case h == nil:
			return nil, CancelUnknownGoal
		case h.status != StatusAccepted && h.status != StatusExecuting:
			return nil, CancelGoalTerminated
		}
		return []*Handle{h}, CancelGoalTerminated
	}
	if stamp.IsZero() {
		stamp = math.MaxInt64
	}
	var found []*Handle
	for _, h := range s.order {
		open := h.status == StatusAccepted || h.status == StatusExecuting
		if open && (h.stamp <= stamp || h.id == id) {
			found = append(found, h)
		}
	}
	return found, CancelNone
}

// tryCancel asks the callback and makes the goal canceling. One request at a time asks
// about a goal, so that the callback is not asked again about one that is canceling.
func (s *Server) tryCancel(h *Handle) (accepted, moved bool) {
	h.judging.Lock()
	defer h.judging.Unlock()
	if st := h.Status(); st != StatusAccepted && st != StatusExecuting {
		return true, false
	}
	if !s.judgeCancel(h) {
		return false, false
	}
	return true, s.move(h, StatusCanceling) == nil
}

func (s *Server) judgeCancel(h *Handle) (ok bool) {
	if s.cfg.Cancel == nil {
		return true
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("cancel callback panicked: cancel accepted", "goal", h.id, "panic", p)
			ok = true
		}
	}()
	return s.cfg.Cancel(h)
}

// serveResult answers get_result: at once for a goal that has ended or is unknown, else when it ends.
func (s *Server) serveResult(ctx context.Context, request, response *ros.Message) error {
	s.answers.add()
	if !ros.AfterResponse(ctx, s.answers.done) {
		defer s.answers.done()
	}
	id := goalID(request, "goal_id")
	s.mu.Lock()
	h := s.goals[id]
	s.mu.Unlock()
	if h == nil {
		return response.Set("status", int8(StatusUnknown))
	}
	h.ask()
	select {
	case <-h.done:
	default:
		ros.Waiting(ctx)
		select {
		case <-h.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	status, result := h.status, h.result
	s.mu.Unlock()
	if err := response.Set("status", int8(status)); err != nil {
		return err
	}
	return response.Set("result", result)
}
