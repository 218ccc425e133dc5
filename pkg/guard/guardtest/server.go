package guardtest

import (
	"errors"
	"math"
	"time"

	"agent_node/pkg/guard"
)

// Faults of sensor, server and body. They can be set at any time.
type Faults struct {
	// Sensor.
	NoFeedback   bool
	FreezeValues bool // same values, fresh stamps
	FreezeStamps bool // live values, one stamp
	RepeatLast   bool // the last message over and over
	NaN, Inf     bool // in a velocity
	NaNPosition  bool
	StaleZero    time.Duration // stamps so old, in order, and values that read zero
	StampShift   time.Duration // the source's clock is off by this

	// Server.
	Reject       bool          // every goal (also what a duplicate id looks like)
	NoAcceptance bool          // the acceptance is lost; the goal runs
	NoAnswer     bool          // the goal is lost
	AcceptDelay  time.Duration // before the goal is accepted and begun
	SucceedAt    time.Duration // after acceptance it says so, whatever the body does; 0: at the goal
	NoProgress   bool          // no action feedback
	RefuseCancel bool
	IgnoreCancel bool          // accepted, and the motion goes on for ever
	SilentCancel bool          // never answered, the motion goes on
	CancelDelay  time.Duration // before the answer
	StopDelay    time.Duration // motion after an accepted cancel
	LateResult   time.Duration // between the end and its result
	LateSuccess  bool          // a canceled goal says that it succeeded
	NoResult     bool          // the terminal result never comes
	Insists      bool          // velocities do not take over: its own win again InsistAfter the last of them

	// Body and input.
	IgnoreStop     bool    // zero velocities are not heard
	StopFails      bool    // Driver.Stop returns an error, and nothing is sent
	NoSubscriber   bool    // velocities are not heard
	ProtectiveStop bool    // the body holds by itself
	Oscillate      float64 // amplitude in m, at 4 Hz
}

// ErrStop is what Driver.Stop returns with Faults.StopFails.
var ErrStop = errors.New("guardtest: stop cannot be sent")

// ErrRejected is what a rejecting server says.
var ErrRejected = errors.New("guardtest: goal rejected")

// Set changes the faults.
func (r *Robot) Set(f func(*Faults)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.faults)
}

type serverGoal struct {
	epoch    guard.Epoch
	target   float64
	speed    float64
	began    time.Time
	accepted bool
	canceled bool
	stopping bool
}

// Goal is an action-driven command: move the first axis to target.
func (r *Robot) Goal(target, speed float64) guard.Command {
	return guard.Command{Tool: "goal", MustMove: true, Start: func(e guard.Epoch) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.counts.Starts++
		r.note("start")
		f := r.faults
		switch {
		case f.NoAnswer:
		case f.Reject:
			r.after(f.AcceptDelay, func() { r.actuator.Rejected(e, ErrRejected) })
		default:
			r.after(f.AcceptDelay, func() { r.accept(e, target, speed) })
		}
		return nil
	}}
}

// Left begins a goal that nobody's command here has sent.
func (r *Robot) Left(e guard.Epoch, target, speed float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = e
	r.goal = &serverGoal{epoch: e, target: target, speed: speed, began: time.Now(), accepted: true}
}

// accept begins the goal.
func (r *Robot) accept(e guard.Epoch, target, speed float64) {
	r.mu.Lock()
	lost := r.faults.NoAcceptance
	r.newest = e
	r.goal = &serverGoal{epoch: e, target: target, speed: speed, began: time.Now(), accepted: true}
	r.mu.Unlock()
	if !lost {
		r.actuator.Accepted(e)
	}
}

// Drive is a velocity-driven command: move the first axis by distance, as measured.
func (r *Robot) Drive(distance, speed float64) guard.Command {
	target, known := 0.0, false
	speed = math.Copysign(speed, distance)
	return guard.Command{
		Tool: "drive", MustMove: true,
		Start: func(guard.Epoch) error {
			r.mu.Lock()
			r.counts.Starts++
			r.mu.Unlock()
			return r.Velocity(speed)
		},
		Stream: func(_ guard.Epoch, _ time.Time, latest guard.Sample) (bool, error) {
			if len(latest.Position) > 0 && !known {
				target, known = latest.Position[0]+distance, true
			}
			if known && (target-latest.Position[0])*speed <= 0 {
				return true, nil
			}
			return false, r.Velocity(speed)
		},
	}
}

// Velocity is what a velocity topic does: it takes the body over, and aborts a goal under way.
func (r *Robot) Velocity(v float64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("velocity")
	r.counts.Velocities++
	if r.faults.NoSubscriber {
		return nil
	}
	r.takeOver()
	r.velocity = time.Now()
	r.wanted[0] = v
	return nil
}

// InsistAfter is the silence on the velocity input after which a server with Faults.Insists drives on.
const InsistAfter = 160 * time.Millisecond

