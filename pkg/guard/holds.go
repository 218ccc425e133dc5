package guard

import "slices"

// hold adds a pause source. In flight the condition that it makes is found by dueInFlight.
func (m *machine) hold(source string) {
	if slices.Contains(m.holds, source) {
		return
	}
	m.holds = append(m.holds, source)
	m.report(ReportPause, m.epoch, nil, source+" holds")
	if m.state == Paused {
		m.why = m.explain(evHold)
	}
}

// release takes a pause source away.
func (m *machine) release(source string) {
	i := slices.Index(m.holds, source)
	if i < 0 {
		return
	}
	m.holds = slices.Delete(m.holds, i, i+1)
	m.report(ReportPause, m.epoch, nil, source+" released")
	if m.state == Paused {
		m.why = m.explain(evHold)
	}
}

// held: some source holds the actuator.
func (m *machine) held() bool { return len(m.holds) > 0 }

// operatorPauses: one of them is a person.
func (m *machine) operatorPauses() bool { return slices.Contains(m.holds, SourceOperator) }

// clockHold makes a pause source of source time that stands still, and shifts what is judged by measurements alone while it does:
// nothing can be measured. The stop path waits for no clock, and who wants a command over does not either.
func (m *machine) clockHold() {
	s := &m.source
	if !s.known {
		return
	}
	if s.now.Equal(m.clockAt) && !s.stands {
		s.stands = m.now-m.clockMoved >= m.cfg.Standstill
	} else if !s.now.Equal(m.clockAt) {
		m.clockAt, m.clockMoved = s.now, m.now
	}
	if s.stands != m.stands {
		m.stands = s.stands
		if s.stands {
			m.hold(SourceClock)
		} else {
			m.release(SourceClock)
		}
	}
	if m.stands && m.state == Settling && !m.hurried() && m.settleBy-m.since < m.cfg.PauseCap {
		m.settleBy = max(m.settleBy, m.now+m.cfg.SettleTime)
	}
}

// hurried: somebody wants the command over: by a cancel, also one that came while it settled, by a stop, or by its time.
func (m *machine) hurried() bool {
	switch m.order.reason {
	case ReasonCanceled, ReasonStopped, ReasonEstop, ReasonDeadline:
		return true
	default:
		return m.order.waited
	}
}

// serveWaiters gives the lease to the first who waits for it, and tells the others why not.
func (m *machine) serveWaiters() {
	if m.order.phase == orderWaits {
		m.serveOrder()
	}
	for len(m.waiters) > 0 {
		w := m.waiters[0]
		var err error
		switch {
		case m.closing:
			err = ErrNotRunning
		case m.state == Estop:
			err = ErrEstop
		case m.state == Fault:
			err = ErrFault
		case m.lease.owner != "":
			err = ErrOwned
		case m.state == Holding && m.order.phase == noOrder:
			m.lease = lease{owner: w.owner, id: m.lastLease + 1, asked: w.id}
			m.lastLease++
			m.emit(action{kind: actLeased, order: w.id, id: m.lease.id})
		case m.now < w.until, m.restMayCome():
			return
		case m.state == Unknown:
			err = ErrUnobservable
		default:
			err = ErrBusy
		}
		if err != nil {
			m.emit(action{kind: actLeased, order: w.id, err: m.stateError(err)})
		}
		m.waiters = slices.Delete(m.waiters, 0, 1)
	}
}

// restMayCome: the actuator settles or is being stopped, and the state's own deadline decides how that ends. Who waits for rest waits
// for that, unless somebody who may is driving it.
func (m *machine) restMayCome() bool {
	return m.state == Stopping || m.state == Settling && !m.permittedNow()
}

// serveOrder gives up a command that waits for its turn too long, or in vain.
func (m *machine) serveOrder() {
	if m.order.reason != "" { // it has ended, and its outcome waits for rest
		if m.state == Unknown {
			m.finish()
		}
		return
	}
	switch m.state {
	case Fault:
		m.refuseWaiting(ErrFault)
	case Unknown:
		if m.now-m.order.cameAt >= m.patience() {
			m.refuseWaiting(ErrUnobservable)
		}
	case Settling, Stopping:
		if m.now-m.order.cameAt >= m.patience() && !m.restMayCome() {
			m.refuseWaiting(ErrBusy)
		}
	case Holding, Sent, InFlight, Paused, Canceling, Estop:
	}
}

// acquireGone: who waited for the lease does so no more.
func (m *machine) acquireGone(id uint64) {
	m.waiters = slices.DeleteFunc(m.waiters, func(w waiter) bool { return w.id == id })
	if m.lease.owner != "" && m.lease.asked == id {
		m.releaseLease(m.lease.id)
	}
}

// releaseLease ends a lease; what it still executes is canceled.
func (m *machine) releaseLease(id uint64) {
	if m.lease.owner == "" || m.lease.id != id {
		return
	}
	m.lease = lease{}
	if m.order.phase != noOrder {
		m.cancelOrder(nil, "the lease was released")
	}
}
