package guard

import "time"

// inputKind says what happened to an actuator, as its callers tell it.
type inputKind uint8

const (
	inTick inputKind = iota
	inSample
	inSecond
	inExecute
	inStarted
	inStreamed
	inChecked
	inRevalidated
	inAccepted
	inRejected
	inFinished
	inCancelAnswered
	inServerLost
	inReplaced
	inAdopt
	inProgress
	inCancel
	inStop
	inQuiesce
	inEstop
	inReset
	inResetEnd
	inPause
	inResume
	inForeign
	inPermitted
	inAcquire
	inAcquireGone
	inRelease
	inShutdown
)

// input is one of them; which fields count depends on the kind.
type input struct {
	kind    inputKind
	epoch   Epoch
	id      uint64 // of an order, a lease, a waiter or a revalidation
	flag    bool
	reason  Reason
	text    string
	err     error
	arrived mono
	stamp   time.Time
	pos     []float64
	vel     []float64
	order   order

	// For the actuator's goroutine, not for the machine.
	exec *execution
	ask  *asking
	done chan struct{} // closed when the input has been taken
}

// actionKind says what the actuator's goroutine is to do.
type actionKind uint8

const (
	actStop actionKind = iota
	actCancel
	actStart
	actStream
	actResumed
	actCheck
	actRevalidate
	actOutcome
	actRefuse
	actLeased
	actTransition
	actReport
)

type action struct {
	kind     actionKind
	from, to State
	event    event
	report   ReportKind
	epoch    Epoch
	order    uint64
	id       uint64
	text     string
	detail   string
	err      error
	outcome  Outcome
}

// take notes an input and applies the event that it is, if it is one.
func (m *machine) take(in *input) {
	switch in.kind {
	case inTick:
		for _, a := range stateInfo[m.state].during {
			if a != doCheck {
				m.perform(a, evNone)
			}
		}
	case inSample:
		m.sample(in)
	case inSecond:
		if m.second != nil {
			m.second.add(in.stamp, in.arrived, in.pos, in.vel)
		}
	case inExecute:
		m.execute(in)
	case inStarted:
		m.started(in)
	case inStreamed:
		m.streamed(in)
	case inChecked:
		if in.epoch == m.epoch && m.state == InFlight {
			m.reasonFor(ReasonCheck, in.err, "")
			m.apply(evCheckFailed)
		}
	case inRevalidated:
		m.revalidated(in)
	case inAccepted, inProgress:
		m.accepted(in)
	case inRejected:
		m.rejected(in)
	case inFinished:
		m.finished(in)
	case inCancelAnswered:
		m.cancelAnswered(in)
	case inServerLost:
		m.serverLost(in)
	case inReplaced:
		m.replaced(in)
	case inAdopt:
		m.orphans.add(orphan{epoch: in.epoch, accepted: true, holds: true})
	case inCancel:
		m.cancel(in)
	case inStop:
		m.stop(in.text, ReasonStopped)
	case inQuiesce:
		idle := m.order.phase == noOrder && m.lease.owner == ""
		still := m.state == Holding && !m.moves() || m.state == Settling && !m.sawMotion || m.state == Unknown
		if !(idle && still) || m.alive() {
			m.stop(in.text, ReasonStopped)
		}
	case inEstop:
		m.estop(in.flag)
	case inReset:
		m.acked = (m.state == Fault || m.state == Estop) && !m.latch
		if m.acked {
			m.needChange = false // a person vouches for what the sensor cannot show
			m.orphans.vouch()
		}
	case inResetEnd:
		m.acked = false
	case inPause:
		m.hold(in.text)
	case inResume:
		m.release(in.text)
	case inForeign:
		m.foreign(in.text)
	case inPermitted:
		m.permitted, m.permittedAt = in.text, m.now
		if m.state == Settling && m.idle() {
			m.settleBy = m.now + m.cfg.SettleTime // somebody who may drives it
		}
	case inAcquire:
		m.waiters = append(m.waiters, waiter{id: in.id, owner: in.text, until: m.now + m.patience()})
	case inAcquireGone:
		m.acquireGone(in.id)
	case inRelease:
		m.releaseLease(in.id)
	case inShutdown:
		m.closing = true
		m.stop(in.text, ReasonCanceled)
		m.closeBy = m.now + m.stopTime()
		if m.alive() {
			m.closeBy = m.now + max(m.stopTime(), m.cfg.EndTime)
		}
	}
}

// patience is how long a command or a lease waits for an actuator that still settles or is not observed yet.
func (m *machine) patience() time.Duration { return m.cfg.FeedbackTimeout + m.cfg.SettleTime }

// sample takes one measurement.
func (m *machine) sample(in *input) {
	ok, why := m.primary.add(in.stamp, in.arrived, in.pos, in.vel)
	if ok && m.stampFar(in.stamp, max(m.stampAge(), m.cfg.FeedbackTimeout)) {
		ok, why = false, stampOld
	}
	m.sampleFlaw = why
	if !ok {
		m.badSample(why)
		return
	}
	i := m.primary.count - 1
	m.lastFeedback, m.fed, m.lastStamp = in.arrived, true, in.stamp
	p, v := m.primary.position(i), m.primary.velocity(i)
	if m.primary.bits[m.primary.slot(i)]&bitFast != 0 || m.restFlaw == displaced || m.restFlaw == spreadOut {
		m.fastRun++
	} else {
		m.fastRun = 0
	}
	if m.needChange {
		switch {
		case !m.referenced:
			m.remember(i)
		case !same(p, m.reference[:len(p)]) || !same(v, m.reference[len(p):]):
			m.needChange = false
		}
	}
	if m.state == InFlight {
		if !m.primary.near(m.anchor, p, 1) {
			copy(m.anchor, p)
			m.progressAt = m.now
		}
		for _, a := range stateInfo[InFlight].during {
			if a == doCheck {
				m.perform(a, evNone)
			}
		}
	}
}

