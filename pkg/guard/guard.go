package guard

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// SourceOperator is the pause source of ~/pause. Pausing by it cancels and re-sends; every other source is a hold by the robot itself.
const SourceOperator = "operator"

// SourceClock is the pause source that stands for simulated time that does not advance.
const SourceClock = "clock"

// GuardConfig is what all actuators of a guard share.
type GuardConfig struct {
	// Clock, nil: the system's.
	Clock Clock
	// Logger, nil: none.
	Logger *slog.Logger
	// OnTransition is told every change of state, OnReport everything else worth recording. Both are called by the
	// actuators' goroutines, in order for each actuator, and must not block nor call the guard.
	OnTransition func(Transition)
	OnReport     func(Report)
	// SourceTime is the clock that samples are stamped with (ROS time), and whether it advances. Where given, samples with old
	// stamps are no feedback, and motion is judged only while it advances. nil: stamps are only compared with each other.
	SourceTime func() (now time.Time, advancing bool)
	// Leave: the end of Run stops nothing. For a guard that stands in for another one, which is back.
	Leave bool
}

// Transition is one change of an actuator's state.
type Transition struct {
	Actuator string
	From, To State
	Event    string // the row of the table, as docs/guard-states.md names it
	Reason   string // why, such as "deadline" or the pause source
	Detail   string
	Owner    string
	Epoch    Epoch
	Time     time.Time
}

// ReportKind says what a Report is about.
type ReportKind string

// Kinds of reports.
const (
	ReportForeign     ReportKind = "foreign_publisher"  // a command by somebody else
	ReportUncommanded ReportKind = "uncommanded_motion" // it moves and nobody commanded it
	ReportLate        ReportKind = "late_answer"        // an answer to an older epoch: recorded, not applied
	ReportOrphan      ReportKind = "orphan_accepted"    // a goal given up was accepted after all: canceled
	ReportDriver      ReportKind = "driver_error"       // Stop, Cancel or a command's function failed; stopping goes on
	ReportSample      ReportKind = "bad_sample"         // a measurement that cannot be used
	ReportPause       ReportKind = "pause"              // a pause source came or went
	ReportEstop       ReportKind = "emergency_stop"     // the input changed, or the latch was released
	ReportNotAtRest   ReportKind = "not_at_rest"        // an estopped actuator is not at rest in time
	ReportInternal    ReportKind = "internal"           // a state and event that should not meet
	ReportOutcome     ReportKind = "outcome"            // a command ended
)

// Report is something worth recording that changes no state by itself.
type Report struct {
	Actuator string
	Kind     ReportKind
	State    State
	Epoch    Epoch
	Detail   string
	Err      error
	Time     time.Time
}

// ActuatorState is what ~/state says of an actuator.
type ActuatorState struct {
	Name   string
	State  State
	Owner  string
	Reason string
	// LastFeedback is the source stamp of the newest usable measurement.
	LastFeedback time.Time
	// Standstill: source time does not advance (SourceClock), so that nothing can be measured.
	Standstill bool
}

// Guard watches and stops any number of actuators.
type Guard struct {
	cfg   GuardConfig
	clock Clock
	ids   atomic.Uint64

	mu        sync.Mutex
	actuators []*Actuator
	sources   []string // pause sources of all actuators
	estop     bool     // the emergency stop's input
	running   context.Context
	ended     bool
	leave     atomic.Bool // see Leave
	actors    sync.WaitGroup
}

// New makes a guard without actuators.
func New(cfg GuardConfig) *Guard {
	if cfg.Clock == nil {
		cfg.Clock = SystemClock()
	}
	return &Guard{cfg: cfg, clock: cfg.Clock}
}

