package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"agent_node/pkg/harness"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/pkg/watchdog"
)

const (
	decomposeType        = "agent_msgs/action/Decompose"
	decomposeServiceType = "agent_msgs/srv/DecomposeTask"

	// planningPrefix begins the sessions of decompositions: what moves meanwhile does not belong into their records.
	planningPrefix = watchdog.PlanPrefix
	// planningPatience bounds how long deactivating waits for decompositions to end. They move nothing.
	planningPatience = 5 * time.Second
)

// planning serves decompositions while the node is active, several at once and beside goals.
type planning struct {
	n       *Node
	ctx     context.Context
	cancel  context.CancelCauseFunc
	service ros.Service
	server  *action.Server
	result  *ros.Type // of the action; the service's response has the same fields

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // of the service
}

// servePlanning advertises ~/decompose_task and ~/decompose.
func (n *Node) servePlanning() (*planning, error) {
	st, err := n.ros.Types().Service(decomposeServiceType)
	if err != nil {
		return nil, fmt.Errorf("node: decompose_task: %w", err)
	}
	at, err := n.ros.Types().Action(decomposeType)
	if err != nil {
		return nil, fmt.Errorf("node: decompose: %w", err)
	}
	p := &planning{n: n, result: at.Result}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.server, err = action.NewServer(n.ros, action.ServerConfig{
		Name: "~/decompose", Type: decomposeType, ResultTimeout: secondsOf(n.params.resultTimeout.Get()), Accepted: p.execute,
	})
	if err == nil {
		p.service, err = n.ros.CreateService("~/decompose_task", decomposeServiceType, func(ctx context.Context, req *ros.Message) (*ros.Message, error) {
			return p.answer(ctx, req, ros.New(st.Response))
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node: decompose: %w", err), p.close(context.Background()))
	}
	return p, nil
}

// close ends what is under way and takes both down.
func (p *planning) close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel(harness.Interrupt{Reason: harness.ReasonShutdown, Message: "the node is being deactivated"})
	ctx, cancel := context.WithTimeout(ctx, planningPatience)
	defer cancel()
	ended := make(chan struct{})
	go func() { p.calls.Wait(); close(ended) }()
	var all []error
	select {
	case <-ended:
	case <-ctx.Done():
		all = append(all, fmt.Errorf("node: decompose_task: %w", ctx.Err()))
	}
	if p.service != nil {
		all = append(all, p.service.Close())
	}
	if p.server != nil {
		all = append(all, p.server.Close(ctx))
	}
	return errors.Join(all...)
}

// begin counts a call of the service; false once the node is being deactivated.
func (p *planning) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.calls.Add(1)
	}
	return !p.closed
}

// answer is the service. It has no cancel: its budget bounds it.
func (p *planning) answer(ctx context.Context, req, resp *ros.Message) (*ros.Message, error) {
	if !p.begin() {
		return p.n.types.fillPlan(resp, harness.DecomposeResult{Reason: harness.ReasonShutdown, Message: "the node is being deactivated"}), nil
	}
	defer p.calls.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	defer stop()
	return p.n.types.fillPlan(resp, p.decompose(ctx, strings.ReplaceAll(uuid.NewString(), "-", ""), req)), nil
}

// execute is the action.
func (p *planning) execute(h *action.Handle) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-h.Canceling():
			cancel(harness.Interrupt{Reason: harness.ReasonCanceled, Message: "by a client"})
		case <-over:
		}
	}()
	h.Execute()
	r := p.decompose(ctx, h.ID().String(), h.Goal())
	m := p.n.types.fillPlan(ros.New(p.result), r)
	var err error
	switch {
	case r.Success:
		err = h.Succeed(m)
	case r.Reason == harness.ReasonCanceled && h.Status() == action.StatusCanceling:
		err = h.Canceled(m)
	default:
		err = h.Abort(m)
	}
	if err != nil {
		p.n.logger("plans").Error("terminal result", "goal", h.ID().String(), "error", err)
	}
}

// decompose one task; m has the fields of the service's request, which are the goal's.
func (p *planning) decompose(ctx context.Context, id string, m *ros.Message) harness.DecomposeResult {
	w := p.n.work.Load()
	if w == nil {
		return harness.DecomposeResult{Reason: harness.ReasonShutdown, Message: "the node is not configured"}
	}
	defer w.robot.Attend()()
	return w.harness.Decompose(ctx, harness.DecomposeRequest{
		Session: planningPrefix + id, Task: m.Str("task"), Context: m.Str("context"), MaxSteps: int(m.Int("max_steps")),
		Budget: budgetOf(m.Msg("budget")), AllowedTools: texts(m, "allowed_tools"),
	})
}

// fillPlan writes the fields that the service's response and the action's result share.
func (t *types) fillPlan(m *ros.Message, r harness.DecomposeResult) *ros.Message {
	m.With("success", r.Success).With("reason_code", string(r.Reason)).With("message", r.Message)
	if r.Success {
		m.With("plan", t.planMsg(r.Plan))
	}
	setUsage(m.Msg("usage"), r.Usage)
	return m
}
