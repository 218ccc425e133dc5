package node

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
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

// execute is the action server's Accepted: it runs in a goroutine of its own.
func (n *Node) execute(h *action.Handle) {
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

	if limit := h.Goal().Duration("client_timeout"); limit > 0 {
		watching, done := context.WithCancel(e.ctx)
		defer done()
		go n.watchClient(watching, h, limit, func(why harness.Interrupt) { e.cancel(why) })
	}

	var result harness.Result
	select {
	case <-e.turn:
		h.Execute()
		result = n.session(e.ctx, h)
	case <-e.ctx.Done():
		select {
		case <-e.turn: // its turn came as well: let the session say what it has to
			h.Execute()
			result = n.session(e.ctx, h)
		default:
			result = n.unbegun(e.ctx, h)
			if result.Reason != harness.ReasonCanceled && result.Reason != harness.ReasonClientLost {
				// Preempted, stopped or shut down, the goals before it end as well: its result, too, is sent at rest.
				<-e.turn
			}
		}
	}
	// The place is free before the result is out: a client that has it in hand may send its next goal at once.
	n.goals.leave(e)
	n.finish(h, result)
}

// unbegun is the result of a goal that ended while it waited in the queue: it moved nothing.
func (n *Node) unbegun(ctx context.Context, h *action.Handle) harness.Result {
	why := harness.Interrupt{Reason: harness.ReasonCanceled}
	if i, ok := context.Cause(ctx).(harness.Interrupt); ok { //nolint:errorlint // a cause is given, never wrapped
		why = i
	}
	r := harness.Result{
		Outcome: why.Reason.Outcome(), Reason: why.Reason, Answer: "The goal ended before it began: " + why.Error() + ". No motion had begun.",
		UnmetGoals: echoes(texts(h.Goal(), "success_criteria")), RestMeasured: true,
	}
	if len(r.UnmetGoals) == 0 {
		r.UnmetGoals = echoes(texts(h.Goal(), "plan.success_criteria"))
	}
	if len(r.UnmetGoals) == 0 {
		r.UnmetGoals = []string{taskOf(h.Goal())}
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
func (n *Node) finish(h *action.Handle, r harness.Result) {
	m := n.types.resultMsg(r)
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
func (n *Node) session(ctx context.Context, h *action.Handle) harness.Result {
	m := h.Goal()
	if r, bad := n.badGoal(m); bad {
		return r
	}
	g := harness.Goal{
		Session: h.ID().String(), Task: m.Str("task"), Plan: planOf(m.Msg("plan")), Criteria: texts(m, "success_criteria"),
		Budget: budgetOf(m.Msg("budget")), AllowedTools: texts(m, "allowed_tools"), DryRun: m.Bool("dry_run"),
	}
	if d := m.Stamp("deadline"); !d.IsZero() {
		g.Deadline = n.monotonic(d)
	}
	w := n.work.Load()
	if w == nil {
		return refusal(harness.ReasonShutdown, "the node is not configured")
	}
	task := taskOf(m)
	if earlier := m.Str("resume"); earlier != "" {
		record, err := w.recordOf(earlier)
		if err != nil {
			return refusal(harness.ReasonBadRequest, fmt.Sprintf("session %q cannot go on: %v", earlier, err))
		}
		g.Resume, task = record, record.Task()
	}
	n.setLimits(effective(g.Budget, n.params.limits.limitsNow(), n.params.maxima.limitsNow()))
	defer w.robot.Attend()()
	o := newObserver(n, h, w, g.Session, task)
	defer o.close()
	n.logger("goals").Info("goal begins", "goal", g.Session, "task", harness.Echo(g.Task))
	return w.harness.Run(ctx, g, o)
}

// badGoal refuses what is no request, as far as messages can say it: a negative deadline. The harness refuses the rest.
func (n *Node) badGoal(m *ros.Message) (harness.Result, bool) {
	if m.Stamp("deadline") < 0 {
		return refusal(harness.ReasonBadRequest, fmt.Sprintf("deadline is %d ns, must not be negative", m.Stamp("deadline"))), true
	}
	if m.Str("resume") != "" && (m.Str("task") != "" || len(m.Msgs("plan.steps")) > 0 || len(texts(m, "success_criteria")) > 0 || len(texts(m, "allowed_tools")) > 0) {
		return refusal(harness.ReasonBadRequest, "a goal with resume has no task, plan, criteria or allowed tools of its own: they are the earlier session's"), true
	}
	if d := m.Duration("client_timeout"); d < 0 {
		return refusal(harness.ReasonBadRequest, fmt.Sprintf("client_timeout is %v, must not be negative", d)), true
	}
	return harness.Result{}, false
}

// taskOf a goal in words: its own, else its plan's.
func taskOf(m *ros.Message) string {
	for _, path := range []string{"task", "plan.task"} {
		if text := m.Str(path); strings.TrimSpace(text) != "" {
			return harness.Echo(text)
		}
	}
	if len(m.Msgs("plan.steps")) > 0 {
		return "the plan is executed"
	}
	if earlier := m.Str("resume"); earlier != "" {
		return "session " + earlier + " goes on"
	}
	return "no task was given"
}

func refusal(reason harness.Reason, answer string) harness.Result {
	return harness.Result{Outcome: reason.Outcome(), Reason: reason, Answer: answer, UnmetGoals: []string{answer}, RestMeasured: true}
}
