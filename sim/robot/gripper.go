package robot

import (
	"math"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/arm"
	"agent_node/sim/physics"
)

const (
	gripperName = "gripper_controller/gripper_cmd"
	gripperType = "control_msgs/action/GripperCommand"
	gripperRest = 0.001 // m/s
)

// gripping is a goal of the gripper under way.
type gripping struct {
	grip   *arm.Grip
	state  arm.GripState
	said   physics.GripperReading // when it was judged last
	begun  bool
	halted bool
}

// gripOf reads a goal.
func (r *Robot) gripOf(goal *ros.Message) (*arm.Grip, error) {
	return arm.NewGrip(r.world.Gripper, goal.Float("command.position"), goal.Float("command.max_effort"))
}

func (r *Robot) acceptGrip(goal *ros.Message) error {
	_, err := r.gripOf(goal)
	return err
}

// grip carries out a goal of the gripper.
func (r *Robot) grip(h *action.Handle) ending {
	g, err := r.gripOf(h.Goal())
	if err == nil {
		var j *job
		if j, err = r.begin(&r.gripper, h, func() (mover, error) { return &gripping{grip: g}, nil }); err == nil {
			return r.carryOut(&r.gripper, j)
		}
	}
	return ending{action.StatusAborted, func(*ros.Message) {
		r.node.Logger().Warn("the gripper does not do it", "err", err)
	}}
}

func (g *gripping) move(r *Robot) *ending {
	if !g.begun {
		g.begun = true
		r.sim.CommandGripper(g.grip.Target(), g.grip.Effort())
		return nil
	}
	g.said = r.sim.Gripper()
	g.state = g.grip.Step(g.said.Width, g.said.Velocity, r.sim.SpeedScaling(), stepSeconds)
	if g.state.Over() {
		return &ending{action.StatusSucceeded, g.write}
	}
	return nil
}

// halt commands once, as a hold needs no more.
func (g *gripping) halt(r *Robot) bool {
	if !g.halted {
		g.halted = true
		r.sim.HoldGripper()
	}
	g.said = r.sim.Gripper()
	return math.Abs(g.said.Velocity) <= gripperRest
}

// leave lets a gripper that has come to its end go on pressing.
func (g *gripping) leave(r *Robot, finished bool) {
	if !finished {
		r.sim.HoldGripper()
	}
}

func (g *gripping) taken(string) ending { return ending{action.StatusAborted, g.write} }

func (g *gripping) canceled(*Robot) ending { return ending{action.StatusCanceled, g.write} }

func (g *gripping) progress(r *Robot, _ *snapshot, _ time.Duration) func(*ros.Message) {
	now := *g
	now.said = r.sim.Gripper()
	return now.write
}

// write writes a result or a feedback: they have the same fields.
func (g *gripping) write(m *ros.Message) {
	m.With("position", g.said.Width).With("effort", g.said.Effort).With("stalled", g.state.Stalled).With("reached_goal", g.state.Reached)
}
