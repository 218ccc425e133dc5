package robottools

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/spatial/r3"

	"agent_node/pkg/geometry"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

// streamSkill moves a base by a stream of velocities until a condition holds, ending in zero.
type streamSkill struct {
	*bound
	act      *baseActuator
	pub      *velocity
	fields   []named
	until    *expression
	lasts    *expression
	distance *expression
	angle    *expression
}

func (r *Robot) newStream(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Publish
	t := &streamSkill{
		bound:    b,
		act:      r.actuators[b.def.Actuator],
		fields:   c.all("binding/publish/message", def.Message),
		until:    c.one("binding/publish/until", def.Until),
		lasts:    c.one("binding/publish/for", def.For),
		distance: c.one("binding/publish/distance", def.Distance),
		angle:    c.one("binding/publish/angle", def.Angle),
	}
	if c.err != nil {
		return nil, c.err
	}
	pub, err := r.velocityOn(def.Name, def.Type, r.profile.Frames.Base)
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/publish"), "%v", err)
	}
	t.pub = pub
	if err := checkFields(pub.twist, def.Message); err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/publish/message"), "%v", err)
	}
	b.spec.Binding, b.spec.Source = fmt.Sprintf("publish %s %s", def.Name, def.Type), def.Name
	return t, nil
}

// motion is the straight distance and the turn that the arguments ask for.
func (t *streamSkill) motion(s scope) (distance, angle float64, err error) {
	if t.distance != nil {
		if distance, err = t.distance.number(s); err != nil {
			return 0, 0, err
		}
	}
	if t.angle != nil {
		angle, err = t.angle.number(s)
	}
	return distance, angle, err
}

// prepareMotion checks everything that can be checked before the first message.
func (t *streamSkill) prepareMotion(call tool.Call) (scope, float64, *tool.Result) {
	s, bad := t.prepare(call)
	if bad != nil {
		return nil, 0, bad
	}
	distance, angle, err := t.motion(s)
	if err != nil {
		return nil, 0, t.fail(tool.GeometryRefused, "%v", err)
	}
	if t.has("motion") {
		if bad := t.refuse(call, t.robot.live().checkMotion(t.act, distance, angle)); bad != nil {
			return nil, 0, bad
		}
	}
	return s, math.Hypot(distance, angle), nil
}

// Call implements tool.Tool.
func (t *streamSkill) Call(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.robot.awaitServer(ctx, t.bound, func(ctx context.Context) error { return t.robot.waitSubscriber(ctx, t.pub.pub) }); bad != nil {
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
	s, size, bad := t.prepareMotion(call)
	if bad != nil {
		return *bad
	}
	limit, err := t.motionLimit(s, func() (time.Duration, bool) {
		distance, angle, err := t.motion(s)
		return t.act.limits.Duration(distance, angle), err == nil && (t.distance != nil || t.angle != nil)
	})
	if err != nil {
		return *t.fail(tool.GeometryRefused, "%v", err)
	}
	call.Note("skill.validated", map[string]any{"tool": t.name, "topic": t.def.Binding.Publish.Name})
	run := &streamRun{skill: t, scope: s}
	if latest, ok := t.act.latest(); ok {
		s["state"] = stateScope(latest)
	}
	cmd := guard.Command{
		Tool: t.name, CallID: call.ID,
		Allowance:  t.robot.allowance(limit, call.Deadline),
		Start:      run.start,
		Stream:     run.step,
		Resumed:    run.resumed,
		MustMove:   size > 0.1,
		Revalidate: func(context.Context) error { return t.revalidate(call, s, run) },
	}
	if t.has("in_flight") {
		cmd.Check = t.robot.world.inFlight(t.act)
	}
	out := lease.Execute(ctx, cmd)
	if bad := t.motionFailure(ctx, out, false); bad != nil {
		return *bad
	}
	seen := took(out)
	if latest, ok := t.act.latest(); ok {
		moved := run.moved(latest)
		seen["moved"] = moved
		if distance, angle, err := t.motion(s); err == nil {
			if bad := t.short(distance, angle, moved); bad != nil {
				return *bad
			}
		}
	}
	if p, ok := t.robot.poseScope(); ok {
		s["pose"] = p
		seen["pose"] = p
	}
	return t.observation(s, seen)
}

// revalidate checks what is left of the motion from where the robot stands now.
func (t *streamSkill) revalidate(call tool.Call, s scope, run *streamRun) error {
	distance, angle, err := t.motion(s)
	if err != nil {
		return err
	}
	if latest, ok := t.act.latest(); ok && run.begun {
		m := run.moved(latest)
		distance -= m["x"].(float64)
		angle -= m["yaw"].(float64)
	}
	if !t.has("motion") {
		return nil
	}
	if bad := t.refuse(call, t.robot.live().checkMotion(t.act, distance, angle)); bad != nil {
		return errors.New(bad.Content)
	}
	return nil
}

// DryRun implements tool.DryRunner.
func (t *streamSkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	if _, _, bad := t.prepareMotion(call); bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: "would stream velocities on " + t.def.Binding.Publish.Name, Source: t.spec.Source}
}

// streamRun is one call's stream. The guard's goroutine alone touches it while it runs.
type streamRun struct {
	skill *streamSkill
	scope scope

	begun    bool
	first    guard.Sample
	lastYaw  float64
	turned   float64 // unwrapped
	beat     beat
	velocity spatial.Twist // commanded last
	progress progress
}

