package robottools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// mover begins and carries on one kind of motion of an actuator of any kind, which lasts until a condition over its measured
// state holds.
type mover interface {
	// ready waits until somebody is there who can carry it out.
	ready(ctx context.Context) error
	// begin sends what begins the motion, in an epoch; it does not block.
	begin(s scope) error
	// carryOn is called at the control rate; begun tells whether the motion is known to have begun.
	carryOn(s scope) (begun bool, err error)
	// end lets go of what begin has left waiting.
	end()
}

// conditionSkill moves an actuator by a topic or a service until a condition holds, or for a time.
type conditionSkill struct {
	*bound
	act   *actuator
	until *expression
	lasts *expression
	make  func() mover
}

func (r *Robot) newConditionSkill(b *bound, c *compiler, until, lasts *expression, makeMover func() mover) (tool.Tool, error) {
	t := &conditionSkill{bound: b, act: r.actuator(b.def.Actuator), until: until, lasts: lasts, make: makeMover}
	if c.err != nil {
		return nil, c.err
	}
	if t.act == nil {
		return nil, c.p.source.errorf(join(c.at, "actuator"), "no actuator is called %q", b.def.Actuator)
	}
	return t, nil
}

// Call implements tool.Tool.
func (t *conditionSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	m := t.make()
	if bad := t.robot.awaitServer(ctx, t.bound, m.ready); bad != nil {
		return *bad
	}
	lease, err := t.act.guard.Acquire(ctx, owner(call))
	if err != nil {
		return *t.leaseFailure(ctx, err)
	}
	defer lease.Release()
	t.robot.letHear(ctx)
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	s, bad := t.prepare(call)
	if bad != nil {
		return *bad
	}
	run := &conditionRun{skill: t, mover: m, scope: s}
	defer m.end()
	there, err := run.measured()
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	limit, err := t.motionLimit(s, func() (time.Duration, bool) { return 0, false })
	if err != nil {
		return *t.fail(tool.GeometryRefused, "%v", err)
	}
	call.Note("skill.validated", map[string]any{"tool": t.name, "binding": t.spec.Binding})
	out := lease.Execute(ctx, guard.Command{
		Tool: t.name, CallID: call.ID, Allowance: t.robot.allowance(limit, call.Deadline),
		Start: run.start, Stream: run.step, Resumed: run.beat.rest,
		// What is there already need not move.
		MustMove:   !there,
		Revalidate: func(context.Context) error { return t.revalidate(call) },
	})
	if bad := t.motionFailure(ctx, out, false); bad != nil {
		return *bad
	}
	seen := took(out)
	if latest, ok := t.act.latest(); ok {
		s["state"] = t.act.state(latest)
		seen["state"] = s["state"]
	}
	return t.observation(s, seen)
}

// revalidate asks the conditions afresh before a paused motion resumes.
func (t *conditionSkill) revalidate(call tool.Call) error {
	if _, bad := t.prepare(call); bad != nil {
		return errors.New(bad.Content)
	}
	return nil
}

// DryRun implements tool.DryRunner.
func (t *conditionSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	if _, bad := t.prepare(call); bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: "would move " + t.act.name + " by " + t.spec.Binding, Source: t.spec.Source}
}

// Predict implements tool.Predictor: what it leads to is not known here.
func (t *conditionSkill) Predict(_ context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	if _, bad := t.prepareIn(call, view{t.robot, at}); bad != nil {
		return refusedBy(bad, nil)
	}
	return tool.Prediction{Unknown: true}
}

// conditionRun is one call's motion. The guard's goroutine alone touches it while it runs.
type conditionRun struct {
	skill *conditionSkill
	mover mover
	scope scope

	first guard.Sample
	beat  beat
}

// measured puts what is measured now into the scope as state and start, and says whether the condition holds already.
func (r *conditionRun) measured() (there bool, err error) {
	latest, ok := r.skill.act.latest()
	if !ok {
		return false, fmt.Errorf("%s is not measured", r.skill.act.name)
	}
	r.first = guard.Sample{Position: slices.Clone(latest.Position)}
	r.scope["start"] = r.skill.act.state(latest)
	r.see(latest)
	if r.skill.until == nil {
		return false, nil
	}
	return r.skill.until.bool(r.scope)
}

