package ros1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/ros"
)

// Of actionlib's servers.
const (
	statusPeriod = 200 * time.Millisecond // how often the goals' states are told
	statusKeep   = 5 * time.Second        // how long an ended goal's is
	goalQueue    = 100                    // goals and cancels that wait
)

// actionServer serves one action by actionlib's topics and hands the goals to the services of the ROS 2 form.
type actionServer struct {
	node *Node
	name string

	mu       sync.Mutex
	parts    int
	types    *actionlibTypes
	handlers map[part]served
	status   *publisher
	feedback *publisher
	result   *publisher
	goals    map[goalID]*servedGoal
	order    []*servedGoal
	recalled map[string]time.Time // goals that were canceled before they came
	upTo     ros.Time             // goals up to this stamp are canceled
	made     int                  // ids given to goals without one
	stop     chan struct{}        // ends the telling of the states
}

// served is a service of the ROS 2 form.
type served struct {
	typ     *ros.ServiceType
	handler ros.ServiceHandler
}

// servedGoal is a goal as actionlib's clients know it.
type servedGoal struct {
	id    goalID
	text  string // its id at the clients
	stamp ros.Time
	state uint8
	ended time.Time
	note  string
}

func (a *actions) server(name string) *actionServer {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.servers[name]
	if !ok {
		s = &actionServer{
			node: a.node, name: name, handlers: map[part]served{},
			goals: map[goalID]*servedGoal{}, recalled: map[string]time.Time{},
		}
		if a.servers == nil {
			a.servers = map[string]*actionServer{}
		}
		a.servers[name] = s
	}
	s.mu.Lock()
	s.parts++
	s.mu.Unlock()
	return s
}

// leave is called for each part once.
func (s *actionServer) leave() {
	a := &s.node.actions
	a.mu.Lock()
	defer a.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts--; s.parts == 0 {
		delete(a.servers, s.name)
	}
}

// publisher makes the action's status or feedback publisher.
func (a *actions) publisher(name string, p part, typeName string, qos ros.QoS) (ros.Publisher, error) {
	typ, err := a.node.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("publisher on %s: %w", name, err)
	}
	s := a.server(actionOf(name))
	v := &actionPublisher{server: s, part: p, topic: name, typ: typ}
	if err := v.open(qos); err != nil {
		s.leave()
		return nil, fmt.Errorf("publisher on %s: %w", name, err)
	}
	return v, nil
}

// actionPublisher is an action's status or feedback publisher, in the ROS 2 form.
type actionPublisher struct {
	*publisher
	server *actionServer
	part   part
	topic  string
	typ    *ros.Type
	once   sync.Once
}

func (v *actionPublisher) open(qos ros.QoS) error {
	s, n := v.server, v.server.node
	switch v.part {
	case partStatus:
		w, err := n.actions.wireOf(statusArrayType)
		if err != nil {
			return err
		}
		if v.publisher, err = n.publish(s.name+"/status", w, ros.QoS{Depth: max(qos.Depth, defaultDepth)}); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.status, s.stop = v.publisher, make(chan struct{})
		stop := s.stop
		if !n.spawn(func() { s.tell(stop) }) {
			return errors.Join(n.closedError(), v.publisher.Close())
		}
		return nil
	case partFeedback:
		types, err := n.actions.typesOf(v.typ.Name)
		if err != nil {
			return err
		}
		if v.publisher, err = n.publish(s.name+"/feedback", n.types.wires.message(types.feedback), qos); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.types, s.feedback = types, v.publisher
		return nil
	case partNone, partSendGoal, partCancel, partGetResult:
	}
	return fmt.Errorf("%w: %s is a service of an action", ros.ErrInvalidName, v.topic)
}

func (v *actionPublisher) Topic() string   { return v.topic }
func (v *actionPublisher) Type() *ros.Type { return v.typ }

func (v *actionPublisher) Publish(m *ros.Message) error {
	m, err := own(v.typ, m)
	if err != nil {
		return fmt.Errorf("publish on %s: %w", v.topic, err)
	}
	if v.part == partFeedback {
		return v.server.publishFeedback(v.publisher, m)
	}
	v.server.note(m)
	return v.server.publishStatus(v.publisher)
}

func (v *actionPublisher) Close() error {
	var err error
	v.once.Do(func() {
		if v.part == partStatus {
			close(v.server.stop)
		}
		err = v.publisher.Close()
		v.server.leave()
	})
	return err
}

// tell publishes the states again and again: actionlib's clients take silence for the server's death.
func (s *actionServer) tell(stop <-chan struct{}) {
	tick := time.NewTicker(statusPeriod)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-s.node.ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.publishStatus(s.status); err != nil && !errors.Is(err, ros.ErrClosed) {
			s.node.logger.Warn("action status not published", "action", s.name, "error", err)
		}
	}
}

