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
	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/planning"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/trajectory"
	"agent_node/pkg/geometry/validate"
	"agent_node/pkg/guard"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

// trajectorySkill moves an arm to joint positions or to a pose of its tip: it solves, plans around what is known to be in the
// way, times the path within the limits, has it validated, and sends it.
type trajectorySkill struct {
	*bound
	act    *jointActuator
	client *action.Client
	joints *expression
	pose   *expression
	speed  float64
	vias   [][]float64
}

func (r *Robot) newTrajectory(b *bound, c *compiler) (tool.Tool, error) {
	def := b.def.Binding.Trajectory
	t := &trajectorySkill{
		bound: b, act: r.joints[b.def.Actuator], speed: def.Speed, vias: def.Vias,
		joints: c.one("binding/trajectory/joints", def.Joints),
		pose:   c.one("binding/trajectory/pose", def.Pose),
	}
	if c.err != nil {
		return nil, c.err
	}
	if t.act == nil {
		return nil, c.p.source.errorf(c.at, "a trajectory moves an arm: %q is none", b.def.Actuator)
	}
	client, err := action.NewClient(r.node, def.Name, def.Type)
	if err != nil {
		return nil, c.p.source.errorf(join(c.at, "binding/trajectory"), "%v", err)
	}
	r.own(client)
	t.client = client
	b.spec.Validated = true
	b.spec.Binding, b.spec.Source = fmt.Sprintf("action %s %s", def.Name, def.Type), def.Name
	return t, nil
}

// endless is as long as a motion may take at all.
const endless = time.Hour

// solveTime bounds inverse kinematics and planning together.
const solveTime = 5 * time.Second

// plan makes the validated trajectory; nothing is sent. goal are the joint positions that it ends in.
func (t *trajectorySkill) plan(ctx context.Context, call tool.Call, v view) (s scope, traj trajectory.Trajectory, report validate.Report, bad *tool.Result) {
	fail := func(kind tool.ErrorKind, err error) (scope, trajectory.Trajectory, validate.Report, *tool.Result) {
		return nil, trajectory.Trajectory{}, report, t.fail(kind, "%v", err)
	}
	if s, bad = t.prepareIn(call, v); bad != nil {
		return nil, traj, report, bad
	}
	ctx, cancel := context.WithTimeout(ctx, solveTime)
	defer cancel()
	model, err := t.robot.description.arm(ctx, t.act.name)
	if err != nil {
		return fail(tool.StaleState, err)
	}
	world, err := t.robot.armWorld(model, t.act, v)
	if err != nil {
		return fail(tool.StaleState, err)
	}
	from, err := t.from(world.Arm.State)
	if err != nil {
		return fail(tool.StaleState, err)
	}
	to, err := t.target(s, model, world, from, v)
	if err != nil {
		_, _, _, bad := fail(tool.GeometryRefused, err)
		return nil, traj, validate.Report{Findings: t.outOfReach(err)}, bad
	}
	s["goal"] = numbersOf(to)
	path, err := planning.PlanJoints(ctx, planning.Request{Scene: world.Arm.Scene, Joints: model.joints, From: from, To: to, Vias: t.vias})
	if err != nil {
		// Where no way was found the straight one is judged: its findings say by rule, value and limit what stands in it.
		path = [][]float64{from, to}
	}
	if traj, err = trajectory.FromPath(path, model.joints, t.speed); err != nil {
		// No time is long enough for it: what is wrong with where it goes is said by rule.
		traj = trajectory.Trajectory{Joints: t.act.joints, Points: []trajectory.Point{{Positions: to, Time: endless}}}
		report = validate.Validate(validate.JointTrajectory{Trajectory: traj}, world)
		if bad := t.refuse(call, report); bad != nil {
			return nil, traj, report, bad
		}
		return fail(tool.GeometryRefused, err)
	}
	traj.Joints = t.act.joints
	report = validate.Validate(validate.JointTrajectory{Trajectory: traj}, world)
	return s, traj, report, t.refuse(call, report)
}

// inFlight judges every sample of a motion in the world as it was when the motion began: limits of joints and tip, contacts.
func (t *trajectorySkill) inFlight(ctx context.Context) func(guard.Sample) error {
	model, err := t.robot.description.arm(ctx, t.act.name)
	if err != nil {
		return nil // it has just been planned with: there is one
	}
	world, err := t.robot.armWorld(model, t.act, t.robot.live())
	if err != nil {
		return nil
	}
	return func(s guard.Sample) error {
		now := *world
		now.Now = s.Stamp.UnixNano() // how old a sample may be is the guard's to say
		state := validate.JointState{Names: t.act.joints, Positions: s.Position, Velocities: s.Velocity, Stamp: now.Now}
		if found := validate.JointsInFlight(state, &now); len(found) > 0 {
			return &geometry.Refusal{Findings: found}
		}
		return nil
	}
}

