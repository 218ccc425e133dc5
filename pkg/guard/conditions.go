package guard

// Events that come of time and of measurements, as against those that somebody tells the guard.

// measure judges rest, where resting means anything: while a command is under way it is never claimed.
func (m *machine) measure() {
	switch m.state {
	case Sent, InFlight, Canceling:
		m.rest, m.restFlaw = false, noFlaw
		return
	case Unknown, Holding, Paused, Stopping, Settling, Fault, Estop:
	}
	m.judge()
}

// flawed is why rest is not measured, in words.
func (m *machine) flawed() string {
	if m.stands {
		return m.restFlaw.String() + standstill
	}
	return m.restFlaw.String()
}

func (m *machine) judge() {
	v, why := m.primary.judge(m.now, m.watchFrom)
	if v != isUnknown && m.stampFar(m.primary.newestStamp(), m.stampAge()) {
		v, why = isUnknown, stampOld
	}
	agrees := false
	if m.second != nil {
		second, _ := m.second.judge(m.now, m.watchFrom)
		agrees = second == isRest
		if second == isMoving && v == isRest {
			v, why = isMoving, secondMoves
		}
	}
	if v == isRest && m.needChange && m.goal.accepted && !agrees {
		v, why = isUnknown, unchanged
	}
	if v == isRest && m.alive() {
		// Who stands still only because we hold it, while a server still means to move it, does not rest.
		m.stoodAt = m.now
		v, why = isUnknown, goalLives
	}
	switch {
	case v == isMoving:
		m.sawMotion = true
	case v == isRest && (m.sawMotion || m.restSince == 0):
		m.restSince = m.now
		m.sawMotion = false
	}
	m.rest, m.restFlaw = v == isRest, why
}

// moves: what is measured shows motion, as against no or no good measurement. Where rest is judged.
func (m *machine) moves() bool {
	switch m.restFlaw {
	case fast, displaced, spreadOut, secondMoves, goalLives:
		return true
	case noFlaw, noSample, tooOld, stampOld, notFinite, notIncreasing, gap, tooShort, tooFew, bunched, frozen, unchanged:
	}
	return m.sawMotion
}

// due is the first event that holds now and has a rule in this state; evNone when nothing is due.
func (m *machine) due() event {
	switch m.state {
	case Unknown:
		if m.feedbackFresh() {
			return evFeedback
		}
	case Holding:
		return m.dueHolding()
	case Sent:
		if m.now-m.goal.sentAt >= m.cfg.AcceptTimeout {
			return evAcceptTimeout
		}
	case InFlight:
		return m.dueInFlight()
	case Paused:
		return m.duePaused()
	case Canceling:
		return m.dueCanceling()
	case Stopping:
		switch {
		case m.rest:
			return evSettled
		case m.stopOverdue():
			return evStopTimeout
		}
	case Settling:
		return m.dueSettling()
	case Fault:
		if m.acked && m.rest {
			return evReleased
		}
	case Estop:
		return m.dueEstop()
	}
	return evNone
}

// stopOverdue: stop commands have not brought rest in time. What they hold still has longer: only a goal's end is missing.
func (m *machine) stopOverdue() bool {
	holds := m.stoodAt >= m.since && m.stoodAt > 0 && m.now-m.stoodAt < m.primary.span
	return m.now >= m.stopBy && !holds || m.now >= m.endBy
}

func (m *machine) feedbackFresh() bool {
	return m.fed && m.now-m.lastFeedback < m.cfg.FeedbackTimeout
}

func (m *machine) dueHolding() event {
	switch {
	case !m.feedbackFresh():
		return evFeedbackLost
	case m.fastRun >= m.cfg.MotionSamples:
		return evMotion
	case m.alive():
		return evOrphan
	}
	if m.order.phase == orderWaits {
		switch {
		case m.order.reason != "":
			if m.rest {
				return evCancel
			}
		case len(m.holds) == 0 && !m.stands:
			return evCommand
		case m.rest && m.now-m.order.cameAt >= m.cfg.PauseCap:
			return evPauseCap
		}
	}
	return evNone
}

