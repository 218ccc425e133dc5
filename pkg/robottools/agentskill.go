package robottools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// agentType is the action by which an agent is asked.
const agentType = "agent_msgs/action/ExecuteTask"

const (
	// agentAnswer is how long another agent may take to accept or refuse.
	agentAnswer = 10 * time.Second
	// agentRest is how long it may take from a cancel to its result, which it sends at measured rest.
	agentRest = 20 * time.Second
	// agentLost is how long this node may be out of the other's reach before the other stops, where the profile does not say.
	agentLost = 10 * time.Second
	// agentLate is how much later than its time limit its result may come: it has a reserve of its own for stopping.
	agentLate = 2 * agentRest
)

// agentSkill has another agent carry out a task. What moves is the other's: its guard, its geometry and its permissions apply.
type agentSkill struct {
	*bound
	client   *action.Client
	task     *expression
	criteria *expression
	tools    *expression
	lost     time.Duration
}

func (r *Robot) newAgent(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Agent
	t := &agentSkill{
		bound: b, task: c.one("binding/agent/task", def.Task), criteria: c.one("binding/agent/criteria", def.Criteria),
		tools: c.one("binding/agent/allowed_tools", def.AllowedTools), lost: seconds(def.LostAfter),
	}
	if c.err != nil {
		return nil, c.err
	}
	if t.lost <= 0 {
		t.lost = agentLost
	}
	client, err := action.NewClient(r.node, def.Name, agentType)
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/agent"), "%v", err)
	}
	r.own(client)
	t.client = client
	b.spec.Binding, b.spec.Source = "agent "+def.Name, def.Name
	return t, nil
}

// message is the goal: the task, and no more of a budget than is left of the caller's.
func (t *agentSkill) message(s scope, call tool.Call) (*ros.Message, *tool.Result) {
	goal := ros.New(t.client.Type().Goal)
	v, err := t.task.eval(s)
	task, isText := v.(string)
	if err == nil && (!isText || strings.TrimSpace(task) == "") {
		err = fmt.Errorf("the task is %v, wanted words", v)
	}
	if err != nil {
		return nil, t.fail(tool.PreconditionFailed, "task: %v", err)
	}
	goal.With("task", task).With("client_timeout", t.lost)
	for _, list := range []struct {
		field string
		e     *expression
	}{{"success_criteria", t.criteria}, {"allowed_tools", t.tools}} {
		if list.e == nil {
			continue
		}
		words, err := list.e.strings(s)
		if err != nil {
			return nil, t.fail(tool.PreconditionFailed, "%s: %v", list.field, err)
		}
		goal.With(list.field, words)
	}
	b := goal.Msg("budget")
	left := timeLeft(call)
	b.With("max_steps", left.Steps).With("max_tool_calls", left.ToolCalls).With("max_input_tokens", left.InputTokens).
		With("max_output_tokens", left.OutputTokens).With("max_wall_time", left.WallTime).With("max_cost", left.Cost)
	return goal, nil
}

// timeLeft is what is left of the caller's budget, its time by now.
func timeLeft(call tool.Call) tool.Limits {
	left := call.Left
	if !call.Deadline.IsZero() {
		// Zero would be the other's default.
		left.WallTime = max(time.Until(call.Deadline), time.Millisecond)
	}
	return left
}

// Call implements tool.Tool. It returns when the other has ended, and rests.
func (t *agentSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.robot.awaitServer(ctx, t.bound, t.client.WaitReady); bad != nil {
		return *bad
	}
	s, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	goal, bad := t.message(s, call)
	if bad != nil {
		return *bad
	}
	g, bad := t.send(goal, call)
	if bad != nil {
		return *bad
	}
	out, err := t.follow(ctx, g, goal.Msg("budget").Duration("max_wall_time"))
	if err != nil {
		return *t.unknown(ctx, err)
	}
	call.Note("skill.goal_ended", map[string]any{"goal": g.ID().String(), "action": t.client.FullName(), "status": int(out.Status)})
	return t.told(ctx, s, out)
}

