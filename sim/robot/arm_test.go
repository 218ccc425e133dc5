package robot_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/arm"
	"agent_node/sim/arm/armtest"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

const armAction = "/arm_controller/follow_joint_trajectory"

func (r *rig) armClient() *action.Client {
	r.t.Helper()
	c, err := action.NewClient(r.client, armAction, "control_msgs/action/FollowJointTrajectory")
	r.must(err)
	return c
}

// trajectory is a goal of the arm through points.
func (r *rig) trajectory(c *action.Client, points ...arm.Point) *ros.Message {
	r.t.Helper()
	t, err := r.client.Types().Message("trajectory_msgs/msg/JointTrajectoryPoint")
	r.must(err)
	var list []*ros.Message
	for _, p := range points {
		m := ros.New(t).With("positions", p.Positions[:])
		if p.HasVelocities {
			m.With("velocities", p.Velocities[:])
		}
		m.SetDuration("time_from_start", time.Duration(p.Time*float64(time.Second)))
		list = append(list, m)
	}
	names := r.robot.World().Arm.Names
	return ros.New(c.Type().Goal).With("trajectory.joint_names", names[:]).With("trajectory.points", list)
}

// move is a goal that brings the arm to joint positions.
func (r *rig) move(c *action.Client, to arm.Values) *ros.Message {
	return r.trajectory(c, armtest.Move(r.robot.World(), r.robot.Truth().Arm, to)...)
}

// over are joint positions with the tool, pointing down, at a place in map.
func (r *rig) over(x, y, z float64) arm.Values {
	r.t.Helper()
	at := r.robot.Truth().Pose.Inverse().Compose(world.Pose{X: x, Y: y})
	q, ok := armtest.Reach(r.robot.World(), armtest.Down(at.X, at.Y, z, 0))
	if !ok {
		r.t.Fatalf("%.3f, %.3f, %.3f is out of reach", at.X, at.Y, z)
	}
	return q
}

// turned is the carry pose, turned about the vertical.
func (r *rig) turned(angle float64) arm.Values {
	q := arm.Values(r.robot.World().Arm.Carry)
	q[0] = angle
	return q
}

func (r *rig) armMoving() bool {
	for _, v := range r.robot.Truth().ArmVelocity {
		if math.Abs(v) > 0.01 {
			return true
		}
	}
	return false
}

func wantArm(t *testing.T, o action.Outcome, status action.Status, code arm.Code) {
	t.Helper()
	if got := arm.Code(o.Result.Int("error_code")); o.Status != status || got != code {
		t.Errorf("status %v with %v (%s), want %v with %v", o.Status, got, o.Result.Str("error_string"), status, code)
	}
}

func TestTheArmFollowsATrajectoryAndTellsOfIt(t *testing.T) {
	withRobot(t, robot.Options{Seed: 2}, func(t *testing.T, r *rig) {
		r.hear("/joint_states", "sensor_msgs/msg/JointState", ros.DefaultQoS())
		r.hear(armAction+"/_action/feedback", "control_msgs/action/FollowJointTrajectory_FeedbackMessage", ros.DefaultQoS())
		c := r.armClient()
		to := r.turned(-1)
		wantArm(t, r.outcome(r.send(c, r.move(c, to), action.GoalOptions{})), action.StatusSucceeded, arm.Successful)
		if r.armMoving() {
			t.Error("it succeeded while it moved")
		}
		r.wait(500 * time.Millisecond)
		state := r.last("/joint_states")
		names, positions := state.Strs("name"), state.Floats("position")
		said := map[string]float64{}
		for i, n := range names {
			said[n] = positions[i]
		}
		for j, n := range r.robot.World().Arm.Names {
			if d := math.Abs(said[n] - to[j]); d > 0.001 {
				t.Errorf("%s is said %.4f rad off the goal", n, d)
			}
		}
		if _, ok := said["finger_joint"]; !ok || len(names) != 9 || len(state.Floats("velocity")) != 9 {
			t.Errorf("the joints are %v", names)
		}
		feedback := r.all(armAction + "/_action/feedback")
		if len(feedback) < 10 {
			t.Fatalf("%d feedback messages", len(feedback))
		}
		for _, m := range feedback {
			f := m.Msg("feedback")
			for j := range 6 {
				want, is, off := f.Floats("desired.positions")[j], f.Floats("actual.positions")[j], f.Floats("error.positions")[j]
				if math.Abs(want-is-off) > 1e-12 || math.Abs(off) > 0.05 {
					t.Fatalf("feedback %v", f.Map())
				}
			}
		}
	})
}

