package guard

// What a command's functions and its server answer.

// started: Command.Start returned.
func (m *machine) started(in *input) {
	if in.epoch != m.epoch || m.order.phase != orderRuns || m.goal.over {
		return
	}
	if in.err != nil {
		m.reasonFor(ReasonCommandFailed, in.err, "the command could not be sent")
		if m.order.stream {
			if m.state == Sent || m.state == Paused {
				m.apply(evCommandFailed)
			}
			return
		}
		m.rejectGoal()
		return
	}
	if m.order.stream {
		m.acceptGoal()
	}
}

func (m *machine) streamed(in *input) {
	if in.epoch != m.epoch || m.state != InFlight {
		return
	}
	if in.err != nil {
		m.reasonFor(ReasonCommandFailed, in.err, "")
		m.apply(evCommandFailed)
		return
	}
	m.goal.over = true
	m.reasonFor(ReasonSucceeded, nil, "")
	m.apply(evResult)
}

// current: the epoch's goal is the one at hand, and no terminal answer of it came yet. If not, the answer is recorded as late.
func (m *machine) current(in *input, what string) bool {
	if in.epoch == m.epoch && m.order.phase == orderRuns && !m.order.stream && !m.goal.over {
		return true
	}
	if in.kind != inProgress {
		m.reportf(ReportLate, in.epoch, in.err, "%s of epoch %d, at hand is %d in %s", what, in.epoch, m.epoch, m.state)
	}
	return false
}

func (m *machine) accepted(in *input) {
	if m.current(in, "acceptance") {
		if !m.goal.accepted {
			m.acceptGoal()
		}
		return
	}
	if in.kind == inAccepted && m.orphans.accept(in.epoch) {
		m.reportf(ReportOrphan, in.epoch, nil, "a goal that was given up was accepted: canceled")
		m.emit(action{kind: actCancel, epoch: in.epoch})
	}
}

func (m *machine) acceptGoal() {
	m.goal.accepted = true
	switch m.state {
	case Sent:
		m.apply(evAccepted)
	case Canceling, Stopping, Estop:
		m.apply(evLateAccepted)
	case Paused:
		if m.goal.wished {
			m.cancelGoal(evLateAccepted)
		}
	case Unknown, Holding, InFlight, Settling, Fault:
	}
}

func (m *machine) rejected(in *input) {
	if !m.current(in, "rejection") {
		m.orphanEnded(in.epoch)
		return
	}
	m.reasonFor(ReasonRejected, in.err, "")
	m.rejectGoal()
}

func (m *machine) rejectGoal() {
	m.goal.over = true
	m.goalEnded()
	switch m.state {
	case Sent:
		if m.judge(); m.rest {
			m.apply(evRejected)
		} else {
			m.apply(evRejectedUnsettled)
		}
	case Paused, Canceling:
		if m.pause.ended && !m.pause.resent {
			m.pauseOver()
			return
		}
		m.apply(evRejected)
	case Unknown, Holding, InFlight, Stopping, Settling, Fault, Estop:
	}
}

// pauseOver: the goal that ~/pause canceled has ended.
func (m *machine) pauseOver() {
	m.pause.over, m.pause.overAt = true, m.now
	m.watchFrom = m.now
	m.excuse()
}

func (m *machine) finished(in *input) {
	if !m.current(in, "result "+string(in.reason)) {
		m.orphanEnded(in.epoch)
		return
	}
	m.goal.over, m.goal.accepted = true, true // a result may overtake its acceptance
	m.goalEnded()
	switch m.state {
	case Paused:
		if m.pause.ended && !m.pause.resent && in.reason != ReasonSucceeded {
			m.pauseOver() // the answer to our own cancel, whatever the server calls it
			return
		}
		fallthrough
	case Sent, InFlight, Canceling:
		m.reasonFor(in.reason, in.err, "")
		m.apply(evResult)
	case Estop:
		m.excuse()
	case Stopping:
		m.excuse()
		fallthrough
	case Unknown, Holding, Settling, Fault:
		m.reportf(ReportLate, in.epoch, in.err, "result %s in %s", in.reason, m.state)
	}
}

func (m *machine) cancelAnswered(in *input) {
	if !m.current(in, "answer to a cancel") || !m.goal.canceled || m.goal.answered {
		return
	}
	m.goal.answered, m.goal.answeredAt, m.goal.refused = true, m.now, !in.flag
}

func (m *machine) serverLost(in *input) {
	if !m.current(in, "loss of the server") {
		m.orphanLetGo(in.epoch)
		return
	}
	m.goal.lost = true
	m.goalEnded()
	switch m.state {
	case Sent, InFlight, Paused:
		m.apply(evServerLost)
	case Unknown, Holding, Canceling, Stopping, Settling, Fault, Estop:
	}
}

// replaced: the same server has taken another goal since, which holds the actuator in the older one's place.
func (m *machine) replaced(in *input) {
	if in.epoch == m.epoch && m.order.phase == orderRuns && !m.order.stream && !m.goal.over {
		m.goal.replaced = true
		m.goalEnded()
		return
	}
	m.orphanLetGo(in.epoch)
}