// badEvery is how often one and the same flaw of a source is told again while it lasts: they come at the source's rate.
const badEvery = 5 * time.Second

// badSample reports unusable measurements: a flaw at once, and again every few seconds while it lasts.
func (m *machine) badSample(why flaw) {
	b := &m.bad
	b.count++
	if b.why == why && m.now-b.told < badEvery {
		return
	}
	m.reportf(ReportSample, m.epoch, nil, "%s (%d unusable since the last report)", why, b.count)
	*b = badSamples{why: why, told: m.now}
}

// badSamples are those since the last report.
type badSamples struct {
	why   flaw // what was told
	told  mono
	count int
}

// stampAge is how far from the source's time the newest stamp may be for rest. As feedback a sample counts for longer.
func (m *machine) stampAge() time.Duration {
	if m.cfg.StampAge == 0 {
		return m.primary.maxAge
	}
	return m.cfg.StampAge
}

// stampFar: the stamp is farther than limit from the source's time.
func (m *machine) stampFar(stamp time.Time, limit time.Duration) bool {
	if !m.source.known || m.cfg.StampAge < 0 {
		return false
	}
	d := m.source.now.Sub(stamp)
	return !(d > -limit && d < limit)
}

// execute takes a command, or refuses it.
func (m *machine) execute(in *input) {
	refuse := func(err error) {
		out := Outcome{Reason: ReasonRefused, AtRest: m.rest, Err: m.stateError(err)}
		m.emit(action{kind: actRefuse, order: in.order.id, outcome: out})
	}
	switch {
	case m.closing:
		refuse(ErrNotRunning)
	case m.state == Estop:
		refuse(ErrEstop)
	case m.state == Fault:
		refuse(ErrFault)
	case m.lease.owner == "" || m.lease.id != in.id:
		refuse(ErrLeaseLost)
	case m.order.phase != noOrder:
		refuse(ErrBusy)
	default:
		m.order = in.order
		m.order.phase = orderWaits
		m.order.cameAt = m.now
	}
}

// refuseWaiting gives back a command that was never sent.
func (m *machine) refuseWaiting(err error) {
	out := Outcome{Reason: ReasonRefused, AtRest: m.rest, Err: m.stateError(err), Took: m.now - m.order.cameAt}
	m.emit(action{kind: actRefuse, order: m.order.id, outcome: out})
	m.order = order{}
}

func (m *machine) stateError(err error) *StateError {
	return &StateError{Actuator: m.cfg.Name, State: m.state, Reason: m.why, Owner: m.lease.owner, Err: err}
}

func (m *machine) revalidated(in *input) {
	if m.state != Paused || in.id != m.pause.token || !m.pause.validating {
		return
	}
	m.pause.validating = false
	if in.err != nil {
		m.reasonFor(ReasonCheck, in.err, "the motion could not resume")
		m.apply(evRevalidateFailed)
		return
	}
	m.pause.validated = true
}

// cancel: the command's context ended. Only the command itself is meant, not a later one.
func (m *machine) cancel(in *input) {
	if m.order.phase == noOrder || m.order.id != in.id {
		return
	}
	m.cancelOrder(in.err, in.text)
}

func (m *machine) cancelOrder(err error, detail string) {
	switch m.state {
	case Sent, InFlight, Paused:
		m.reasonFor(ReasonCanceled, err, detail)
		m.apply(evCancel)
	case Holding, Unknown, Settling, Stopping:
		if m.order.phase != orderWaits {
			m.order.waited = true
			return // it has ended already, and is being measured
		}
		m.reasonFor(ReasonCanceled, err, detail) // nothing was sent; the outcome waits for rest all the same
	case Canceling, Fault, Estop:
	}
}

// stop stops the actuator and takes the lease.
func (m *machine) stop(detail string, r Reason) {
	m.lease = lease{}
	m.stopText = detail
	m.reasonFor(r, nil, detail)
	if _, ok := ruleFor(m.state, evStop); ok {
		m.apply(evStop)
	}
}

func (m *machine) estop(on bool) {
	if on != m.latch {
		m.reportf(ReportEstop, m.epoch, nil, "input is %t", on)
	}
	m.latch = on
	if !on {
		return
	}
	m.lease = lease{}
	m.acked = false
	m.reasonFor(ReasonEstop, nil, "")
	if m.state != Estop {
		m.apply(evEstop)
	}
}

// maxForeigners bounds how many publishers are told apart.
const maxForeigners = 64

// foreign reports somebody else's command, each publisher at most once a second.
func (m *machine) foreign(publisher string) {
	if at, known := m.foreigners[publisher]; known && m.now-at < time.Second {
		return
	}
	if m.foreigners == nil || len(m.foreigners) >= maxForeigners {
		m.foreigners = map[string]mono{}
	}
	m.foreigners[publisher] = m.now
	m.report(ReportForeign, m.epoch, nil, publisher)
}

func (m *machine) permittedNow() bool {
	return m.permitted != "" && m.now-m.permittedAt < m.cfg.FeedbackTimeout
}