// takeOver aborts the goal under way; r.mu is held.
func (r *Robot) takeOver() {
	g := r.goal
	if g == nil || r.faults.Insists {
		return
	}
	r.goal = nil
	r.owe(g.epoch, guard.ReasonServerFailed, errors.New("guardtest: velocity took over"))
}

// owe sends the result of a goal that has ended, when it is due; r.mu is held.
func (r *Robot) owe(e guard.Epoch, reason guard.Reason, err error) {
	if r.faults.NoResult {
		return
	}
	r.owed[e] = true
	r.after(r.faults.LateResult, func() {
		r.mu.Lock()
		delete(r.owed, e)
		r.mu.Unlock()
		r.actuator.Finished(e, reason, err)
	})
}

// Stop is guard.Driver's: one zero velocity.
func (r *Robot) Stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("stop")
	r.counts.Stops++
	if r.counts.FirstStop.IsZero() {
		r.counts.FirstStop = time.Now()
	}
	if r.faults.StopFails {
		return ErrStop
	}
	if r.faults.IgnoreStop || r.faults.NoSubscriber {
		return nil
	}
	r.takeOver()
	r.velocity = time.Now()
	clear(r.wanted)
	return nil
}

// Cancel is guard.Driver's.
func (r *Robot) Cancel(e guard.Epoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note("cancel")
	r.counts.Cancels++
	if r.faults.SilentCancel {
		return
	}
	r.after(r.faults.CancelDelay, func() { r.canceled(e) })
}

func (r *Robot) canceled(e guard.Epoch) {
	r.mu.Lock()
	g := r.goal
	running := g != nil && g.epoch == e
	refuse := r.faults.RefuseCancel || !running && !r.owed[e]
	// A server that had the goal and has it no more says so, unless it tells nothing of ends.
	forgotten := !running && !r.owed[e] && (e <= r.newest || e == r.left) && !r.faults.NoResult && !r.faults.RefuseCancel
	if running && !refuse {
		g.canceled = true
		if !r.faults.IgnoreCancel {
			r.after(r.faults.StopDelay, func() { r.halt(e) })
		}
	}
	r.mu.Unlock()
	if forgotten {
		r.actuator.ServerLost(e)
		return
	}
	r.actuator.CancelAnswered(e, !refuse)
}

// halt ends a canceled goal: the body brakes, and the result follows when it stands.
func (r *Robot) halt(e guard.Epoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.goal != nil && r.goal.epoch == e {
		r.goal.stopping = true
		clear(r.wanted)
	}
}

// Die kills the server: the goal is forgotten, and the body goes on with what it was last told until its own watchdog stops it.
func (r *Robot) Die() {
	r.mu.Lock()
	g := r.goal
	r.goal = nil
	r.velocity = time.Now()
	r.mu.Unlock()
	if g != nil {
		r.actuator.ServerLost(g.epoch)
	}
}

// Running is the epoch of the goal that the server has, 0 without one.
func (r *Robot) Running() guard.Epoch {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.goal == nil {
		return 0
	}
	return r.goal.epoch
}

// RunningFor is how long the server has had its goal, 0 without one.
func (r *Robot) RunningFor() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.goal == nil {
		return 0
	}
	return time.Since(r.goal.began) + 1
}

// server controls the goal under way and returns what is to be told of it; r.mu is held.
func (r *Robot) server(now time.Time) func() {
	g := r.goal
	if g == nil {
		return nil
	}
	e := g.epoch
	end := func(reason guard.Reason) {
		r.goal = nil
		clear(r.wanted)
		r.owe(e, reason, nil)
	}
	if s := r.faults.SucceedAt; s > 0 && now.Sub(g.began) >= s {
		r.goal = nil // and the body goes on with what it was told
		r.velocity = now
		return func() { r.actuator.Finished(e, guard.ReasonSucceeded, nil) }
	}
	if g.stopping {
		if math.Abs(r.vel[0]) < 1e-9 || r.push[0] != 0 {
			if r.faults.LateSuccess {
				end(guard.ReasonSucceeded)
			} else {
				end(guard.ReasonCanceled)
			}
		}
		return nil
	}
	if r.faults.Insists && now.Sub(r.velocity) < InsistAfter {
		return nil // somebody's velocities win
	}
	left := g.target - r.pos[0]
	brake := math.Sqrt(2 * r.opt.Deceleration * math.Abs(left) * 0.8)
	r.wanted[0] = math.Copysign(math.Min(g.speed, brake), left)
	if math.Abs(left) < 0.005 && math.Abs(r.vel[0]) < 0.05 && !g.canceled {
		end(guard.ReasonSucceeded)
		return nil
	}
	if r.faults.NoProgress {
		return nil
	}
	return func() { r.actuator.Progress(e) }
}
