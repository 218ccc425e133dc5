package guard

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Actuator is one thing that moves. Its methods are safe for concurrent use and do not block (Acquire may wait).
type Actuator struct {
	g      *Guard
	cfg    Config
	driver Driver
	base   time.Time // of the actuator's monotonic time
	box    *mailbox
	alive  atomic.Int64 // mono: when its goroutine last came round

	mu      sync.Mutex
	snap    snapshot
	stale   bool          // snap shows a transition that nobody was woken for
	changed chan struct{} // closed and renewed when something in snap changed that is waited for
}

// snapshot is what others may know of the machine.
type snapshot struct {
	state     ActuatorState
	rest      bool
	restSince time.Time
	moves     bool // it is measured in motion
	late      bool // estop: not at rest in time
	arrived   time.Time
	maxAge    time.Duration
	closed    bool
}

// stopped: a stop has brought it to rest.
func (s *snapshot) stopped() bool {
	return s.rest && (s.state.State == Holding || s.state.State == Estop)
}

// gap: what was measured before is not now, and nobody commands it.
func (s *snapshot) gap() bool {
	switch s.state.State {
	case Holding, Settling, Unknown:
		return !s.rest && !s.moves && !s.closed && s.state.Owner == "" && !s.state.LastFeedback.IsZero()
	case Sent, InFlight, Paused, Canceling, Stopping, Fault, Estop:
	}
	return false
}

// stopDecided: the stop has succeeded, or is known not to.
func (s *snapshot) stopDecided() bool {
	switch s.state.State {
	case Fault, Unknown:
		return true
	case Estop:
		return s.rest || s.late || s.closed
	case Holding, Sent, InFlight, Paused, Canceling, Stopping, Settling:
	}
	return s.stopped() || s.closed
}

// released: neither in fault nor latched.
func (s *snapshot) released() bool { return s.state.State != Fault && s.state.State != Estop }

func newActuator(g *Guard, cfg Config, d Driver) *Actuator {
	a := &Actuator{g: g, cfg: cfg, driver: d, base: g.clock.Now(), box: newMailbox(axesOf(&cfg)), changed: make(chan struct{})}
	a.snap.state = ActuatorState{Name: cfg.Name, State: Unknown, Reason: noSample.String()}
	a.snap.maxAge = ageOf(&cfg, cfg.Period)
	return a
}

// axesOf is the larger number of axes of the two sources.
func axesOf(c *Config) int {
	if c.Second != nil {
		return max(len(c.Axes), len(c.Second.Axes))
	}
	return len(c.Axes)
}

func newActor(a *Actuator) *actor {
	return &actor{a: a, m: newMachine(&a.cfg), asking: map[uint64]*asking{}, tick: input{kind: inTick}, slot: newSlot(axesOf(&a.cfg))}
}

func (a *Actuator) now() mono { return a.g.clock.Now().Sub(a.base) }

// Name is the configured one.
func (a *Actuator) Name() string { return a.cfg.Name }

// Config is a copy of its numbers. The slices and maps in it are shared and must not be changed.
func (a *Actuator) Config() Config { return a.cfg }

// Observe feeds one measurement. The values are copied. A zero Arrived is now.
func (a *Actuator) Observe(s Sample) { a.box.postSample(false, a.arrival(&s), &s) }

// ObserveSecond feeds one measurement of the second source (Config.Second).
func (a *Actuator) ObserveSecond(s Sample) { a.box.postSample(true, a.arrival(&s), &s) }

func (a *Actuator) arrival(s *Sample) mono {
	if s.Arrived.IsZero() {
		return a.now()
	}
	return s.Arrived.Sub(a.base)
}

// Accepted tells that the server accepted the goal of that epoch.
func (a *Actuator) Accepted(e Epoch) { a.box.post(input{kind: inAccepted, epoch: e}) }

// Rejected tells that the server refused the goal of that epoch.
func (a *Actuator) Rejected(e Epoch, err error) {
	a.box.post(input{kind: inRejected, epoch: e, err: err})
}

// Finished tells the goal's terminal result. reason is ReasonSucceeded, ReasonCanceled or ReasonServerFailed; any other counts as the last.
func (a *Actuator) Finished(e Epoch, reason Reason, err error) {
	if reason != ReasonSucceeded && reason != ReasonCanceled {
		reason = ReasonServerFailed
	}
	a.box.post(input{kind: inFinished, epoch: e, reason: reason, err: err})
}

// CancelAnswered tells the server's answer to Driver.Cancel.
func (a *Actuator) CancelAnswered(e Epoch, accepted bool) {
	a.box.post(input{kind: inCancelAnswered, epoch: e, flag: accepted})
}

