package robot

import (
	"math"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
	"agent_node/sim/nav"
	"agent_node/sim/world"
)

// driving is a navigation goal under way.
type driving struct {
	follower *nav.Follower
	halted   bool
}

func (d *driving) move(r *Robot) *ending {
	command, done, err := d.follower.Step(r.sim.Estimate(), r.sim.Odometry().Twist, r.sim.SpeedScaling(), stepSeconds)
	switch {
	case err != nil:
		e := failed(err)
		return &e
	case done:
		return &ending{action.StatusSucceeded, navResult(nav.None, "")}
	}
	r.sim.Command(command)
	return nil
}

// halt commands once: a velocity message may come in between.
func (d *driving) halt(r *Robot) bool {
	if !d.halted {
		d.halted = true
		r.sim.Command(world.Twist{})
	}
	measured := r.sim.Odometry().Twist
	return math.Abs(measured.Linear) <= 0.01 && math.Abs(measured.Angular) <= 0.02
}

func (d *driving) leave(r *Robot, _ bool) { r.sim.Command(world.Twist{}) }

func (d *driving) taken(why string) ending {
	return ending{action.StatusAborted, navResult(nav.FollowerUnknown, why)}
}

func (d *driving) canceled(*Robot) ending {
	return ending{action.StatusCanceled, navResult(nav.None, "")}
}

func (d *driving) progress(r *Robot, s *snapshot, since time.Duration) func(*ros.Message) {
	remaining := time.Duration(d.follower.TimeRemaining() * float64(time.Second))
	distance := d.follower.DistanceRemaining()
	return func(m *ros.Message) {
		writeHeader(m.Msg("current_pose.header"), s.stamp, r.frame(frameMap))
		writePose(m.Msg("current_pose.pose"), s.estimate, 0)
		m.SetDuration("navigation_time", since)
		m.SetDuration("estimated_time_remaining", remaining)
		m.With("distance_remaining", float32(distance))
	}
}

// takeOver ends a navigation that drives, for a velocity message. It is called with mu held.
func (r *Robot) takeOver() {
	if j := r.base.job; j != nil && !j.halting {
		r.takeAway(&r.base, "a velocity message took the base over")
	}
}

func navResult(code nav.Code, message string) func(*ros.Message) {
	return func(m *ros.Message) { m.With("error_code", uint16(code)).With("error_msg", message) }
}