// What the transforms say of tool0 is where it is, by the body's own reckoning.
func TestTransformsLeadToTheTool(t *testing.T) {
	withRobot(t, robot.Options{Seed: 2}, func(t *testing.T, r *rig) {
		r.hear("/tf", "tf2_msgs/msg/TFMessage", ros.DefaultQoS())
		r.hear("/tf_static", "tf2_msgs/msg/TFMessage", ros.LatchedQoS())
		c := r.armClient()
		wantArm(t, r.outcome(r.send(c, r.move(c, r.turned(-0.8)), action.GoalOptions{})), action.StatusSucceeded, arm.Successful)
		r.wait(500 * time.Millisecond)
		type tie struct {
			parent string
			at     world.Transform
		}
		ties := map[string]tie{}
		for _, m := range append(r.all("/tf_static"), r.all("/tf")...) {
			for _, x := range m.Msgs("transforms") {
				ties[x.Str("child_frame_id")] = tie{x.Str("header.frame_id"), world.Transform{R: rotation(x.Msg("transform.rotation")), P: vec(x.Msg("transform.translation"))}}
			}
		}
		w := r.robot.World()
		truth := r.robot.Truth()
		frames := w.Body.Frames(w.Positions(world.Posture{Arm: truth.Arm, Width: truth.Width}))
		for i, l := range w.Body {
			got := world.Identity()
			for name := l.Name; name != "base_link"; name = ties[name].parent {
				if ties[name].parent == "" {
					t.Fatalf("%s hangs on nothing", name)
				}
				got = ties[name].at.Mul(got)
			}
			if d := got.P.Sub(frames[i].P).Norm(); d > 0.001 || math.Abs(got.R[0][0]-frames[i].R[0][0]) > 0.001 {
				t.Errorf("%s: the transforms are %.4f m off", l.Name, d)
			}
		}
	})
}

func vec(m *ros.Message) world.Vec {
	return world.Vec{X: m.Float("x"), Y: m.Float("y"), Z: m.Float("z")}
}

func rotation(m *ros.Message) world.Rotation {
	v := vec(m)
	s := v.Norm()
	if s == 0 {
		return world.Identity().R
	}
	return world.About(v.Scale(1/s), 2*math.Atan2(s, m.Float("w")))
}

func TestBadTrajectoriesAreRefusedAndMoveNothing(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.armClient()
		before := r.robot.Truth().Arm
		good := func() *ros.Message { return r.move(c, r.turned(0.5)) }
		names := r.robot.World().Arm.Names
		old := good()
		old.SetStamp("trajectory.header.stamp", r.client.Clock().Now().Add(-time.Minute))
		late := good()
		late.Msgs("trajectory.points")[0].With("velocities", []float64{1, 0, 0, 0, 0, 0})
		nan := good()
		nan.Msgs("trajectory.points")[0].With("positions", []float64{math.NaN(), 0, 0, 0, 0, 0})
		twice := r.trajectory(c, arm.Point{Time: 1, Positions: before}, arm.Point{Time: 1, Positions: before})
		for name, m := range map[string]*ros.Message{
			"empty": r.trajectory(c), "partial": good().With("trajectory.joint_names", names[:5]), "no names": good().With("trajectory.joint_names", []string{}),
			"long ago": old, "moving at the end": late, "NaN": nan, "a time twice": twice,
		} {
			if _, err := c.Send(t.Context(), m, action.GoalOptions{}); !errors.Is(err, ros.ErrRejected) {
				t.Errorf("%s: %v, want rejected", name, err)
			}
		}
		r.wait(time.Second)
		if r.robot.Truth().Arm != before {
			t.Error("it moved")
		}
		if n := r.robot.Counters()[armAction]; n != 7 {
			t.Errorf("%d goals counted, 7 were sent", n)
		}
	})
}