// ServerLost tells that the server of the goal is gone, or has forgotten it.
func (a *Actuator) ServerLost(e Epoch) { a.box.post(input{kind: inServerLost, epoch: e}) }

// Replaced tells that the goal's server has since accepted another goal, which holds the actuator: the one of that epoch drives no more.
// Servers that carry out one goal at a time end the older one by the newer.
func (a *Actuator) Replaced(e Epoch) { a.box.post(input{kind: inReplaced, epoch: e}) }

// adopted marks the epochs of goals that are not this guard's own.
const adopted = Epoch(1) << 63

// Adopt tells of a running goal that this guard did not send (a node that died left it behind). Its driver is asked to cancel it by the
// epoch that is returned; until its end is told (Finished, ServerLost, Replaced) rest is not claimed, and no stop is let go of.
func (a *Actuator) Adopt() Epoch {
	e := adopted | Epoch(a.g.ids.Add(1))
	a.box.post(input{kind: inAdopt, epoch: e})
	return e
}

// Progress tells of feedback of the server. It shows that the goal runs (a lost acceptance is made up for); progress is measured motion.
func (a *Actuator) Progress(e Epoch) { a.box.post(input{kind: inProgress, epoch: e}) }

// Foreign reports a command from a publisher that is not allowed, or from an allowed one while another holds the lease.
func (a *Actuator) Foreign(publisher string) {
	a.box.post(input{kind: inForeign, text: publisher})
}

// Permitted tells of a command from a publisher that the profile allows, while no lease is held: the motion it causes is
// reported as its, and not stopped while its commands keep coming.
func (a *Actuator) Permitted(publisher string) {
	a.box.post(input{kind: inPermitted, text: publisher})
}

// Pause adds a pause source to this actuator alone (see Guard.Pause).
func (a *Actuator) Pause(source string) { a.box.post(input{kind: inPause, text: source}) }

// Resume takes a pause source of this actuator away.
func (a *Actuator) Resume(source string) { a.box.post(input{kind: inResume, text: source}) }

// State is what it is doing now.
func (a *Actuator) State() ActuatorState {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.snap.state
}

// AtRest tells whether the actuator is measured at rest now; since when rest was measured (monotonic clock); and the source stamp of
// the newest measurement that says so.
func (a *Actuator) AtRest() (rest bool, since time.Time, newestStamp time.Time) {
	s, _ := a.look()
	if !s.rest || a.g.clock.Now().Sub(s.arrived) >= s.maxAge {
		return false, time.Time{}, time.Time{}
	}
	return true, s.restSince, s.state.LastFeedback
}

// AwaitRest waits until the actuator is measured at rest; false when ctx ends before that.
func (a *Actuator) AwaitRest(ctx context.Context) bool {
	a.await(ctx, func(s *snapshot) bool { return s.rest })
	rest, _, _ := a.AtRest()
	return rest
}

func (a *Actuator) look() (snapshot, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.snap, a.changed
}

// await waits until the snapshot passes, or ctx ends.
func (a *Actuator) await(ctx context.Context, pass func(*snapshot) bool) {
	for {
		s, changed := a.look()
		if pass(&s) || s.closed {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// postDone posts an input; the channel closes when it has been taken, or never will be.
func (a *Actuator) postDone(in input) chan struct{} {
	in.done = make(chan struct{})
	if !a.box.post(in) {
		close(in.done)
	}
	return in.done
}

// publish copies what others may know out of the machine.
func (a *Actuator) publish(m *machine) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.snap
	moves := m.moves()
	wake := a.stale || s.state.State != m.state || s.rest != m.rest || s.late != m.late || s.moves != moves
	s.state.State, s.state.Owner, s.state.Reason, s.state.LastFeedback = m.state, m.lease.owner, m.why, m.lastStamp
	s.state.Standstill = m.stands
	s.rest, s.moves, s.late = m.rest, moves, m.late
	s.restSince = a.base.Add(m.restSince)
	s.arrived = a.base.Add(m.lastFeedback)
	if wake {
		a.stale = false
		a.wake()
	}
}

// publishState shows one transition of several in a step, for those who look from OnTransition. Rest is left as it was, except that
// a motion's beginning ends it.
func (a *Actuator) publishState(t Transition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.snap.state.State, a.snap.state.Owner, a.snap.state.Reason = t.To, t.Owner, t.Reason
	switch t.To {
	case Sent, InFlight, Canceling:
		a.snap.rest = false
	case Unknown, Holding, Paused, Stopping, Settling, Fault, Estop:
	}
	a.stale = true
}

func (a *Actuator) publishClosed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.snap.closed = true
	a.wake()
}

func (a *Actuator) wake() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *Actuator) safeStop() (err error) {
	defer recovered(&err)
	return a.driver.Stop()
}
