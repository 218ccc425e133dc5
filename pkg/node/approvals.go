package node

import (
	"context"
	"fmt"
	"sync"

	"agent_node/pkg/harness/policy"
	"agent_node/pkg/ros"
)

// approvals asks a person by ~/approvals and hears the answer by ~/respond.
type approvals struct {
	n *Node

	mu      sync.Mutex
	pending map[string]chan policy.Answer
}

// Ask implements policy.Approver.
func (a *approvals) Ask(ctx context.Context, r policy.Request) (policy.Answer, error) {
	answer := make(chan policy.Answer, 1)
	a.mu.Lock()
	if _, twice := a.pending[r.ID]; twice {
		a.mu.Unlock()
		return policy.Answer{}, fmt.Errorf("node: request %s is open already", r.ID)
	}
	a.pending[r.ID] = answer
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		delete(a.pending, r.ID)
		a.mu.Unlock()
	}()
	m := ros.New(a.n.types.approval).With("request_id", r.ID).With("session", r.Session).With("question", r.Question)
	m.Msg("call").With("call_id", r.CallID).With("tool", r.Tool).With("tool_class", uint8(r.Class)).With("arguments_json", string(r.Arguments))
	m.SetStamp("expires", stamp(r.Expires))
	a.n.outbox.send(a.n.approvalPub, func() *ros.Message { return m })
	select {
	case got := <-answer:
		return got, nil
	case <-ctx.Done():
		return policy.Answer{}, context.Cause(ctx)
	}
}

// respond passes an answer on; each request takes one.
func (a *approvals) respond(id string, approved bool, text string) (bool, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch, ok := a.pending[id]
	if !ok {
		return false, fmt.Sprintf("no open request has the id %q: it was answered, has expired or never was", id)
	}
	delete(a.pending, id)
	ch <- policy.Answer{RequestID: id, Approved: approved, Text: text}
	if approved {
		return true, "approved"
	}
	return true, "denied"
}

func newApprovals(n *Node) *approvals {
	return &approvals{n: n, pending: map[string]chan policy.Answer{}}
}
