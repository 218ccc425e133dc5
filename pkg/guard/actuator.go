package guard

import (
	"context"
	"time"
)

// Actuator is one thing that moves. Its methods are safe for concurrent use and do not block (Acquire may wait).
type Actuator struct{}

// Lease is the right to command one actuator.
type Lease struct{}

// Name is the configured one.
func (a *Actuator) Name() string { panic("guard: in the making") }

// Acquire takes the actuator for an owner. It waits, within ctx and a few seconds, for one that still settles. Errors are *StateError.
func (a *Actuator) Acquire(ctx context.Context, owner string) (*Lease, error) {
	panic("guard: in the making")
}

// Execute runs one command to its end. The end of ctx cancels the motion; Execute returns only after measured rest, or with the
// proof that rest could not be measured (AtRest false).
func (l *Lease) Execute(ctx context.Context, c Command) Outcome { panic("guard: in the making") }

// Release gives the lease back. A command still in flight is canceled, and brought to rest. Idempotent.
func (l *Lease) Release() { panic("guard: in the making") }

// Observe feeds one measurement. The values are copied.
func (a *Actuator) Observe(s Sample) { panic("guard: in the making") }

// ObserveSecond feeds one measurement of the second source.
func (a *Actuator) ObserveSecond(s Sample) { panic("guard: in the making") }

// Accepted: the server accepted the goal of that epoch.
func (a *Actuator) Accepted(e Epoch) { panic("guard: in the making") }

// Rejected: the server refused the goal of that epoch.
func (a *Actuator) Rejected(e Epoch, err error) { panic("guard: in the making") }

// Finished: the goal's terminal result. reason is ReasonSucceeded, ReasonCanceled or ReasonServerFailed.
func (a *Actuator) Finished(e Epoch, reason Reason, err error) { panic("guard: in the making") }

// CancelAnswered: the server's answer to Driver.Cancel.
func (a *Actuator) CancelAnswered(e Epoch, accepted bool) { panic("guard: in the making") }

// ServerLost: the server of the goal is gone, or has forgotten it.
func (a *Actuator) ServerLost(e Epoch) { panic("guard: in the making") }

// Progress: feedback of the server. It shows that the goal runs (a lost acceptance is made up for); progress is measured motion.
func (a *Actuator) Progress(e Epoch) { panic("guard: in the making") }

// Foreign reports a command from a publisher that is not allowed, or from an allowed one while another holds the lease.
func (a *Actuator) Foreign(publisher string) { panic("guard: in the making") }

// Permitted tells of a command from a publisher that the profile allows, while no lease is held: the motion it causes is
// reported as its, and not stopped while its commands keep coming.
func (a *Actuator) Permitted(publisher string) { panic("guard: in the making") }

// Pause adds a pause source to this actuator alone (see Guard.Pause).
func (a *Actuator) Pause(source string) { panic("guard: in the making") }

// Resume takes a pause source of this actuator away.
func (a *Actuator) Resume(source string) { panic("guard: in the making") }

// State is what it is doing now.
func (a *Actuator) State() ActuatorState { panic("guard: in the making") }

// AtRest tells whether the actuator is measured at rest now; since when rest was measured (monotonic clock); and the source stamp of
// the newest measurement that says so.
func (a *Actuator) AtRest() (rest bool, since time.Time, newestStamp time.Time) {
	panic("guard: in the making")
}
