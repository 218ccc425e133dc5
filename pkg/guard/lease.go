package guard

import (
	"context"
	"errors"
)

// Lease is the right to command one actuator.
type Lease struct {
	a     *Actuator
	owner string
	id    uint64
}

// Acquire takes the actuator for an owner. One that still settles, or is being stopped, is waited for until it rests or is known not to;
// one that is not observed, or that somebody else may drive and does, for FeedbackTimeout + SettleTime; all of it within ctx. Errors are *StateError around ErrOwned, ErrEstop, ErrFault, ErrUnobservable, ErrBusy, ErrNotRunning, or
// ctx's cause.
func (a *Actuator) Acquire(ctx context.Context, owner string) (*Lease, error) {
	if owner == "" {
		owner = "anonymous"
	}
	if ctx.Err() != nil {
		return nil, a.stateError(context.Cause(ctx))
	}
	ask := &asking{id: a.g.ids.Add(1), reply: make(chan leased, 1)}
	if !a.box.post(input{kind: inAcquire, id: ask.id, text: owner, ask: ask}) {
		return nil, a.stateError(ErrNotRunning)
	}
	select {
	case got := <-ask.reply:
		if got.err != nil {
			return nil, got.err
		}
		return &Lease{a: a, owner: owner, id: got.id}, nil
	case <-ctx.Done():
		a.box.post(input{kind: inAcquireGone, id: ask.id})
		return nil, a.stateError(context.Cause(ctx))
	}
}

func (a *Actuator) stateError(err error) *StateError {
	s := a.State()
	return &StateError{Actuator: s.Name, State: s.State, Reason: s.Reason, Owner: s.Owner, Err: err}
}

// Owner is who holds the lease.
func (l *Lease) Owner() string { return l.owner }

// Actuator is what the lease is for.
func (l *Lease) Actuator() *Actuator { return l.a }

// Execute runs one command to its end. The end of ctx cancels the motion; Execute returns only after measured rest, or with the
// proof that rest could not be measured (AtRest false). While a pause source is active the command is not sent yet. Every state has
// a deadline, so Execute returns however server, sensor and actuator fail; a motion that goes on well has only its Allowance.
func (l *Lease) Execute(ctx context.Context, c Command) Outcome {
	a := l.a
	if c.Start == nil {
		return Outcome{Reason: ReasonRefused, Err: errors.New("guard: a command without Start")}
	}
	x := &execution{id: a.g.ids.Add(1), command: c, reply: make(chan Outcome, 1)}
	in := input{kind: inExecute, id: l.id, exec: x, order: order{
		id: x.id, stream: c.Stream != nil, mustMove: c.MustMove, check: c.Check != nil, revalid: c.Revalidate != nil, allowance: c.Allowance,
	}}
	if ctx.Err() != nil { // nothing is sent; whether it rests is still measured
		in.order.reason, in.order.err = ReasonCanceled, context.Cause(ctx)
	}
	if !a.box.post(in) {
		return Outcome{Reason: ReasonRefused, Err: a.stateError(ErrNotRunning)}
	}
	select {
	case out := <-x.reply:
		return out
	case <-ctx.Done():
		a.box.post(input{kind: inCancel, id: x.id, err: context.Cause(ctx)})
	}
	return <-x.reply // the actuator's own deadlines end it
}

// Release gives the lease back. A command still in flight is canceled, and brought to rest. Idempotent.
func (l *Lease) Release() { l.a.box.post(input{kind: inRelease, id: l.id}) }