func TestTrajectoriesThatFailOnTheWay(t *testing.T) {
	table := world.Pose{X: 2.25, Y: -1.6}
	withRobot(t, robot.Options{Start: &table}, func(t *testing.T, r *rig) {
		c := r.armClient()
		run := func(m *ros.Message) action.Outcome { return r.outcome(r.send(c, m, action.GoalOptions{})) }
		off := r.turned(0.3)
		wantArm(t, run(r.trajectory(c, arm.Point{Positions: off}, arm.Point{Time: 2, Positions: off})), action.StatusAborted, arm.InvalidGoal)
		beyond := r.turned(0)
		beyond[2] = 2.85 // the elbow gets 2.75 rad far
		wantArm(t, run(r.trajectory(c, arm.Point{Time: 3, Positions: beyond, HasVelocities: true})), action.StatusAborted, arm.GoalToleranceViolated)
		if r.robot.Truth().Arm[2] > 2.75 {
			t.Error("the elbow passed its stop")
		}
		wantArm(t, run(r.trajectory(c, arm.Point{Time: 0.2, Positions: r.turned(1.5)})), action.StatusAborted, arm.PathToleranceViolated)
		wantArm(t, run(r.move(c, r.turned(0))), action.StatusSucceeded, arm.Successful)
		r.hear("/sim/contact", "std_msgs/msg/Bool", ros.DefaultQoS())
		wantArm(t, run(r.move(c, r.over(2.75, -1.6, 0.5))), action.StatusSucceeded, arm.Successful)
		wantArm(t, run(r.move(c, r.over(2.75, -1.6, 0.3))), action.StatusAborted, arm.PathToleranceViolated)
		bumped := false
		for _, m := range r.all("/sim/contact") {
			bumped = bumped || m.Bool("data")
		}
		r.wait(time.Second)
		if !bumped || r.armMoving() {
			t.Errorf("bumped into the table: %v, moving: %v", bumped, r.armMoving())
		}
	})
}

func TestANewerTrajectoryReplacesTheOneBefore(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.armClient()
		first := r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
		r.wait(time.Second)
		second := r.send(c, r.move(c, r.turned(0.5)), action.GoalOptions{})
		wantArm(t, r.outcome(first), action.StatusAborted, arm.InvalidGoal)
		wantArm(t, r.outcome(second), action.StatusSucceeded, arm.Successful)
		if got := r.robot.Truth().Arm[0]; math.Abs(got-0.5) > 0.01 {
			t.Errorf("it ends at %.3f rad", got)
		}
	})
}

func TestCancelBringsTheArmToRestBeforeItsResult(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c := r.armClient()
		g := r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
		r.wait(1500 * time.Millisecond)
		if !r.armMoving() {
			t.Fatal("it does not move")
		}
		code, err := g.Cancel(t.Context())
		if err != nil || code != action.CancelNone {
			t.Fatalf("cancel: %v, %v", code, err)
		}
		wantArm(t, r.outcome(g), action.StatusCanceled, arm.Successful)
		at := r.robot.Truth().Arm
		if r.armMoving() {
			t.Error("canceled while moving")
		}
		r.wait(time.Second)
		if d := math.Abs(r.robot.Truth().Arm[0] - at[0]); d > 0.005 {
			t.Errorf("afterwards it moves by %.4f rad", d)
		}
	})
}

