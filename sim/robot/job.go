package robot

import (
	"math"
	"time"

	"agent_node/pkg/ros/action"
	"agent_node/sim/nav"
	"agent_node/sim/world"
)

const (
	lateBy     = 5 * time.Second // fault.late_result
	haltWithin = 2 * time.Second // after which a cancel is over even if the base creeps on
)

// job is the navigation goal that drives the base. All of it but done is guarded by Robot.mu.
type job struct {
	handle   *action.Handle
	follower *nav.Follower
	began    time.Duration
	canceled time.Duration // when the cancel was noticed; negative: not
	halting  bool          // the cancel is obeyed: it drives no more
	over     bool          // there or stuck, and not allowed to say so
	done     chan ending   // takes one without waiting
}

// ending is how a job ended.
type ending struct {
	status  action.Status
	code    nav.Code
	message string
}

// feedback is a goal's progress.
type feedback struct {
	handle    *action.Handle
	pose      world.Pose
	time      time.Duration
	remaining time.Duration
	distance  float64
}

func (j *job) feedback(s *snapshot) *feedback {
	return &feedback{
		handle: j.handle, pose: s.estimate, time: s.truth.Time - j.began,
		remaining: time.Duration(j.follower.TimeRemaining() * float64(time.Second)),
		distance:  j.follower.DistanceRemaining(),
	}
}

// begin makes the job the one that drives; the one before is over.
func (r *Robot) begin(h *action.Handle, f *nav.Follower) *job {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end(action.StatusAborted, nav.FollowerUnknown, "preempted by a newer goal")
	r.job = &job{handle: h, follower: f, began: r.sim.Time(), canceled: -1, done: make(chan ending, 1)}
	return r.job
}

// drop ends the job without an outcome, and stops the base, if it is still the one.
func (r *Robot) drop(j *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.job == j {
		r.job = nil
		r.sim.Command(world.Twist{})
	}
}

// takeOver ends a job that drives, for a velocity message. It is called with mu held.
func (r *Robot) takeOver() {
	if r.job != nil && !r.job.halting {
		r.end(action.StatusAborted, nav.FollowerUnknown, "a velocity message took the base over")
	}
}

// end ends the job, if there is one, and leaves the base without a command from it. A
// goal whose cancel was obeyed ends canceled. It is called with mu held.
func (r *Robot) end(status action.Status, code nav.Code, message string) {
	j := r.job
	if j == nil {
		return
	}
	if j.halting {
		status, code, message = action.StatusCanceled, nav.None, ""
	}
	r.job = nil
	r.sim.Command(world.Twist{})
	j.done <- ending{status, code, message}
}

// advance lets the job drive for a step. It is called with mu held.
func (r *Robot) advance() {
	j := r.job
	if j == nil {
		return
	}
	select {
	case <-j.handle.Canceling():
		if j.canceled < 0 {
			j.canceled = r.sim.Time()
		}
	default:
	}
	switch {
	case r.faults.estop:
		r.end(action.StatusAborted, nav.FollowerUnknown, "the emergency stop is pressed")
	case j.halting || j.canceled >= 0 && !r.faults.ignoreCancel:
		r.halt(j)
	case !j.over:
		r.drive(j)
	}
}

func (r *Robot) drive(j *job) {
	command, done, err := j.follower.Step(r.sim.Estimate(), r.sim.Odometry().Twist, r.sim.SpeedScaling(), stepSeconds)
	switch {
	case (done || err != nil) && j.canceled >= 0:
		// The cancel was accepted and is ignored: success or failure would be an end by itself.
		j.over = true
	case err != nil:
		code, message := reason(err)
		r.end(action.StatusAborted, code, message)
	case done:
		r.end(action.StatusSucceeded, nav.None, "")
	default:
		r.sim.Command(command)
	}
}

// halt brings the base to rest for a cancel, once, and ends the job then.
func (r *Robot) halt(j *job) {
	if !j.halting {
		j.halting = true
		r.sim.Command(world.Twist{})
	}
	measured, since := r.sim.Odometry().Twist, r.sim.Time()-j.canceled
	over := math.Abs(measured.Linear) <= 0.01 && math.Abs(measured.Angular) <= 0.02 || since >= haltWithin
	if r.faults.lateResult {
		over = since >= lateBy
	}
	if over {
		r.end(action.StatusCanceled, nav.None, "")
	}
}
