package guard

// lives: the newest goal was sent, and nothing says that it has ended: its server may move the actuator whenever nobody stops it.
func (g *goal) lives() bool { return !g.over && !g.lost && !g.replaced }

// alive: some goal lives, the newest or one that was given up. While one does, rest is never claimed and no stop is let go of.
func (m *machine) alive() bool {
	return m.order.phase == orderRuns && !m.order.stream && m.goal.lives() || m.orphans.hold()
}

// goalEnded: a goal has ended that may have been all that kept stop commands going. What it sent last may still be on its way, so rest is
// measured from here on.
func (m *machine) goalEnded() {
	switch m.state {
	case Stopping, Estop:
		if m.stoodAt >= m.since && m.stoodAt > 0 && !m.late {
			m.stopFrom()
		}
		m.watchFrom = m.now
	case Fault:
		m.watchFrom = m.now
		if m.why == ReasonGoalLives && !m.alive() {
			m.why = "goal_ended"
		}
	case Unknown, Holding, Sent, InFlight, Paused, Canceling, Settling:
	}
}

// orphanEnded: a goal that was given up has ended after all.
func (m *machine) orphanEnded(e Epoch) {
	if m.orphans.remove(e) {
		m.goalEnded()
	}
}

// orphanLetGo: a goal that was given up drives no more, as far as can be known. Should it be accepted after all, it lives again.
func (m *machine) orphanLetGo(e Epoch) {
	if m.orphans.letGo(e) {
		m.goalEnded()
	}
}

// cancelOrphans asks for the cancel of every goal that was given up without a result.
func (m *machine) cancelOrphans() {
	for _, o := range m.orphans.list {
		if o.epoch != 0 {
			m.emit(action{kind: actCancel, epoch: o.epoch})
		}
	}
}

// insist asks again, now and then, for the cancel of goals that live although they were canceled.
func (m *machine) insist() {
	if !m.alive() || m.now-m.insistedAt < m.cfg.CancelAnswer {
		return
	}
	m.insistedAt = m.now
	if m.order.phase == orderRuns && !m.order.stream && m.goal.accepted && m.goal.lives() {
		m.emit(action{kind: actCancel, epoch: m.epoch})
	}
	m.cancelOrphans()
}

// orphan is a goal that was given up without a terminal result, or that somebody else has left behind.
type orphan struct {
	epoch    Epoch // 0: free
	accepted bool  // it is known to run
	holds    bool  // nothing says that it has ended
}

// orphans: the newest are kept.
type orphans struct {
	list [32]orphan
	next int
}

func (o *orphans) add(x orphan) {
	o.list[o.next] = x
	o.next = (o.next + 1) % len(o.list)
}

// hold: one of them may live.
func (o *orphans) hold() bool {
	for i := range o.list {
		if o.list[i].epoch != 0 && o.list[i].holds {
			return true
		}
	}
	return false
}

// accept: one of them is known to run; false for an epoch that is none.
func (o *orphans) accept(e Epoch) bool {
	for i := range o.list {
		if x := &o.list[i]; x.epoch == e && e != 0 {
			x.accepted, x.holds = true, true
			return true
		}
	}
	return false
}

// vouch: a person says that what was never accepted does not run. Should it be accepted after all, it holds again.
func (o *orphans) vouch() {
	for i := range o.list {
		o.list[i].holds = o.list[i].holds && o.list[i].accepted
	}
}

func (o *orphans) letGo(e Epoch) (held bool) {
	for i := range o.list {
		if x := &o.list[i]; e != 0 && x.epoch == e {
			held, x.holds = x.holds, false
		}
	}
	return held
}

func (o *orphans) remove(e Epoch) (found bool) {
	for i := range o.list {
		if e != 0 && o.list[i].epoch == e {
			o.list[i], found = orphan{}, true
		}
	}
	return found
}
