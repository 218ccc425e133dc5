package guard

import "time"

// order is one Execute: from when it comes to when it has its outcome.
type order struct {
	phase     orderPhase
	id        uint64
	stream    bool
	mustMove  bool
	check     bool
	revalid   bool
	allowance time.Duration

	cameAt  mono
	startAt mono // of the first epoch
	endedAt mono // when what ended it came
	paused  time.Duration
	reason  Reason
	err     error
	detail  string
	waited  bool // a cancel came after its end: somebody waits for the outcome
}

type orderPhase uint8

const (
	noOrder    orderPhase = iota
	orderWaits            // for holding, or for the pause to end; nothing was sent
	orderRuns
)

// goal is what the newest epoch sent.
type goal struct {
	sentAt     mono
	flightFrom mono // when it was last known to begin or go on moving
	accepted   bool
	over       bool // a terminal result came, it was rejected, or it was never sent
	lost       bool // its server is gone
	replaced   bool // by a goal that holds
	canceled   bool // the driver was asked to cancel
	wished     bool // to be canceled once it is accepted
	refused    bool
	canceledAt mono
	answeredAt mono
	answered   bool
}

// pause is one stay in Paused.
type pause struct {
	ended      bool // ~/pause ended the epoch: the rest of the command has to be sent again
	halted     bool // and the actuator came to rest
	validating bool
	validated  bool
	resent     bool
	token      uint64
	overAt     mono
	over       bool
}

type lease struct {
	owner string
	id    uint64
	asked uint64 // the waiter's id
}

type waiter struct {
	id    uint64
	owner string
	until mono
}

// excuse drops the demand for changed values where the command was too short to show: see Config.MoveTime.
func (m *machine) excuse() {
	if m.goal.over && !m.goal.lost && m.order.endedAt-m.goal.flightFrom < m.cfg.MoveTime {
		m.needChange = false
	}
}

// severity orders reasons: an emergency stop over a stop over the first of the others.
func severity(r Reason) int {
	switch r {
	case "":
		return 0
	case ReasonEstop:
		return 3
	case ReasonStopped:
		return 2
	default:
		return 1
	}
}

// reasonFor gives the command its reason, unless it has one already that is as severe.
func (m *machine) reasonFor(r Reason, err error, detail string) {
	if m.order.phase == noOrder || severity(r) <= severity(m.order.reason) {
		return
	}
	m.order.reason = r
	if err != nil {
		m.order.err = err
	}
	if detail != "" {
		m.order.detail = detail
	}
}

// startEpoch sends the command, or the rest of it after a pause.
func (m *machine) startEpoch() {
	m.epoch++
	m.goal = goal{sentAt: m.now, flightFrom: m.now}
	m.refer()
	m.restSince = 0
	m.emit(action{kind: actStart, epoch: m.epoch, order: m.order.id})
}

// refer remembers the values that must change, when the command must move.
func (m *machine) refer() {
	m.needChange = m.order.mustMove
	m.referenced = false
	if i := m.primary.newestFinite(); i >= 0 {
		m.remember(i)
	}
}

// remember takes sample i as the reference that later ones must differ from.
func (m *machine) remember(i int) {
	n := m.primary.n
	copy(m.reference[:n], m.primary.position(i))
	copy(m.reference[n:], m.primary.velocity(i))
	m.referenced = true
}

// cancelGoal asks for the goal's cancel, where it has one. A goal that nobody accepted yet cannot be canceled: the wish waits for the
// acceptance, except where waiting is over.
func (m *machine) cancelGoal(e event) {
	g := &m.goal
	if m.order.phase != orderRuns || m.order.stream || g.over || g.lost {
		return
	}
	waitingIsOver := e == evAcceptTimeout || e == evCancelUnanswered
	if !g.accepted && !waitingIsOver {
		g.wished = true
		g.canceledAt = m.now
		return
	}
	if g.canceled && e != evLateAccepted && e != evStop && e != evEstop {
		return // one cancel for each goal, and one more when a stop insists
	}
	g.canceled, g.canceledAt = true, m.now
	g.answered, g.refused = false, false
	m.emit(action{kind: actCancel, epoch: m.epoch})
}

// watchProgress begins to measure progress here.
func (m *machine) watchProgress() {
	m.progressAt = m.now
	if i := m.primary.newestFinite(); i >= 0 {
		copy(m.anchor, m.primary.position(i))
	}
}

// finish gives the command its outcome.
func (m *machine) finish() {
	o := &m.order
	if o.phase == noOrder || o.reason == "" {
		return // none, or one that still waits for its turn
	}
	out := Outcome{Epoch: m.epoch, Reason: o.reason, AtRest: m.rest, Err: o.err, Detail: o.detail, Paused: o.paused, Took: m.now - o.cameAt}
	if o.phase == orderWaits {
		out.Epoch = 0
	}
	if !m.rest {
		out.Detail = join(out.Detail, m.flawed())
	}
	if o.phase == orderRuns && !o.stream && !m.goal.over {
		m.orphans.add(orphan{epoch: m.epoch, accepted: m.goal.accepted, holds: m.goal.lives()})
	}
	m.emit(action{kind: actOutcome, order: o.id, outcome: out})
	m.order = order{}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
