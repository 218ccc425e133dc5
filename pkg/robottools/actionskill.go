package robottools

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	core    *actuator
	act     *baseActuator  // of a base, else nil
	grip    *jointActuator // of a gripper, else nil
	client  *action.Client
	goal    []named
	success *expression
	target  *expression
	planner *planner
	// relative is of goals that move by a distance or an angle, else nil.
	relative *relative
}

func (r *Robot) newAction(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Action
	t := &actionSkill{
		bound:   b,
		act:     r.actuators[b.def.Actuator],
		grip:    r.joints[b.def.Actuator],
		goal:    c.all("binding/action/goal", def.Goal),
		success: c.one("binding/action/success", def.Success),
		target:  c.one("binding/action/target", def.Target),
	}
	t.relative = newRelative(c, def, t.act)
	if c.err != nil {
		return nil, c.err
	}
	if t.core = r.actuator(b.def.Actuator); t.core == nil {
		return nil, c.p.source.errorf(join(c.at, "actuator"), "no actuator is called %q", b.def.Actuator)
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

// preparedGoal is a goal that may be sent.
type preparedGoal struct {
	scope scope
	goal  *ros.Message
	path  validate.Path // the planner's, where one was asked
}

// prepareGoal makes and validates the goal; nothing is sent.
func (t *actionSkill) prepareGoal(ctx context.Context, call tool.Call) (preparedGoal, *tool.Result) {
	var p preparedGoal
	s, bad := t.prepare(call)
	if bad != nil {
		return p, bad
	}
	s["moved"] = unmoved()
	goal, bad := t.message(s)
	if bad != nil {
		return p, bad
	}
	_, path, bad := t.validate(ctx, call, s, t.robot.live())
	if bad != nil {
		return p, bad
	}
	if t.has("gripper") {
		r, _ := t.robot.checkGripper(t.grip, t.def.Binding.Action.Type, goal)
		if bad := t.refuse(call, r); bad != nil {
			return p, bad
		}
	}
	return preparedGoal{s, goal, path}, nil
}

// message is the goal as the profile maps it.
func (t *actionSkill) message(s scope) (*ros.Message, *tool.Result) {
	goal := ros.New(t.client.Type().Goal)
	if err := fill(goal, t.goal, s); err != nil {
		return nil, t.fail(tool.GeometryRefused, "%v", err)
	}
	return goal, nil
}

// validate asks the geometry layer about the target and the planner's path, which it returns.
func (t *actionSkill) validate(ctx context.Context, call tool.Call, s scope, v view) (validate.Report, validate.Path, *tool.Result) {
	var none validate.Path
	if t.has("pose") {
		pose, err := t.targetPose(s)
		if err != nil {
			return validate.Report{}, none, t.fail(tool.GeometryRefused, "%v", err)
		}
		r := v.checkPose(t.act, pose)
		if bad := t.refuse(call, r); bad != nil {
			return r, none, bad
		}
	}
	if t.has("motion") {
		r, err := t.relative.check(s, v)
		if err != nil {
			return validate.Report{}, none, t.fail(tool.GeometryRefused, "%v", err)
		}
		if bad := t.refuse(call, r); bad != nil {
			return r, none, bad
		}
	}
	if t.has("path") {
		path, bad := t.planner.path(ctx, t.bound, s)
		if bad != nil {
			return validate.Report{}, none, bad
		}
		r := v.checkPath(t.act, path)
		return r, path, t.refuse(call, r)
	}
	return validate.Report{}, none, nil
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
	lease, err := t.core.guard.Acquire(ctx, owner(call))
	if err != nil {
		return *t.leaseFailure(ctx, err)
	}
	defer lease.Release()
	t.robot.letHear(ctx)
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	p, bad := t.prepareGoal(ctx, call)
	if bad != nil {
		return *bad
	}
	s := p.scope
	limit, err := t.motionLimit(s, func() (time.Duration, bool) { return t.takes(p) })
	if err != nil {
		return *t.fail(tool.GeometryRefused, "%v", err)
	}
	call.Note("skill.validated", map[string]any{"tool": t.name, "action": t.def.Binding.Action.Name})

	run := &actionRun{b: t.bound, act: t.core, client: t.client, goal: p.goal, call: call, publishers: t.def.Binding.Action.Publishers}
	begun := t.begin(s)
	if begun != nil {
		run.again = begun.again
	}
	cmd := guard.Command{
		Tool: t.name, CallID: call.ID,
		Allowance:  t.robot.allowance(limit, call.Deadline),
		MustMove:   t.mustMove(s),
		Revalidate: func(ctx context.Context) error { return t.revalidate(ctx, call, s, begun) },
	}
	if t.has("in_flight") {
		cmd.Check = t.robot.world.inFlight(t.act)
	}
	var from []float64
	if t.grip != nil {
		from = t.grip.position()
	}
	out := run.execute(ctx, lease, cmd)
	if bad := t.motionFailure(ctx, out, run.accepted()); bad != nil {
		return *bad
	}
	r := t.succeeded(s, run, out)
	if begun != nil && r.OK {
		if bad := begun.unmade(); bad != nil {
			return *bad
		}
	}
	if r.OK {
		if bad := t.gripped(from, p, run.result()); bad != nil {
			return *bad
		}
	}
	return r
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
	switch p, ok := t.robot.poseScope(); {
	case t.grip != nil:
		if q, measured := t.grip.scope(); measured {
			seen["joints"] = q
		}
	case ok:
		s["pose"] = p
		seen["pose"] = p
	}
	return t.observation(s, seen)
}

// revalidate checks the start state afresh before a paused motion resumes.
func (t *actionSkill) revalidate(ctx context.Context, call tool.Call, s scope, begun *begun) error {
	if begun != nil {
		if err := begun.measure(); err != nil {
			return err
		}
	}
	if _, _, bad := t.validate(ctx, call, s, t.robot.live()); bad != nil {
		return errors.New(bad.Content)
	}
	return nil
}

// takes estimates the motion: along the planner's path, else straight to the target.
func (t *actionSkill) takes(p preparedGoal) (time.Duration, bool) {
	if t.act == nil {
		return 0, false
	}
	if d, ok := t.act.pathTime(p.path); ok {
		return d, true
	}
	if t.relative != nil {
		distance, angle, err := t.relative.asked(p.scope)
		return t.act.limits.Duration(distance, angle), err == nil
	}
	from, known := t.robot.world.pose()
	if t.target == nil || !known {
		return 0, false
	}
	to, err := t.targetPose(p.scope)
	return t.act.limits.Duration(distance(from, to), 2*math.Pi), err == nil
}

// mustMove: a goal farther away than the settled rule's displacement should change what is measured.
func (t *actionSkill) mustMove(s scope) bool {
	if t.relative != nil {
		distance, angle, err := t.relative.asked(s)
		return err == nil && math.Hypot(distance, angle) > 0.1
	}
	if t.target == nil {
		return false
	}
	to, err := t.targetPose(s)
	from, ok := t.robot.world.pose()
	return err == nil && ok && (distance(to, from) > 0.5 || math.Abs(AngleDiff(to.Yaw, from.Yaw)) > 0.5)
}

// DryRun implements tool.DryRunner: validated, nothing sent (a planning request moves nothing).
func (t *actionSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	p, bad := t.prepareGoal(ctx, call)
	if bad != nil {
		return *bad
	}
	data, err := p.goal.MarshalJSON()
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	return tool.Result{OK: true, Content: fmt.Sprintf(`{"would_send":%s,"to":%q}`, data, t.def.Binding.Action.Name), Source: t.spec.Source}
}

// Predict implements tool.Predictor: the target, and the planner's path from where the robot would stand; of a gripper, what it
// would hold.
func (t *actionSkill) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	v := view{t.robot, at}
	if bad := t.interlocked(ctx, call, v); bad != nil {
		return refusedBy(bad, lockFinding(bad))
	}
	if t.grip != nil && t.has("gripper") {
		return t.predictGrip(call, v)
	}
	s, bad := t.prepareIn(call, v)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	if r, _, bad := t.validate(ctx, call, s, v); bad != nil {
		return refusedBy(bad, findingsOf(r))
	}
	if t.relative != nil {
		return t.predictMotion(s, at)
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
