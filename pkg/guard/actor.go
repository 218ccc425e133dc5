package guard

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// execution is a command on its way: what the goroutine calls, and where the outcome goes.
type execution struct {
	id      uint64
	command Command
	reply   chan Outcome // one outcome, always
}

// asking is somebody who waits for the lease.
type asking struct {
	id    uint64
	reply chan leased
}

type leased struct {
	id  uint64
	err error
}

// actor is the goroutine of one actuator. It alone touches the machine; what it learns goes to the snapshot.
type actor struct {
	a       *Actuator
	m       *machine
	tick    input
	events  []input
	slot    slot
	in      input
	results []input // what the command's functions returned, to be taken next
	current *execution
	asking  map[uint64]*asking
	workers sync.WaitGroup // revalidations
	ctx     context.Context
	cancel  context.CancelFunc

	stopFailedAt mono
	stopFailures int
}

// run owns the actuator until ctx has ended and the actuator rests, or has had its time to.
func (r *actor) run(ctx context.Context) {
	ticker := r.a.g.clock.NewTicker(r.a.cfg.ControlPeriod)
	defer ticker.Stop()
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer r.close()
	done := ctx.Done()
	for {
		select {
		case <-done:
			if r.a.g.cfg.Leave || r.a.g.leave.Load() {
				return
			}
			done = nil
			r.take(&input{kind: inShutdown, text: "shutdown"})
		case <-ticker.C():
			r.take(&r.tick)
		case <-r.a.box.wake:
		}
		r.a.alive.Store(int64(r.a.now()))
		r.drain()
		if done == nil && r.m.quiet() {
			return
		}
	}
}

// drain takes everything that waits, events before measurements.
func (r *actor) drain() {
	for {
		events := r.a.box.takeEvents(r.events)
		for i := range events {
			r.take(&events[i])
			if events[i].done != nil {
				close(events[i].done)
			}
			events[i] = input{}
		}
		r.events = events
		ok, dropped := r.a.box.takeSample(&r.slot)
		if dropped > 0 {
			r.report(Report{Kind: ReportSample, Detail: fmt.Sprintf("%d measurements dropped: they come faster than they are taken", dropped)})
		}
		if !ok {
			if len(events) == 0 {
				return
			}
			continue
		}
		s := &r.slot
		r.in = input{kind: inSample, stamp: s.stamp, arrived: s.arrived, pos: s.pos, vel: s.vel}
		if s.second {
			r.in.kind = inSecond
		}
		r.take(&r.in)
	}
}

// take steps the machine with one input and carries out what comes of it, then what comes of that.
func (r *actor) take(in *input) {
	switch {
	case in.kind == inExecute && r.current == nil:
		r.current = in.exec
	case in.kind == inExecute: // the machine will refuse it as busy; it must not lose the one at hand
		r.refuseBusy(in)
		return
	case in.kind == inAcquire:
		r.asking[in.id] = in.ask
	}
	r.step(in)
	for i := 0; i < len(r.results); i++ {
		result := r.results[i]
		r.step(&result)
	}
	r.results = r.results[:0]
}

func (r *actor) step(in *input) {
	now := r.a.now()
	actions := r.m.step(now, r.a.g.source(), in)
	for i := range actions {
		r.do(&actions[i])
	}
	r.a.publish(r.m)
}

// refuseBusy answers a second Execute while one is at hand.
func (r *actor) refuseBusy(in *input) {
	in.exec.reply <- Outcome{Reason: ReasonRefused, AtRest: r.m.rest, Err: r.m.stateError(ErrBusy)}
}

// do carries out one action.
func (r *actor) do(act *action) {
	switch act.kind {
	case actStop:
		r.stop()
	case actCancel:
		if err := guarded(func() error { r.a.driver.Cancel(act.epoch); return nil }); err != nil {
			r.report(Report{Kind: ReportDriver, Epoch: act.epoch, Detail: "cancel", Err: err})
		}
	case actStart:
		c := &r.current.command
		err := guarded(func() error { return c.Start(act.epoch) })
		r.results = append(r.results, input{kind: inStarted, epoch: act.epoch, err: err})
	case actStream:
		r.stream(act.epoch)
	case actResumed:
		r.resumed(act.epoch)
	case actCheck:
		c := &r.current.command
		latest := r.latest()
		if err := guarded(func() error { return c.Check(latest) }); err != nil {
			r.results = append(r.results, input{kind: inChecked, epoch: act.epoch, err: err})
		}
	case actRevalidate:
		r.revalidate(act.id)
	case actOutcome, actRefuse:
		r.answer(act)
	case actLeased:
		if ask := r.asking[act.order]; ask != nil {
			delete(r.asking, act.order)
			ask.reply <- leased{id: act.id, err: act.err}
		}
	case actTransition:
		r.transition(act)
	case actReport:
		r.report(Report{Kind: act.report, Epoch: act.epoch, Detail: act.text, Err: act.err})
	}
}

