package robot

import (
	"errors"
	"math"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/arm"
	"agent_node/sim/world"
)

const (
	armName = "arm_controller/follow_joint_trajectory"
	armType = "control_msgs/action/FollowJointTrajectory"
	armRest = 0.01 // rad/s
)

// following is a trajectory under way.
type following struct{ follower *arm.Follower }

// acceptTrajectory refuses what a joint_trajectory_controller refuses.
func (r *Robot) acceptTrajectory(goal *ros.Message) error {
	_, err := arm.Check(r.world.Arm.Names, r.asked(goal))
	return err
}

// asked reads a goal's trajectory.
func (r *Robot) asked(goal *ros.Message) arm.Asked {
	t := goal.Msg("trajectory")
	out := arm.Asked{Names: t.Strs("joint_names"), Age: r.age(t.Stamp("header.stamp")).Seconds()}
	for _, p := range t.Msgs("points") {
		out.Points = append(out.Points, arm.AskedPoint{
			Time:      p.Duration("time_from_start").Seconds(),
			Positions: p.Floats("positions"), Velocities: p.Floats("velocities"), Accelerations: p.Floats("accelerations"), Efforts: p.Floats("effort"),
		})
	}
	return out
}

// tolerances reads a goal's tolerances. One of a joint that is not there is passed over, as the controller does.
func (r *Robot) tolerances(goal *ros.Message) arm.Tolerances {
	t := arm.DefaultTolerances()
	read := func(field string, to *[world.Joints]arm.Tolerance) {
		for _, m := range goal.Msgs(field) {
			known := false
			for j, name := range r.world.Arm.Names {
				if name == m.Str("name") {
					known = true
					to[j].Set(m.Float("position"), m.Float("velocity"))
				}
			}
			if !known {
				r.node.Logger().Warn("a tolerance of a joint that is not there", "joint", m.Str("name"))
			}
		}
	}
	read("path_tolerance", &t.Path)
	read("goal_tolerance", &t.Goal)
	if d := goal.Duration("goal_time_tolerance").Seconds(); d != 0 {
		t.GoalTime = d
	}
	return t
}

// followTrajectory carries out a goal of the arm's controller.
func (r *Robot) followTrajectory(h *action.Handle) ending {
	asked := r.asked(h.Goal())
	points, err := arm.Check(r.world.Arm.Names, asked)
	if err != nil {
		return armFailed(err)
	}
	tolerances := r.tolerances(h.Goal())
	j, err := r.begin(&r.arm, h, func() (mover, error) {
		t, err := arm.NewTrajectory(r.world.Arm.Names, r.measured(), points, asked.Age)
		if err != nil {
			return nil, err
		}
		return &following{arm.NewFollower(r.world.Arm.Names, t, tolerances)}, nil
	})
	if err != nil {
		return armFailed(err)
	}
	return r.carryOut(&r.arm, j)
}

// measured is what the encoders say. It is called with mu held.
func (r *Robot) measured() arm.Setpoint {
	m := r.sim.Arm()
	return arm.Setpoint{Positions: m.Positions, Velocities: m.Velocities}
}

func (f *following) move(r *Robot) *ending {
	command, done, err := f.follower.Step(r.measured(), r.sim.SpeedScaling(), stepSeconds)
	switch {
	case err != nil:
		e := armFailed(err)
		return &e
	case done:
		return &ending{action.StatusSucceeded, armResult(arm.Successful, "")}
	}
	r.sim.CommandArm(command)
	return nil
}

func (f *following) halt(r *Robot) bool {
	f.follower.Stop()
	command, _, _ := f.follower.Step(r.measured(), r.sim.SpeedScaling(), stepSeconds) // a stopped follower judges nothing
	r.sim.CommandArm(command)
	rest := command.Velocities == arm.Values{}
	for _, v := range r.sim.Arm().Velocities {
		rest = rest && math.Abs(v) <= armRest
	}
	return rest
}

// leave lets an arm that has arrived stand at its goal.
func (f *following) leave(r *Robot, finished bool) {
	if !finished {
		r.sim.HoldArm()
	}
}

func (f *following) taken(why string) ending {
	return ending{action.StatusAborted, armResult(arm.InvalidGoal, why)}
}

func (f *following) canceled(*Robot) ending {
	return ending{action.StatusCanceled, armResult(arm.Successful, "")}
}

func (f *following) progress(r *Robot, s *snapshot, _ time.Duration) func(*ros.Message) {
	desired, at := f.follower.Desired(), time.Duration(f.follower.Time()*float64(time.Second))
	names := r.world.Arm.Names
	return func(m *ros.Message) {
		writeHeader(m.Msg("header"), s.stamp, "")
		m.With("joint_names", names[:])
		var off arm.Setpoint
		for j := range names {
			off.Positions[j] = desired.Positions[j] - s.joints.Positions[j]
			off.Velocities[j] = desired.Velocities[j] - s.joints.Velocities[j]
		}
		writePoint(m.Msg("desired"), desired, at)
		writePoint(m.Msg("actual"), arm.Setpoint{Positions: s.joints.Positions, Velocities: s.joints.Velocities}, at)
		writePoint(m.Msg("error"), off, at)
	}
}

// writePoint writes a trajectory_msgs/JointTrajectoryPoint.
func writePoint(m *ros.Message, p arm.Setpoint, at time.Duration) {
	m.With("positions", p.Positions[:]).With("velocities", p.Velocities[:])
	m.SetDuration("time_from_start", at)
}

func armFailed(err error) ending {
	var e *arm.Error
	if errors.As(err, &e) {
		return ending{action.StatusAborted, armResult(e.Code, e.Message)}
	}
	return ending{action.StatusAborted, armResult(arm.InvalidGoal, err.Error())}
}

func armResult(code arm.Code, message string) func(*ros.Message) {
	return func(m *ros.Message) { m.With("error_code", int32(code)).With("error_string", message) }
}
