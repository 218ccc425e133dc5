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

// actionClient is what a node knows of one action that it calls: the goals' states by the status topic, and results.
// Actionlib answers nothing: what the services of the ROS 2 form would answer is read from the states that follow.
type actionClient struct {
	node *Node
	name string

	mu      sync.Mutex
	parts   int
	status  *subscription
	arrays  int // status arrays heard
	heard   time.Time
	goals   map[string]*seenGoal    // by actionlib's id
	results map[string]*ros.Message // <Name>ActionResult: of goals that somebody here wants to know of, and the last others
	wanted  map[string]int          // by how many
	strange []string                // goals of others whose results are kept for a while, the oldest first
	changed chan struct{}           // closed and replaced when something was heard
}

// seenGoal is a goal on the status topic.
type seenGoal struct {
	state uint8
	array int // the last one that it was in
	place int // in that array
	at    time.Time
}

const (
	// forgotten is how long a goal must be missing in the status arrays before it is believed to be forgotten: its
	// result may be on its way.
	forgotten = time.Second
	// forgottenArrays is in how many arrays.
	forgottenArrays = 3
	// keptStrange is how many results of others' goals are kept: somebody may come who asks.
	keptStrange = 20
	// keepSeen bounds how long states are remembered.
	keepSeen = time.Minute
)

func (a *actions) clientOf(name string) (*actionClient, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.clients[name]
	if !ok {
		c = &actionClient{
			node: a.node, name: name, goals: map[string]*seenGoal{}, results: map[string]*ros.Message{},
			wanted: map[string]int{}, changed: make(chan struct{}),
		}
		w, err := a.wireOf(statusArrayType)
		if err != nil {
			return nil, err
		}
		if c.status, err = a.node.subscribe(name+"/status", w, ros.QoS{Depth: defaultDepth}, func(r ros.Received) { c.hear(r.Message) }); err != nil {
			return nil, err
		}
		if a.clients == nil {
			a.clients = map[string]*actionClient{}
		}
		a.clients[name] = c
	}
	c.parts++
	return c, nil
}

// leave is called for each part once.
func (c *actionClient) leave() error {
	a := &c.node.actions
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.parts--; c.parts > 0 {
		return nil
	}
	delete(a.clients, c.name)
	return c.status.Close()
}

// hear takes a status array.
func (c *actionClient) hear(m *ros.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrays++
	c.heard = time.Now()
	for i, s := range m.Msgs("status_list") {
		text, state := s.Str("goal_id.id"), uint8(s.Uint("status"))
		g := c.goals[text]
		if g == nil {
			g = &seenGoal{}
			c.goals[text] = g
		}
		g.state, g.array, g.place, g.at = state, c.arrays, i, c.heard
	}
	for text, g := range c.goals {
		if g.array != c.arrays && c.heard.Sub(g.at) > keepSeen {
			delete(c.goals, text)
		}
	}
	c.news()
}

// take takes a result.
func (c *actionClient) take(m *ros.Message) {
	text := m.Str("status.goal_id.id")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[text] = m
	if c.wanted[text] == 0 {
		c.strange = append(c.strange, text)
		if len(c.strange) > keptStrange {
			c.drop(c.strange[0])
			c.strange = c.strange[1:]
		}
	}
	c.news()
}

// drop forgets a result that nobody waits for. It is called with mu held.
func (c *actionClient) drop(text string) {
	if c.wanted[text] == 0 {
		delete(c.results, text)
	}
}

func (c *actionClient) news() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// want has the result of a goal kept until the returned function was called as often as want.
func (c *actionClient) want(text string) (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted[text]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.wanted[text]--; c.wanted[text] <= 0 {
			delete(c.wanted, text)
			c.drop(text)
		}
	}
}

