package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// goals decides which goal runs: one at a time, the others as queue_policy says.
type goals struct {
	log    *slog.Logger
	policy func() string
	length func() int
	refuse func(id, reason string) // tells why a goal was refused

	mu     sync.Mutex
	closed bool
	line   []*entry // the first one runs
}

// entry is one admitted goal.
type entry struct {
	id     action.GoalID
	turn   chan struct{} // closed when it may run
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// admit decides on a new goal without waiting.
func (g *goals) admit(id action.GoalID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	policy := g.policy()
	switch {
	case g.closed:
		g.refuse(id.String(), "the node is not active")
		return false
	case slices.ContainsFunc(g.line, func(e *entry) bool { return e.id == id }): // by another action
		g.refuse(id.String(), "a goal with this id is being executed or waits")
		return false
	case policy == "reject" && len(g.line) > 0:
		g.refuse(id.String(), fmt.Sprintf("goal %s is being executed and queue_policy is reject", g.line[0].id))
		return false
	case policy == "queue" && len(g.line) > g.length():
		g.refuse(id.String(), fmt.Sprintf("%d goals wait already, queue_length is %d", len(g.line)-1, g.length()))
		return false
	}
	if policy == "preempt" {
		for _, e := range g.line {
			e.cancel(harness.Interrupt{Reason: harness.ReasonPreempted, Message: "by goal " + id.String()})
		}
	}
	e := &entry{id: id, turn: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	g.line = append(g.line, e)
	if len(g.line) == 1 {
		close(e.turn)
	}
	return true
}

// find an admitted goal.
func (g *goals) find(id action.GoalID) *entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.line {
		if e.id == id {
			return e
		}
	}
	return nil
}

// leave ends a goal's place in the line and lets the next one run.
func (g *goals) leave(e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e.cancel(nil)
	for i, x := range g.line {
		if x != e {
			continue
		}
		g.line = append(g.line[:i], g.line[i+1:]...)
		if i == 0 && len(g.line) > 0 {
			close(g.line[0].turn)
		}
		return
	}
}

// interrupt ends every admitted goal.
func (g *goals) interrupt(why harness.Interrupt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, e := range g.line {
		e.cancel(why)
	}
}

// close refuses new goals and ends the admitted ones; open admits again.
func (g *goals) close(why harness.Interrupt) {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.interrupt(why)
}

func (g *goals) open() {
	g.mu.Lock()
	g.closed = false
	g.mu.Unlock()
}

// busy reports how many goals are admitted.
func (g *goals) busy() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.line)
}

