package robottools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// actionSkill moves an actuator by an action goal.
type actionSkill struct {
	*bound
	act     *baseActuator
	client  *action.Client
	goal    []named
	success *expression
	target  *expression
	planner *planner
}

func (r *Robot) newAction(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Action
	t := &actionSkill{
		bound:   b,
		act:     r.actuators[b.def.Actuator],
		goal:    c.all("binding/action/goal", def.Goal),
		success: c.one("binding/action/success", def.Success),
		target:  c.one("binding/action/target", def.Target),
	}
	if c.err != nil {
		return nil, c.err
	}
	client, err := action.NewClient(r.node, def.Name, def.Type)
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/action"), "%v", err)
	}
	r.own(client)
	t.client = client
	if def.Planner != nil {
		if t.planner, err = r.newPlanner(def.Planner, c); err != nil {
			return nil, err
		}
	}
	if err := checkFields(client.Type().Goal, def.Goal); err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/action/goal"), "%v", err)
	}
	b.spec.Binding, b.spec.Source = fmt.Sprintf("action %s %s", def.Name, def.Type), def.Name
	return t, nil
}

// checkFields finds misspelt field paths at start-up.
func checkFields(t *ros.Type, fields Exprs) error {
	m := ros.New(t)
	for _, f := range fields {
		if _, err := m.Get(f.Name); err != nil {
			return err
		}
	}
	return nil
}

// prepareGoal makes and validates the goal; nothing is sent.
func (t *actionSkill) prepareGoal(ctx context.Context, call tool.Call) (scope, *ros.Message, *tool.Result) {
	s, bad := t.prepare(call)
	if bad != nil {
		return nil, nil, bad
	}
	goal := ros.New(t.client.Type().Goal)
	if err := fill(goal, t.goal, s); err != nil {
		return nil, nil, t.fail(tool.GeometryRefused, "%v", err)
	}
	if _, bad := t.validate(ctx, call, s, t.robot.live()); bad != nil {
		return nil, nil, bad
	}
	return s, goal, nil
}

// validate asks the geometry layer about the target and the planner's path.
func (t *actionSkill) validate(ctx context.Context, call tool.Call, s scope, v view) (validate.Report, *tool.Result) {
	if t.has("pose") {
		pose, err := t.targetPose(s)
		if err != nil {
			return validate.Report{}, t.fail(tool.GeometryRefused, "%v", err)
		}
		r := v.checkPose(t.act, pose)
		if bad := t.refuse(call, r); bad != nil {
			return r, bad
		}
	}
	if t.has("path") {
		path, bad := t.planner.path(ctx, t.bound, s)
		if bad != nil {
			return validate.Report{}, bad
		}
		r := v.checkPath(t.act, path)
		return r, t.refuse(call, r)
	}
	return validate.Report{}, nil
}

func (t *actionSkill) targetPose(s scope) (Place, error) {
	v, err := t.target.eval(s)
	if err != nil {
		return Place{}, err
	}
	return placeOf(v)
}

// Call implements tool.Tool.
func (t *actionSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.robot.awaitServer(ctx, t.bound, t.client.WaitReady); bad != nil {
		return *bad
	}
	lease, err := t.act.guard.Acquire(ctx, owner(call))
	if err != nil {
		return *t.leaseFailure(ctx, err)
	}
	defer lease.Release()
	s, goal, bad := t.prepareGoal(ctx, call)
	if bad != nil {
		return *bad
	}
	call.Note("skill.validated", map[string]any{"tool": t.name, "action": t.def.Binding.Action.Name})

	run := &actionRun{skill: t, goal: goal, call: call}
	defer run.end()
	cmd := guard.Command{
		Tool: t.name, CallID: call.ID,
		Allowance:  t.robot.allowance(t.spec.TimeLimit, call.Deadline),
		Start:      run.start,
		MustMove:   t.mustMove(s),
		Revalidate: func(ctx context.Context) error { return t.revalidate(ctx, call, s) },
	}
	if t.has("in_flight") {
		cmd.Check = t.robot.world.inFlight(t.act)
	}
	t.act.begin(run)
	out := lease.Execute(ctx, cmd)
	t.act.end(run)
	if bad := t.motionFailure(ctx, out); bad != nil {
		return *bad
	}
	return t.succeeded(s, run, out)
}

func (t *actionSkill) succeeded(s scope, run *actionRun, out guard.Outcome) tool.Result {
	seen := took(out)
	if res := run.result(); res != nil {
		s["result"] = res.Map()
		if t.success != nil {
			ok, err := t.success.bool(s)
			if err != nil {
				return *t.fail(tool.Failed, "success: %v", err)
			}
			if !ok {
				return *t.fail(tool.ServerFailed, "the server ended with %v", s["result"])
			}
		}
	}
	if p, ok := t.robot.poseScope(); ok {
		s["pose"] = p
		seen["pose"] = p
	}
	return t.observation(s, seen)
}

// revalidate checks the start state afresh before a paused motion resumes.
func (t *actionSkill) revalidate(ctx context.Context, call tool.Call, s scope) error {
	if _, bad := t.validate(ctx, call, s, t.robot.live()); bad != nil {
		return errors.New(bad.Content)
	}
	return nil
}

