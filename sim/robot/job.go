package robot

import (
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/action"
)

const (
	lateBy     = 5 * time.Second // fault.late_result
	haltWithin = 2 * time.Second // after which a cancel is over even if the robot creeps on
)

// mover is what a goal does with its part of the robot: base, arm or gripper. Its methods are called with Robot.mu held.
type mover interface {
	// move lets it go on for a step; not nil is its end.
	move(r *Robot) *ending
	// halt brings it to rest, one step at a time, and reports whether that is measured.
	halt(r *Robot) bool
	// leave takes its command off the robot. Finished says that it came to its own good end.
	leave(r *Robot, finished bool)
	// taken is how the goal ends when its part is taken from it.
	taken(why string) ending
	// canceled is how it ends at rest after a cancel.
	canceled(r *Robot) ending
	// progress writes its feedback, later and without the lock.
	progress(r *Robot, s *snapshot, since time.Duration) func(*ros.Message)
}

// lane is a part of the robot that one goal at a time moves. Its job is guarded by Robot.mu.
type lane struct{ job *job }

// job is the goal that moves its part. All of it but done is guarded by Robot.mu.
type job struct {
	handle   *action.Handle
	mover    mover
	began    time.Duration
	canceled time.Duration // when the cancel was noticed; negative: not
	halting  bool          // the cancel is obeyed
	over     bool          // there or stuck, and not allowed to say so
	done     chan ending   // takes one without waiting
}

// ending is how a job ended.
type ending struct {
	status action.Status
	write  func(result *ros.Message)
}

// feedback is a goal's progress.
type feedback struct {
	handle *action.Handle
	lane   *lane
	write  func(*ros.Message)
}

// lanes are all of them.
func (r *Robot) lanes() [3]*lane { return [3]*lane{&r.base, &r.arm, &r.gripper} }

// begin makes a goal the one that moves the lane's part; the one before is over. Prepare is called with mu held.
func (r *Robot) begin(l *lane, h *action.Handle, prepare func() (mover, error)) (*job, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := prepare()
	if err != nil {
		return nil, err
	}
	r.takeAway(l, "preempted by a newer goal")
	l.job = &job{handle: h, mover: m, began: r.sim.Time(), canceled: -1, done: make(chan ending, 1)}
	return l.job, nil
}

// carryOut lets a goal that has begun come to its end.
func (r *Robot) carryOut(l *lane, j *job) ending {
	select {
	case e := <-j.done:
		return e
	case <-j.handle.Context().Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		if l.job == j {
			l.job = nil
			j.mover.leave(r, false)
		}
		return j.mover.taken("the server shuts down")
	}
}

// takeAway ends the lane's job, if there is one. It is called with mu held.
func (r *Robot) takeAway(l *lane, why string) {
	if l.job != nil {
		r.end(l, l.job.mover.taken(why))
	}
}

// end ends the lane's job, which no longer commands anything then. A goal whose cancel was obeyed
// ends canceled. It is called with mu held.
func (r *Robot) end(l *lane, e ending) {
	j := l.job
	if j.halting {
		e = j.mover.canceled(r)
	}
	l.job = nil
	j.mover.leave(r, e.status == action.StatusSucceeded)
	j.done <- e
}

// advance lets every job go on for a step. It is called with mu held.
func (r *Robot) advance() {
	for _, l := range r.lanes() {
		if l.job != nil {
			r.advanceJob(l, l.job)
		}
	}
}

func (r *Robot) advanceJob(l *lane, j *job) {
	select {
	case <-j.handle.Canceling():
		if j.canceled < 0 {
			j.canceled = r.sim.Time()
		}
	default:
	}
	switch {
	case r.faults.estop:
		r.takeAway(l, "the emergency stop is pressed")
	case j.halting || j.canceled >= 0 && !r.faults.ignoreCancel:
		r.halt(l, j)
	case !j.over:
		e := j.mover.move(r)
		switch {
		case e == nil:
		case j.canceled >= 0:
			// The cancel was accepted and is ignored: success or failure would be an end by itself.
			j.over = true
		default:
			r.end(l, *e)
		}
	}
}

// halt brings the job's part to rest for a cancel, and ends the job then.
func (r *Robot) halt(l *lane, j *job) {
	j.halting = true
	rest, since := j.mover.halt(r), r.sim.Time()-j.canceled
	over := rest || since >= haltWithin
	if r.faults.lateResult {
		over = since >= lateBy
	}
	if over {
		r.end(l, j.mover.canceled(r))
	}
}

// progress is the feedback that is due. It is called with mu held.
func (r *Robot) progress(s *snapshot) (out []feedback) {
	if r.faults.dropFeedback {
		return nil
	}
	for _, l := range r.lanes() {
		if j := l.job; j != nil {
			out = append(out, feedback{j.handle, l, j.mover.progress(r, s, s.truth.Time-j.began)})
		}
	}
	return out
}