// start counts as the first publish: zero, so that an accelerating robot begins from rest.
func (r *streamRun) start(guard.Epoch) error {
	r.resumed()
	return r.skill.pub.send(spatial.Twist{})
}

// resumed begins from rest.
func (r *streamRun) resumed() {
	r.beat.rest()
	r.progress.resumed()
	r.velocity = spatial.Twist{}
}

// step publishes the next velocity or says that the motion is complete.
func (r *streamRun) step(_ guard.Epoch, now time.Time, latest guard.Sample) (bool, error) {
	if len(latest.Position) < 3 {
		return false, r.skill.pub.send(spatial.Twist{})
	}
	if !r.begun {
		r.begun, r.lastYaw = true, latest.Position[2]
		r.first = guard.Sample{Position: slices.Clone(latest.Position)} // the guard reuses its own storage
	}
	dt, lapsed := r.beat.step(now)
	if err := r.progress.commanded(r.velocity, dt, latest); err != nil {
		return false, err
	}
	if lapsed {
		dt, r.velocity = 0, spatial.Twist{}
	}
	r.scope["moved"] = r.moved(latest)
	r.scope["state"] = stateScope(latest)
	done, err := r.done()
	if err != nil {
		return false, err
	}
	if done {
		return true, r.skill.pub.send(spatial.Twist{})
	}
	m := ros.New(r.skill.pub.twist)
	if err := fill(m, r.skill.fields, r.scope); err != nil {
		return false, err
	}
	// What the profile asks for is judged as it stands, before it is ramped.
	asked := spatial.Twist{
		Linear:  r3.Vec{X: m.Float("linear.x"), Y: m.Float("linear.y"), Z: m.Float("linear.z")},
		Angular: r3.Vec{X: m.Float("angular.x"), Y: m.Float("angular.y"), Z: m.Float("angular.z")},
	}
	if found := r.skill.act.limits.CheckTwist(asked, nil); len(found) > 0 {
		return false, &geometry.Refusal{Findings: found}
	}
	next := r.ramp(asked, dt)
	if bad := r.skill.robot.world.checkTwist(r.skill.act, next); bad != nil {
		return false, bad
	}
	return false, r.skill.pub.send(next)
}

// done asks until and for.
func (r *streamRun) done() (bool, error) {
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

// ramp lets a speed grow no faster than the acceleration limits; it never raises what the profile's expression asked for.
func (r *streamRun) ramp(asked spatial.Twist, dt time.Duration) spatial.Twist {
	l := r.skill.act.def.Limit
	r.velocity.Linear.X = grow(r.velocity.Linear.X, asked.Linear.X, l.LinearAcceleration*dt.Seconds())
	r.velocity.Linear.Y = grow(r.velocity.Linear.Y, asked.Linear.Y, l.LinearAcceleration*dt.Seconds())
	r.velocity.Angular.Z = grow(r.velocity.Angular.Z, asked.Angular.Z, l.AngularAcceleration*dt.Seconds())
	return r.velocity
}

// grow moves from towards to; only away from zero is it bounded by step.
func grow(from, to, step float64) float64 {
	if from*to < 0 {
		from = 0
	}
	if math.Abs(to) <= math.Abs(from) {
		return to
	}
	return math.Copysign(math.Min(math.Abs(to), math.Abs(from)+step), to)
}

// moved is the motion since the start: x, y in the frame of the start pose, yaw unwrapped, active seconds.
func (r *streamRun) moved(latest guard.Sample) map[string]any {
	if len(latest.Position) < 3 || len(r.first.Position) < 3 {
		return map[string]any{"x": 0.0, "y": 0.0, "yaw": 0.0, "seconds": r.beat.active.Seconds()}
	}
	r.turned += AngleDiff(latest.Position[2], r.lastYaw)
	r.lastYaw = latest.Position[2]
	dx, dy := latest.Position[0]-r.first.Position[0], latest.Position[1]-r.first.Position[1]
	sin, cos := math.Sincos(r.first.Position[2])
	return map[string]any{
		"x": cos*dx + sin*dy, "y": cos*dy - sin*dx, "yaw": r.turned, "seconds": r.beat.active.Seconds(),
	}
}

// stateScope is a base's sample for expressions.
func stateScope(s guard.Sample) map[string]any {
	return map[string]any{
		"x": s.Position[0], "y": s.Position[1], "yaw": s.Position[2],
		"vx": s.Velocity[0], "vy": s.Velocity[1], "wz": s.Velocity[2],
	}
}

// Predict implements tool.Predictor.
func (t *streamSkill) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	v := view{t.robot, at}
	if bad := t.interlocked(ctx, call, v); bad != nil {
		return refusedBy(bad, lockFinding(bad))
	}
	s, bad := t.prepareIn(call, v)
	if bad != nil {
		return refusedBy(bad, nil)
	}
	distance, angle, err := t.motion(s)
	if err != nil {
		return refusedBy(t.fail(tool.GeometryRefused, "%v", err), nil)
	}
	if t.has("motion") {
		if r := v.checkMotion(t.act, distance, angle); !r.Valid() {
			return tool.Prediction{Refused: true, Findings: findingsOf(r)}
		}
	}
	return tool.Prediction{State: at.moved(at.base.drive(distance, angle))}
}