// note takes the states from a status array of the ROS 2 form.
func (s *actionServer) note(m *ros.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range m.Msgs("status_list") {
		g := s.goals[idAt(e, "goal_info.goal_id")]
		if g == nil || terminal(g.state) {
			continue
		}
		g.state = stateOf(int8(e.Int("status")), g.state)
		if terminal(g.state) {
			g.ended = time.Now()
		}
	}
}

// publishStatus tells the states of all goals, those that have ended for five seconds.
func (s *actionServer) publishStatus(p *publisher) error {
	m := ros.New(p.Type())
	m.SetStamp("header.stamp", s.node.clock.Now())
	s.mu.Lock()
	now := time.Now()
	s.order = slices.DeleteFunc(s.order, func(g *servedGoal) bool {
		over := terminal(g.state) && now.Sub(g.ended) > statusKeep
		if over {
			delete(s.goals, g.id)
		}
		return over
	})
	for text, at := range s.recalled {
		if now.Sub(at) > statusKeep {
			delete(s.recalled, text)
		}
	}
	list := make([]any, len(s.order))
	for i, g := range s.order {
		list[i] = g.status()
	}
	s.mu.Unlock()
	m.With("status_list", list)
	return p.Publish(m)
}

// status is an actionlib_msgs/msg/GoalStatus.
func (g *servedGoal) status() map[string]any {
	return map[string]any{"goal_id": map[string]any{"stamp": g.stamp, "id": g.text}, "status": g.state, "text": g.note}
}

func (s *actionServer) publishFeedback(p *publisher, m *ros.Message) error {
	s.mu.Lock()
	g := s.goals[idAt(m, "goal_id")]
	if g == nil {
		s.mu.Unlock()
		return nil // its clients have been told of its end
	}
	status := g.status()
	s.mu.Unlock()
	out := ros.New(p.Type()).With("status", status).With("feedback", m.Msg("feedback"))
	out.SetStamp("header.stamp", s.node.clock.Now())
	return p.Publish(out)
}

// service makes the action's part for goals, cancels or results.
func (a *actions) service(name string, p part, typ *ros.ServiceType, handler ros.ServiceHandler) (ros.Service, error) {
	s := a.server(actionOf(name))
	v := &actionService{server: s, name: name, typ: typ}
	s.mu.Lock()
	_, twice := s.handlers[p]
	if !twice {
		s.handlers[p] = served{typ, handler}
	}
	s.mu.Unlock()
	if twice {
		s.leave()
		return nil, fmt.Errorf("service %s: %w: this node serves it already", name, ros.ErrInvalidName)
	}
	if err := v.open(p); err != nil {
		s.mu.Lock()
		delete(s.handlers, p)
		s.mu.Unlock()
		s.leave()
		return nil, fmt.Errorf("service %s: %w", name, err)
	}
	v.part = p
	return v, nil
}

// actionService is one of an action's services, in the ROS 2 form.
type actionService struct {
	server *actionServer
	name   string
	part   part
	typ    *ros.ServiceType
	end    interface{ Close() error } // of actionlib's
	once   sync.Once
}