// see puts a sample into the scope.
func (r *conditionRun) see(latest guard.Sample) {
	moved := make(map[string]any, len(r.skill.act.axes)+1)
	for i, x := range r.skill.act.axes {
		if i < len(latest.Position) && i < len(r.first.Position) {
			d := latest.Position[i] - r.first.Position[i]
			if x.Wrap {
				d = AngleDiff(latest.Position[i], r.first.Position[i])
			}
			moved[x.Name] = d
		}
	}
	moved["seconds"] = r.beat.active.Seconds()
	r.scope["moved"], r.scope["state"] = moved, r.skill.act.state(latest)
}

func (r *conditionRun) start(guard.Epoch) error {
	r.beat.rest()
	return r.mover.begin(r.scope)
}

func (r *conditionRun) step(_ guard.Epoch, now time.Time, latest guard.Sample) (bool, error) {
	r.beat.step(now)
	r.see(latest)
	begun, err := r.mover.carryOn(r.scope)
	if err != nil || !begun {
		return false, err
	}
	return r.done()
}

// done asks until and for.
func (r *conditionRun) done() (bool, error) {
	if r.skill.until != nil {
		if ok, err := r.skill.until.bool(r.scope); err != nil || ok {
			return ok, err
		}
	}
	if r.skill.lasts == nil {
		return false, nil
	}
	limit, err := r.skill.lasts.number(r.scope)
	return err == nil && r.beat.active.Seconds() >= limit, err
}

// topicMover publishes: a message at the control rate, or one.
type topicMover struct {
	robot  *Robot
	pub    ros.Publisher
	fields []named
	once   bool
}

func (m *topicMover) ready(ctx context.Context) error { return m.robot.waitSubscriber(ctx, m.pub) }

func (m *topicMover) publish(s scope) error {
	out := ros.New(m.pub.Type())
	if err := fill(out, m.fields, s); err != nil {
		return err
	}
	return m.pub.Publish(out)
}

func (m *topicMover) begin(s scope) error {
	if m.once {
		return m.publish(s)
	}
	return nil
}

func (m *topicMover) carryOn(s scope) (bool, error) {
	if m.once {
		return true, nil
	}
	return true, m.publish(s)
}

func (m *topicMover) end() {}

// newTopicSkill binds a topic of any type: a stream of velocities, or one position to go to.
func (r *Robot) newTopicSkill(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Publish
	m := topicMover{robot: r, fields: c.all("binding/publish/message", def.Message), once: def.Once}
	until, lasts := c.one("binding/publish/until", def.Until), c.one("binding/publish/for", def.For)
	if c.err != nil {
		return nil, c.err
	}
	var err error
	if m.pub, err = r.publisherOn(def.Name, def.Type); err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/publish"), "%v", err)
	}
	if err := checkFields(m.pub.Type(), def.Message); err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/publish/message"), "%v", err)
	}
	b.spec.Binding, b.spec.Source = fmt.Sprintf("publish %s %s", def.Name, def.Type), def.Name
	return r.newConditionSkill(b, c, until, lasts, func() mover { own := m; return &own })
}

// serviceMover calls a service that begins a motion; without a condition of the skill's its response is the motion's end.
type serviceMover struct {
	robot   *Robot
	client  ros.Client
	fields  []named
	success *expression

	mu       sync.Mutex
	cancel   context.CancelFunc
	answered bool
	err      error
	calls    sync.WaitGroup
}

func (m *serviceMover) ready(ctx context.Context) error { return m.client.WaitReady(ctx) }

func (m *serviceMover) begin(s scope) error {
	req := ros.New(m.client.Type().Request)
	if err := fill(req, m.fields, s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(m.robot.background)
	m.mu.Lock()
	if m.cancel != nil {
		m.cancel() // of an epoch that is over
	}
	m.cancel, m.answered, m.err = cancel, false, nil
	m.mu.Unlock()
	m.calls.Go(func() {
		resp, err := m.client.Call(ctx, req)
		if err == nil {
			err = m.judge(resp)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if ctx.Err() == nil {
			m.answered, m.err = true, err
		}
	})
	return nil
}

// judge takes the response at its word, as success has it.
func (m *serviceMover) judge(resp *ros.Message) error {
	if m.success == nil {
		return nil
	}
	seen := resp.Map()
	ok, err := m.success.bool(scope{"response": seen})
	if err == nil && !ok {
		err = fmt.Errorf("service %s answered %v: %w", m.client.Service(), seen, errServerFailed)
	}
	return err
}

func (m *serviceMover) carryOn(scope) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered, m.err
}

func (m *serviceMover) end() {
	m.mu.Lock()
	if m.cancel != nil {
		m.cancel()
	}
	m.mu.Unlock()
	m.calls.Wait()
}