// The faults of cancels, for the arm and the gripper. Each is set before a goal that is canceled on its way.
func TestCancelFaultsOfArmAndGripper(t *testing.T) {
	parts := map[string]struct {
		begin  func(r *rig) *action.Goal
		moving func(r *rig) bool
		wait   time.Duration
	}{
		"arm": {
			begin: func(r *rig) *action.Goal {
				c := r.armClient()
				return r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
			},
			moving: (*rig).armMoving, wait: time.Second,
		},
		"gripper": {
			begin: func(r *rig) *action.Goal {
				c := r.gripperClient()
				return r.send(c, grip(c, 0, 10), action.GoalOptions{})
			},
			moving: func(r *rig) bool { return math.Abs(r.robot.Truth().WidthSpeed) > 0.001 }, wait: 200 * time.Millisecond,
		},
	}
	for part, p := range parts {
		run := func(fault string, test func(t *testing.T, r *rig, g *action.Goal, code action.CancelCode)) {
			t.Run(part+" "+fault, func(t *testing.T) {
				withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
					r.set(fault, true)
					g := p.begin(r)
					r.wait(p.wait)
					if !p.moving(r) {
						t.Fatal("it does not move")
					}
					code, err := g.Cancel(t.Context())
					r.must(err)
					test(t, r, g, code)
				})
			})
		}
		run("fault.refuse_cancel", func(t *testing.T, r *rig, g *action.Goal, code action.CancelCode) {
			if code != action.CancelRejected || r.outcome(g).Status != action.StatusSucceeded {
				t.Errorf("cancel is answered with %v, the goal ends as %v", code, g.Status())
			}
		})
		run("fault.ignore_cancel", func(t *testing.T, r *rig, g *action.Goal, code action.CancelCode) {
			r.wait(50 * time.Millisecond)
			if code != action.CancelNone || !p.moving(r) {
				t.Errorf("cancel is answered with %v, moving: %v", code, p.moving(r))
			}
			r.wait(20 * time.Second)
			if ended(g) {
				t.Fatal("it ended by itself")
			}
			r.set("fault.ignore_cancel", false)
			if s := r.outcome(g).Status; s != action.StatusCanceled {
				t.Errorf("without the fault it ends as %v", s)
			}
		})
		run("fault.late_result", func(t *testing.T, r *rig, g *action.Goal, code action.CancelCode) {
			at := time.Now()
			r.wait(time.Second)
			if code != action.CancelNone || p.moving(r) {
				t.Errorf("cancel is answered with %v, moving: %v", code, p.moving(r))
			}
			if s := r.outcome(g).Status; s != action.StatusCanceled {
				t.Errorf("it ends as %v", s)
			}
			if late := time.Since(at); late < 4900*time.Millisecond || late > 5200*time.Millisecond {
				t.Errorf("the result came after %v, want 5 s", late)
			}
		})
	}
}

func TestProtectiveStopHoldsArmAndGripperAndReleasesThem(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c, fingers := r.armClient(), r.gripperClient()
		g := r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
		f := r.send(fingers, grip(fingers, 0, 10), action.GoalOptions{})
		r.wait(300 * time.Millisecond)
		r.set("fault.protective_stop", true)
		r.wait(500 * time.Millisecond)
		at := r.robot.Truth()
		r.wait(5 * time.Second)
		if now := r.robot.Truth(); r.armMoving() || now.Width != at.Width || ended(g) || ended(f) || math.Abs(now.Arm[0]-at.Arm[0]) > 1e-3 {
			t.Fatalf("arm moving: %v, ended: %v and %v, opening from %.4f to %.4f m", r.armMoving(), ended(g), ended(f), at.Width, now.Width)
		}
		r.set("fault.protective_stop", false)
		wantArm(t, r.outcome(g), action.StatusSucceeded, arm.Successful)
		if o := r.outcome(f); o.Status != action.StatusSucceeded || !o.Result.Bool("reached_goal") {
			t.Errorf("the gripper ends as %v, %v", o.Status, o.Result.Map())
		}
	})
}

