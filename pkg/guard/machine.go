package guard

import (
	"fmt"
	"strings"
	"time"
)

// machine is one actuator's state and all that decides about it. It has no goroutine, no lock and no clock: step is given an
// input and the time, and returns what is to be done. Its owner is the actuator's goroutine alone.
type machine struct {
	cfg    *Config
	state  State
	since  mono // when it was entered
	now    mono
	source source

	primary *window
	second  *window

	lastFeedback mono // last usable sample; valid when fed
	fed          bool
	lastStamp    time.Time
	sampleFlaw   flaw // why the newest sample was not usable
	fastRun      int  // usable samples in a row that show motion
	sawMotion    bool // since the last rest or loss of feedback
	permittedAt  mono
	permitted    string

	watchFrom mono // rest is judged by samples from here on
	rest      bool
	restSince mono
	restFlaw  flaw

	// Evidence that the sensor lives: after a command that should move, its values must have changed.
	needChange bool
	reference  []float64 // positions, then velocities, when the command went out
	referenced bool

	anchor     []float64 // progress is measured from here
	progressAt mono

	epoch      Epoch
	order      order
	goal       goal
	pause      pause
	orphans    orphans
	holds      []string  // pause sources, in order of arrival
	stands     bool      // source time does not advance
	clockAt    time.Time // source time, and when it last changed
	clockMoved mono
	resumedAt  mono // from the last pause

	lease     lease
	lastLease uint64
	waiters   []waiter

	settleBy   mono
	stopBy     mono
	endBy      mono // stopBy, for what stop commands hold still while a goal is not known to have ended
	stoodAt    mono // when it last stood still like that
	insistedAt mono
	late       bool // estop: not at rest in time, and said so
	acked      bool
	latch      bool // emergency stop input, as last told
	closing    bool
	closeBy    mono
	why        string          // for States
	stopText   string          // who asked for the last stop
	foreigners map[string]mono // when each was told of last
	bad        badSamples

	out []action
}

// source is the clock that samples are stamped with, as read for this step.
type source struct {
	now    time.Time
	known  bool
	stands bool
}

func newMachine(cfg *Config) *machine {
	m := &machine{cfg: cfg, primary: newWindow(cfg, cfg.Axes, cfg.Period)}
	if cfg.Second != nil {
		m.second = newWindow(cfg, cfg.Second.Axes, cfg.Second.Period)
	}
	m.reference = make([]float64, 2*len(cfg.Axes))
	m.anchor = make([]float64, len(cfg.Axes))
	m.why = noSample.String()
	m.restFlaw = noSample
	return m
}

// step takes one input at time now (never before the last) and returns what to do, in order. The result is valid until the next step.
func (m *machine) step(now mono, src source, in *input) []action {
	m.out = m.out[:0]
	m.now = max(now, m.now)
	m.source = src
	m.clockHold()
	m.take(in)
	// What now follows from time and measurements. Each rule that applies makes some other state or a later deadline; the bound
	// only keeps a mistake in the table from hanging the goroutine that stops the robot.
	for range 16 {
		m.measure()
		e := m.due()
		if e == evNone {
			m.serveWaiters()
			return m.out
		}
		m.apply(e)
	}
	m.report(ReportInternal, m.epoch, nil, "rules do not come to an end in "+m.state.String())
	m.serveWaiters()
	return m.out
}

// apply carries out the rule for an event, if there is one; without one the event is recorded.
func (m *machine) apply(e event) {
	r, ok := ruleFor(m.state, e)
	if !ok {
		m.report(ReportInternal, m.epoch, nil, e.String()+" does not apply in "+m.state.String())
		return
	}
	from := m.state
	m.conclude(e, from, r.to)
	if r.to != from {
		m.leave(from)
		m.state, m.since = r.to, m.now
		m.enter(from)
	}
	m.why = m.explain(e)
	if r.to != from {
		m.emit(action{kind: actTransition, from: from, to: r.to, event: e, epoch: m.epoch, text: m.why, detail: m.detailOf(e)})
	}
	for _, a := range r.do {
		m.perform(a, e)
	}
}

// conclude notes what an event means for the command: why it ends, and from when on rest is judged.
func (m *machine) conclude(e event, from, to State) {
	if m.order.phase == noOrder {
		return
	}
	ends := to == Canceling || to == Settling || to == Stopping || to == Estop || e == evRejected
	switch e {
	case evPause:
		m.pause = pause{ended: true, token: m.pause.token + 1}
		m.order.endedAt = m.now
		if m.order.stream {
			m.goal.over = true
			m.pauseOver()
		}
	case evPauseFailed:
		m.reasonFor(ReasonServerFailed, nil, "the pause did not bring rest: "+m.flawed())
		m.goal.lost = m.goal.over
	default: // the others say no more than their reason
	}
	if m.order.reason == "" && (ends || to == Holding) {
		m.reasonFor(eventInfo[e].reason, nil, "")
	}
	wasActive := from == Sent || from == InFlight || from == Paused || from == Canceling
	if !wasActive || !ends {
		return
	}
	if from != Canceling {
		m.order.endedAt = m.now
	}
	m.watchFrom = m.now
	if e == evRejected || e == evRejectedUnsettled {
		m.goal.over = true
		m.needChange = false // nothing of this epoch ever ran
	}
	if m.order.stream {
		m.goal.over = true // a stream is over when we stop sending it
	}
	m.excuse()
}