// stop sends one stop command. A failure is told, at most once a second, and the next one is sent all the same.
func (r *actor) stop() {
	err := r.a.safeStop()
	if err == nil {
		return
	}
	r.stopFailures++
	if now := r.a.now(); r.stopFailures == 1 || now-r.stopFailedAt >= time.Second {
		r.stopFailedAt = now
		r.report(Report{Kind: ReportDriver, Epoch: r.m.epoch, Detail: fmt.Sprintf("stop command failed, %d times so far", r.stopFailures), Err: err})
	}
}

func (r *actor) stream(e Epoch) {
	done, err := r.callStream(e)
	if done || err != nil {
		r.results = append(r.results, input{kind: inStreamed, epoch: e, err: err})
	}
}

func (r *actor) resumed(e Epoch) {
	f := r.current.command.Resumed
	if f == nil {
		return
	}
	if err := guarded(func() error { f(); return nil }); err != nil {
		r.results = append(r.results, input{kind: inStreamed, epoch: e, err: err})
	}
}

func (r *actor) callStream(e Epoch) (done bool, err error) {
	defer recovered(&err)
	return r.current.command.Stream(e, r.a.g.clock.Now(), r.latest())
}

// latest is the newest finite measurement, in the window's own storage.
func (r *actor) latest() Sample {
	w := r.m.primary
	i := w.newestFinite()
	if i < 0 {
		return Sample{}
	}
	s := w.slot(i)
	return Sample{Stamp: time.Unix(0, w.stamps[s]), Arrived: r.a.base.Add(w.arrived[s]), Position: w.position(i), Velocity: w.velocity(i)}
}

// revalidate asks in a goroutine of its own, for as long as a pause may last.
func (r *actor) revalidate(token uint64) {
	check := r.current.command.Revalidate
	ctx, cancel := context.WithTimeout(r.ctx, r.a.cfg.PauseCap)
	r.workers.Go(func() {
		defer cancel()
		err := guarded(func() error { return check(ctx) })
		r.a.box.post(input{kind: inRevalidated, id: token, err: err})
	})
}

func (r *actor) answer(act *action) {
	x := r.current
	if x == nil || x.id != act.order {
		return
	}
	r.current = nil
	out := act.outcome
	r.report(Report{Kind: ReportOutcome, Epoch: out.Epoch, Detail: string(out.Reason), Err: out.Err})
	x.reply <- out
}

func (r *actor) transition(act *action) {
	t := Transition{
		Actuator: r.a.cfg.Name, From: act.from, To: act.to, Event: act.event.String(), Reason: act.text, Detail: act.detail,
		Owner: r.m.lease.owner, Epoch: act.epoch, Time: r.a.base.Add(r.m.now),
	}
	r.a.publishState(t)
	if log := r.a.g.cfg.Logger; log != nil {
		log.Log(r.ctx, levelOf(t.To), "actuator", "name", t.Actuator, "from", t.From.String(), "to", t.To.String(), "event", t.Event, "reason", t.Reason, "detail", t.Detail, "epoch", uint64(t.Epoch))
	}
	if f := r.a.g.cfg.OnTransition; f != nil {
		f(t)
	}
}

func levelOf(s State) slog.Level {
	switch s {
	case Fault:
		return slog.LevelError
	case Estop, Stopping:
		return slog.LevelWarn
	case Unknown, Holding, Sent, InFlight, Paused, Canceling, Settling:
	}
	return slog.LevelInfo
}

func (r *actor) report(p Report) {
	p.Actuator, p.State, p.Time = r.a.cfg.Name, r.m.state, r.a.base.Add(r.m.now)
	if log := r.a.g.cfg.Logger; log != nil {
		level := slog.LevelWarn
		if p.Kind == ReportOutcome || p.Kind == ReportPause {
			level = slog.LevelInfo
		}
		log.Log(r.ctx, level, "actuator report", "name", p.Actuator, "kind", string(p.Kind), "state", p.State.String(), "detail", p.Detail, "error", p.Err, "epoch", uint64(p.Epoch))
	}
	if f := r.a.g.cfg.OnReport; f != nil {
		f(p)
	}
}

// close answers everybody who still waits, so that nobody waits for a goroutine that is gone.
func (r *actor) close() {
	r.cancel()
	left := r.a.box.close()
	r.a.publishClosed()
	refused := &StateError{Actuator: r.a.cfg.Name, State: r.m.state, Reason: "shutdown", Err: ErrNotRunning}
	if r.current != nil {
		r.current.reply <- Outcome{Epoch: r.m.epoch, Reason: ReasonCanceled, AtRest: r.m.rest, Err: refused, Detail: "the guard ended"}
		r.current = nil
	}
	for i := range left {
		in := &left[i]
		if in.exec != nil {
			in.exec.reply <- Outcome{Reason: ReasonRefused, AtRest: r.m.rest, Err: refused}
		}
		if in.ask != nil {
			in.ask.reply <- leased{err: refused}
		}
		if in.done != nil {
			close(in.done)
		}
	}
	for _, ask := range r.asking {
		ask.reply <- leased{err: refused}
	}
	r.workers.Wait()
}

// PanicError is a panic in a driver or in a command's function, caught.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says what was panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("guard: panic: %v", e.Value) }

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

func guarded(f func() error) (err error) {
	defer recovered(&err)
	return f()
}