// until waits until cond, which is called with mu held, holds. Time passes, too: cond is asked again at every array, and
// after a while without.
func (c *actionClient) until(ctx context.Context, cond func() bool) error {
	for {
		c.mu.Lock()
		ok, changed := cond(), c.changed
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(forgotten):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// missing reports whether a goal is in none of the arrays since. It is called with mu held.
func (c *actionClient) missing(text string, since int, from time.Time) bool {
	if g := c.goals[text]; g != nil {
		since, from = max(since, g.array), later(from, g.at)
	}
	return c.arrays >= since+forgottenArrays && c.heard.Sub(from) >= forgotten
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// client makes one of the services by which an action is called.
func (a *actions) client(name string, p part, typ *ros.ServiceType) (ros.Client, error) {
	shared, err := a.clientOf(actionOf(name))
	if err != nil {
		return nil, fmt.Errorf("client of %s: %w", name, err)
	}
	c := &actionCall{shared: shared, name: name, part: p, typ: typ}
	c.ctx, c.cancel = context.WithCancel(a.node.ctx)
	if err := c.open(); err != nil {
		c.cancel()
		return nil, fmt.Errorf("client of %s: %w", name, errors.Join(err, shared.leave()))
	}
	return c, nil
}

// actionCall is a client of one of an action's services, in the ROS 2 form.
type actionCall struct {
	shared *actionClient
	name   string
	part   part
	typ    *ros.ServiceType
	out    *publisher    // of goals or cancels
	in     *subscription // of results
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once

	mu   sync.Mutex
	sent map[string]func() // goals whose result is kept
	line []string          // the oldest first
}

func (c *actionCall) open() error {
	n := c.shared.node
	if c.part == partCancel {
		w, err := n.actions.wireOf(goalIDType)
		if err != nil {
			return err
		}
		c.out, err = n.publish(c.shared.name+"/cancel", w, ros.QoS{Depth: goalQueue})
		return err
	}
	types, err := n.actions.typesOf(c.typ.Name)
	if err != nil {
		return err
	}
	if c.part == partSendGoal {
		c.sent = map[string]func(){}
		c.out, err = n.publish(c.shared.name+"/goal", n.types.wires.message(types.goal), ros.QoS{Depth: goalQueue})
		return err
	}
	c.in, err = n.subscribe(c.shared.name+"/result", n.types.wires.message(types.result), ros.QoS{Depth: goalQueue},
		func(r ros.Received) { c.shared.take(r.Message) })
	return err
}

func (c *actionCall) Service() string        { return c.name }
func (c *actionCall) Type() *ros.ServiceType { return c.typ }

// Ready reports whether a server is there: who tells the states also hears what is sent.
func (c *actionCall) Ready() bool {
	if c.ctx.Err() != nil {
		return false
	}
	servers := c.shared.status.in.peers()
	if c.in != nil {
		return overlap(servers, c.in.in.peers())
	}
	return overlap(servers, c.out.out.subscribers())
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// WaitReady waits until a server is there or ctx ends.
func (c *actionCall) WaitReady(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !c.Ready() {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return c.closedError()
		case <-ctx.Done():
			return fmt.Errorf("wait for action %s: %w: %w", c.shared.name, ros.ErrNotReady, ctx.Err())
		}
	}
	return nil
}

func (c *actionCall) closedError() error {
	return fmt.Errorf("action %s: %w", c.shared.name, ros.ErrClosed)
}

// Close ends the client and its calls.
func (c *actionCall) Close() error {
	var err error
	c.once.Do(func() {
		c.cancel()
		c.mu.Lock()
		for _, done := range c.sent {
			done()
		}
		c.sent = nil
		c.mu.Unlock()
		if c.out != nil {
			err = c.out.Close()
		}
		if c.in != nil {
			err = errors.Join(err, c.in.Close())
		}
		err = errors.Join(err, c.shared.leave())
	})
	return err
}

// Call does what the service would.
func (c *actionCall) Call(ctx context.Context, m *ros.Message) (*ros.Message, error) {
	request, err := own(c.typ.Request, m)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", c.name, err)
	}
	switch {
	case c.ctx.Err() != nil:
		return nil, c.closedError()
	case !c.Ready():
		return nil, fmt.Errorf("call %s: %w", c.name, ros.ErrNotReady)
	}
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	response := ros.New(c.typ.Response)
	switch c.part {
	case partSendGoal:
		err = c.sendGoal(both, request, response)
	case partCancel:
		err = c.cancelGoal(both, request, response)
	case partGetResult:
		err = c.getResult(both, request, response)
	case partNone, partFeedback, partStatus:
	}
	switch {
	case err == nil:
		return response, nil
	case c.ctx.Err() != nil:
		return nil, c.closedError()
	}
	return nil, fmt.Errorf("call %s: %w", c.name, err)
}

// sendGoal publishes the goal and waits until the server tells its state.
func (c *actionCall) sendGoal(ctx context.Context, request, response *ros.Message) error {
	s := c.shared
	id, now := idAt(request, "goal_id"), s.node.clock.Now()
	text := id.text()
	s.mu.Lock()
	used := s.goals[text] != nil
	s.mu.Unlock()
	if used || id.isZero() {
		return response.Set("accepted", false) // a server would keep silent
	}
	c.keep(text)
	m := ros.New(c.out.Type()).With("goal", request.Msg("goal")).With("goal_id.id", text)
	m.SetStamp("header.stamp", now)
	m.SetStamp("goal_id.stamp", now)
	if err := c.out.Publish(m); err != nil {
		return err
	}
	state := stateLost
	err := s.until(ctx, func() bool {
		if g := s.goals[text]; g != nil {
			state = g.state
			return true
		}
		if r := s.results[text]; r != nil {
			state = uint8(r.Uint("status.status"))
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	response.SetStamp("stamp", now)
	return response.Set("accepted", state != stateRejected)
}

// keptResults is of how many goals sent the results are kept until somebody asks for them.
const keptResults = 100

// keep has the goal's result kept.
func (c *actionCall) keep(text string) {
	done := c.shared.want(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sent == nil || c.sent[text] != nil {
		done()
		return
	}
	c.sent[text] = done
	c.line = append(c.line, text)
	if len(c.line) > keptResults {
		c.sent[c.line[0]]()
		delete(c.sent, c.line[0])
		c.line = c.line[1:]
	}
}

// Return codes of action_msgs/srv/CancelGoal.
const (
	cancelUnknown int8 = 2
	cancelEnded   int8 = 3
)

// cancelGoal publishes the cancel and waits until every goal meant is canceling or has ended.
func (c *actionCall) cancelGoal(ctx context.Context, request, response *ros.Message) error {
	s := c.shared
	id, stamp := idAt(request, "goal_info.goal_id"), request.Stamp("goal_info.stamp")
	m := ros.New(c.out.Type())
	m.SetStamp("stamp", stamp)
	text := ""
	if !id.isZero() {
		text = id.text()
		m.With("id", text)
	}
	// Who is meant is known once a status array was heard.
	if err := s.until(ctx, func() bool { return s.arrays > 0 }); err != nil {
		return err
	}
	s.mu.Lock()
	began, from := s.arrays, time.Now()
	before := stateLost
	var open []string
	for t, g := range s.goals {
		if t == text {
			before = g.state
		}
		if g.array == s.arrays && !terminal(g.state) && !canceling(g.state) && (text == "" || t == text || !stamp.IsZero()) {
			open = append(open, t)
		}
	}
	slices.SortFunc(open, func(a, b string) int { return s.goals[a].place - s.goals[b].place })
	s.mu.Unlock()
	if text != "" && stamp.IsZero() && before != stateLost && (terminal(before) || canceling(before)) {
		return response.Set("return_code", cancelEnded)
	}
	if err := c.out.Publish(m); err != nil {
		return err
	}
	if text != "" && stamp.IsZero() {
		return c.awaitCanceling(ctx, text, began, from, response)
	}
	if !stamp.IsZero() {
		// Which goals are older is the server's to know: those that follow.
		return s.until(ctx, func() bool { return s.arrays > began })
	}
	var done []any
	err := s.until(ctx, func() bool {
		if s.arrays <= began { // with no goal in sight, this shows that the server is at work
			return false
		}
		done = done[:0]
		for _, t := range open {
			g := s.goals[t]
			switch {
			case g == nil || s.missing(t, began, from):
				continue
			case !canceling(g.state) && !terminal(g.state):
				return false
			case g.state == stateSucceeded, g.state == stateAborted, g.state == stateRejected:
				continue // it had ended by itself
			}
			done = append(done, map[string]any{"goal_id": goalIDOf(t).fields()})
		}
		return true
	})
	if err != nil {
		return err
	}
	return response.Set("goals_canceling", done)
}

func (c *actionCall) awaitCanceling(ctx context.Context, text string, began int, from time.Time, response *ros.Message) error {
	s := c.shared
	code := int8(0)
	err := s.until(ctx, func() bool {
		g := s.goals[text]
		switch {
		case s.missing(text, began, from):
			code = cancelUnknown
		case g == nil:
			return false
		case g.state == stateSucceeded, g.state == stateAborted, g.state == stateRejected, g.state == stateLost:
			code = cancelEnded
		case !canceling(g.state) && !terminal(g.state):
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	if code == 0 {
		if err := response.Set("goals_canceling", []any{map[string]any{"goal_id": goalIDOf(text).fields()}}); err != nil {
			return err
		}
	}
	return response.Set("return_code", code)
}

// getResult waits for the goal's result. A goal that the server tells nothing of any more is unknown.
func (c *actionCall) getResult(ctx context.Context, request, response *ros.Message) error {
	s := c.shared
	text := idAt(request, "goal_id").text()
	defer s.want(text)()
	s.mu.Lock()
	began, from := s.arrays, time.Now()
	s.mu.Unlock()
	var result *ros.Message
	err := s.until(ctx, func() bool {
		result = s.results[text]
		return result != nil || s.missing(text, began, from)
	})
	if err != nil || result == nil {
		return errors.Join(err, response.Set("status", statusUnknown))
	}
	if err := response.Set("status", statusOf(uint8(result.Uint("status.status")))); err != nil {
		return err
	}
	return response.Set("result", result.Msg("result"))
}

// subscription makes the action's status or feedback subscription, in the ROS 2 form.
func (a *actions) subscription(name string, p part, typeName string, qos ros.QoS, callback func(ros.Received)) (ros.Subscription, error) {
	typ, err := a.node.types.Message(typeName)
	if err != nil {
		return nil, fmt.Errorf("subscription of %s: %w", name, err)
	}
	v := &actionSubscription{topic: name, typ: typ}
	translate, w := v.statusArray, (*wire)(nil)
	switch p {
	case partStatus:
		w, err = a.wireOf(statusArrayType)
	case partFeedback:
		var types *actionlibTypes
		if types, err = a.typesOf(typeName); err == nil {
			w = a.node.types.wires.message(types.feedback)
		}
		translate = v.feedbackMessage
	case partNone, partSendGoal, partCancel, partGetResult:
		err = fmt.Errorf("%w: %s is a service of an action", ros.ErrInvalidName, name)
	}
	if err == nil {
		v.subscription, err = a.node.subscribe(actionOf(name)+"/"+string(p), w, qos, func(r ros.Received) {
			r.Message = translate(r.Message)
			callback(r)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("subscription of %s: %w", name, err)
	}
	return v, nil
}

// actionSubscription is a subscription of an action's status or feedback, in the ROS 2 form.
type actionSubscription struct {
	*subscription
	topic string
	typ   *ros.Type
}

func (v *actionSubscription) Topic() string   { return v.topic }
func (v *actionSubscription) Type() *ros.Type { return v.typ }

func (v *actionSubscription) statusArray(m *ros.Message) *ros.Message {
	var list []any
	for _, s := range m.Msgs("status_list") {
		status := statusOf(uint8(s.Uint("status")))
		if status == statusUnknown {
			continue
		}
		list = append(list, map[string]any{
			"goal_info": map[string]any{"goal_id": goalIDOf(s.Str("goal_id.id")).fields(), "stamp": s.Stamp("goal_id.stamp")},
			"status":    status,
		})
	}
	return ros.New(v.typ).With("status_list", list)
}

func (v *actionSubscription) feedbackMessage(m *ros.Message) *ros.Message {
	return ros.New(v.typ).With("goal_id", goalIDOf(m.Str("status.goal_id.id")).fields()).With("feedback", m.Msg("feedback"))
}