func (m *machine) leave(from State) {
	if from == Paused {
		m.order.paused += m.now - m.since
		m.resumedAt = m.now
		m.pause = pause{token: m.pause.token + 1}
	}
}

func (m *machine) enter(from State) {
	switch m.state {
	case Settling:
		m.settleBy = m.now + m.cfg.SettleTime
	case Stopping, Estop:
		m.stopFrom()
		m.late = false
		m.insistedAt = m.now
	case InFlight:
		m.goal.flightFrom = m.now
		if from == Paused && m.order.stream {
			m.emit(action{kind: actResumed, epoch: m.epoch})
		}
		if from == Paused && !m.goal.over {
			m.refer() // it should move again, and the sensor must show it
		}
	case Fault:
		m.acked = false
		m.insistedAt = m.now
	case Unknown:
		m.sawMotion = false
		m.fastRun = 0
	case Holding:
		m.sawMotion = false
		m.fastRun = 0
		m.acked = false
	case Paused:
		m.watchFrom = m.now
	case Sent, Canceling:
	}
	if from == Fault || from == Estop {
		m.acked = false
	}
}

// stopFrom gives stop commands their time from now on.
func (m *machine) stopFrom() {
	m.stopBy = m.now + m.stopTime()
	m.endBy = max(m.stopBy, m.now+m.cfg.EndTime)
}

// stopTime is how long stop commands may take to bring rest, from what is measured now.
func (m *machine) stopTime() time.Duration {
	t := m.primary.span + time.Second
	if i := m.primary.newestFinite(); i >= 0 {
		t += m.primary.stopTime(m.primary.velocity(i))
	}
	return max(m.cfg.StopTime, t)
}

// perform does one action of a rule.
func (m *machine) perform(a act, e event) {
	switch a {
	case doStart:
		m.startEpoch()
		m.order.phase = orderRuns
		m.order.startAt = m.now
	case doCancel:
		m.cancelGoal(e)
	case doCancelOrphans:
		m.cancelOrphans()
	case doStop:
		m.emit(action{kind: actStop})
	case doZero:
		if m.order.phase == orderRuns && m.order.stream {
			m.emit(action{kind: actStop})
		}
	case doStopUnsettled:
		if !m.rest {
			m.emit(action{kind: actStop})
		}
	case doWatch:
		m.watchProgress()
	case doJudge:
		m.finish()
	case doReport:
		if m.order.phase == orderRuns {
			return
		}
		detail := m.flawed()
		if m.permittedNow() {
			detail += ", commanded by " + m.permitted
		}
		m.report(ReportUncommanded, m.epoch, nil, detail)
		m.sawMotion = true
	case doInsist:
		m.insist()
	case doStream:
		if m.order.stream && m.state == InFlight {
			m.emit(action{kind: actStream, epoch: m.epoch})
		}
	case doCheck:
		if m.order.check {
			m.emit(action{kind: actCheck, epoch: m.epoch})
		}
	case nActs:
	}
}

// explain is the reason that States and transitions show for the state just entered.
func (m *machine) explain(e event) string {
	switch m.state {
	case Holding, Sent, InFlight:
		return ""
	case Unknown:
		return string(ReasonFeedbackLost)
	case Paused:
		return strings.Join(m.holds, ", ")
	case Estop:
		return string(ReasonEstop)
	case Fault:
		if m.alive() {
			return ReasonGoalLives
		}
	case Canceling, Stopping, Settling:
	}
	switch {
	case m.order.reason != "":
		return string(m.order.reason)
	case e == evMotion:
		return string(ReportUncommanded)
	case e == evFeedback, m.why == "":
		return e.String()
	}
	return m.why
}

// detailOf says what was measured, where a transition comes of that.
func (m *machine) detailOf(e event) string {
	switch e {
	case evSettleTimeout, evStopTimeout, evPauseFailed, evMotion:
		return m.flawed()
	case evFeedbackLost:
		if m.sampleFlaw != noFlaw {
			return m.sampleFlaw.String()
		}
		return noSample.String()
	case evStop, evCancel, evCommandFailed, evCheckFailed, evRevalidateFailed, evRejected, evRejectedUnsettled:
		switch {
		case m.order.err != nil:
			return m.order.err.Error()
		case m.order.phase != noOrder:
			return m.order.detail
		case e == evStop:
			return m.stopText
		}
	default: // nothing was measured or told
	}
	return ""
}

func (m *machine) emit(a action) { m.out = append(m.out, a) }

func (m *machine) report(k ReportKind, e Epoch, err error, detail string) {
	m.emit(action{kind: actReport, report: k, epoch: e, err: err, text: detail})
}

func (m *machine) reportf(k ReportKind, e Epoch, err error, format string, args ...any) {
	m.report(k, e, err, fmt.Sprintf(format, args...))
}

// quiet: after shutdown nothing is left to wait for.
func (m *machine) quiet() bool {
	switch m.state {
	case Holding, Fault, Estop:
		return m.closing && (m.rest || m.now >= m.closeBy)
	case Unknown:
		return m.closing
	case Sent, InFlight, Paused, Canceling, Stopping, Settling:
	}
	return false
}