func TestEmergencyStopEndsArmAndGripper(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c, fingers := r.armClient(), r.gripperClient()
		g := r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
		f := r.send(fingers, grip(fingers, 0, 10), action.GoalOptions{})
		r.wait(300 * time.Millisecond)
		r.set("sim.estop", true)
		wantArm(t, r.outcome(g), action.StatusAborted, arm.InvalidGoal)
		if s := r.outcome(f).Status; s != action.StatusAborted {
			t.Errorf("the gripper ends as %v", s)
		}
		r.wait(time.Second)
		r.set("sim.estop", false)
		at := r.robot.Truth()
		r.wait(2 * time.Second)
		if now := r.robot.Truth(); now.Arm != at.Arm || now.Width != at.Width {
			t.Error("it goes on by itself")
		}
	})
}

func TestServersThatGoDownTakeTheirGoalsWithThem(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		c, fingers := r.armClient(), r.gripperClient()
		g := r.send(c, r.move(c, r.turned(-1.5)), action.GoalOptions{})
		f := r.send(fingers, grip(fingers, 0, 10), action.GoalOptions{})
		r.wait(300 * time.Millisecond)
		r.set("fault.action_server_down", true)
		if c.Ready() || fingers.Ready() {
			t.Error("the servers are still there")
		}
		r.wait(2 * time.Second)
		if r.armMoving() || r.robot.Truth().WidthSpeed != 0 || r.robot.Truth().Width < 0.01 {
			t.Error("it moves without a controller")
		}
		if g.Status().Terminal() || f.Status().Terminal() {
			t.Error("a dead server has told of an end")
		}
		r.set("fault.action_server_down", false)
		wantArm(t, r.outcome(r.send(c, r.move(c, r.turned(0)), action.GoalOptions{})), action.StatusSucceeded, arm.Successful)
	})
}

func TestDropFeedbackAndSlowAcceptOfTheArm(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		const topic = armAction + "/_action/feedback"
		r.hear(topic, "control_msgs/action/FollowJointTrajectory_FeedbackMessage", ros.DefaultQoS())
		c := r.armClient()
		r.set("fault.drop_feedback", true)
		r.set("fault.slow_accept", 1.5)
		at := time.Now()
		g := r.send(c, r.move(c, r.turned(-1)), action.GoalOptions{})
		if took := time.Since(at); took < 1500*time.Millisecond || took > 1600*time.Millisecond {
			t.Errorf("answered after %v, want 1.5 s", took)
		}
		wantArm(t, r.outcome(g), action.StatusSucceeded, arm.Successful)
		if n := len(r.all(topic)); n != 0 {
			t.Errorf("%d feedback messages", n)
		}
	})
}

// The faults of the odometry are its own.
func TestOdometryFaultsLeaveTheJointsAlone(t *testing.T) {
	withRobot(t, robot.Options{}, func(t *testing.T, r *rig) {
		for _, fault := range []string{"fault.freeze_odom", "fault.stale_stamps", "fault.stop_odom", "fault.nan_odom"} {
			r.set(fault, true)
		}
		r.hear("/joint_states", "sensor_msgs/msg/JointState", ros.DefaultQoS())
		c := r.armClient()
		wantArm(t, r.outcome(r.send(c, r.move(c, r.turned(-1)), action.GoalOptions{})), action.StatusSucceeded, arm.Successful)
		stamps, values := map[ros.Time]bool{}, map[float64]bool{}
		for _, m := range r.all("/joint_states") {
			stamps[m.Stamp("header.stamp")], values[m.Floats("position")[2]] = true, true
		}
		if len(stamps) < 50 || len(values) < 50 {
			t.Errorf("%d stamps and %d values", len(stamps), len(values))
		}
	})
}