// serveGoals offers the actions that goals come by.
func (n *Node) serveGoals() ([]*action.Server, error) {
	var servers []*action.Server
	for _, a := range []struct {
		name, of string
		read     func(*ros.Message) request
	}{
		{"~/execute_task", executeType, n.types.toExecute},
		{"~/resume_task", resumeType, n.types.toResume},
	} {
		server, err := action.NewServer(n.ros, action.ServerConfig{
			Name: a.name, Type: a.of, ResultTimeout: secondsOf(n.params.resultTimeout.Get()),
			Goal:     func(id action.GoalID, _ *ros.Message) bool { return n.goals.admit(id) },
			Accepted: func(h *action.Handle) { n.carryOut(h, a.read(h.Goal())) },
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("node: %s: %w", a.name, err), closeServers(context.Background(), servers))
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// closeServers side by side: each waits for its goals to end.
func closeServers(ctx context.Context, servers []*action.Server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() { errs[i] = s.Close(ctx) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// carryOut is the action servers' Accepted: it runs in a goroutine of its own.
func (n *Node) carryOut(h *action.Handle, r request) {
	e := n.goals.find(h.ID())
	if e == nil { // cannot be: it was admitted
		n.logger("goals").Error("goal was never admitted", "goal", h.ID().String())
		return
	}
	defer n.goals.leave(e) // also where the session panics
	stop := context.AfterFunc(h.Context(), func() {
		e.cancel(harness.Interrupt{Reason: harness.ReasonShutdown, Message: "the action server closes"})
	})
	defer stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-h.Canceling():
			e.cancel(harness.Interrupt{Reason: harness.ReasonCanceled, Message: "by a client"})
		case <-over:
		}
	}()

	if limit := r.clientTimeout; limit > 0 {
		watching, done := context.WithCancel(e.ctx)
		defer done()
		go n.watchClient(watching, h, limit, func(why harness.Interrupt) { e.cancel(why) })
	}

	var result harness.Result
	select {
	case <-e.turn:
		h.Execute()
		result = n.session(e.ctx, h, r)
	case <-e.ctx.Done():
		select {
		case <-e.turn: // its turn came as well: let the session say what it has to
			h.Execute()
			result = n.session(e.ctx, h, r)
		default:
			result = n.unbegun(e.ctx, r)
			if result.Reason != harness.ReasonCanceled && result.Reason != harness.ReasonClientLost {
				// Preempted, stopped or shut down, the goals before it end as well: its result, too, is sent at rest.
				<-e.turn
			}
		}
	}
	// The place is free before the result is out: a client that has it in hand may send its next goal at once.
	n.goals.leave(e)
	n.finish(h, r, result)
}

// unbegun is the result of a goal that ended while it waited in the queue: it moved nothing.
func (n *Node) unbegun(ctx context.Context, of request) harness.Result {
	why := harness.Interrupt{Reason: harness.ReasonCanceled}
	if i, ok := context.Cause(ctx).(harness.Interrupt); ok { //nolint:errorlint // a cause is given, never wrapped
		why = i
	}
	r := harness.Result{
		Outcome: why.Reason.Outcome(), Reason: why.Reason, Answer: "The goal ended before it began: " + why.Error() + ". No motion had begun.",
		UnmetGoals: echoes(of.goal.Criteria), RestMeasured: true,
	}
	if len(r.UnmetGoals) == 0 {
		r.UnmetGoals = echoes(of.planned())
	}
	if len(r.UnmetGoals) == 0 {
		r.UnmetGoals = []string{of.inWords()}
	}
	return r
}

// echoes of criteria in a result: no more and no longer ones than a session would tell.
func echoes(list []string) []string {
	out := make([]string, min(len(list), harness.MaxCriteria))
	for i := range out {
		out[i] = harness.Echo(list[i])
	}
	return out
}

// finish sends the one terminal status: SUCCEEDED for done only, CANCELED for a client's cancel at rest, else ABORTED.
func (n *Node) finish(h *action.Handle, of request, r harness.Result) {
	m := n.types.resultMsg(of.told, r)
	var err error
	switch {
	case r.Outcome == harness.Done:
		err = h.Succeed(m)
	case r.Reason == harness.ReasonCanceled && h.Status() == action.StatusCanceling:
		err = h.Canceled(m)
	default:
		err = h.Abort(m)
	}
	if err != nil {
		n.logger("goals").Error("terminal result", "goal", h.ID().String(), "error", err)
	}
	n.logger("goals").Info("goal ended", "goal", h.ID().String(), "outcome", r.Outcome.String(), "reason", string(r.Reason))
}

// session runs the harness on one goal.
func (n *Node) session(ctx context.Context, h *action.Handle, r request) harness.Result {
	if err := r.bad(); err != nil {
		return refusal(harness.ReasonBadRequest, err.Error())
	}
	w := n.work.Load()
	if w == nil {
		return refusal(harness.ReasonShutdown, "the node is not configured")
	}
	g, task := r.goal, r.inWords()
	g.Session = h.ID().String()
	if !r.deadline.IsZero() {
		g.Deadline = n.monotonic(r.deadline)
	}
	if r.resumes {
		record, err := w.recordOf(r.earlier)
		if err != nil {
			return refusal(harness.ReasonBadRequest, fmt.Sprintf("session %q cannot go on: %v", r.earlier, err))
		}
		g.Resume, task = record, record.Task()
	}
	n.setLimits(effective(g.Budget, n.params.limits.limitsNow(), n.params.maxima.limitsNow()))
	defer w.robot.Attend()()
	o := newObserver(n, h, r, w, g.Session, task)
	defer o.close()
	n.logger("goals").Info("goal begins", "goal", g.Session, "task", harness.Echo(task))
	return w.harness.Run(ctx, g, o)
}

func refusal(reason harness.Reason, answer string) harness.Result {
	return harness.Result{Outcome: reason.Outcome(), Reason: reason, Answer: answer, UnmetGoals: []string{answer}, RestMeasured: true}
}