// send asks, and waits for the answer even where the call ends meanwhile: only a goal that is known can be canceled and waited for.
func (t *agentSkill) send(goal *ros.Message, call tool.Call) (*action.Goal, *tool.Result) {
	ctx, cancel := context.WithTimeout(t.robot.background, agentAnswer)
	defer cancel()
	g, err := t.client.Send(ctx, goal, action.GoalOptions{Sending: func(id action.GoalID) {
		call.Note("skill.goal_sent", map[string]any{"goal": id.String(), "action": t.client.FullName()})
	}})
	switch {
	case err == nil:
		return g, nil
	case errors.Is(err, ros.ErrRejected):
		return nil, t.fail(tool.ServerRejected, "the other agent refused the task: it is busy, or not active")
	}
	r := t.fail(tool.ServerUnavailable, "%v", err)
	r.DependencyLost = true
	return nil, r
}

// follow waits for the outcome. When the call ends, or the other's time is long over, the goal is canceled and its end waited for.
func (t *agentSkill) follow(ctx context.Context, g *action.Goal, limit time.Duration) (action.Outcome, error) {
	waiting, done := context.WithCancel(ctx)
	defer done()
	if limit > 0 {
		late := time.AfterFunc(limit+agentLate, done)
		defer late.Stop()
	}
	out, err := g.Result(waiting)
	if err == nil || waiting.Err() == nil {
		return out, err
	}
	ending, cancel := context.WithTimeout(t.robot.background, agentRest)
	defer cancel()
	go func() { _, _ = g.Cancel(ending) }() // its answer says less than the result
	return g.Result(ending)
}

// unknown is the observation of a goal whose end nobody knows.
func (t *agentSkill) unknown(ctx context.Context, err error) *tool.Result {
	if errors.Is(err, action.ErrServerLost) {
		r := t.fail(tool.ServerFailed, "the other agent is gone, and whether its robot rests is not known: %v", err)
		r.DependencyLost = true
		return r
	}
	r := t.fail(tool.NotAtRest, "the other agent sent no result: whether its robot rests is not known (%v)", err)
	if ctx.Err() != nil {
		r.Interrupt = interruptFault
	}
	return r
}

// told is the observation of a result.
func (t *agentSkill) told(ctx context.Context, s scope, out action.Outcome) tool.Result {
	if out.Result == nil {
		return *t.fail(tool.ServerFailed, "the other agent ended with status %v and no result", out.Status)
	}
	m := out.Result
	usage := m.Msg("usage")
	seen := map[string]any{
		"outcome": agentOutcome(m.Int("outcome")), "reason_code": m.Str("reason_code"), "answer": m.Str("answer"),
		"usage": map[string]any{
			"steps": usage.Int("steps"), "tool_calls": usage.Int("tool_calls"),
			"wall_time_s": math.Round(usage.Duration("wall_time").Seconds()*100) / 100,
		},
	}
	if out.Status == action.StatusSucceeded {
		s["result"] = m.Map()
		return t.observation(s, seen)
	}
	text := fmt.Sprintf("the other agent ended %s (%s): %s", seen["outcome"], seen["reason_code"], seen["answer"])
	if unmet := m.Strs("unmet_goals"); len(unmet) > 0 {
		text += fmt.Sprintf("; not met: %s", strings.Join(unmet, "; "))
	}
	kind := tool.ServerFailed
	switch {
	case m.Str("reason_code") == interruptFault:
		kind = tool.NotAtRest
	case ctx.Err() != nil:
		kind = tool.Canceled
	case m.Str("reason_code") == "budget_wall_time":
		kind = tool.Timeout
	}
	return *t.fail(kind, "%s", text)
}

// agentOutcome is the word for a value of the result's field outcome.
func agentOutcome(v int64) string {
	words := []string{"", "DONE", "UNVERIFIED", "FAILED", "BUDGET_EXHAUSTED", "INTERRUPTED"}
	if v < 1 || v >= int64(len(words)) {
		return fmt.Sprintf("with outcome %d", v)
	}
	return words[v]
}

// DryRun implements tool.DryRunner: nothing is asked.
func (t *agentSkill) DryRun(_ context.Context, call tool.Call) tool.Result {
	s, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	goal, bad := t.message(s, call)
	if bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: fmt.Sprintf("would ask %s: %s", t.spec.Source, goal.Str("task")), Source: t.spec.Source}
}

// Predict implements tool.Predictor: this robot stays as it is; what the other would meet, is the other's to say.
func (t *agentSkill) Predict(_ context.Context, call tool.Call, _ any) tool.Prediction {
	if _, bad := t.prepare(call); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{}
}