// from is the measured state, with noise at a limit taken back to it: that is no reason not to move away from there.
func (t *trajectorySkill) from(state validate.JointState) ([]float64, error) {
	if state.Stamp == 0 || len(state.Positions) != len(t.act.joints) {
		return nil, errors.New("the arm's joints are not measured")
	}
	return slices.Clone(state.Positions), nil
}

// target are the joint positions to reach: as given, or solved for the pose.
func (t *trajectorySkill) target(s scope, m *armModel, w *validate.World, from []float64, in view) ([]float64, error) {
	if t.joints != nil {
		v, err := t.joints.eval(s)
		if err != nil {
			return nil, err
		}
		if list, ok := v.([]any); ok && len(list) > 0 {
			return t.given(list)
		}
	}
	if t.pose == nil {
		return nil, errors.New("neither joints nor a pose is given")
	}
	v, err := t.pose.eval(s)
	if err != nil {
		return nil, err
	}
	pose, free, err := t.tip(v, in)
	if err != nil {
		return nil, err
	}
	o := kinematics.Options{Accept: w.Arm.Scene.Free, Margin: jointMargin}
	if free {
		o.Freedom = kinematics.Pointing
	}
	q, err := m.chain.IK(pose, from, o)
	if err == nil {
		return q, nil
	}
	// Nothing free of contacts: one with contacts says, by its findings, what is in the way.
	o.Accept = nil
	blocked, second := m.chain.IK(pose, from, o)
	if second != nil {
		return nil, fmt.Errorf("rule %s: %w", geometry.RuleReach, err)
	}
	return blocked, nil
}

// outOfReach says as a finding how far a pose is out of reach; nil for other errors.
func (t *trajectorySkill) outOfReach(err error) []geometry.Finding {
	var far *kinematics.UnreachableError
	if !errors.As(err, &far) {
		return nil
	}
	f := geometry.Finding{Rule: geometry.RuleReach, Subject: t.act.def.Tip, Index: -1, Value: far.Missing, Unit: "m", Message: err.Error()}
	if far.Missing == 0 {
		f.Value, f.Unit = far.Angle, "rad"
	}
	return []geometry.Finding{f}
}

// jointMargin is kept from the joints' limits by inverse kinematics, rad.
const jointMargin = 0.02

func (t *trajectorySkill) given(list []any) ([]float64, error) {
	if len(list) != len(t.act.joints) {
		return nil, fmt.Errorf("rule length: %d joint positions, wanted %d (%v)", len(list), len(t.act.joints), t.act.joints)
	}
	q := make([]float64, len(list))
	for i, x := range list {
		f, ok := x.(float64)
		if !ok {
			return nil, fmt.Errorf("joint %s: %v is no number", t.act.joints[i], x)
		}
		q[i] = f
	}
	return q, nil
}

// tip reads {frame, x, y, z} with roll, pitch and yaw; without roll and pitch the tool points down, with the yaw that is given or, free, with any.
func (t *trajectorySkill) tip(v any, in view) (pose spatial.Transform, free bool, err error) {
	m, ok := v.(map[string]any)
	if !ok {
		return pose, false, fmt.Errorf("a pose is %v, wanted {x, y, z, …}", v)
	}
	n := map[string]float64{}
	for _, k := range []string{"x", "y", "z", "roll", "pitch", "yaw"} {
		f, ok := m[k].(float64)
		if !ok {
			if k < "x" || k == "yaw" { // roll, pitch and yaw may be absent
				continue
			}
			return pose, false, fmt.Errorf("pose: %s is %v, wanted a number", k, m[k])
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return pose, false, fmt.Errorf("rule finite: pose: %s is %g", k, f)
		}
		n[k] = f
	}
	_, roll := n["roll"]
	_, pitch := n["pitch"]
	_, yaw := n["yaw"]
	pose.Translation = r3.Vec{X: n["x"], Y: n["y"], Z: n["z"]}
	switch {
	case roll && pitch:
		pose.Rotation = rpy(n["roll"], n["pitch"], n["yaw"])
	case !roll && !pitch:
		pose.Rotation, free = downward(n["yaw"]), !yaw
	default:
		return pose, false, errors.New("pose: give roll, pitch and yaw, or neither roll nor pitch for a tool that points down")
	}
	frame, _ := m["frame"].(string)
	if base := t.robot.profile.Frames.Base; frame != "" && frame != base {
		r, err := in.toBase(frame)
		if err != nil {
			return pose, false, err
		}
		pose = r.Compose(pose)
	}
	return pose, free, nil
}

func numbersOf(q []float64) []any {
	out := make([]any, len(q))
	for i, x := range q {
		out[i] = round(x, 4)
	}
	return out
}