func (v *actionService) open(p part) error {
	s, n := v.server, v.server.node
	if p == partCancel {
		w, err := n.actions.wireOf(goalIDType)
		if err != nil {
			return err
		}
		v.end, err = n.subscribe(s.name+"/cancel", w, ros.QoS{Depth: goalQueue}, func(r ros.Received) { s.cancel(r.Message) })
		return err
	}
	types, err := n.actions.typesOf(v.typ.Name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.types = types
	s.mu.Unlock()
	if p == partSendGoal {
		v.end, err = n.subscribe(s.name+"/goal", n.types.wires.message(types.goal), ros.QoS{Depth: goalQueue}, func(r ros.Received) { s.accept(r.Message) })
		return err
	}
	out, err := n.publish(s.name+"/result", n.types.wires.message(types.result), ros.QoS{Depth: goalQueue})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.result = out
	s.mu.Unlock()
	v.end = out
	return nil
}

func (v *actionService) Service() string        { return v.name }
func (v *actionService) Type() *ros.ServiceType { return v.typ }

func (v *actionService) Close() error {
	var err error
	v.once.Do(func() {
		err = v.end.Close()
		v.server.mu.Lock()
		delete(v.server.handlers, v.part)
		v.server.mu.Unlock()
		v.server.leave()
	})
	return err
}

// call asks one of the services as a client would.
func (s *actionServer) call(p part, fill func(*ros.Message)) (*ros.Message, *ros.ServiceCall, error) {
	s.mu.Lock()
	h, ok := s.handlers[p]
	s.mu.Unlock()
	if !ok {
		return nil, nil, ros.ErrNotReady
	}
	request := ros.New(h.typ.Request)
	fill(request)
	ctx, call := ros.NewServiceCall(s.node.ctx, nil)
	var response *ros.Message
	err := errors.New("panic")
	s.node.guard("action "+string(p), s.name, func() { response, err = h.handler(ctx, request) })
	if err != nil {
		call.Finish()
		return nil, nil, err
	}
	return response, call, nil
}

// accept takes a goal that came.
func (s *actionServer) accept(m *ros.Message) {
	g := &servedGoal{text: m.Str("goal_id.id"), stamp: m.Stamp("goal_id.stamp"), state: statePending}
	s.mu.Lock()
	if g.stamp.IsZero() {
		g.stamp = s.node.clock.Now()
	}
	if g.text == "" {
		s.made++
		g.text = fmt.Sprintf("%s-%d-%.9f", s.node.names.FullName(), s.made, float64(g.stamp)/1e9)
	}
	g.id = goalIDOf(g.text)
	if s.goals[g.id] != nil {
		s.mu.Unlock()
		s.node.logger.Warn("goal ignored: its id is in use", "action", s.name, "goal", g.text)
		return
	}
	_, early := s.recalled[g.text]
	if early = early || !s.upTo.IsZero() && g.stamp <= s.upTo; early {
		g.state, g.ended, g.note = stateRecalled, time.Now(), "canceled before it came"
	}
	s.goals[g.id] = g
	s.order = append(s.order, g)
	status := s.status
	s.mu.Unlock()
	if early {
		s.node.logger.Info("goal recalled: it was canceled before it came", "action", s.name, "goal", g.text)
		s.finish(g, nil)
		return
	}
	s.node.logger.Debug("goal", "action", s.name, "actionlib", g.text, "goal", g.id.text())
	response, call, err := s.call(partSendGoal, func(q *ros.Message) { q.With("goal_id", g.id.fields()).With("goal", m.Msg("goal")) })
	if err != nil { // no answer is the ROS 2 form's; here the goal is told of no more
		s.mu.Lock()
		delete(s.goals, g.id)
		s.order = slices.DeleteFunc(s.order, func(o *servedGoal) bool { return o == g })
		s.mu.Unlock()
		s.node.logger.Error("goal not answered", "action", s.name, "goal", g.text, "error", err)
		return
	}
	if !response.Bool("accepted") {
		s.mu.Lock()
		g.state, g.ended, g.note = stateRejected, time.Now(), "rejected: the node's log says why"
		s.mu.Unlock()
		call.Finish()
		s.finish(g, nil)
		return
	}
	if status != nil {
		_ = s.publishStatus(status)
	}
	if !s.node.spawn(func() { s.await(g) }) {
		s.node.logger.Warn("goal accepted while the node closes", "action", s.name, "goal", g.text)
	}
	call.Finish()
}

// await waits for the goal's result and publishes it.
func (s *actionServer) await(g *servedGoal) {
	response, call, err := s.call(partGetResult, func(q *ros.Message) { q.With("goal_id", g.id.fields()) })
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.node.logger.Error("no result of a goal", "action", s.name, "goal", g.text, "error", err)
		}
		return
	}
	defer call.Finish()
	s.mu.Lock()
	if !terminal(g.state) {
		g.state, g.ended = stateOf(int8(response.Int("status")), g.state), time.Now()
	}
	s.mu.Unlock()
	s.finish(g, response.Msg("result"))
}

// finish publishes how a goal ended, an empty result where there is none.
func (s *actionServer) finish(g *servedGoal, result *ros.Message) {
	s.mu.Lock()
	out, status, word := s.result, s.status, g.status()
	s.mu.Unlock()
	if out == nil {
		return
	}
	m := ros.New(out.Type()).With("status", word)
	if result != nil {
		m.With("result", result)
	}
	m.SetStamp("header.stamp", s.node.clock.Now())
	err := out.Publish(m)
	if status != nil {
		err = errors.Join(err, s.publishStatus(status))
	}
	if err != nil && !errors.Is(err, ros.ErrClosed) {
		s.node.logger.Error("result not published", "action", s.name, "goal", g.text, "error", err)
	}
}

// cancel takes a request to cancel: one goal by its id, all up to a stamp, both, or all.
func (s *actionServer) cancel(m *ros.Message) {
	text, stamp := m.Str("id"), m.Stamp("stamp")
	all := text == "" && stamp.IsZero()
	s.mu.Lock()
	var meant []*servedGoal
	known := false
	for _, g := range s.order {
		known = known || g.text == text
		if !terminal(g.state) && (all || g.text == text || !stamp.IsZero() && g.stamp <= stamp) {
			meant = append(meant, g)
		}
	}
	if text != "" && !known {
		s.recalled[text] = time.Now()
	}
	s.upTo = max(s.upTo, stamp)
	s.mu.Unlock()
	for _, g := range meant {
		response, call, err := s.call(partCancel, func(q *ros.Message) { q.With("goal_info.goal_id", g.id.fields()) })
		if err != nil {
			s.node.logger.Error("goal not canceled", "action", s.name, "goal", g.text, "error", err)
			continue
		}
		if code := response.Int("return_code"); code != 0 {
			s.node.logger.Warn("goal not canceled", "action", s.name, "goal", g.text, "code", code)
		}
		call.Finish()
	}
}