func (m *machine) dueInFlight() event {
	o := &m.order
	switch {
	case m.operatorPauses():
		return evPause
	case m.held():
		return evHold
	case m.now-max(m.lastFeedback, m.resumedAt) >= m.cfg.FeedbackTimeout:
		return evFeedbackLost
	case o.allowance > 0 && m.now-o.startAt-o.paused >= o.allowance:
		return evDeadline
	case m.now-m.progressAt >= m.cfg.StallTime:
		return evStalled
	}
	return evNone
}

func (m *machine) duePaused() event {
	p, g := &m.pause, &m.goal
	if m.now-m.since >= m.cfg.PauseCap {
		return evPauseCap
	}
	if m.operatorPauses() && (!p.ended || p.resent) {
		return evPause
	}
	if p.ended && !p.resent {
		switch {
		case p.halted:
		case p.over && m.rest:
			p.halted = true
		case p.over && m.now-p.overAt >= m.stopOrSettleTime(), !p.over && m.cancelFailed() != evNone:
			return evPauseFailed
		}
	}
	if p.resent {
		switch {
		case g.accepted:
			return evResumed
		case m.now-g.sentAt >= m.cfg.AcceptTimeout:
			return evAcceptTimeout
		}
		return evNone
	}
	if m.held() {
		p.validated = false
		if p.validating {
			p.validating = false
			p.token++
		}
		return evNone
	}
	return m.resume()
}

// resume takes the next step out of a pause that nobody asks for any more.
func (m *machine) resume() event {
	p := &m.pause
	switch {
	case !m.feedbackFresh(), p.ended && !p.halted, p.validating:
		return evNone
	case m.order.revalid && !p.validated:
		p.validating = true
		p.token++
		m.emit(action{kind: actRevalidate, order: m.order.id, id: p.token})
		return evNone
	case p.ended:
		p.resent = true
		m.startEpoch()
		return evNone
	}
	return evResumed
}

// stopOrSettleTime bounds how long a paused actuator may take to rest: a stream is stopped by us, a goal by its server.
func (m *machine) stopOrSettleTime() mono {
	if m.order.stream {
		return max(m.cfg.StopTime, m.cfg.SettleTime)
	}
	return m.cfg.SettleTime
}

func (m *machine) dueCanceling() event {
	g := &m.goal
	switch {
	case m.order.stream:
		return evStreamToEnd
	case g.lost:
		return evServerGone
	case g.over:
		return evNothingToCancel
	}
	return m.cancelFailed()
}

// cancelFailed: the cancel was refused, or an answer to it is overdue.
func (m *machine) cancelFailed() event {
	g := &m.goal
	switch {
	case g.canceled && g.answered && g.refused:
		return evCancelRefused
	case g.canceled && g.answered:
		if m.now-g.answeredAt >= m.cfg.CancelResult {
			return evCancelUnfinished
		}
	case m.now-g.canceledAt >= m.cfg.CancelAnswer:
		return evCancelUnanswered
	}
	return evNone
}

func (m *machine) dueSettling() event {
	switch {
	case m.rest:
		return evSettled
	case m.idle() && !m.sawMotion && !m.alive() && !m.feedbackFresh():
		return evFeedbackLost
	case m.now < m.settleBy && !(m.stands && m.hurried()):
		return evNone
	}
	return evSettleTimeout
}

// idle: no command is under way nor waits for its outcome.
func (m *machine) idle() bool { return m.order.phase != orderRuns && m.order.reason == "" }

func (m *machine) dueEstop() event {
	switch {
	case m.acked && !m.latch && m.rest && m.feedbackFresh() && m.order.phase == noOrder:
		return evReleased
	case m.order.phase != noOrder && m.rest:
		return evSettled
	case !m.rest && !m.late && m.stopOverdue():
		m.late = true
		m.report(ReportNotAtRest, m.epoch, nil, m.flawed())
		return evStopTimeout
	}
	return evNone
}