// Call implements tool.Tool.
func (t *trajectorySkill) Call(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.robot.awaitServer(ctx, t.bound, t.client.WaitReady); bad != nil {
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
	s, traj, _, bad := t.plan(ctx, call, t.robot.live())
	if bad != nil {
		return *bad
	}
	call.Note("skill.validated", map[string]any{"tool": t.name, "action": t.def.Binding.Trajectory.Name, "points": len(traj.Points), "duration_s": traj.Duration().Seconds()})
	goal, err := t.message(traj)
	if err != nil {
		return *t.fail(tool.Failed, "%v", err)
	}
	limit, err := t.limit(s, traj)
	if err != nil {
		return *t.fail(tool.GeometryRefused, "%v", err)
	}
	run := &actionRun{b: t.bound, act: &t.act.actuator, client: t.client, goal: goal, call: call}
	// The rest of a motion that an operator paused begins where the arm stands then: it is planned afresh.
	run.again = func() (*ros.Message, error) {
		_, rest, _, bad := t.plan(t.robot.background, call, t.robot.live())
		if bad != nil {
			return nil, errors.New(bad.Content)
		}
		return t.message(rest)
	}
	out := run.execute(ctx, lease, guard.Command{
		Tool: t.name, CallID: call.ID,
		Allowance: t.robot.allowance(limit, call.Deadline),
		MustMove:  traj.Duration() > 500*time.Millisecond,
		Check:     t.inFlight(ctx),
		Revalidate: func(ctx context.Context) error {
			if _, _, _, bad := t.plan(ctx, call, t.robot.live()); bad != nil {
				return errors.New(bad.Content)
			}
			return nil
		},
	})
	if bad := t.motionFailure(ctx, out, run.accepted()); bad != nil {
		return *bad
	}
	if code := run.result(); code != nil && code.Int("error_code") != 0 {
		return *t.fail(tool.ServerFailed, "the controller ended with error_code %d %s", code.Int("error_code"), code.Str("error_string"))
	}
	if n := len(traj.Points); n > 0 {
		if bad := t.shortJoints(t.act.joints, traj.Points[0].Positions, traj.Points[n-1].Positions, t.act.position(), t.unit(ctx)); bad != nil {
			return *bad
		}
	}
	seen := took(out)
	if q, ok := t.act.scope(); ok {
		seen["joints"] = q
	}
	return t.observation(s, seen)
}

// limit is the tool's own, or by default what the trajectory takes, three times and some seconds over: a controller may be
// slowed down.
func (t *trajectorySkill) limit(s scope, traj trajectory.Trajectory) (time.Duration, error) {
	if t.def.TimeLimit == (TimeLimit{}) {
		return 3*traj.Duration() + 10*time.Second, nil
	}
	return t.motionLimit(s, func() (time.Duration, bool) { return traj.Duration(), true })
}

// message is the goal for the controller.
func (t *trajectorySkill) message(traj trajectory.Trajectory) (*ros.Message, error) {
	pointType, err := t.robot.node.Types().Message("trajectory_msgs/msg/JointTrajectoryPoint")
	if err != nil {
		return nil, err
	}
	points := make([]*ros.Message, len(traj.Points))
	for i, p := range traj.Points {
		m := ros.New(pointType).With("positions", p.Positions).With("velocities", p.Velocities).With("accelerations", p.Accelerations)
		m.SetDuration("time_from_start", p.Time)
		points[i] = m
	}
	goal := ros.New(t.client.Type().Goal).With("trajectory.joint_names", slices.Clone(t.act.joints))
	return goal.With("trajectory.points", points), nil
}

// DryRun implements tool.DryRunner.
func (t *trajectorySkill) DryRun(ctx context.Context, call tool.Call) tool.Result {
	if bad := t.interlocked(ctx, call, t.robot.live()); bad != nil {
		return *bad
	}
	_, traj, _, bad := t.plan(ctx, call, t.robot.live())
	if bad != nil {
		return *bad
	}
	return tool.Result{OK: true, Content: fmt.Sprintf(`{"would_move_s":%.2f,"points":%d}`, traj.Duration().Seconds(), len(traj.Points)), Source: t.spec.Source}
}

// Predict implements tool.Predictor.
func (t *trajectorySkill) Predict(ctx context.Context, call tool.Call, state any) tool.Prediction {
	at, ok := t.robot.start(state)
	if !ok {
		return unknownState()
	}
	v := view{t.robot, at}
	if bad := t.interlocked(ctx, call, v); bad != nil {
		return refusedBy(bad, lockFinding(bad))
	}
	s, _, report, bad := t.plan(ctx, call, v)
	if bad != nil {
		return refusedBy(bad, findingsOf(report))
	}
	goal, _ := s["goal"].([]any)
	q := make([]float64, len(goal))
	for i, x := range goal {
		q[i], _ = x.(float64)
	}
	next := at.moved(at.base)
	next.joints[t.act.name] = q
	return tool.Prediction{State: next}
}

// unit of the joints' positions, as the description tells.
func (t *trajectorySkill) unit(ctx context.Context) func(joint int) string {
	model, err := t.robot.description.arm(ctx, t.act.name)
	return func(joint int) string {
		if err != nil || joint >= len(model.joints) {
			return "rad or m"
		}
		return model.joints[joint].Unit()
	}
}