// Add makes an actuator known, before or while Run runs. It begins in Unknown. Errors wrap ErrConfig, or ErrNotRunning after the end of Run.
func (g *Guard) Add(cfg Config, d Driver) (*Actuator, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if d == nil {
		return nil, fmt.Errorf("%w: actuator %q has no driver", ErrConfig, cfg.Name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return nil, fmt.Errorf("%w: actuator %q comes too late", ErrNotRunning, cfg.Name)
	}
	for _, a := range g.actuators {
		if a.cfg.Name == cfg.Name {
			return nil, fmt.Errorf("%w: there is an actuator %q already", ErrConfig, cfg.Name)
		}
	}
	a := newActuator(g, cfg, d)
	g.actuators = append(g.actuators, a)
	for _, s := range g.sources {
		a.box.post(input{kind: inPause, text: s})
	}
	if g.estop {
		a.box.post(input{kind: inEstop, flag: true})
	}
	if g.running != nil {
		g.start(a)
	}
	return a, nil
}

// start runs an actuator's goroutine; g.mu is held.
func (g *Guard) start(a *Actuator) {
	ctx := g.running
	a.alive.Store(int64(a.now()))
	g.actors.Go(func() { newActor(a).run(ctx) })
}

// Run runs the actuators until ctx ends; then it stops all and waits for rest, as long as the actuators' deadlines allow (with
// GuardConfig.Leave it does neither).
// It returns nil or a *NotAtRestError. A guard runs once.
func (g *Guard) Run(ctx context.Context) error {
	g.mu.Lock()
	if g.running != nil {
		g.mu.Unlock()
		return fmt.Errorf("%w: a guard runs once", ErrNotRunning)
	}
	g.running = ctx
	for _, a := range g.actuators {
		g.start(a)
	}
	g.mu.Unlock()

	<-ctx.Done()
	g.mu.Lock()
	g.ended = true
	g.mu.Unlock()
	g.actors.Wait()
	return notAtRest(g.list(), func(s *snapshot) bool { return s.rest })
}

// Leave makes Run end as GuardConfig.Leave does: somebody else commands the actuators by right, and a stop would be in the way.
func (g *Guard) Leave() { g.leave.Store(true) }

func (g *Guard) list() []*Actuator {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.actuators)
}

// notAtRest names the actuators that do not pass, or is nil.
func notAtRest(actuators []*Actuator, pass func(*snapshot) bool) error {
	var e NotAtRestError
	for _, a := range actuators {
		if s, _ := a.look(); !pass(&s) {
			e.Actuators = append(e.Actuators, s.state)
		}
	}
	if len(e.Actuators) > 0 {
		return &e
	}
	return nil
}

// Actuators in the order they were added.
func (g *Guard) Actuators() []*Actuator { return g.list() }

// States is a copy of what each actuator is doing, in the order they were added. It may be called from OnTransition, and then shows the
// actuator concerned in the transition's new state.
func (g *Guard) States() []ActuatorState {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]ActuatorState, len(g.actuators))
	for i, a := range g.actuators {
		out[i] = a.State()
	}
	return out
}

// StopAll stops every actuator and takes every lease; reason is for the record ("operator_stop"). It returns nil when all were measured
// at rest, else a *NotAtRestError. The stop goes on when ctx ends; only the waiting ends.
func (g *Guard) StopAll(ctx context.Context, reason string) error {
	return g.ask(ctx, input{kind: inStop, text: reason})
}

// Quiesce is StopAll for what a lease owns or what moves; what nobody commands and nothing shows to move is sent nothing. nil only when every
// actuator is measured at rest. A gap in the measurements of what holds still is no motion: it is given FeedbackTimeout + SettleTime to close,
// as on a machine that is busy with something else.
func (g *Guard) Quiesce(ctx context.Context) error {
	all := g.list()
	g.bridge(ctx, all)
	return g.askThese(ctx, all, input{kind: inQuiesce, text: "quiesce"})
}

// bridge waits for gaps in the measurements to close, for FeedbackTimeout + SettleTime at the most.
func (g *Guard) bridge(ctx context.Context, actuators []*Actuator) {
	var limit time.Duration
	for _, a := range actuators {
		limit = max(limit, a.cfg.FeedbackTimeout+a.cfg.SettleTime)
	}
	if limit == 0 {
		return
	}
	bounded, done := g.bound(ctx, limit)
	defer done()
	for _, a := range actuators {
		a.await(bounded, func(s *snapshot) bool { return !s.gap() })
	}
}

// bound ends a context after a time on the guard's clock.
func (g *Guard) bound(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithCancel(ctx)
	ticker := g.clock.NewTicker(limit)
	go func() {
		defer ticker.Stop()
		select {
		case <-ticker.C():
			cancel()
		case <-bounded.Done():
		}
	}()
	return bounded, cancel
}

