package guard

import (
	"context"
	"log/slog"
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
}

// Guard watches and stops any number of actuators.
type Guard struct{ cfg GuardConfig }

// New makes a guard without actuators.
func New(cfg GuardConfig) *Guard { return &Guard{cfg: cfg} }

// Add makes an actuator known. It begins in Unknown. Errors wrap ErrConfig.
func (g *Guard) Add(cfg Config, d Driver) (*Actuator, error) { panic("guard: in the making") }

// Run runs the actuators until ctx ends; then it stops all and waits for rest, as long as the actuators' deadlines allow.
// It returns nil or a *NotAtRestError.
func (g *Guard) Run(ctx context.Context) error { panic("guard: in the making") }

// States is a copy of what each actuator is doing, in the order they were added.
func (g *Guard) States() []ActuatorState { panic("guard: in the making") }

// StopAll stops every actuator and takes every lease. It returns nil when all were measured at rest, else a *NotAtRestError.
// The stop goes on when ctx ends; only the waiting ends.
func (g *Guard) StopAll(ctx context.Context, reason string) error { panic("guard: in the making") }

// Quiesce is StopAll for what a lease owns or what moves; what rests already is sent nothing. nil only when every actuator is measured at rest.
func (g *Guard) Quiesce(ctx context.Context) error { panic("guard: in the making") }

// EmergencyStop latches with true; false only allows Reset.
func (g *Guard) EmergencyStop(on bool) { panic("guard: in the making") }

// Pause adds a pause source to every actuator (SourceOperator, or a name for the robot's own hold). Idempotent.
func (g *Guard) Pause(source string) { panic("guard: in the making") }

// Resume takes a pause source away. Motion resumes when none is left and the command was validated afresh.
func (g *Guard) Resume(source string) { panic("guard: in the making") }

// Reset acknowledges faults, and releases the e-stop latch if its input is false (else the error wraps ErrEstop). It returns when
// every fault or latch is released, with the actuators measured at rest, else a *NotAtRestError when ctx ends.
func (g *Guard) Reset(ctx context.Context) error { panic("guard: in the making") }