// mustMove: a goal farther away than the settled rule's displacement should change what is measured.
func (t *actionSkill) mustMove(s scope) bool {
	if t.target == nil {
		return false
	}
	to, err := t.targetPose(s)
	from, ok := t.robot.world.pose()
	return err == nil && ok && distance(to, from) > 0.5
}

// DryRun implements tool.DryRunner: validated, nothing sent (a planning request moves nothing).
func (t *actionSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	_, goal, bad := t.prepareGoal(ctx, call)
	if bad != nil {
		return *bad
	}
	data, err := goal.MarshalJSON()
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	return tool.Result{OK: true, Content: fmt.Sprintf(`{"would_send":%s,"to":%q}`, data, t.def.Binding.Action.Name), Source: t.spec.Source}
}

// Predict implements tool.Predictor: the target, and the planner's path from where the robot would stand.
func (t *actionSkill) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	v := view{t.robot.world, at}
	s, bad := t.prepareIn(call, v)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	if r, bad := t.validate(ctx, call, s, v); bad != nil {
		return refusedBy(bad, findingsOf(r))
	}
	if t.target == nil {
		return tool.Prediction{Unknown: true}
	}
	to, err := t.targetPose(s)
	if err != nil {
		return tool.Prediction{Unknown: true}
	}
	return tool.Prediction{State: at.moved(to)}
}

// actionRun is one call's goal, or goals: after an operator's pause a new one is sent in a new epoch.
type actionRun struct {
	skill *actionSkill
	goal  *ros.Message
	call  tool.Call

	mu      sync.Mutex
	goals   map[guard.Epoch]*action.Goal
	cancels map[guard.Epoch]context.CancelFunc
	last    *ros.Message
	wg      sync.WaitGroup
}

// cancelAnswer bounds the wait for the answer to a cancel request; the guard judges earlier.
const cancelAnswer = 10 * time.Second

// start sends the goal of an epoch without blocking; answers go to the guard.
func (a *actionRun) start(epoch guard.Epoch) error {
	ctx, cancel := context.WithCancel(a.skill.robot.background)
	a.mu.Lock()
	if a.goals == nil {
		a.goals, a.cancels = map[guard.Epoch]*action.Goal{}, map[guard.Epoch]context.CancelFunc{}
	}
	a.cancels[epoch] = cancel
	a.mu.Unlock()
	a.wg.Go(func() { a.follow(ctx, epoch) })
	return nil
}

// follow drives one epoch from sending to its end.
func (a *actionRun) follow(ctx context.Context, epoch guard.Epoch) {
	act := a.skill.act.guard
	g, err := a.skill.client.Send(ctx, a.goal, action.GoalOptions{Feedback: func(*ros.Message) { act.Progress(epoch) }})
	switch {
	case errors.Is(err, ros.ErrRejected):
		act.Rejected(epoch, err)
		return
	case err != nil:
		if ctx.Err() == nil {
			act.ServerLost(epoch)
		}
		return
	}
	a.mu.Lock()
	a.goals[epoch] = g
	a.mu.Unlock()
	a.call.Note("skill.goal_accepted", map[string]any{"goal": g.ID().String(), "action": a.skill.def.Binding.Action.Name})
	act.Accepted(epoch)
	out, err := g.Result(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.call.Note("skill.server_lost", map[string]any{"error": err.Error()})
			act.ServerLost(epoch)
		}
		return
	}
	a.mu.Lock()
	a.last = out.Result
	a.mu.Unlock()
	a.call.Note("skill.goal_ended", map[string]any{"goal": g.ID().String(), "status": int(out.Status)})
	switch out.Status {
	case action.StatusSucceeded:
		act.Finished(epoch, guard.ReasonSucceeded, nil)
	case action.StatusCanceled:
		act.Finished(epoch, guard.ReasonCanceled, nil)
	default:
		act.Finished(epoch, guard.ReasonServerFailed, fmt.Errorf("the server aborted the goal%s", whatFailed(out.Result)))
	}
}

// whatFailed quotes the error fields that results of Nav2 and ros2_control have.
func whatFailed(m *ros.Message) string {
	text := ""
	if m == nil {
		return text
	}
	for _, f := range []string{"error_code", "error_msg", "error_string"} {
		if v, err := m.Get(f); err == nil && fmt.Sprint(v) != "" && fmt.Sprint(v) != "0" {
			text += fmt.Sprintf(", %s %v", f, v)
		}
	}
	return text
}

// cancel asks for the epoch's goal to be canceled; the answer goes to the guard.
func (a *actionRun) cancel(epoch guard.Epoch) {
	a.mu.Lock()
	g := a.goals[epoch]
	drop := a.cancels[epoch]
	a.mu.Unlock()
	if g == nil {
		// Not accepted yet: the client remembers and cancels as soon as the acceptance arrives.
		if drop != nil {
			drop()
		}
		return
	}
	a.wg.Go(func() {
		ctx, cancel := context.WithTimeout(a.skill.robot.background, cancelAnswer)
		defer cancel()
		code, err := g.Cancel(ctx)
		if err != nil {
			return // silence: the guard's own deadline decides
		}
		a.skill.act.guard.CancelAnswered(epoch, code == action.CancelNone || code == action.CancelGoalTerminated)
	})
}

func (a *actionRun) result() *ros.Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// end lets go of what still waits for answers.
func (a *actionRun) end() {
	a.mu.Lock()
	for _, c := range a.cancels {
		c()
	}
	a.mu.Unlock()
	a.wg.Wait()
}