// Stop is StopAll for this actuator alone.
func (a *Actuator) Stop(ctx context.Context, reason string) error {
	return a.g.askThese(ctx, []*Actuator{a}, input{kind: inStop, text: reason})
}

// Stuck names the actuators whose goroutines have done nothing for longer than limit though Run runs: something that they
// call (a driver, a command's function, a callback) does not return, so nothing guards them. None: all is well.
func (g *Guard) Stuck(limit time.Duration) []string {
	g.mu.Lock()
	running := g.running != nil && !g.ended
	g.mu.Unlock()
	if !running {
		return nil
	}
	var names []string
	for _, a := range g.list() {
		if a.now()-mono(a.alive.Load()) > limit {
			names = append(names, a.cfg.Name)
		}
	}
	return names
}

// ask posts a stop to every actuator at once, then waits until each rests, or is known not to. One that was measured at rest after the stop may
// have a gap in its measurements while another still comes to rest: the gap is given time to close.
func (g *Guard) ask(ctx context.Context, in input) error { return g.askThese(ctx, g.list(), in) }

func (g *Guard) askThese(ctx context.Context, actuators []*Actuator, in input) error {
	taken := make([]chan struct{}, len(actuators))
	var rested []*Actuator
	for i, a := range actuators {
		taken[i] = a.postDone(in)
	}
	for i, a := range actuators {
		select {
		case <-taken[i]:
		case <-ctx.Done():
			continue
		}
		stopped := false
		a.await(ctx, func(s *snapshot) bool { stopped = s.stopped(); return s.stopDecided() })
		if stopped {
			rested = append(rested, a)
		}
	}
	g.bridge(ctx, rested)
	return notAtRest(actuators, (*snapshot).stopped)
}

// EmergencyStop latches with true; false only allows Reset.
func (g *Guard) EmergencyStop(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.estop = on
	for _, a := range g.actuators {
		a.box.post(input{kind: inEstop, flag: on})
	}
}

// Estop tells whether the emergency stop's input is true, and whether any actuator is latched by it.
func (g *Guard) Estop() (active, latched bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.actuators {
		latched = latched || a.State().State == Estop
	}
	return g.estop, latched || g.estop
}

// Pause adds a pause source to every actuator (SourceOperator, or a name for the robot's own hold). Idempotent.
func (g *Guard) Pause(source string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.sources, source) {
		g.sources = append(g.sources, source)
	}
	for _, a := range g.actuators {
		a.Pause(source)
	}
}

// Resume takes a pause source away. Motion resumes when none is left and the command was validated afresh.
func (g *Guard) Resume(source string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sources = slices.DeleteFunc(g.sources, func(s string) bool { return s == source })
	for _, a := range g.actuators {
		a.Resume(source)
	}
}

// Reset acknowledges faults, and releases the e-stop latch if its input is false (else the error wraps ErrEstop). It returns nil when no
// actuator is in fault or latched any more: each of those was measured at rest. When ctx, or the time in which they could have come to
// rest, ends before that, the acknowledgement is taken back and the error is a *NotAtRestError.
func (g *Guard) Reset(ctx context.Context) error {
	g.mu.Lock()
	if g.estop {
		g.mu.Unlock()
		return fmt.Errorf("%w: its input is still true", ErrEstop)
	}
	actuators := slices.Clone(g.actuators)
	taken := make([]chan struct{}, len(actuators))
	var limit time.Duration
	for i, a := range actuators {
		taken[i] = a.postDone(input{kind: inReset})
		limit = max(limit, a.cfg.StopTime+windowOf(&a.cfg, a.cfg.Period)+time.Second)
	}
	g.mu.Unlock()
	if len(actuators) == 0 {
		return nil
	}

	bounded, cancel := g.bound(ctx, limit)
	defer cancel()
	for i, a := range actuators {
		select {
		case <-taken[i]:
		case <-bounded.Done():
		}
		a.await(bounded, (*snapshot).released)
	}
	for _, a := range actuators {
		a.box.post(input{kind: inResetEnd})
	}
	return notAtRest(actuators, (*snapshot).released)
}

// source reads the clock that stamps come from.
func (g *Guard) source() source {
	if g.cfg.SourceTime == nil {
		return source{}
	}
	now, advancing := g.cfg.SourceTime()
	return source{now: now, known: true, stands: !advancing}
}
